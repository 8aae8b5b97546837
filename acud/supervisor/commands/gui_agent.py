"""Answer `gui_agent`."""

from __future__ import annotations

from acud.agent.nouns import RunLimits, RunSpec
from acud.errors import AcudError, InvalidRequest, Refused
from acud.protocol.requests.agents import GuiAgent, RunReply
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.waits.validation import check_until


def handle(app: App, request: GuiAgent, call: Call) -> None:
    """Begin a run; the reply waits until its display is there."""
    spec = _spec(app, request)
    place = app.tasks.place(request.task_id, request.target, request.display)

    def aimed(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
            return
        app.takeovers.check(outcome.screen, "")
        call.reply(RunReply(app.agents.start(spec, outcome.screen), app.wakes.routes_of(request.wake)))

    app.aiming.fresh(request.target, place.display, (), call.later(aimed))


def _spec(app: App, request: GuiAgent) -> RunSpec:
    settings = app.settings.gui_agent
    backend = request.backend or settings.backend
    if not backend:
        hint = "name one in the request, or as backend in [gui_agent]: ollama, vllm, openrouter, claude"
        raise Refused("no chat model is named for the agent", hint=hint)
    known = app.settings.backends().named()
    if backend not in known:
        raise InvalidRequest(f"{backend!r} is no chat model's backend", hint="name one of " + ", ".join(known))
    app.wakes.check(request.wake)
    return RunSpec(
        instruction=request.instruction,
        target=request.target,
        expect=check_until(request.expect) if request.expect is not None else None,
        backend=backend,
        model=request.model or (settings.model if backend == settings.backend else ""),
        judge=request.judge,
        limits=request.limits or RunLimits(),
        task_id=app.tasks.live(request.task_id).task_id if request.task_id else "",
        wake=request.wake,
    )
