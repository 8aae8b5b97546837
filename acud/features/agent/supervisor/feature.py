"""The agent in the supervisor: started with the core; answers to requests."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base.errors import InvalidRequest, Refused
from acud.features.agent.settings import GuiAgentSettings
from acud.features.agent.supervisor.service import Agents
from acud.protocol.requests.agents import (
    AgentCancel,
    AgentList,
    AgentListReply,
    AgentResult,
    AgentResultReply,
    GuiAgent,
    RunReply,
)
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.types import Until
from acud.types.agent_runs import RunLimits, RunSpec, RunState
from acud.waits.targets import parse_target
from acud.waits.validation import check_until


class AgentFeature(RunningFeature):
    """Runs of the agent."""

    def __init__(self, core: Core) -> None:
        self.settings = core.settings
        self.fresh_frames = core.fresh_frames
        self.takeovers = core.takeovers
        self.wakes = core.wakes
        self.host_conditions = core.host_conditions
        self.tasks = core.ports.tasks
        self.instructions = core.ports.instructions
        self.waits = core.waits
        self.agents = Agents(core)
        core.takeovers.taken.add(self.agents.on_takeover, Order.FEATURES)
        self.tasks.observers.stopped.add(self.agents.end_task, Order.FEATURES)

    def start(self) -> None:
        """End the runs of a former supervisor."""
        self.agents.resume()

    def at_work(self) -> int:
        return self.agents.count_running()


start = AgentFeature


@handles(GuiAgent)
async def answer_gui_agent(feature: AgentFeature, request: GuiAgent, call: Call) -> RunReply:
    """Begin a run, once its display is up."""
    feature.instructions.check()
    spec = _make_spec(feature, request)
    place = feature.tasks.find_place(request.task_id, request.target, request.display)
    target = parse_target(request.target, place.display)
    fresh = await feature.fresh_frames.find(target)
    feature.takeovers.check(fresh.watched, "")
    return RunReply(feature.agents.start(spec, fresh.watched), feature.wakes.routes_of(request.wake))


def _make_spec(feature: AgentFeature, request: GuiAgent) -> RunSpec:
    settings = feature.settings.of(GuiAgentSettings)
    backend = request.backend or settings.backend
    if not backend:
        hint = f"name one in the request, or as backend in [gui_agent]: {', '.join(feature.settings.backends)}"
        raise Refused("no chat model is named for the agent", hint=hint)
    known = feature.settings.backends
    if backend not in known:
        raise InvalidRequest(f"{backend!r} is no chat model's backend", hint="name one of " + ", ".join(known))
    feature.settings.check_judge(request.judge)
    feature.wakes.check(request.wake)
    return RunSpec(
        instruction=request.instruction,
        target=request.target,
        expect=_check_expected(feature, request.expect) if request.expect is not None else None,
        backend=backend,
        model=request.model or (settings.model if backend == settings.backend else ""),
        judge=request.judge,
        limits=request.limits or RunLimits(),
        task_id=feature.tasks.find_live(request.task_id).task_id if request.task_id else "",
        wake=request.wake,
    )


def _check_expected(feature: AgentFeature, until: Until) -> Until:
    return feature.waits.keep_images(feature.host_conditions.pin_to_now(check_until(until)))


@handles(AgentResult)
async def agent_result(feature: AgentFeature, request: AgentResult, call: Call) -> None:
    """Answer when the run has ended, or after `block_s` with its present state; a returned end counts as seen."""
    run = await feature.agents.ended(request.run_id, request.block_s)
    has_ended = run.state is not RunState.RUNNING
    mark_seen = partial(feature.wakes.mark_run_seen, run.run_id)
    call.reply(AgentResultReply(run, has_ended), mark_seen if has_ended and not request.peek else None)


@handles(AgentList)
def agent_list(feature: AgentFeature, request: AgentList, call: Call) -> AgentListReply:
    """Return the newest runs without their steps."""
    task_id = feature.tasks.find(request.task_id).task_id if request.task_id else ""
    runs = feature.agents.newest(request.limit, task_id, request.offset)
    return AgentListReply(tuple(replace(run, steps=()) for run in runs))


@handles(AgentCancel)
def agent_cancel(feature: AgentFeature, request: AgentCancel, call: Call) -> RunReply:
    return RunReply(feature.agents.cancel(request.run_id, request.reason))
