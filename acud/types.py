"""The nouns of acud as frozen values: rectangles, targets, conditions, policies, verdicts, waits, displays.

They are the shapes of the wire, of the store's JSON columns and of the pure rules alike. Validation of single values
happens here (`msgspec.Meta`); what needs two values or the world is checked by `acud.waits.request`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

TILE_PX = 16
"""Side of an exact-comparison tile in pixels; tiles at the right and bottom edge are partial."""

MAX_TEXT = 4000
MAX_SIDE_PX = 32767

ShortText = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
PositiveSeconds = Annotated[float, Meta(gt=0, le=31_536_000)]
Seconds = Annotated[float, Meta(ge=0, le=31_536_000)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Rect(Struct, frozen=True, array_like=True):
    """A box in pixels, origin at the top left: `[x, y, w, h]`."""

    x: int
    y: int
    w: int
    h: int

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
        """Pixels covered."""
        return self.w * self.h

    def intersect(self, other: Rect) -> Rect | None:
        """Return the common box, or None when there is none."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        w, h = min(self.right, other.right) - x, min(self.bottom, other.bottom) - y
        return Rect(x, y, w, h) if w > 0 and h > 0 else None

    def moved(self, dx: int, dy: int) -> Rect:
        """Return the box shifted by (dx, dy)."""
        return Rect(self.x + dx, self.y + dy, self.w, self.h)

    def contains(self, other: Rect) -> bool:
        """Tell whether `other` lies wholly inside."""
        return self.x <= other.x and self.y <= other.y and other.right <= self.right and other.bottom <= self.bottom


# ---- targets -------------------------------------------------------------------------------------------------------


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """What a wait looks at, parsed: a display, and within it at most one of a window or a region.

    `display` is a name such as `:100`, or "" for the default display (`screen`). `window` is a title part, or an X id
    in decimal or `0x` form. `region` is in display pixels. `ignore` boxes (clock, caret) are in the target's own
    pixels, origin at the target's top left.
    """

    display: str = ""
    window: str = ""
    region: Rect | None = None
    ignore: tuple[Rect, ...] = ()


# ---- conditions: `until` -------------------------------------------------------------------------------------------


class Criteria(Struct, frozen=True, tag="criteria", forbid_unknown_fields=True):
    """A condition in natural language, answered by a judge."""

    criteria: ShortText


class Text(Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    """Visible text (white space folded, case ignored unless told), or its absence when `gone`."""

    text: ShortText
    regex: bool = False
    gone: bool = False
    match_case: bool = False


class WindowTitle(Struct, frozen=True, tag="window", forbid_unknown_fields=True):
    """A window whose title contains `title` (or matches, with `regex`) is on the display, or none is when `gone`."""

    title: ShortText
    regex: bool = False
    gone: bool = False


class Change(Struct, frozen=True, tag="change", forbid_unknown_fields=True):
    """A tile of the target changed since the baseline.

    `share` asks that changed tiles cover at least that part of the target. `settle_s` asks that nothing changed for so
    long after the first change (0: the first changed frame). `baseline` is a token, or "" for the moment of arming.
    """

    share: Share = 0.0
    settle_s: Seconds = 0.0
    baseline: str = ""


class Stable(Struct, frozen=True, tag="stable", forbid_unknown_fields=True):
    """Nothing in the target changed for `stable_s`, shown by a fresh compared grab."""

    stable_s: PositiveSeconds


class AllOf(Struct, frozen=True, tag="all", forbid_unknown_fields=True):
    """Every part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class AnyOf(Struct, frozen=True, tag="any", forbid_unknown_fields=True):
    """At least one part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class NotOf(Struct, frozen=True, tag="not", forbid_unknown_fields=True):
    """The part plainly does not hold; an unknown part stays unknown."""

    part: Until


Leaf = Criteria | Text | WindowTitle | Change | Stable
Until = Criteria | Text | WindowTitle | Change | Stable | AllOf | AnyOf | NotOf


# ---- policy --------------------------------------------------------------------------------------------------------


class Cadence(StrEnum):
    """When a wait's view is judged."""

    EVENT = "event"
    FIXED = "fixed"
    ADAPTIVE = "adaptive"


class GateKind(StrEnum):
    """What lets a changed frame through to the judge; only `none` and `exact` never miss a change."""

    NONE = "none"
    EXACT = "exact"
    RATIO = "ratio"
    TILE_MAX = "tile_max"
    DHASH = "dhash"
    SSIM = "ssim"


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """How often to judge, and on which frames. See docs/waiting.md for each default's reason."""

    cadence: Cadence = Cadence.EVENT
    interval_s: Annotated[float, Meta(ge=0.05, le=3600)] = 1.0
    min_interval_s: Annotated[float, Meta(ge=0, le=3600)] = 2.0
    force_after_s: Annotated[float, Meta(ge=0.5, le=86_400)] = 30.0
    gate: GateKind | None = None
    """None: `exact` for `event` and `adaptive`, `none` for `fixed`."""
    gate_threshold: Annotated[float, Meta(ge=0)] | None = None
    confirm: Annotated[int, Meta(ge=1, le=20)] = 1


# ---- verdicts ------------------------------------------------------------------------------------------------------


class Answer(StrEnum):
    """The three values of a verdict."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer with its words: evidence for yes, what is missing for no, the reason for unknown.

    `code` names the reason of an unknown for programs: `judge_down`, `unparsable`, `frame_gone`, `not_viewable`,
    `window_missing`, `display_down`, `paused`, `needs_vision`, `budget`, `not_judged`, `engine` … ("" for yes and no).
    """

    answer: Answer
    detail: str = ""
    code: str = ""


def yes(detail: str) -> Verdict:
    """Return a yes with its evidence."""
    return Verdict(Answer.YES, detail)


def no(detail: str) -> Verdict:
    """Return a no, saying what is missing."""
    return Verdict(Answer.NO, detail)


def unknown(code: str, detail: str) -> Verdict:
    """Return an unknown with its reason."""
    return Verdict(Answer.UNKNOWN, detail, code)


# ---- waits ---------------------------------------------------------------------------------------------------------


class WaitState(StrEnum):
    """The life of a wait; the transition table is in `acud.waits.states`."""

    WATCHING = "watching"
    RESOLVED = "resolved"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    FAILED = "failed"


class JudgeName(StrEnum):
    """Who answers `criteria`; `auto` is ollama where it answers and has the model, else ocr."""

    AUTO = "auto"
    OCR = "ocr"
    OLLAMA = "ollama"
    SCRIPTED = "scripted"
    PASSTHROUGH = "passthrough"


class WaitSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What a client asks for, validated and normalised; stored as JSON beside the wait."""

    until: Until
    target: Target
    timeout_s: float
    policy: Policy = Policy()
    judge: JudgeName = JudgeName.AUTO
    task_id: str = ""
    label: str = ""


class Evidence(Struct, frozen=True, forbid_unknown_fields=True):
    """The kept picture of a view: which frame it was, where its file is, and the hash that proves it.

    `name` is the file's name under the evidence directory ("" when no picture could be kept, `reason` says why).
    `identity` names the masked pixels: see `acud.pixels.identity`.
    """

    name: str = ""
    identity: str = ""
    display: str = ""
    epoch: int = 0
    frame: int = 0
    crop: Rect | None = None
    width: int = 0
    height: int = 0
    reason: str = ""


class WaitInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A wait as clients see it."""

    wait_id: str
    state: WaitState
    spec: WaitSpec
    display: str
    created_utc_s: float
    deadline_utc_s: float
    remaining_s: float
    verdict: Verdict
    """The newest verdict on the whole condition; `unknown(not_judged)` before the first."""
    judged: int = 0
    """Evaluations so far (jobs that carried this wait)."""
    judge_calls: int = 0
    """Answers that a judge really worked for (not from a memo, not local)."""
    frames_seen: int = 0
    cost_usd: float | None = None
    note: str = ""
    """A warning the client should show, such as a target that is missing now."""
    ended_utc_s: float = 0.0
    message: str = ""
    """The wake's text once the wait ended."""
    evidence: Evidence | None = None
    changed_to_resolved_ms: float | None = None
    """From the notice of the deciding frame's change to the committed verdict."""


# ---- displays and windows ------------------------------------------------------------------------------------------


class DisplayState(StrEnum):
    """What can be said of a display now."""

    STARTING = "starting"
    UP = "up"
    DOWN = "down"
    ENDED = "ended"


class WindowInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A top-level client window: X id, title, geometry in display pixels, and how much of it can be seen.

    `visibility`: `full` (a crop of the display shows it), `covered` (needs its own source), `unmapped` (no pixels).
    """

    window_id: int
    title: str
    bounds: Rect
    visibility: Literal["full", "covered", "unmapped"] = "full"
    pid: int = 0
    wm_class: str = ""


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


PixelFormat = Literal["BGRX"]
