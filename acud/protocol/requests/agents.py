"""Instructions of several steps, run by the daemon."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.command import FIRST_USE_S, Command, FleetRoute, RestOperation
from acud.protocol.web import Scope
from acud.types import JudgeChoice, JudgeName, RouteName, ShortText, Until, WakeAddress
from acud.types.agent_runs import RunInfo, RunLimits
from acud.types.displays import MAX_NUMBER


class GuiAgent(Struct, frozen=True, tag="gui_agent", forbid_unknown_fields=True):
    """Carry out `instruction` step by step: plan with a chat model, find, act, verify. Returns at once; its end wakes
    the agent that `wake` names, and `agent_result` returns it.

    It ends as done only when `expect` (or, without one, the condition that the model names) was seen to hold. `backend`
    and `model` "" are those in `[gui_agent]`.
    """

    instruction: ShortText
    target: str = "screen"
    display: str = ""
    expect: Until | None = None
    backend: str = ""
    model: str = ""
    judge: JudgeChoice = JudgeName.AUTO
    limits: RunLimits | None = None
    task_id: str = ""
    wake: WakeAddress = WakeAddress()


class RunReply(Struct, frozen=True, forbid_unknown_fields=True):
    """A run now. `woken_by`: the routes over which its end wakes the agent; without any, ask `agent_result`."""

    run: RunInfo
    woken_by: tuple[RouteName, ...] = ()


class AgentResult(Struct, frozen=True, tag="agent_result", forbid_unknown_fields=True):
    """Return when `run_id` (or its unambiguous beginning) has ended, or after `block_s` with its state so far.

    A reply with the end marks the run's wake as seen; with `peek` it does not.
    """

    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    block_s: Annotated[float, Meta(ge=0, le=300)] = 0.0
    peek: bool = False


class AgentResultReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`ended`: whether the run has ended."""

    run: RunInfo
    ended: bool


class AgentList(Struct, frozen=True, tag="agent_list", forbid_unknown_fields=True):
    """List runs, newest first, from the `offset`th on; of one task with `task_id`. Steps are left out."""

    task_id: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 50
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class AgentListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The runs."""

    runs: tuple[RunInfo, ...]


class AgentCancel(Struct, frozen=True, tag="agent_cancel", forbid_unknown_fields=True):
    """End a run now; what is under way is dropped."""

    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    reason: Annotated[str, Meta(max_length=500)] = ""


def _result_needs(request: AgentResult) -> Scope:
    """A reply with the end cancels the wake, which is more than reading; with `peek` it does not."""
    return Scope.READ if request.peek else Scope.WAIT


_ID = {"id": "run_id"}
_WHOLE = "a run"
COMMANDS = (
    Command(
        GuiAgent,
        RunReply,
        mutating=True,
        deferred=True,
        limit_s=FIRST_USE_S,
        begins="runs",
        positional=2,
        feature="agent",
        destroys=True,
        rest=RestOperation("POST", "/api/runs", Scope.ACT, _WHOLE),
    ),
    Command(
        AgentResult,
        AgentResultReply,
        deferred=True,
        asked_s=lambda request: request.block_s,
        feature="agent",
        rest=RestOperation("POST", "/api/runs/{id}/result", Scope.READ, _WHOLE, path_fields=_ID, needs=_result_needs),
    ),
    Command(AgentList, AgentListReply, feature="agent", fleet=FleetRoute.ALL),
    Command(
        AgentCancel,
        RunReply,
        mutating=True,
        errors="Conflict when it has ended",
        feature="agent",
        destroys=True,
        rest=RestOperation("POST", "/api/runs/{id}/cancel", Scope.ACT, _WHOLE, path_fields=_ID),
    ),
)
