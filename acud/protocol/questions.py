"""What an evaluator may be asked about a view: its parts, rules for it, and each kind of question."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.types import Echo, HiddenBox, Rect, Until, Verdict, WindowInfo
from acud.types.actions import Point
from acud.types.chat import ChatMessage, ChatTool
from acud.types.grounding import Found, GroundingMethod
from acud.types.scene import ElementMark


class View(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a source's frames. `ignore` boxes are relative to `crop` and are painted black before evaluation."""

    source: str
    crop: Rect | None = None
    ignore: tuple[Rect, ...] = ()


def display_of(source: str) -> str:
    """Return the display that a source shows: `:100` for `:100` and `:100.w4194307`, `:7.1` for `:7.1.w9`."""
    display, _, window = source.rpartition(".")
    return display if window.startswith("w") else source


class WidgetSources(Struct, frozen=True, forbid_unknown_fields=True):
    """Sources of a display's widgets: its session bus, its accessibility bus, and its windows (topmost first).

    (`x`, `y`): where the source's top left pixel is on the display.
    """

    bus_address: str
    a11y_address: str
    windows: tuple[WindowInfo, ...]
    x: int = 0
    y: int = 0


class Hide(Struct, frozen=True, forbid_unknown_fields=True):
    """What redaction rules hide of a source's frames, up to `frame`: on a later one a window may stand elsewhere.

    `fault`: why that is not known; then no picture of it may leave. `told`: where to look for password fields before a
    picture leaves; None: not at all.
    """

    boxes: tuple[HiddenBox, ...] = ()
    frame: int | None = None
    fault: str = ""
    told: WidgetSources | None = None


class LeafAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """One leaf to answer. `index`: its place in the wait's leaf order. `memo`: identities it already answered no to."""

    index: int
    memo: tuple[str, ...] = ()


class LaterAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """A stage to come of a `then`, of text alone, that is evaluated on the same reading.

    `keep_evidence`: keep the picture when it holds on this frame.
    """

    stage: int
    until: Until
    keep_evidence: bool = False


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """One wait's share of a job: its condition, the leaves still open, and the answers already known on this frame.

    `known` holds verdicts of local leaves by index. `gate`/`gate_threshold`: the lossy gate to apply against the view
    last judged for this wait ("" or `exact`/`none`: judge). `force` overrides gate and memo. `party`: the owner of the
    condition, for sharing of model calls ("": this wait shares with none).
    """

    wait_id: str
    until: Until
    asks: tuple[LeafAsk, ...]
    known: dict[int, Verdict] = {}
    judge: str = "auto"
    elapsed_s: float = 0.0
    timeout_s: float = 0.0
    gate: str = ""
    gate_threshold: float | None = None
    force: bool = False
    keep_evidence: bool = False
    """Keep the picture when the whole condition is yes on this frame (or always, when no leaf is asked)."""
    party: str = ""
    images: dict[str, bytes] = {}
    """The pictures that the condition looks for, as PNG by digest; one that the daemon has no more is missing."""
    origin: Point = Point(0, 0)
    """Where the source's top left pixel is on its display."""
    windows: tuple[WindowInfo, ...] = ()
    """Windows of the display, topmost first; their title and address bars are left out when a number is read."""
    echoes: tuple[Echo, ...] = ()
    """Of what acud typed: no evidence for a text or number."""
    is_typed: bool = False
    """Whether acud typed there, so that commands may stand there that are not done."""
    later: tuple[LaterAsk, ...] = ()
    is_last_look: bool = False
    """The picture is for a wait that is about to time out: it needs no `before` picture."""
    changed_from: int | None = None
    """The first frame on which a change held: a view of it, or of a later one, is no picture of before."""
    wants_picture: bool = False
    """Make a small picture of what is judged, where it looks other than before."""


class PictureAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """A picture of the view for a person or an agent, written to the spool as `<job_id>.<format>`.

    `redacted`: as it may leave the machine; the job fails if the rules cannot be applied. `marks`: elements drawn on
    it, boxes in the view's pixels. `secure`: password fields known of. `of_scene`: epoch and frame of the scene that it
    belongs to; it shows that frame where the evaluator still has it, else the newest.
    """

    format: Literal["png", "jpeg"] = "png"
    max_side_px: int = 0
    quality: int = 90
    redacted: bool = False
    marks: tuple[ElementMark, ...] = ()
    secure: tuple[Rect, ...] = ()
    of_scene: tuple[int, int] | None = None


class FindAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """Where is what `description` describes? `methods` are asked in this order, until one settles it; `before` is what
    methods of earlier jobs found.

    `origin`: where the source's top left pixel is on its display. `windows` (topmost first) and `focused` are the
    display's, in display pixels. `bus_address`: its session bus; `a11y_address`: its accessibility bus where the
    display itself names one. `verb`: what is going to be done there (`type` looks for what takes text, `tick` for
    a check box or the like, `choose` for a list or menu, `select` for an option); "" for anything.
    """

    description: str
    methods: tuple[GroundingMethod, ...]
    before: Found = Found("not_found")
    origin: Point = Point(0, 0)
    windows: tuple[WindowInfo, ...] = ()
    focused: int = 0
    bus_address: str = ""
    a11y_address: str = ""
    verb: str = ""
    max_candidates: int = 8


class DescribeAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """What is on the view, in a model's words? `backend`: its name. `secure`: password fields, in the view's pixels."""

    backend: str
    secure: tuple[Rect, ...] = ()


class ThinkAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of a chat model over a conversation; with `picture` the view goes along with the last user message.

    `backend`: a vision backend's name; `model` "" is that backend's own. Without `picture` no frame is taken, and the
    job names no source. `temperature` None leaves the vendor's default. `recurring`: the caller asks again by itself,
    later after a rate limit; so a rate limit costs one call.
    """

    backend: str
    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ChatTool, ...] = ()
    model: str = ""
    picture: bool = True
    max_tokens: int = 1024
    temperature: float | None = 0.0
    recurring: bool = False


class DiffAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """The difference of two evidence files, by name, as a picture in the spool: `<job_id>.png`."""

    before: str
    after: str
