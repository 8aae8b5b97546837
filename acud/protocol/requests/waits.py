"""Waits: made, changed, listed, ended, and their evidence."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import FIRST_USE_S, GRAB_S, Command, FleetRoute, RestOperation
from acud.protocol.requests.looks import Picture
from acud.protocol.web import Scope
from acud.types import (
    Budget,
    Evidence,
    JudgeChoice,
    JudgeName,
    Policy,
    Rect,
    RouteName,
    Seconds,
    Share,
    Until,
    Verdict,
    WaitFilter,
    WaitInfo,
    WaitNote,
    WaitState,
    WakeAddress,
)
from acud.types.conditions import ConditionKind, Criteria
from acud.types.displays import MAX_NUMBER
from acud.types.tasks import TaskId


class WaitCreate(Struct, frozen=True, tag="wait_create", forbid_unknown_fields=True):
    """Arm a wait and return at once.

    `target`: `screen`, `display:<name>`, `window:<title or id>`, `region:x,y,w,h`, `pty:<session>`, `monitor:<name or
    number>`; `display` qualifies all but the second. `ignore` boxes are in the target's own pixels. Without `timeout_s`
    the default in the settings holds; 0 looks once: the first answer on the target as it is now ends the wait. `wake`:
    how to wake the agent; `budget`: what judging may cost; `note`: the agent's words to itself (why, what next), first
    in its wake. With a `task_id`, `screen` is that task's display, and the wait ends with the task.
    """

    until: Until
    target: str = "screen"
    display: str = ""
    ignore: Annotated[tuple[Rect, ...], Meta(max_length=64)] = ()
    timeout_s: float | None = None
    policy: Policy = Policy()
    judge: JudgeChoice = JudgeName.AUTO
    task_id: Annotated[str, Meta(max_length=64)] = ""
    label: Annotated[str, Meta(max_length=200)] = ""
    wake: WakeAddress = WakeAddress()
    budget: Budget = Budget()
    force: bool = False
    note: WaitNote = ""


class WaitReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The wait. `notes`: what the caller should know now (a missing window, a condition that needs a vision
    backend). `woken_by`: the routes over which its end wakes the agent; without any the result is to be fetched
    (`wait_result`).
    """

    wait: WaitInfo
    notes: tuple[str, ...] = ()
    woken_by: tuple[RouteName, ...] = ()


class WaitList(Struct, frozen=True, tag="wait_list", forbid_unknown_fields=True):
    """List waits, newest first: the live ones, or those in `states`, or all with `ended`; where `tasks` (whole ids)
    or `displays` are named, those of any of these alone. Of these, those that fit `filter`, from the `offset`th on.
    With `facets`, the reply names what all those have, whatever the filter.
    """

    states: tuple[WaitState, ...] = ()
    ended: bool = False
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=256)] = ()
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    filter: WaitFilter = WaitFilter()
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0
    facets: bool = False


class WaitFacets(Struct, frozen=True, forbid_unknown_fields=True):
    """The displays, the tasks (ids) and the judges of some waits, sorted."""

    displays: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


class WaitListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`total`: the number of matching waits before offset and limit."""

    waits: tuple[WaitInfo, ...]
    total: int
    facets: WaitFacets | None = None


WaitId = Annotated[str, Meta(min_length=1, max_length=64)]


class WaitShow(Struct, frozen=True, tag="wait_show", forbid_unknown_fields=True):
    """Show the wait `wait_id` (a unique beginning or ending is enough) with its newest evaluations; with `before`, the
    newest of those before the evaluation with that `number`.
    """

    wait_id: WaitId
    evaluations: Annotated[int, Meta(ge=0, le=1000)] = 50
    before: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class Evaluation(Struct, frozen=True, forbid_unknown_fields=True):
    """One judged frame: the verdict on the whole condition, the judge, the time it took, its cost. `number`: of all
    evaluations that are kept, rising with time. `picture`: the digest of the small picture that is kept of what was
    judged, "" for none (the pixels are those of an older one, or of the evidence); `width`, `height`: of the view.
    """

    utc_s: float
    epoch: int
    frame: int
    verdict: Verdict
    judge: str
    source: str
    latency_ms: float
    identity: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    picture: str = ""
    width: int = 0
    height: int = 0
    number: int = 0


class WaitShowReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Evaluations oldest first, of `evaluations_kept`. `evidence_path`: where the kept picture lies on the daemon's
    host ("" for none); `stage_paths`: the same of each of the wait's `stages`. `place`: where on its display the target
    of a live wait is now, None where it is nowhere; `covered`: in part it is under other windows or off the screen.
    """

    wait: WaitInfo
    evaluations: tuple[Evaluation, ...]
    evidence_path: str = ""
    stage_paths: tuple[str, ...] = ()
    evaluations_kept: int = 0
    place: Rect | None = None
    covered: bool = False


class WaitUpdate(Struct, frozen=True, tag="wait_update", forbid_unknown_fields=True):
    """Change condition, timeout, policy or budget of a live wait; a timeout restarts its clock. Only what is given
    changes; a budget replaces the one before as a whole, and what was spent stays spent. `force`: as in `wait_create`.
    """

    wait_id: WaitId
    until: Until | None = None
    timeout_s: float | None = None
    policy: Policy | None = None
    budget: Budget | None = None
    force: bool = False


class WaitCancel(Struct, frozen=True, tag="wait_cancel", forbid_unknown_fields=True):
    """End the live wait `wait_id` without a verdict."""

    wait_id: WaitId
    reason: Annotated[str, Meta(max_length=500)] = ""


class WaitResult(Struct, frozen=True, tag="wait_result", forbid_unknown_fields=True):
    """Return when `wait_id` has ended, or after `block_s` with its state so far. Giving up never cancels the wait.

    A reply with the end marks the wait's wake as seen: it is not sent (again). With `peek` it does not. A polling
    client names in `again_s` when it asks again at the latest: until then the wake is held back.
    """

    wait_id: WaitId
    block_s: Annotated[float, Meta(ge=0, le=300)] = 0.0
    peek: bool = False
    again_s: Annotated[float, Meta(ge=0, le=60)] = 0.0


class WaitResultReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`ended`: whether the wait has ended. `evidence_path`, `stage_paths`: the kept pictures on the daemon's host."""

    wait: WaitInfo
    ended: bool
    evidence_path: str = ""
    stage_paths: tuple[str, ...] = ()


class ActionWait(Struct, frozen=True, forbid_unknown_fields=True):
    """The wait of an action, armed before anything was done. `ended`: whether it had ended when the action was
    answered; if not, it goes on, and `wait_result` returns its end. `notes`, `woken_by`: as of `wait_create`.
    `evidence_path`: the kept picture on the daemon's host.
    """

    wait: WaitInfo
    ended: bool
    evidence_path: str = ""
    notes: tuple[str, ...] = ()
    woken_by: tuple[RouteName, ...] = ()


BlockS = Annotated[float, Meta(ge=0, le=300)]
"""How long after its call an action is answered at the latest, where its wait has not ended."""


class WaitTry(Struct, frozen=True, tag="wait_try", forbid_unknown_fields=True):
    """Return whether `until` holds now: one look at the target, by the judge that a wait would have. No wait is made:
    it is in no list, count or event, and wakes no agent; the cost of judging is in the usage. Try the stages of a
    `then` one by one. Without an answer within `block_s` the verdict is `unknown`. The rest is as for `wait_create`.
    """

    until: Until
    target: str = "screen"
    display: str = ""
    ignore: Annotated[tuple[Rect, ...], Meta(max_length=64)] = ()
    judge: JudgeChoice = JudgeName.AUTO
    task_id: Annotated[str, Meta(max_length=64)] = ""
    force: bool = False
    block_s: BlockS = 60.0


class WaitTryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The verdict. `notes`: what the caller should know, such as how a sentence was read."""

    verdict: Verdict
    notes: tuple[str, ...] = ()


class WaitForChange(Struct, frozen=True, tag="wait_for_change", forbid_unknown_fields=True):
    """Block until `target` changed since `baseline` ("" is now) or `timeout_s` passed; one picture either way.

    With a `task_id`, `screen` is that task's display, and the call is logged there.
    """

    target: str = "screen"
    display: str = ""
    ignore: Annotated[tuple[Rect, ...], Meta(max_length=64)] = ()
    timeout_s: Annotated[float, Meta(ge=0, le=300)] = 10.0
    settle_s: Seconds = 0.0
    share: Share = 0.0
    baseline: str = ""
    format: Literal["png", "jpeg"] = "png"
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0
    quality: Annotated[int, Meta(ge=1, le=100)] = 90
    task_id: Annotated[str, Meta(max_length=64)] = ""


class ChangeReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`changed`: whether all that was asked for came, share and settling included. `share`: the part of the target
    covered by changed 16 px tiles; `box`: around them; both are given at a timeout too.
    """

    changed: bool
    share: float
    box: Rect | None
    message: str
    picture: Picture
    waited_s: float


EvidencePart = Literal["after", "before", "diff", "sought", "verdict"]


class EvidenceGet(Struct, frozen=True, tag="evidence", forbid_unknown_fields=True):
    """Return a picture of `wait_id`: the view as it resolved the wait (`after`), as it was when the condition was last
    seen not to hold (`before`), or what differs between the two, in red over a dimmed view (`diff`); or the image that
    the condition looks for, the first of several (`sought`); or what the evaluation with this `number` looked at, small
    (`verdict`). `stage`: of this stage of a sequence, counted from 1, that was reached before the end (0: of the end).
    """

    wait_id: WaitId
    part: EvidencePart = "after"
    stage: Annotated[int, Meta(ge=0, le=16)] = 0
    number: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class EvidenceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The PNG (of a `verdict` a JPEG), with the row that describes what was kept."""

    evidence: Evidence
    image: bytes


_HOST_WORDS = re.compile(r"[~/]|\.\w|\b(?:pids?|process(?:es)?|downloads)\b", re.IGNORECASE)
"""In every sentence that is read as a condition on a file or process, and in some others."""


def may_name_host(part: Any, *, unseen: bool = False) -> bool:
    """Return whether the condition `part`, or one inside it, is about a file or process of the daemon's machine, or is
    a sentence that may be read as one; with `unseen` also about what else no screen shows, such as a clipboard.
    """
    if isinstance(part, Criteria):
        return _HOST_WORDS.search(part.criteria) is not None
    if isinstance(part, ConditionKind) and (part.is_of_machine or (unseen and part.needs_act)):
        return True
    if isinstance(part, Struct):
        return any(may_name_host(getattr(part, name), unseen=unseen) for name in part.__struct_fields__)
    return isinstance(part, tuple) and any(may_name_host(one, unseen=unseen) for one in part)


def _arm_needs(request: WaitCreate | WaitUpdate | WaitTry) -> Scope:
    """Results of waits on files, processes and clipboards describe what no screen shows."""
    return Scope.ACT if may_name_host(request.until, unseen=True) else Scope.WAIT


def _result_needs(request: WaitResult) -> Scope:
    """A reply with the end cancels the wake, which is more than reading; with `peek` it does not."""
    return Scope.READ if request.peek else Scope.WAIT


_ID = {"id": "wait_id"}
COMMANDS = (
    Command(
        WaitCreate,
        WaitReply,
        mutating=True,
        deferred=True,
        limit_s=FIRST_USE_S,
        begins="waits",
        positional=2,
        errors="NoJudge for a sentence that no configured judge could answer, unless `force` arms it anyway",
        rest=RestOperation("POST", "/api/waits", Scope.WAIT, needs=_arm_needs),
    ),
    Command(WaitList, WaitListReply, fleet=FleetRoute.ALL),
    Command(WaitShow, WaitShowReply),
    Command(
        WaitUpdate,
        WaitReply,
        mutating=True,
        deferred=True,
        errors="Conflict when it has ended; NoJudge as for `wait_create`",
        rest=RestOperation("POST", "/api/waits/{id}/update", Scope.WAIT, path_fields=_ID, needs=_arm_needs),
    ),
    Command(
        WaitCancel,
        WaitReply,
        mutating=True,
        errors="Conflict when it has ended (the message names its end)",
        destroys=True,
        rest=RestOperation("POST", "/api/waits/{id}/cancel", Scope.WAIT, path_fields=_ID),
    ),
    Command(
        WaitResult,
        WaitResultReply,
        deferred=True,
        asked_s=lambda request: request.block_s,
        rest=RestOperation("POST", "/api/waits/{id}/result", Scope.READ, path_fields=_ID, needs=_result_needs),
    ),
    Command(
        WaitTry,
        WaitTryReply,
        deferred=True,
        limit_s=GRAB_S,
        asked_s=lambda request: request.block_s,
        positional=2,
        errors="NoJudge as for `wait_create`; InvalidRequest for a `then`",
        rest=RestOperation("POST", "/api/waits/try", Scope.WAIT, needs=_arm_needs),
    ),
    Command(
        WaitForChange,
        ChangeReply,
        deferred=True,
        limit_s=GRAB_S,
        asked_s=lambda request: request.timeout_s + request.settle_s,
        begins="waits",
        positional=1,
        writes=True,
        rest=RestOperation("POST", "/api/change", Scope.WAIT),
    ),
    Command(EvidenceGet, EvidenceReply, deferred=True, errors="NotFound when the wait has none (with the reason)"),
)
