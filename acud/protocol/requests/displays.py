"""The displays: watched, made, removed, taken over."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.command import DISPLAY_S, FIRST_USE_S, Command, FleetRoute, RestOperation
from acud.protocol.web import Scope
from acud.types import DisplayInfo, DisplayNotification, Labels


class DisplayList(Struct, frozen=True, tag="display_list", forbid_unknown_fields=True):
    """List the displays with their state, frame rate, frame age and windows; ended ones too with `ended`; and which of
    them `screen` means.
    """

    ended: bool = False


class DisplayListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The displays; `default` is what `screen` means ("" while none is up). `default_is_set`: by `[display] default`;
    else clients on this host mean the display that their own programs show on (DISPLAY).
    """

    displays: tuple[DisplayInfo, ...]
    default: str
    default_is_set: bool = False


DisplayName = Annotated[str, Meta(pattern=r"^:[0-9]{1,5}(\.[0-9]{1,2})?$", description="a display, such as :100")]
FleetDisplayName = Annotated[
    str,
    Meta(
        pattern=r"^([a-z0-9][a-z0-9-]{0,62}/)?:[0-9]{1,5}(\.[0-9]{1,2})?$",
        description="a display, such as :100 or host/:100",
    ),
]
"""With the host before it, as the endpoint of a fleet wants it."""


class DisplayAdd(Struct, frozen=True, tag="display_add", forbid_unknown_fields=True):
    """Adopt the display `name` (`:0`; at a fleet's endpoint `host/:0`);
    `auth_file` is its Xauthority ("" tries $XAUTHORITY and ~/.Xauthority).

    Its X server has to be run by the user of the daemon, by root or by the user with the uid `owner` (-1: nobody else),
    now and at each later connection: that user sees the cookie and all that is typed."""

    name: FleetDisplayName
    auth_file: str = ""
    owner: Annotated[int, Meta(ge=-1, le=4294967294)] = -1


class NotificationAnswer(Struct, frozen=True, tag="notification_answer", forbid_unknown_fields=True):
    """Choose the `action` (its key) of an open notification of the managed display `name`, or close it ("").

    `display_list` and scenes show the open ones with their numbers and actions.
    """

    name: FleetDisplayName
    notification_id: Annotated[int, Meta(ge=1, le=4_294_967_295)]
    action: Annotated[str, Meta(max_length=500)] = ""


class NotificationReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The notification as it was."""

    notification: DisplayNotification


class DisplayReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The display. `notes`: fair warnings."""

    display: DisplayInfo
    notes: tuple[str, ...] = ()


class DisplayCreate(Struct, frozen=True, tag="display_create", forbid_unknown_fields=True):
    """Start an Xvfb with a window manager and a session bus of its own; 0 means the size in the settings. Programs find
    it by its `name` and `auth_file` (DISPLAY, XAUTHORITY).

    The size at creation is the largest this display can ever have. `labels`: what the host must carry (`[fleet]
    labels`).
    """

    width: Annotated[int, Meta(ge=0, le=16384)] = 0
    height: Annotated[int, Meta(ge=0, le=16384)] = 0
    window_manager: str = ""
    labels: Labels = {}


class DisplayRemove(Struct, frozen=True, tag="display_remove", forbid_unknown_fields=True):
    """End the managed display `name`, or forget the adopted one; with `force` also while waits look at it."""

    name: str
    force: bool = False


class DisplayTake(Struct, frozen=True, tag="display_take", forbid_unknown_fields=True):
    """Take `display` ("": the default one) over for `for_s`: actions without the lease are refused at once, what is
    under way is dropped, and every held key and button is released. Waits and looks go on. It ends by itself.

    Refused agents are shown `who` and `note`. With the `lease` held already, it is prolonged: `for_s` from now.
    """

    display: str = ""
    who: Annotated[str, Meta(max_length=100)] = ""
    for_s: Annotated[float, Meta(gt=0, le=86_400)] = 900.0
    note: Annotated[str, Meta(max_length=500)] = ""
    lease: Annotated[str, Meta(max_length=64)] = ""


class TakeReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`lease` lets its holder act on the display, and give it back before `until_utc_s`."""

    lease: str
    until_utc_s: float
    display: DisplayInfo


class DisplayRelease(Struct, frozen=True, tag="display_release", forbid_unknown_fields=True):
    """Give `display` back before its lease runs out. `note`: what the agents are to know. It is in the event, in the
    thread of each task that has this display, and in the answer to the first actions on it.
    """

    display: str
    lease: Annotated[str, Meta(max_length=64)] = ""
    force: bool = False
    note: Annotated[str, Meta(max_length=500)] = ""


def _create_needs(request: DisplayCreate) -> Scope:
    """The caller names the window manager, which is a program."""
    return Scope.ADMIN if request.window_manager else Scope.ACT


COMMANDS = (
    Command(DisplayList, DisplayListReply, fleet=FleetRoute.ALL),
    Command(DisplayAdd, DisplayReply, mutating=True, deferred=True, limit_s=DISPLAY_S, begins="displays"),
    Command(
        DisplayCreate,
        DisplayReply,
        mutating=True,
        deferred=True,
        outside=True,
        limit_s=DISPLAY_S,
        begins="displays",
        positional=2,
        fleet=FleetRoute.PLACED,
        rest=RestOperation("POST", "/api/displays", Scope.ACT, "a new display", needs=_create_needs),
    ),
    Command(
        DisplayRemove,
        DisplayReply,
        mutating=True,
        deferred=True,
        outside=True,
        limit_s=DISPLAY_S,
        errors="Conflict while waits look at it",
        destroys=True,
        rest=RestOperation("DELETE", "/api/displays/{name}", Scope.ADMIN, path_fields={"name": "name"}),
    ),
    Command(
        NotificationAnswer,
        NotificationReply,
        mutating=True,
        outside=True,
        errors="NotFound for one that is not open; Unavailable where acud reads none",
        rest=RestOperation(
            "POST",
            "/api/displays/{name}/notifications/{number}",
            Scope.ACT,
            path_fields={"name": "name", "number": "notification_id"},
        ),
    ),
    Command(
        DisplayTake,
        TakeReply,
        mutating=True,
        deferred=True,
        limit_s=FIRST_USE_S,
        positional=1,
        rest=RestOperation("POST", "/api/displays/{name}/take", Scope.ACT, path_fields={"name": "display"}),
    ),
    Command(
        DisplayRelease,
        DisplayReply,
        mutating=True,
        errors="Refused without its lease, unless `force`; Conflict when it is not taken over",
        rest=RestOperation(
            "POST",
            "/api/displays/{name}/release",
            Scope.ACT,
            path_fields={"name": "display"},
            needs=lambda request: Scope.ADMIN if request.force else Scope.ACT,
        ),
    ),
)
