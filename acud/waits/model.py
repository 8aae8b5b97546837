"""The state of one wait, as a frozen value."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from acud.types import (
    Answer,
    Cadence,
    Evidence,
    GateKind,
    Leaf,
    NamedLeaf,
    Rect,
    Then,
    Until,
    Verdict,
    WaitSpec,
    WaitState,
    WindowInfo,
    unknown,
)
from acud.waits.budget import BudgetStatus
from acud.waits.condition_tree import NOT_JUDGED, NOT_LOCATED
from acud.waits.effects import JobKind, JobRequest
from acud.waits.restless_area import LONGEST_PAUSE_S, RestlessArea
from acud.waits.view_state import StoredBaseline, ViewState

CACHE_SIZE = 16
"""Identities kept per leaf: a caret has 2, a spinner up to 12; more would only delay a fresh judgement."""
NO_DISPLAY = unknown("no_display", "the wait looks at no display")


class VerdictCache(Struct, frozen=True):
    """The identities on which each leaf was no, oldest use first. A forced judgement does not use them."""

    noes: dict[int, tuple[str, ...]] = {}

    def noes_of(self, index: int) -> tuple[str, ...]:
        """Return the identities on which leaf `index` was no."""
        return self.noes.get(index, ())

    def add_no(self, index: int, identity: str) -> VerdictCache:
        """Return the cache with `identity` as the newest; a full cache drops the one unused longest."""
        others = tuple(known for known in self.noes_of(index) if known != identity)
        return VerdictCache({**self.noes, index: (*others, identity)[-CACHE_SIZE:]})

    def drop_no(self, index: int, identity: str) -> VerdictCache:
        """Return the cache without `identity`, on which the leaf was not no."""
        return VerdictCache({**self.noes, index: tuple(known for known in self.noes_of(index) if known != identity)})


class JobInFlight(Struct, frozen=True):
    """A job in flight: its request, and the newest frame at its dispatch.

    `generation`: of view and condition; the result is stale once the wait has another. `turn`: its place in the order
    of dispatches. `windows`: the display's at its dispatch (None: not known); `typed`: what acud had typed then.
    """

    job_id: str
    request: JobRequest
    generation: int
    frame: int
    at: float
    turn: int
    windows: tuple[WindowInfo, ...] | None = None
    typed: tuple[str, ...] = ()


class SeenPlace(Struct, frozen=True):
    """Where something was seen: a box in the window that showed it (0: the bare root), from its top left corner."""

    window: int
    box: Rect


Places = tuple[tuple[NamedLeaf, tuple[SeenPlace, ...]], ...]
"""Where leaves were seen: `Wait.places` as it is stored."""


class Coverage(Struct, frozen=True):
    """What a judgement covers: a frame, the leaves asked, and the local answers at that time."""

    frame: int
    asked: frozenset[int]
    known: dict[int, Answer]


class PendingPicture(Struct, frozen=True):
    """A picture that was taken; whether the yes holds on it is not known yet."""

    evidence: Evidence
    frame: int
    identity: str
    at: float


class PendingYes(Struct, frozen=True):
    """A yes that waits for its picture. `tries`: evidence jobs lost so far.

    `verdicts`: the answers it rests on; `identity`: of the target ("": not known). `frames`: the first and last frame
    it held on, once windows or a terminal deny it; None before. `hold_until`: until when the condition must hold, as it
    rests on an absence (`acud.waits.absence`; None: at no other moment).
    """

    verdict: Verdict
    frame: int
    since: float
    changed_at: float | None
    tries: int = 0
    verdicts: dict[int, Verdict] = {}
    identity: str = ""
    picture: PendingPicture | None = None
    frames: tuple[int, int] | None = None
    hold_until: float | None = None

    def is_held_back(self, at: float) -> bool:
        """Return whether the yes must still hold for a while."""
        return self.hold_until is not None and at < self.hold_until


class LaterReading(Struct, frozen=True):
    """The result of reading ahead: for each later stage, the verdicts on its leaves on that frame.

    `evidence`: the picture of a stage that holds.
    """

    frame: int
    at: float
    identity: str
    verdicts: dict[int, dict[int, Verdict]]
    evidence: Evidence | None = None


class Standing(Struct, frozen=True):
    """How many present places of one leaf do not count (see `acud.waits.anew`).

    `there`: that number. `echoed`: how many places have been taken for what acud typed. `was_away`: the leaf was seen
    not to hold, or it is not known whether it held at arming.
    """

    there: int = 0
    echoed: int = 0
    was_away: bool = False


class TextSnapshot(Struct, frozen=True):
    """The answers from windows, terminals and widgets, and the frames of that moment.

    `since`: when these answers began. Frames `first` (None: none known yet) to `last` are of that moment. `newest`,
    `newest_at`: the newest frame and its grab; a terminal or widgets may not have been read after it. `read_at`,
    `widgets_at`: when terminal and widgets were read.
    """

    answers: dict[int, Answer] = {}
    since: float = float("-inf")
    first: int | None = None
    last: int = -1
    newest: int = -1
    newest_at: float = float("-inf")
    read_at: float = float("-inf")
    widgets_at: float = float("-inf")


class JudgeState(Struct, frozen=True):
    """The judging of a wait.

    `last_start`: start of the newest judgement that came back and was neither from memory nor gated. `last_real`: the
    same, or the start of a forced one. `last_look`: newest turn, also one with nothing to judge. `turn` counts
    dispatches, `answered_turn` is the newest one answered. `gap_s`: of the adaptive cadence. `yeses`, `yes_turn`,
    `confirm_at`: confirmation. `passed`: frames that came and went while a judge was busy (for `busy_s` in all), up to
    `passed_frame`. `restless`: the area where changes alone are judged with a pause. `absent_since`, `absences`: the
    first of the yeses in a row that rest on an absence, and their number. `unreadable`: unreadable answers in a row.
    """

    last_start: float = float("-inf")
    last_look: float = float("-inf")
    last_real: float = float("-inf")
    turn: int = 0
    answered_turn: int = -1
    cover: Coverage | None = None
    retry_at: float | None = None
    backoff_s: float = 0.0
    gone: int = 0
    gap_s: float = 0.0
    yeses: int = 0
    yes_turn: int = -1
    confirm_at: float | None = None
    passed: int = 0
    passed_frame: int = -1
    busy_s: float = 0.0
    restless: RestlessArea = RestlessArea()
    absent_since: float | None = None
    absences: int = 0
    unreadable: int = 0

    def clear_absences(self) -> JudgeState:
        return self if self.absent_since is None else replace(self, absent_since=None, absences=0)


class OpenRequests(Struct, frozen=True):
    """What was asked of the supervisor and is still open.

    `compare_at`: the earliest time to ask for an identity again; `gone`: how often in a row its frame was overwritten.
    """

    jobs: dict[JobKind, JobRequest] = {}
    grab_asked: float | None = None
    read_asked: float = float("-inf")
    compare_at: float = float("-inf")
    gone: int = 0
    wake_at: float | None = None
    fps: float = 0.0


class Wait(Struct, frozen=True):
    """One wait. `WaitInfo` shows spec, state, verdict, note and counts; the rest is for the rules. `stored`: baselines
    from before a restart. `is_new`: it began here, and was not resumed after a restart. `leaves_seen`: the leaves that
    were seen (text, window or widget). `standing`: of leaves that were looked at. `typed`: what acud typed there
    (`acud.waits.anew`). `is_acting`: the action that it follows goes on. `acted_from`: the frame that it began on;
    nothing is quiet before a change since then (None: it need not change). `view_state` None: the target was never
    located. `missing`: why the target cannot be seen now, None while it can; `coming`: only until it has been found.
    `terminal_text`: the text of a terminal, None when only its picture is known; `scrolled_off`: by leaf, the yes for a
    text that a terminal wrote and no longer shows. `widgets`, `host_answers`: by leaf, the answers from widgets, and
    from files, processes and notifications. `budget_status`: of its budgets; `judges_lack`: why no judge can answer
    now; `unaffordable`: leaves that no judge may be asked about for want of money. `is_near_end`: its deadline is near,
    and `last_picture` is what it ends with then. `longest_pause_s`: see `acud.waits.restless_area`.

    `first_windows`: the windows of its display's first list; `first_shown`: those in sight then; `new_windows`: the
    newest that came after. `seen_last`: the newest yes or no. `failing`: why the wait fails as soon as it has a last
    picture, since `failing_since`. `stage`: which stage of its condition is watched (`acud.waits.stages`); `leaves`,
    answers and baselines are of that stage. `stage_frame`: the frame that the former stage held on. `later`: readings
    of later stages; `holding_ahead`: those that held when last read. `seen_before`: the texts, windows and widgets that
    earlier stages saw. `places`: where texts, images and widgets were last seen (`acud.waits.presence`).
    """

    spec: WaitSpec
    armed_at: float
    leaves: tuple[Leaf, ...]
    stored: dict[int, StoredBaseline] = {}
    is_new: bool = True
    coming: bool = False
    leaves_seen: frozenset[int] = frozenset()
    standing: dict[int, Standing] = {}
    typed: tuple[str, ...] = ()
    is_acting: bool = False
    acted_from: int | None = None
    view_state: ViewState | None = None
    missing: Verdict | None = NOT_LOCATED
    windows: tuple[WindowInfo, ...] | None = None
    windows_missing: Verdict = NOT_JUDGED
    first_windows: frozenset[int] | None = None
    first_shown: frozenset[int] = frozenset()
    new_windows: tuple[WindowInfo, ...] = ()
    terminal_text: str | None = None
    scrolled_off: dict[int, Verdict] = {}
    widgets: dict[int, Verdict] = {}
    host_answers: dict[int, Verdict] = {}
    texts: TextSnapshot = TextSnapshot()
    state: WaitState = WaitState.WATCHING
    verdict: Verdict = NOT_JUDGED
    budget_status: BudgetStatus = BudgetStatus()
    judges_lack: str = ""
    unaffordable: frozenset[int] = frozenset()
    note: str = ""
    judged: int = 0
    judge_calls: int = 0
    generation: int = 0
    flights: tuple[JobInFlight, ...] = ()
    verdict_cache: VerdictCache = VerdictCache()
    judge_state: JudgeState = JudgeState()
    pending: PendingYes | None = None
    is_near_end: bool = False
    last_picture: Evidence | None = None
    requests: OpenRequests = OpenRequests()
    longest_pause_s: float = LONGEST_PAUSE_S
    seen_last: Verdict | None = None
    failing: Verdict | None = None
    failing_since: float = 0.0
    stage: int = 0
    stage_frame: int = -1
    later: tuple[LaterReading, ...] = ()
    holding_ahead: frozenset[int] = frozenset()
    seen_before: frozenset[NamedLeaf] = frozenset()
    places: dict[NamedLeaf, tuple[SeenPlace, ...]] = {}

    @property
    def until(self) -> Until:
        """The condition watched now: the present stage."""
        until = self.spec.until
        return until.parts[self.stage] if isinstance(until, Then) else until

    @property
    def gate(self) -> GateKind:
        """The gate in force: the chosen one, or the cadence's default."""
        policy = self.spec.policy
        default = GateKind.NONE if policy.cadence == "fixed" else GateKind.EXACT
        return policy.gate or default

    @property
    def paces_restless(self) -> bool:
        """Whether a small area that changes on and on is judged with a pause."""
        return self.longest_pause_s > 0 and self.spec.policy.cadence is Cadence.EVENT and self.gate is not GateKind.NONE

    @property
    def in_view(self) -> ViewState | None:
        """The view state, while the target can be seen and was grabbed since it was located."""
        view_state = self.view_state
        if view_state is None or self.missing is not None or view_state.grabbed_at < view_state.since:
            return None
        return view_state if view_state.looked else None

    @property
    def last_judgement_start(self) -> float:
        """Start of the newest judgement that cost a call or may yet; answers from memory do not count."""
        return max([self.judge_state.last_start, *(flight.at for flight in self.in_flight(JobKind.JUDGE))])

    def in_flight(self, kind: JobKind) -> tuple[JobInFlight, ...]:
        """Return the jobs of a kind in flight for the present view and condition."""
        if not self.flights:
            return ()
        return tuple(f for f in self.flights if f.request.kind is kind and self.is_current(f))

    def is_current(self, flight: JobInFlight) -> bool:
        """Return whether a job is for the present view, condition and stage."""
        return flight.generation == self.generation and flight.request.stage == self.stage
