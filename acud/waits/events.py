"""What happens to a wait. Every event carries `at`, the supervisor's monotonic time in seconds.

The supervisor may repeat an event: one without news changes nothing.
"""

from __future__ import annotations

from msgspec import Struct

from acud.types import Evidence, Rect, Verdict, WaitSpec, WindowInfo
from acud.waits.budget import BudgetStatus
from acud.waits.effects import FleetEnd, JobKind


class TargetLocated(Struct, frozen=True):
    """The target was located in a source's frames. Sent at arming and whenever a part of it may differ.

    `width` x `height`: the source's frame. `crop`, `ignore`: from `acud.waits.targets.locate`. `server` names this run
    of the X server, within which frame numbers never go back. `touched`: per baseline token of the condition
    (`acud.waits.baselines.collect_tokens`), the tiles that changed after that frame
    (`acud.waits.tiles.TileHistory.since`), None when that is no longer known. `awaited_baselines`: the tokens that get
    a `BaselineIdentified` later.
    """

    at: float
    source: str
    epoch: int
    server: str
    width: int
    height: int
    crop: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    touched: dict[str, int | None] = {}
    awaited_baselines: frozenset[str] = frozenset()


class BaselineIdentified(Struct, frozen=True):
    """The target's identity in a baseline ("": lost), read only now from a frame of a former supervisor."""

    at: float
    token: str
    identity: str


class TargetLost(Struct, frozen=True):
    """The target cannot be seen now: window missing, not viewable, or its source still starting.

    Its source may show other things in its place meanwhile: once it is back it is compared by its look, not by tiles.
    `coming`: the search for it goes on, or its first pixels are on their way.
    """

    at: float
    verdict: Verdict
    coming: bool = False


class SourceLost(Struct, frozen=True):
    """The display or its capture died: pixels and windows are unknown until `TargetLocated` and `WindowsSeen`."""

    at: float
    code: str
    reason: str


class TargetLook(Struct, frozen=True):
    """How the target looks: its identity, and on request 8 bytes for each of its own tiles."""

    identity: str
    tiles: bytes = b""


class FrameSeen(Struct, frozen=True):
    """A notice of the target's source, new frame or not. Frames that touch no tile of the target may be left out.

    `tiles`: changed tiles as an integer (`acud.waits.tiles.from_bytes`), 0 when the grab found nothing new, None when
    it is not known what changed (first frame of an uncompared epoch; a heartbeat named a frame never announced).
    `grabbed_at`: start of the grab, same clock as `at`. `took_s`: duration of the grab. `damaged_at`: when the damage
    was read (0: none; the notice then counts as the moment of the change). The newest `WindowsSeen` was read after this
    grab. `unsure`: tiles in which quiet begins anew: they were repainted since the last notice and look the same, but
    may have differed in between; or pixels changed outside the compared tiles. `looks`: the present looks of changed
    tiles, where known: equal numbers mean equal pixels. `look`: of the target in the frame, where a `GrabRequest` asked
    for it.
    """

    at: float
    epoch: int
    frame: int
    tiles: int | None
    grabbed_at: float
    damaged_at: float = 0.0
    unsure: int = 0
    looks: dict[int, int] = {}
    took_s: float = 0.0
    look: TargetLook | None = None

    @property
    def shown_by(self) -> float:
        """The latest moment at which the target can have got the look that was grabbed."""
        return self.grabbed_at + self.took_s


class FramesSeen(Struct, frozen=True):
    """Frames held back because they could change no decision (`acud.waits.frame_coalescing`), oldest first."""

    at: float
    frames: tuple[FrameSeen, ...]


class WindowsSeen(Struct, frozen=True):
    """The display's windows now."""

    at: float
    windows: tuple[WindowInfo, ...]


class TerminalSeen(Struct, frozen=True):
    """The present text of a `pty` target's terminal; None: not known, so the picture decides.

    `written`: what it wrote since the last look, some of which may have scrolled off. `read_at`: when the look began.
    """

    at: float
    text: str | None
    read_at: float = float("-inf")
    written: str = ""


class Acting(Struct, frozen=True):
    """The action that the wait follows begins or, with `is_over`, has sent its last key."""

    at: float
    is_over: bool = False


class Typed(Struct, frozen=True):
    """acud is about to type `text` on the target's display, or into its terminal; "": the next text is separate."""

    at: float
    text: str


class WidgetsRead(Struct, frozen=True):
    """Verdicts on the leaves that ask for widgets; a leaf left out is not known now. `read_at`: when the look began."""

    at: float
    verdicts: dict[int, Verdict]
    read_at: float = float("-inf")


class HostSeen(Struct, frozen=True):
    """The present verdicts on files, processes and notifications, by leaf."""

    at: float
    verdicts: dict[int, Verdict]


class JobDispatched(Struct, frozen=True):
    """The `JobRequest` of this kind left as the job `job_id`, and is no longer open."""

    at: float
    job_id: str
    kind: JobKind


class JobDone(Struct, frozen=True):
    """The job came back `done`. `identity` is the view's; `evidence` is set when a picture was kept.

    `verdicts`: per leaf asked; empty for identity and evidence jobs. `memoed`: leaves answered from memory. `gated`:
    the lossy gate held the frame back. `retry_after_s`: when a judge that did not answer is worth asking again (0: not
    known). `later`: by later stage, the verdicts on its leaves. `heard`: the source's newest announced frame; frames up
    to it that the wait did not get do not touch its target.
    """

    at: float
    job_id: str
    epoch: int
    frame: int
    identity: str
    verdicts: dict[int, Verdict] = {}
    memoed: frozenset[int] = frozenset()
    gated: bool = False
    evidence: Evidence | None = None
    retry_after_s: float = 0.0
    heard: int = -1
    later: dict[int, dict[int, Verdict]] = {}


class JobLost(Struct, frozen=True):
    """The job gave no result. On `frame_gone` the newest frame is asked for at once; other codes back off."""

    at: float
    job_id: str
    code: str
    reason: str


class Tick(Struct, frozen=True):
    """The time of the newest `TickRequest` has come; earlier or later ticks do no harm."""

    at: float


class SpecUpdated(Struct, frozen=True):
    """A client changed condition, policy or timeout; the target stays."""

    at: float
    spec: WaitSpec


class BudgetChecked(Struct, frozen=True):
    """The state of the budgets of the wait and its task, checked before a job leaves."""

    at: float
    status: BudgetStatus


class JudgesChecked(Struct, frozen=True):
    """Why no judge of the wait can answer now, "" where one may."""

    at: float
    lack: str


class DeadlineNear(Struct, frozen=True):
    """The timeout passes soon: time for the last picture."""

    at: float


class DeadlinePassed(Struct, frozen=True):
    """The timeout has passed. `queue`: what was queued before the wait's next job, in words."""

    at: float
    queue: str = ""


class FleetEnded(Struct, frozen=True):
    """The fleet ended the wait while this host was lost; that end stands."""

    at: float
    verdict: Verdict
    end: FleetEnd


class CancelRequested(Struct, frozen=True):
    """A client ended the wait."""

    at: float
    reason: str = ""


class WaitBroken(Struct, frozen=True):
    """The wait can never be judged (its display was removed for good), so it fails with `reason`.

    `evidence`: the last picture of its target, or why there is none.
    """

    at: float
    reason: str
    evidence: Evidence | None = None


WaitEvent = (
    TargetLocated
    | BaselineIdentified
    | TargetLost
    | SourceLost
    | FrameSeen
    | FramesSeen
    | WindowsSeen
    | TerminalSeen
    | Acting
    | Typed
    | WidgetsRead
    | HostSeen
    | JobDispatched
    | JobDone
    | JobLost
    | Tick
    | SpecUpdated
    | BudgetChecked
    | JudgesChecked
    | DeadlineNear
    | DeadlinePassed
    | FleetEnded
    | CancelRequested
    | WaitBroken
)
