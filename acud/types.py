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


class HiddenBox(Struct, frozen=True, forbid_unknown_fields=True):
    """A box in a source's pixels that must not leave the machine, and the redaction rule that says so."""

    rule: str
    box: Rect


# ---- targets -------------------------------------------------------------------------------------------------------


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """What a wait looks at, parsed: a display, and within it at most one of a window, region, terminal or monitor.

    `display` is a name such as `:100`, or "" for the default display (`screen`). `window` is a title part, or an X id
    in decimal or `0x` form. `region` is in display pixels. `ignore` boxes (clock, caret) are in the target's own
    pixels, origin at the target's top left. `pty` names a terminal (`pts/3`) or a tmux session (`build`, or
    `tmux:<socket>/build`); the target is the window that shows it. `monitor` is a RANDR monitor's name or number.
    """

    display: str = ""
    window: str = ""
    region: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    pty: str = ""
    monitor: str = ""

    @property
    def in_windows(self) -> bool:
        """Whether its place follows from the list of windows and monitors, and so may move."""
        return bool(self.window or self.pty or self.monitor)


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
    BLOCKS = "blocks"
    SSIM = "ssim"


class Priority(StrEnum):
    """Whose judgements go first when there are more than evaluators can make."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


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
    priority: Priority = Priority.NORMAL
    """Only orders what waits for a judge; between displays time is shared evenly all the same. See docs/scaling.md."""


# ---- verdicts ------------------------------------------------------------------------------------------------------


class Answer(StrEnum):
    """The three values of a verdict."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer with its words: evidence for yes, what is missing for no, the reason for unknown.

    `code` names the reason of an unknown for programs: `judge_down`, `unparsable`, `frame_gone`, `not_viewable`,
    `window_missing`, `session_missing`, `session_unread`, `monitor_missing`, `display_down`, `paused`, `needs_vision`,
    `redaction`, `budget`, `not_judged`, `engine`, `rate_limited`, `no_key`, `refusal`, `truncated`, `rejected`,
    `unavailable` … ("" for yes and no).
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


# ---- wakes ---------------------------------------------------------------------------------------------------------


class RouteName(StrEnum):
    """A way to reach an agent; each is set up in `[wake]`."""

    OPENCLAW = "openclaw"
    """OpenClaw's webhook, `POST /hooks/wake`."""
    OPENCLAW_CLI = "openclaw_cli"
    """`openclaw system event`: slow, and needs no open port."""
    WEBHOOK = "webhook"
    """Any HTTP receiver; signed."""
    COMMAND = "command"
    """A program of the operator's."""
    FLEET = "fleet"
    """The fleet's stream of wakes, which outlives this host; set up in `[fleet]`."""


class WakeKind(StrEnum):
    """What a wake tells of."""

    RESOLVED = "resolved"
    TIMEOUT = "timeout"
    FAILED = "failed"
    TASK_STUCK = "task_stuck"
    AGENT_DONE = "agent_done"
    AGENT_ESCALATED = "agent_escalated"
    TEST = "test"


class WakeState(StrEnum):
    """The life of a wake; the transition table is in `acud.waits.wakes`.

    `pending`: a route is still to be tried. `sent`: a route took it. `reminding`: it was sent, not seen, and is being
    sent again, marked. `seen`: its agent fetched the result. `undelivered`: no route took it, and none is tried now.
    """

    PENDING = "pending"
    SENT = "sent"
    REMINDING = "reminding"
    SEEN = "seen"
    UNDELIVERED = "undelivered"


class WakeAddress(Struct, frozen=True, forbid_unknown_fields=True):
    """How to wake whoever waits: `routes` in this order (null: those in the settings; empty: none, the result is
    fetched); `session_key` and `agent_id` name an OpenClaw session and agent ("": the main ones).
    """

    routes: Annotated[tuple[RouteName, ...], Meta(max_length=8)] | None = None
    session_key: Annotated[str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9:._@/+#-]{0,254})?$")] = ""
    agent_id: Annotated[str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$")] = ""


class RouteTry(Struct, frozen=True, forbid_unknown_fields=True):
    """One route of one wake: how often it was tried in this round, when it may be tried next, and what it said.

    `refused`: it will not be tried again in this round, whatever happens. `shut`: it was passed over because it failed
    for others.
    """

    name: RouteName
    tries: int = 0
    not_before_utc_s: float = 0.0
    refused: bool = False
    shut: bool = False
    reason: str = ""


class WakeInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A wake as clients see it. `begun_utc_s`: since when its routes are being tried. `next_utc_s`: when something
    happens by itself (0: nothing will). `sent_utc_s`, `sent_by`: the newest sending that a route took.
    """

    wake_id: str
    kind: WakeKind
    text: str
    wait_id: str = ""
    task_id: str = ""
    address: WakeAddress = WakeAddress()
    routes: tuple[RouteTry, ...] = ()
    state: WakeState = WakeState.PENDING
    created_utc_s: float = 0.0
    begun_utc_s: float = 0.0
    next_utc_s: float = 0.0
    attempts: int = 0
    sent_utc_s: float = 0.0
    sent_by: str = ""
    seen_utc_s: float = 0.0
    reminders: int = 0
    reason: str = ""
    """Why the newest attempt failed, or why there is none."""
    flight: int = 0
    """The number of the attempt under way; 0 for none."""
    run_id: str = ""
    """The agent's run that it tells of, "" for none."""


# ---- waits ---------------------------------------------------------------------------------------------------------


class WaitState(StrEnum):
    """The life of a wait; the transition table is in `acud.waits.states`."""

    WATCHING = "watching"
    RESOLVED = "resolved"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    FAILED = "failed"


class JudgeName(StrEnum):
    """Who answers `criteria`; `auto` is what `[vision]` names, else ollama where it has the model, else ocr."""

    AUTO = "auto"
    OCR = "ocr"
    OLLAMA = "ollama"
    VLLM = "vllm"
    OPENROUTER = "openrouter"
    CLAUDE = "claude"
    FLEET = "fleet"
    """Workers on other machines."""
    SCRIPTED = "scripted"
    PASSTHROUGH = "passthrough"


class OnBudget(StrEnum):
    """What happens when a budget is spent."""

    LOCAL = "local"
    """Go on with what costs nothing (local leaves, text, sentences about quoted words); else `unknown(budget)`."""
    FAIL = "fail"
    """The wait ends as failed."""


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """How much may be spent on judges that see; None: as much as it takes. An evaluation is one frame that such a judge
    was asked about; OCR counts for nothing. A model without a price in `[prices]` has no known cost, and only
    `max_evaluations` bounds it.
    """

    max_cost_usd: Annotated[float, Meta(ge=0, le=1_000_000)] | None = None
    max_evaluations: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    on_budget: OnBudget = OnBudget.LOCAL


class Spent(Struct, frozen=True, forbid_unknown_fields=True):
    """What was spent: the known costs added up, and how many evaluations; `unpriced` of them have no known cost."""

    cost_usd: float = 0.0
    evaluations: int = 0
    unpriced: int = 0


class WaitSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What a client asks for, validated and normalised; stored as JSON beside the wait."""

    until: Until
    target: Target
    timeout_s: float
    policy: Policy = Policy()
    judge: JudgeName = JudgeName.AUTO
    task_id: str = ""
    label: str = ""
    wake: WakeAddress = WakeAddress()
    budget: Budget = Budget()


class Evidence(Struct, frozen=True, forbid_unknown_fields=True):
    """The kept picture of a view: which frame it was, where its file is, and the hash that proves it.

    `name` is the file's name under the evidence directory ("" when no picture could be kept, `reason` says why).
    `identity` names the masked pixels: see `acud.pixels.identity`. `before` is the file with the view as it was when
    the condition was last seen not to hold, `before_frame` its frame; without one `before_reason` says why.
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
    before: str = ""
    before_frame: int = 0
    before_identity: str = ""
    before_reason: str = ""


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
    spent: Spent = Spent()
    """What counts against its budget and its task's: judges that see, answers that decided nothing included."""
    note: str = ""
    """A warning the client should show, such as a target that is missing now."""
    ended_utc_s: float = 0.0
    message: str = ""
    """Once the wait ended: the wake's text, without the next step that a wake names."""
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
    """A top-level window: X id, title, geometry in display pixels, and how much of it can be seen.

    `visibility`: `full` (a crop of the display shows it), `covered` (needs its own source), `unmapped` (no pixels).
    `kind`: `dialog` is a client window that belongs to another one; `popup` is none of the window manager's (menu,
    tooltip, list of a combo box), there while it is mapped, and never meant by a title. `owner`: the window that a
    dialog or popup says it belongs to (0: it does not say).
    """

    window_id: int
    title: str
    bounds: Rect
    visibility: Literal["full", "covered", "unmapped"] = "full"
    pid: int = 0
    wm_class: str = ""
    kind: Literal["normal", "dialog", "popup"] = "normal"
    owner: int = 0


class MonitorInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A monitor of a display (RANDR 1.5): name and box in display pixels. Its number is its place in the list."""

    name: str
    bounds: Rect
    primary: bool = False


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
    """The person who has taken it over ("": nobody): agents' actions are refused until `taken_until_utc_s`."""
    taken_until_utc_s: float = 0.0


PixelFormat = Literal["BGRX"]
