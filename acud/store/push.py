"""Browsers that take notifications, and on whose behalf."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from acud.protocol.push import PushInfo, PushTarget
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("push")


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


_CODEC = RowCodec(Subscription)


class PushSubscriptions:
    """The table `push_subscriptions`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, made: Subscription) -> None:
        """Keep one, in the place of one with the same endpoint."""
        self._database.write(_SQL["insert"], _CODEC.bind(made))

    def good(self, utc_s: float) -> tuple[Subscription, ...]:
        """Return those whose time is not over, oldest first."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["good"], {"utc_s": utc_s})))

    def delete(self, push_id: str) -> None:
        """Forget one; harmless when it is not there."""
        self._database.write(_SQL["delete"], {"push_id": push_id})

    def delete_of(self, pass_id: str) -> None:
        """Forget those of a pass."""
        self._database.write(_SQL["of_pass"], {"pass_id": pass_id})

    def delete_kind(self, kind: Literal["token", "session"]) -> None:
        """Forget those of every token or session, also of sessions whose time is over."""
        self._database.write(_SQL["of_kind"], {"kind": kind})

    def trim(self, utc_s: float) -> None:
        """Forget what has expired."""
        self._database.write(_SQL["expired"], {"utc_s": utc_s})
