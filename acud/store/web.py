"""Access over HTTP: access tokens and one-time codes, by digest alone."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.base.errors import NotFound
from acud.protocol.web import AccessToken, Scope
from acud.store.connection import Table
from acud.store.rows import RowCodec, load, load_of_features

_REVOKED_SQL = load_of_features("revoked")
"""Rows deleted with an access token, or with all of a kind, also while the feature is off."""
_PASS = RowCodec(AccessToken)


class LoginCode(Struct, frozen=True):
    """A one-time code and the rights of the session that it opens."""

    digest: str
    name: str
    scope: Scope
    displays: tuple[str, ...]
    tasks: tuple[str, ...]
    expires_utc_s: float


_CODE = RowCodec(LoginCode)
_SQL = load("web", _PASS, _CODE)


class WebPasses(Table):
    """The tables `web_passes` and `web_codes`."""

    def insert(self, token: AccessToken, digest: str) -> None:
        """Keep a new access token. Raises: Conflict when its id or its digest exists already."""
        self._database.write(_SQL["insert"], {**_PASS.bind(token), "digest": digest})

    def of(self, digest: str) -> AccessToken | None:
        """Return the access token of the secret with this digest, which may have expired, or None."""
        return self._read_first(_PASS, _SQL["digest"], {"digest": digest})

    def find(self, part: str) -> AccessToken:
        """Return the one with an id that is, begins with or ends with `part`. Raises: NotFound; InvalidRequest if
        several match.
        """
        unknown = NotFound(f"no token or session {part[:80]}", hint="acud web token list")
        return self._find_named(_PASS, _SQL, "several", part, unknown)

    def all(self) -> tuple[AccessToken, ...]:
        """Return every access token, newest first, also expired ones that were not trimmed yet."""
        return self._read_all(_PASS, _SQL["all"])

    def note_used(self, pass_id: str, utc_s: float) -> None:
        """Note that an access token was used; a revoked one stays deleted."""
        self._database.write(_SQL["used"], {"pass_id": pass_id, "used_utc_s": utc_s})

    def delete(self, pass_id: str) -> None:
        """Forget an access token and what features made with it; harmless when it does not exist."""
        self._database.write(_SQL["delete"], {"pass_id": pass_id})
        self._delete_rows_made_with(pass_id=pass_id)

    def forget_made_with(self, kind: Literal["token", "session"]) -> None:
        """Forget what features made with any token or session, also with expired sessions."""
        self._delete_rows_made_with(kind=kind)

    def _delete_rows_made_with(self, pass_id: str = "", kind: str = "") -> None:
        for sql in _REVOKED_SQL.values():
            self._database.write(sql, {"pass_id": pass_id, "kind": kind})

    def keep_code(self, code: LoginCode) -> None:
        """Keep a new code. Raises: Conflict when its digest exists already."""
        self._database.write(_SQL["insert_code"], _CODE.bind(code))

    def spend_code(self, digest: str) -> LoginCode | None:
        """Delete a code and return it, which may have expired; None when there is none."""
        rows = self._database.write_returning(_SQL["spend_code"], {"digest": digest})
        return _CODE.read(rows[0]) if rows else None

    def delete_codes(self) -> None:
        self._database.write(_SQL["delete_codes"], {})

    def trim(self, utc_s: float) -> int:
        """Forget expired codes and tokens; return the number of tokens."""
        self._database.write(_SQL["expired_codes"], {"utc_s": utc_s})
        return self._database.write(_SQL["expired"], {"utc_s": utc_s})
