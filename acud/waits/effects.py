"""What a wait asks of the supervisor, which obeys the effects in order."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from acud.types import Evidence, Rect, Verdict, WaitState


class JobKind(StrEnum):
    """What a job is for."""

    JUDGE = "judge"
    IDENTITY = "identity"
    EVIDENCE = "evidence"


class LeafRequest(Struct, frozen=True):
    """One leaf to ask, and the identities it already answered no to."""

    index: int
    memo: tuple[str, ...] = ()


class JobRequest(Struct, frozen=True):
    """This wait wants a job of this kind now. A newer request of the kind replaces an older one not yet dispatched.

    The supervisor sends it once there is capacity, lowest `priority` first, and answers `JobDispatched`; the evaluator
    picks the frame then. `identity` and `evidence` jobs carry no `asks`. `stage`: the stage of the condition that the
    leaves belong to. `ahead`: later stages to read too, and whether to keep a picture where one holds. `local`: the
    budget is spent, OCR answers what it can. `is_last_look`: the wait is about to end without a yes. `changed_from`:
    the first frame on which a change held.
    """

    kind: JobKind
    source: str
    crop: Rect | None
    ignore: tuple[Rect, ...]
    epoch: int
    min_frame: int
    asks: tuple[LeafRequest, ...] = ()
    known: dict[int, Verdict] = {}
    gate: str = ""
    gate_threshold: float | None = None
    force: bool = False
    keep_evidence: bool = False
    local: bool = False
    is_last_look: bool = False
    changed_from: int | None = None
    stage: int = 0
    ahead: dict[int, bool] = {}
    priority: int = 4


class JobWithdrawal(Struct, frozen=True):
    """The `JobRequest` of this kind is no longer wanted, if it still waits for capacity."""

    kind: JobKind


class GrabRequest(Struct, frozen=True):
    """One frame of the target's source is wanted now, changed or not.

    `look`: its notice shall carry the look of the target, and with `tiles` of each of its tiles (`FrameSeen.look`).
    """

    look: bool = False
    tiles: bool = False


class TextReadRequest(Struct, frozen=True):
    """The text of the target's terminal (`TerminalSeen`) and its widgets (`WidgetsRead`) shall be read anew, where the
    condition asks for them.
    """


class FrameRateDemand(Struct, frozen=True):
    """The highest frame rate that this wait wants of its target's source; 0: none.

    Sent when it changes, and again for each new view.
    """

    fps: float


class TickRequest(Struct, frozen=True):
    """Send `Tick` at this time (monotonic seconds); None: no tick is needed. Replaces the one before."""

    at: float | None


class BaselineTaken(Struct, frozen=True):
    """Leaf `index` has its baseline, to be stored with the wait and given to `arm` (`StoredBaseline`)."""

    index: int
    token: str
    identity: str


class EvaluationRecord(Struct, frozen=True):
    """A record of one judged frame for the store. `stale`: the view or condition had changed meanwhile."""

    at: float
    job_id: str
    epoch: int
    frame: int
    identity: str
    verdict: Verdict
    gated: bool = False
    stale: bool = False


class StageReached(Struct, frozen=True):
    """Stage `stage` (from 0) of a `then` holds, and the next one begins: baselines stored for it are void.

    `evidence` as in `WaitResolved`.
    """

    at: float
    stage: int
    verdict: Verdict
    evidence: Evidence


class WaitResolved(Struct, frozen=True):
    """The condition holds. `evidence` has a name, or a `reason` why there is no picture.

    `changed_at`: when the change of the deciding frame was noticed (None: nothing changed, or not known).
    """

    at: float
    verdict: Verdict
    evidence: Evidence
    frame: int
    epoch: int
    changed_at: float | None = None


class WaitTimedOut(Struct, frozen=True):
    """The deadline came first; `verdict` is the newest. `evidence`: the last picture, or why there is none."""

    at: float
    verdict: Verdict
    evidence: Evidence | None = None


class WaitCancelled(Struct, frozen=True):
    """A client ended the wait."""

    at: float
    reason: str


class WaitFailed(Struct, frozen=True):
    """The wait can never be judged. `verdict` is the newest. `evidence`: the last picture, or why there is none."""

    at: float
    reason: str
    verdict: Verdict
    evidence: Evidence | None = None


class FleetEnd(Struct, frozen=True):
    """How the fleet ended a wait while its host was lost (timed out or failed), when, and with which `message`. `sent`:
    its wake is in the fleet's stream; `seen`: the result was fetched there.
    """

    state: WaitState
    utc_s: float
    message: str
    sent: bool
    seen: bool


class WaitEndedByFleet(Struct, frozen=True):
    """The fleet ended the wait while this host was lost. `evidence`: the last picture, or why there is none."""

    at: float
    verdict: Verdict
    end: FleetEnd
    evidence: Evidence | None = None


class NoteChanged(Struct, frozen=True):
    """The note that clients should see beside the wait now ("": none)."""

    text: str


WaitEffect = (
    JobRequest
    | JobWithdrawal
    | GrabRequest
    | TextReadRequest
    | FrameRateDemand
    | TickRequest
    | BaselineTaken
    | EvaluationRecord
    | StageReached
    | WaitResolved
    | WaitTimedOut
    | WaitCancelled
    | WaitFailed
    | WaitEndedByFleet
    | NoteChanged
)
