"""Notifications to people: at the desktop and in browsers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.push import PushInfo, PushTarget
from acud.protocol.requests.command import ROUTE_S, Command


class NotifyTest(Struct, frozen=True, tag="notify_test", forbid_unknown_fields=True):
    """Show a notification on the administrator's desktop now, without the rate limit."""


class NotifyTestReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`server`: the notification server that took it."""

    server: str


class PushList(Struct, frozen=True, tag="push_list", forbid_unknown_fields=True):
    """Return the browsers that take notifications; `pass_id`: those of one access token alone."""

    pass_id: Annotated[str, Meta(max_length=64)] = ""


class PushListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`on`: whether notifications are sent to browsers; `reason`: why not. `public_key`: what a browser subscribes
    with ("" while it is off).
    """

    on: bool
    public_key: str
    subscriptions: tuple[PushInfo, ...]
    reason: str = ""


class PushSubscribe(Struct, frozen=True, tag="push_subscribe", forbid_unknown_fields=True):
    """Send what the access token may see to this browser from now on; the same endpoint again takes the place of the
    former.

    It ends with the access token when that is revoked, with a token's time, and when its push service knows it no
    longer.
    """

    pass_id: Annotated[str, Meta(min_length=1, max_length=64)]
    target: PushTarget


class PushReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The subscription."""

    subscription: PushInfo


class PushUnsubscribe(Struct, frozen=True, tag="push_unsubscribe", forbid_unknown_fields=True):
    """End a subscription, and return it; `pass_id`: only when it is of this access token."""

    push_id: Annotated[str, Meta(min_length=1, max_length=64)]
    pass_id: Annotated[str, Meta(max_length=64)] = ""


COMMANDS = (
    Command(
        NotifyTest,
        NotifyTestReply,
        deferred=True,
        limit_s=ROUTE_S,
        errors="Unavailable when no notification server takes it",
        feature="notifications",
        writes=True,
    ),
    Command(PushList, PushListReply, positional=1, feature="notifications"),
    Command(
        PushSubscribe,
        PushReply,
        mutating=True,
        errors="NotFound; InvalidRequest; Conflict; Unavailable",
        feature="notifications",
    ),
    Command(PushUnsubscribe, PushReply, mutating=True, positional=2, errors="NotFound", feature="notifications"),
)
