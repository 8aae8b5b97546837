"""Messages between a capture process and the supervisor: sources and frames, windows, acts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.children import Fault, Heartbeat, MonoNs, Stop
from acud.types import MonitorInfo, Number, Rect, WindowInfo, XId
from acud.types.actions import InputAction, Point


class SourceHello(Struct, frozen=True, tag="source_hello", forbid_unknown_fields=True):
    """A source of frames wants a ring: the display itself (`:100`) or a covered window (`:100.w4194307`).

    `method`: `attachfd`, `sysv` or `getimage`; `reason`: why it is not the first of these. `x_server` names this run of
    the X server (it changes when the server was restarted).
    """

    source: str
    display: str
    width: int
    height: int
    depth: int
    method: str
    reason: str = ""
    x_server: Annotated[str, Meta(max_length=100)] = ""
    window_id: XId = 0


class SourceGone(Struct, frozen=True, tag="source_gone", forbid_unknown_fields=True):
    """A window source ended: the window closed, was unmapped, or is wholly visible again."""

    source: str
    reason: str


class LookAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """How does a part of the next demanded frame look? `ignore` boxes are relative to `crop` and count as black.

    `tiles`: also by its own 16x16 tiles.
    """

    crop: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    tiles: bool = False


class PartLook(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer: the identity as evaluators have it, and where asked for 8 bytes for each tile (as `Notice.looks`)."""

    ask: LookAsk
    identity: str
    tiles: bytes = b""


class Notice(Struct, frozen=True, tag="notice", forbid_unknown_fields=True):
    """A frame was published, or a demanded grab found nothing new.

    `tiles`: bitmap of changed 16x16 tiles, little-endian bytes, bit `row * columns + column`; empty when none changed
    (then `frame` is the unchanged newest frame). `box`: the changed tiles' bounding box. `mono_ns`: CLOCK_MONOTONIC at
    the start of the grab. `took_ns`: until the pixels were here; they are of a moment in between. `damage_ns`:
    CLOCK_MONOTONIC when the damage behind it was first read (0: no damage, a floor or demanded grab). `grab`: highest
    demanded-grab number that this grab satisfies. `fresh`: the first frame of an epoch whose predecessor could not be
    compared, so everything counts as changed. `unsure`: tiles (as `tiles`), where a wait asks for quiet, that were
    painted since the notice before and look the same, but may have looked different in between. `looks`: where asked
    for, and few tiles changed, 8 bytes (little-endian, not 0) for each of `tiles`, lowest bit first: equal ones are of
    equal pixels. `shown`: how the parts look that demands asked about.

    Changes of the windows up to the grab were sent before it (`DisplayWindows`).
    """

    source: str
    epoch: Number
    frame: Number
    mono_ns: MonoNs
    tiles: bytes = b""
    box: Rect | None = None
    damage_ns: MonoNs = 0
    grab: Number = 0
    fresh: bool = False
    unsure: bytes = b""
    looks: bytes = b""
    took_ns: Number = 0
    shown: tuple[PartLook, ...] = ()


class DisplayWindows(Struct, frozen=True, tag="windows", forbid_unknown_fields=True):
    """The display's windows, topmost first, the focused one (0: none), and its monitors in the X server's order.

    `a11y_address`: the accessibility bus that the root window's property AT_SPI_BUS names ("": none yet).
    `scale_factor`: how much larger than plain pixels its programs draw.
    """

    display: str
    windows: tuple[WindowInfo, ...]
    focused: XId = 0
    a11y_address: str = ""
    monitors: tuple[MonitorInfo, ...] = ()
    scale_factor: float = 1.0


class Misdirection(Struct, frozen=True, forbid_unknown_fields=True):
    """Why input stopped: it would have gone to the window `by` (0: to none), and is for `target` (X ids).

    `is_kept`: `by` is a modal dialog that keeps `target` from being used. `done`: letters or chords sent before, the
    last `unsure` of which may have reached `by` or nothing; all are unsure where `by` and `target` are of one program.
    """

    target: XId
    by: XId = 0
    is_kept: bool = False
    done: Number = 0
    unsure: Number = 0


class Acted(Struct, frozen=True, tag="acted", forbid_unknown_fields=True):
    """An `Act` ended. `code` "": it was done; else it failed with that code of `acud.base.errors`, `message`, `hint`.

    `epoch`, `frame`: the newest frame before the first event went out, with all that was painted until then; its
    notice precedes this message, and so does whatever was grabbed since. `cursor`: where the pointer is now.
    `text`, `png`: what `clipboard_get` read. `window_id`: the window that a `window` action meant, or that the input
    went to (0: to none). `misdirected`: why it stopped before its end, with the code `refused`.
    """

    act_id: str
    code: str = ""
    message: str = ""
    hint: str = ""
    epoch: Number = 0
    frame: Number = 0
    cursor: Point | None = None
    text: str = ""
    png: bytes = b""
    window_id: XId = 0
    misdirected: Misdirection | None = None


MOST_CLIPBOARD = 65_536
"""Characters of a clipboard that conditions see."""


class ClipboardSeen(Struct, frozen=True, tag="clipboard", forbid_unknown_fields=True):
    """The clipboard's `text` (`is_cut`: there is more), or why it has none: `code` and `message` of an error.

    `copies`: how often a program took it since `since_utc_s`, the last time at `copied_utc_s` (0: never).
    """

    display: str
    text: Annotated[str, Meta(max_length=MOST_CLIPBOARD)] = ""
    is_cut: bool = False
    code: str = ""
    message: str = ""
    copies: Number = 0
    copied_utc_s: float = 0.0
    since_utc_s: float = 0.0


FromCapture = Heartbeat | Fault | SourceHello | SourceGone | Notice | DisplayWindows | Acted | ClipboardSeen


class Attach(Struct, frozen=True, tag="attach", forbid_unknown_fields=True):
    """The ring made for a source. `previous`: path of the ring before it ("" for none); its last frame is compared."""

    source: str
    path: str
    epoch: int
    first_frame: int
    previous: str = ""


class Demand(Struct, frozen=True, tag="demand", forbid_unknown_fields=True):
    """What consumers want of a source now. `fps` 0: nothing is grabbed. A new `grab` number asks for one frame at once.
    `quiet`: boxes of the source in which waits ask for quiet. `looks`: report how changed tiles look. `shown`: parts
    whose look to report with the demanded frame.
    """

    source: str
    fps: float
    grab: int = 0
    quiet: tuple[Rect, ...] = ()
    looks: bool = False
    shown: tuple[LookAsk, ...] = ()


class Follow(Struct, frozen=True, tag="follow", forbid_unknown_fields=True):
    """The windows that waits look at; a covered one among them becomes a source of its own. `clipboard`: whether a wait
    asks about that, too.
    """

    windows: tuple[int, ...]
    clipboard: bool = False


class Act(Struct, frozen=True, tag="act", forbid_unknown_fields=True):
    """Do `action` on the display, after those asked for before it. Points are in display pixels.

    A window is named by its X id. What takes long (typing, dragging) goes on between frames. Keys and buttons are for
    `window` (0: whichever has the keyboard at the first key), or where `with_program` for any window of its program:
    the act ends as `misdirected` before what would reach another one.
    """

    act_id: str
    action: InputAction
    window: XId = 0
    with_program: bool = False


class DropActs(Struct, frozen=True, tag="drop_acts", forbid_unknown_fields=True):
    """Stop acting: what is under way or queued ends with the error `refused` and this `reason`, and every key and
    button that acud holds is released. Acts that come later are done.
    """

    reason: str


ToCapture = Attach | Demand | Follow | Act | DropActs | Stop
