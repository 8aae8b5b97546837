"""The browsers that get notifications."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from acud.protocol.push import PushInfo, PushTarget
from acud.store.connection import Table
from acud.store.rows import RowCodec, load


class Subscription(Struct, frozen=True):
    """A browser, with the displays and tasks of its access token (both empty: all)."""

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
        """Return whether its access token permits `display` or `task_id`."""
        return not (self.displays or self.tasks) or display in self.displays or task_id in self.tasks

    @property
    def target(self) -> PushTarget:
        return PushTarget(self.endpoint, self.p256dh, self.auth)

    @property
    def info(self) -> PushInfo:
        return PushInfo(self.push_id, self.pass_id, urlsplit(self.endpoint).hostname or "", self.created_utc_s)


_SUBSCRIPTION = RowCodec(Subscription)
_SQL = load("tables", _SUBSCRIPTION, folder=Path(__file__).parent)


class PushSubscriptions(Table):
    """The table `push_subscriptions`."""

    def put(self, subscription: Subscription) -> None:
        """Store `subscription`; replace a subscription with the same endpoint."""
        self._database.write(_SQL["insert"], _SUBSCRIPTION.bind(subscription))

    def valid(self, utc_s: float) -> tuple[Subscription, ...]:
        """Return the subscriptions that have not expired, oldest first."""
        return self._read_all(_SUBSCRIPTION, _SQL["good"], {"utc_s": utc_s})

    def delete(self, push_id: str) -> None:
        self._database.write(_SQL["delete"], {"push_id": push_id})
