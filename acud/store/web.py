"""Who is let in over HTTP (passes and one-time codes, by digest alone), and which browsers take notifications."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from acud.errors import NotFound
from acud.protocol.push import PushInfo, PushTarget
from acud.protocol.web import Pass, Scope
from acud.store.connection import Table
from acud.store.rows import RowCodec, load

_SQL = load("web")
_PASS = RowCodec(Pass)
_PUSH_SQL = load("push")


class LoginCode(Struct, frozen=True):
    """A one-time code: what the session that it opens may do."""

    digest: str
    name: str
    scope: Scope
    displays: tuple[str, ...]
    tasks: tuple[str, ...]
    expires_utc_s: float


_CODE = RowCodec(LoginCode)


class WebPasses(Table):
    """The tables `web_passes` and `web_codes`."""

    def insert(self, made: Pass, digest: str) -> None:
        """Keep a new pass. Raises: Conflict when its id or its digest is there already."""
        self._database.write(_SQL["insert"], {**_PASS.bind(made), "digest": digest})

    def of(self, digest: str) -> Pass | None:
        """Return the pass of the secret with this digest, which may have expired, or None."""
        return self._first(_PASS, _SQL["digest"], {"digest": digest})

    def find(self, beginning: str) -> Pass:
        """Return the one whose id is, or begins with, `beginning`. Raises: NotFound; InvalidRequest if several."""
        unknown = NotFound(f"no token or session {beginning[:80]}", hint="acud web token list")
        return self._beginning(_PASS, _SQL["beginning"], "several", beginning, unknown)

    def all(self) -> tuple[Pass, ...]:
        """Return every pass, newest first, expired ones that were not trimmed yet too."""
        return self._all(_PASS, _SQL["all"])

    def used(self, pass_id: str, utc_s: float) -> None:
        """Note that a pass was used; one that was revoked is left alone."""
        self._database.write(_SQL["used"], {"pass_id": pass_id, "used_utc_s": utc_s})

    def delete(self, pass_id: str) -> None:
        """Forget a pass; harmless when it is not there."""
        self._database.write(_SQL["delete"], {"pass_id": pass_id})

    def keep_code(self, code: LoginCode) -> None:
        """Keep a new code. Raises: Conflict when its digest is there already."""
        self._database.write(_SQL["insert_code"], _CODE.bind(code))

    def spend_code(self, digest: str) -> LoginCode | None:
        """Take a code away and return it, which may have expired; None when there is none."""
        rows = self._database.write_returning(_SQL["spend_code"], {"digest": digest})
        return _CODE.read(rows[0]) if rows else None

    def delete_codes(self) -> None:
        """Forget every code."""
        self._database.write(_SQL["delete_codes"], {})

    def trim(self, utc_s: float) -> int:
        """Forget what has expired; return how many passes that were."""
        self._database.write(_SQL["expired_codes"], {"utc_s": utc_s})
        return self._database.write(_SQL["expired"], {"utc_s": utc_s})


class Subscription(Struct, frozen=True):
    """A browser, and what the pass that it was made with is limited to (both empty: to nothing)."""

    push_id: str
    pass_id: str
    kind: str
    displays: tuple[str, ...]
    tasks: tuple[str, ...]
    endpoint: str
    p256dh: str
    auth: str
    created_utc_s: float
    expires_utc_s: float

    def sees(self, display: str, task_id: str) -> bool:
        """Tell whether it may be told of what belongs to `display` or to `task_id`, as its pass might."""
        return not (self.displays or self.tasks) or display in self.displays or task_id in self.tasks

    @property
    def target(self) -> PushTarget:
        """Where it takes notifications."""
        return PushTarget(self.endpoint, self.p256dh, self.auth)

    @property
    def info(self) -> PushInfo:
        """What may be shown of it."""
        return PushInfo(self.push_id, self.pass_id, urlsplit(self.endpoint).hostname or "", self.created_utc_s)


_SUBSCRIPTION = RowCodec(Subscription)


class PushSubscriptions(Table):
    """The table `push_subscriptions`."""

    def put(self, made: Subscription) -> None:
        """Keep one, in the place of one with the same endpoint."""
        self._database.write(_PUSH_SQL["insert"], _SUBSCRIPTION.bind(made))

    def good(self, utc_s: float) -> tuple[Subscription, ...]:
        """Return those whose time is not over, oldest first."""
        return self._all(_SUBSCRIPTION, _PUSH_SQL["good"], {"utc_s": utc_s})

    def delete(self, push_id: str) -> None:
        """Forget one; harmless when it is not there."""
        self._database.write(_PUSH_SQL["delete"], {"push_id": push_id})

    def delete_of(self, pass_id: str) -> None:
        """Forget those of a pass."""
        self._database.write(_PUSH_SQL["of_pass"], {"pass_id": pass_id})

    def delete_kind(self, kind: Literal["token", "session"]) -> None:
        """Forget those of every token or session, also of sessions whose time is over."""
        self._database.write(_PUSH_SQL["of_kind"], {"kind": kind})

    def trim(self, utc_s: float) -> None:
        """Forget what has expired."""
        self._database.write(_PUSH_SQL["expired"], {"utc_s": utc_s})
