"""The tool `gui_agent`: begin a run, or ask after one."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from acud.agent.nouns import RunInfo, RunLimits, RunState
from acud.errors import InvalidRequest
from acud.protocol.requests.agents import AgentCancel, AgentResult, AgentResultReply, GuiAgent, RunReply
from acud.types import Criteria, WakeAddress
from acud_mcp.tool import Asking
from acud_mcp.views import UNTRUSTED
from acud_mcp.waiting import BLOCK_S

_WOKEN = "you are woken once when it ends; or call gui_agent with this run_id"
_FETCHED = "nobody wakes you (no wake route is set): call gui_agent with this run_id"
_NEXT = "it goes on: call gui_agent with this run_id"


class AgentArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `gui_agent`: an instruction begins a run, a run_id asks after one."""

    instruction: Annotated[str, Meta(max_length=4000)] = ""
    run_id: Annotated[str, Meta(max_length=64)] = ""
    cancel: bool = False
    expect: Annotated[str, Meta(max_length=4000)] = ""
    block: Annotated[float, Meta(ge=0, le=45)] = 0
    max_steps: Annotated[int, Meta(ge=1, le=200)] = 25
    max_time: Annotated[float, Meta(gt=0, le=86_400)] = 600
    max_cost_usd: Annotated[float, Meta(ge=0)] | None = None
    backend: str = ""
    target: str = "screen"
    display: str = ""
    task_id: str = ""
    session_key: str = ""


class StepView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step."""

    did: str
    outcome: str
    reason: str = ""


class RunView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run: `state` is running, done (its effect was seen), escalated (`reason` says why) or cancelled."""

    run_id: str
    state: RunState
    reason: str = ""
    evidence: str = ""
    steps: tuple[StepView, ...] = ()
    calls: int = 0
    cost_usd: float = 0.0
    next: str = ""
    untrusted: str = ""


async def gui_agent(call: Asking, given: AgentArguments) -> RunView:
    """Begin a run, ask after it, or end it."""
    if bool(given.instruction) == bool(given.run_id):
        raise InvalidRequest("give either an instruction or a run_id", hint="an instruction begins a run")
    if given.cancel:
        if not given.run_id:
            raise InvalidRequest("cancel needs a run_id", hint="it came with the run")
        ended: RunReply = await call.ask(AgentCancel(given.run_id))
        return _view(ended.run)
    if given.run_id:
        block_s = min(given.block, BLOCK_S)
        found: AgentResultReply = await call.ask_slowly(AgentResult(given.run_id, block_s), block_s)
        return _view(found.run)
    begun: RunReply = await call.ask(_request(given))
    return _view(begun.run, _WOKEN if begun.woken_by else _FETCHED)


def _request(given: AgentArguments) -> GuiAgent:
    try:
        wake = msgspec.convert({"session_key": given.session_key}, WakeAddress)
    except msgspec.ValidationError as fault:
        raise InvalidRequest(f"session_key: {fault}", hint="give the session as your host names it") from fault
    return GuiAgent(
        given.instruction,
        given.target,
        given.display,
        Criteria(given.expect) if given.expect else None,
        given.backend,
        limits=RunLimits(given.max_steps, given.max_time, max_cost_usd=given.max_cost_usd),
        task_id=given.task_id,
        wake=wake,
    )


def _view(run: RunInfo, step: str = _NEXT) -> RunView:
    steps = tuple(StepView(f"{one.kind}: {one.said}", one.outcome, one.reason) for one in run.steps)
    return RunView(
        run_id=run.run_id,
        state=run.state,
        reason=run.reason,
        evidence=run.evidence,
        steps=steps,
        calls=run.spent.calls,
        cost_usd=round(run.spent.cost_usd, 6),
        next=step if run.state is RunState.RUNNING else "",
        untrusted=UNTRUSTED,
    )
