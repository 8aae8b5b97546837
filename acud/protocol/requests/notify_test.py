"""`notify_test`: show a notification by hand."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec


class NotifyTest(Struct, frozen=True, tag="notify_test", forbid_unknown_fields=True):
    """Show a notification on the administrator's desktop now, whatever the rate."""


class NotifyTestReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`server`: the notification server that took it."""

    server: str


SPEC = RequestSpec(NotifyTest, NotifyTestReply, deferred=True)
