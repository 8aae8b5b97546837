"""Settings of notifications to a person: at the desktop, and in browsers."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

NoticeKind = Literal[
    "wait_resolved", "wake_undelivered", "task_stuck", "task_failed", "task_ended", "display_down", "takeover_ended"
]
KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)

PushService = Annotated[
    str,
    Meta(
        pattern=r"^((\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+|https?://[a-z0-9.:-]+)$",
        description="a host or the address of a push service",
    ),
]
"""A host, `*.` and a domain for every host in it, or a whole origin."""
PUSH_SERVICES: tuple[PushService, ...] = (
    "fcm.googleapis.com",
    "updates.push.services.mozilla.com",
    "*.push.apple.com",
    "*.notify.windows.com",
)
"""The push services of browsers. A subscribing client must not make acud call any other address."""


class NotifySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[notify]`"""

    enabled: bool = False
    kinds: tuple[NoticeKind, ...] = KINDS
    bus_address: str = ""
    per_minute: Annotated[int, Meta(ge=1, le=600)] = 6
    screen_text: bool = False
    timeout_s: Annotated[float, Meta(gt=0, le=60)] = 5.0
    push: bool = False
    push_contact: Annotated[
        str,
        Meta(
            pattern="^(mailto:[^@ ]+@[^@ ]+|https://[^ ]+)$", description="mailto: or https: and where you are reached"
        ),
    ] = "mailto:acud@localhost"
    push_services: tuple[PushService, ...] = PUSH_SERVICES

    @property
    def wanted(self) -> bool:
        return self.enabled or self.push
