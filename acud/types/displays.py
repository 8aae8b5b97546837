"""Single values with their bounds, boxes of pixels, displays, and their windows and monitors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

TILE_PX = 16
"""Side of an exact-comparison tile in pixels; tiles at the right and bottom edge are partial."""
MAX_TEXT = 4000
MAX_SIDE_PX = 32767
MAX_NUMBER = 2**53 - 1
"""The last number of a frame or epoch that JSON and JavaScript keep exactly: 285,000 years at 1,000 frames a second."""

Number = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Pixel = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A place or a size in pixels, also one far off the screen; sums of a few stay far below 64 bits."""
XId = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""A 32 bit value of the X protocol: a window's id, or the pid that a client claims."""

ShortText = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Count = Annotated[int, Meta(ge=1, le=10_000)]
Positive = Annotated[float, Meta(gt=0)]
PositiveSeconds = Annotated[float, Meta(gt=0, le=31_536_000)]
Seconds = Annotated[float, Meta(ge=0, le=31_536_000)]
Share = Annotated[float, Meta(ge=0, le=1)]

PixelFormat = Literal["BGRX"]

_NAME = re.compile(r"([a-z0-9][a-z0-9-]{0,62}/)?(?:(?:unix)?:)?([0-9]{1,20})(?:\.([0-9]{1,20}))?")
_LOCAL = re.compile(r":([0-9]{1,20})(?:\.[0-9]{1,20})?")


class Rect(Struct, frozen=True, array_like=True):
    """A box in pixels, origin at the top left: `[x, y, w, h]`."""

    x: Pixel
    y: Pixel
    w: Pixel
    h: Pixel

    @property
    def right(self) -> int:
        """The first column past the box."""
        return self.x + self.w

    @property
    def bottom(self) -> int:
        """The first row past the box."""
        return self.y + self.h

    @property
    def area(self) -> int:
        return self.w * self.h

    def intersect(self, other: Rect) -> Rect | None:
        """Return the common box of both boxes, or None if they are apart."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        w, h = min(self.right, other.right) - x, min(self.bottom, other.bottom) - y
        return Rect(x, y, w, h) if w > 0 and h > 0 else None

    def shift(self, dx: int, dy: int) -> Rect:
        """Return the box shifted by (dx, dy)."""
        return Rect(self.x + dx, self.y + dy, self.w, self.h)

    def contains(self, other: Rect) -> bool:
        """Return whether `other` lies wholly inside."""
        return self.x <= other.x and self.y <= other.y and other.right <= self.right and other.bottom <= self.bottom

    def holds(self, x: int, y: int) -> bool:
        """Return whether the pixel (x, y) lies inside."""
        return self.x <= x < self.right and self.y <= y < self.bottom


class HiddenBox(Struct, frozen=True, forbid_unknown_fields=True):
    """A box in a source's pixels that must not leave the machine, and the redaction rule for it."""

    rule: str
    box: Rect


class RedactedText(NamedTuple):
    """A text as it may leave the machine, and the rule of the weightiest redaction in it ("": none)."""

    text: str
    rule: str = ""


def redaction_mark(rule: str) -> str:
    return f"[REDACTED_{rule.upper()}]"


class DisplayState(StrEnum):
    """The state of a display."""

    STARTING = "starting"
    UP = "up"
    DOWN = "down"
    ENDED = "ended"


class WindowInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A top-level window: X id, title, geometry in display pixels, and how much of it can be seen.

    `visibility`: `full` (a crop of the display shows it), `covered` (needs its own source), `unmapped` (no pixels).
    `kind`: `dialog` is a client window that belongs to another one; `popup` is not managed by the window manager (menu,
    tooltip, list of a combo box), listed while mapped, and never meant by a title. `owner`: the window that a dialog or
    popup names as its owner (0: none). `modal`: it must be answered before other windows of its program can be used.
    `frame`: `bounds` with the window manager's title bar and borders, which cover what lies below (none: no frame).
    `hides_screen`: a lock screen or screen saver that covers a whole monitor. `is_desktop`: the background of a desktop
    environment, below all others.
    """

    window_id: XId
    title: str
    bounds: Rect
    visibility: Literal["full", "covered", "unmapped"] = "full"
    pid: XId = 0
    wm_class: str = ""
    kind: Literal["normal", "dialog", "popup"] = "normal"
    owner: XId = 0
    modal: bool = False
    frame: Rect | None = None
    hides_screen: bool = False
    is_desktop: bool = False

    def shift(self, dx: int, dy: int) -> WindowInfo:
        """Return the window with its boxes shifted by (dx, dy)."""
        frame = None if self.frame is None else self.frame.shift(dx, dy)
        return replace(self, bounds=self.bounds.shift(dx, dy), frame=frame)

    @property
    def outside(self) -> Rect:
        """The box that the window covers: its frame, or `bounds` without a frame."""
        return self.frame or self.bounds


def window_at(windows: Iterable[WindowInfo], x: int, y: int) -> WindowInfo | None:
    """Return the topmost of `windows` (topmost first) that covers a display pixel; None on the bare root."""
    return next((one for one in windows if one.visibility != "unmapped" and one.outside.holds(x, y)), None)


def screen_cover(windows: Iterable[WindowInfo], box: Rect | None = None) -> WindowInfo | None:
    """Return the lock screen or screen saver that hides a part of `box` (None: of the display), or None."""
    hiding = (one for one in windows if one.hides_screen)
    return next((one for one in hiding if box is None or one.bounds.intersect(box)), None)


class MonitorInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A monitor of a display (RANDR 1.5): name and box in display pixels. Its number is its place in the list."""

    name: str
    bounds: Rect
    primary: bool = False


class Urgency(StrEnum):
    """The urgency that a program gives its notification."""

    LOW = "low"
    NORMAL = "normal"
    CRITICAL = "critical"


class DisplayNotification(Struct, frozen=True, forbid_unknown_fields=True):
    """A desktop notification of a program on a managed display, in that program's words.

    `actions`: each with its key and its label; `default` is what a click on the notification does.
    """

    id: int
    app: str
    title: str
    body: str = ""
    urgency: Urgency = Urgency.NORMAL
    actions: tuple[tuple[str, str], ...] = ()
    utc_s: float = 0.0


class DisplayInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A display as clients see it."""

    name: str
    number: int
    """The store's integer for this display; never reused."""
    managed: bool
    state: DisplayState
    reason: str = ""
    width: int = 0
    height: int = 0
    epoch: int = 0
    frame: int = 0
    frame_age_s: float | None = None
    fps: float = 0.0
    grab_path: str = ""
    grab_reason: str = ""
    windows: tuple[WindowInfo, ...] = ()
    focused: int = 0
    is_default: bool = False
    auth_file: str = ""
    bus_address: str = ""
    monitors: tuple[MonitorInfo, ...] = ()
    taken_by: str = ""
    """The person in control after a takeover ("": none): agents' actions are refused until `taken_until_utc_s`."""
    taken_until_utc_s: float = 0.0
    notifications: tuple[DisplayNotification, ...] = ()
    """The open notifications, oldest first."""
    notifications_fault: str = ""
    """Why acud reads no notifications there ("": it does)."""


def display_name(name: str) -> str:
    """Return the canonical name of a display: `:7` for `7`, `:07`, `:7.0` and `unix:7`; a second X screen keeps its
    number (`:7.1`), a display at a fleet's endpoint its host (`h1/:7`). Any other text stays as it is.
    """
    found = _NAME.fullmatch(name.strip())
    if found is None:
        return name.strip()
    screen = int(found[3] or 0)
    return f"{found[1] or ''}:{int(found[2])}" + (f".{screen}" if screen else "")


def x_number(name: str) -> int:
    """Return the number of the X server of the display `name` (`:7.1`: 7), -1 if it is not on this machine."""
    found = _LOCAL.fullmatch(name)
    return int(found[1]) if found is not None else -1
