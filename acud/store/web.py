"""Who is let in over HTTP: passes and one-time codes, known by the digests of their secrets alone."""

from __future__ import annotations

from msgspec import Struct

from acud.errors import InvalidRequest, NotFound
from acud.protocol.web import Pass, Scope
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("web")
_CODEC = RowCodec(Pass)


class Code(Struct, frozen=True):
    """A one-time code: what the session that it opens may do."""

    digest: str
    name: str
    scope: Scope
    displays: tuple[str, ...]
    tasks: tuple[str, ...]
    expires_utc_s: float


_CODES = RowCodec(Code)


class WebPasses:
    """The tables `web_passes` and `web_codes`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, made: Pass, digest: str) -> None:
        """Keep a new pass. Raises: Conflict when its id or its digest is there already."""
        self._database.write(_SQL["insert"], {**_CODEC.bind(made), "digest": digest})

    def of(self, digest: str) -> Pass | None:
        """Return the pass of the secret with this digest, which may have expired, or None."""
        rows = self._database.read(_SQL["digest"], {"digest": digest})
        return _CODEC.read(rows[0]) if rows else None

    def find(self, beginning: str) -> Pass:
        """Return the one whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        rows = self._database.read(_SQL["beginning"], {"beginning": beginning}) if beginning else []
        if not rows:
            raise NotFound(f"no token or session {beginning[:80]}", hint="acud web token list")
        if len(rows) > 1 and rows[0]["pass_id"] != beginning:
            ids = ", ".join(str(row["pass_id"]) for row in rows)
            raise InvalidRequest(f"several begin with {beginning}: {ids}", hint="give more of the id")
        return _CODEC.read(rows[0])

    def all(self) -> tuple[Pass, ...]:
        """Return every pass, newest first, expired ones that were not trimmed yet too."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["all"])))

    def used(self, pass_id: str, utc_s: float) -> None:
        """Note that a pass was used; one that was revoked is left alone."""
        self._database.write(_SQL["used"], {"pass_id": pass_id, "used_utc_s": utc_s})

    def delete(self, pass_id: str) -> None:
        """Forget a pass; harmless when it is not there."""
        self._database.write(_SQL["delete"], {"pass_id": pass_id})

    def keep_code(self, code: Code) -> None:
        """Keep a new code. Raises: Conflict when its digest is there already."""
        self._database.write(_SQL["insert_code"], _CODES.bind(code))

    def spend_code(self, digest: str) -> Code | None:
        """Take a code away and return it, which may have expired; None when there is none."""
        rows = self._database.write_returning(_SQL["spend_code"], {"digest": digest})
        return _CODES.read(rows[0]) if rows else None

    def delete_codes(self) -> None:
        """Forget every code."""
        self._database.write(_SQL["delete_codes"], {})

    def trim(self, utc_s: float) -> int:
        """Forget what has expired; return how many passes that were."""
        self._database.write(_SQL["expired_codes"], {"utc_s": utc_s})
        return self._database.write(_SQL["expired"], {"utc_s": utc_s})
