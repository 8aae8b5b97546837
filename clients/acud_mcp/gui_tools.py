"""The tools that find and act by description: `gui_find`, `gui_do`, `gui_agent`."""

from __future__ import annotations

import time
from typing import Annotated

import msgspec
from msgspec import Meta

from acud.base.errors import InvalidRequest
from acud.protocol.requests.agents import AgentCancel, AgentResult, AgentResultReply, GuiAgent, RunReply
from acud.protocol.requests.gui import DoReply, FindReply, GuiDo, GuiFind
from acud.types import Criteria, Rect, ShortText, Text
from acud.types.action_effects import effect_lines, reading_line
from acud.types.agent_runs import RunInfo, RunLimits, RunState
from acud.types.grounding import Found, GroundingBackend
from acud_mcp.look_tools import save_picture, with_image
from acud_mcp.scene_changes import SceneChanges, scene_changes
from acud_mcp.tool import ImageResult, Tool, ToolCall, make_view
from acud_mcp.tool_calls import UNTRUSTED
from acud_mcp.wait_tools import (
    SmartWait,
    Timeout,
    WaitView,
    action_block_s,
    describe_wake_step,
    make_action_wait,
    parse_address,
    view_action_wait,
)

_QUALITY = 72
_SEARCH_S = 5.0
_EFFECT_S = 2.0
_STEP_S = 1.0
"""How long a step of a list waits for its effect at least, where the host waits for a few seconds only."""
_LAST_STEP_S = 1.5
"""What the last step may take, if it begins in time."""


class FindArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    description: ShortText
    target: str = "screen"
    display: str = ""
    backend: GroundingBackend | None = None
    task_id: str = ""


class DoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    instruction: ShortText | Annotated[tuple[ShortText, ...], Meta(min_length=1)]
    then: tuple[ShortText, ...] = ()
    target: str = "screen"
    display: str = ""
    expect: str = ""
    expect_text: str = ""
    until: SmartWait | str | None = None
    timeout: Timeout | None = None
    image: bool = False
    view: str = ""
    backend: GroundingBackend | None = None
    max_side: Annotated[int, Meta(ge=0, le=16384)] = 1200
    task_id: str = ""


class ThingView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One element that matches the description; `x`, `y` in display pixels."""

    x: int
    y: int
    confidence: float
    method: str
    box: Rect | None = None
    label: str = ""
    role: str = ""
    window: str = ""
    disabled: bool = False


class FindView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`status`: found, ambiguous (several fit), not_found, unknown (a method could not look)."""

    status: str
    things: tuple[ThingView, ...] = ()
    reason: str = ""
    display: str = ""
    baseline: str = ""
    untrusted: str = ""


class DoView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`status`: verified (its effect was seen), unverified (done, none seen); ambiguous, disabled, not_found, unknown:
    nothing was done; unfinished: the time for a list is over. `done`, `left`: what of a list was and was not done.
    `field`: what the field reads, if that is not what was typed. `happened`: windows that came or went, open dialogs
    with texts and buttons, the focus; quoted words in both are the screen's. `scene`: what differs from the newest
    scene that the session was given. `wait`: how the wait of `until` stands.
    """

    status: str
    message: str
    field: str = ""
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    happened: tuple[str, ...] = ()
    scene: str = ""
    wait: WaitView | None = None
    things: tuple[ThingView, ...] = ()
    evidence: str = ""
    baseline: str = ""
    path: str = ""
    untrusted: str = ""


async def gui_find(call: ToolCall, args: FindArguments) -> FindView:
    request = GuiFind(args.description, args.target, args.display, args.backend, task_id=args.task_id)
    reply: FindReply = await call.ask_slowly(request, _SEARCH_S)
    found = {"status": reply.found.status, "reason": reply.found.reason, "things": _view_things(reply.found)}
    return make_view(FindView, reply, **found, untrusted=UNTRUSTED)


async def gui_do(call: ToolCall, args: DoArguments) -> DoView | ImageResult:
    """Find, act, verify."""
    until_s = time.monotonic() + call.block_s
    expect = Text(args.expect_text) if args.expect_text else Criteria(args.expect) if args.expect else None
    listed = args.instruction if isinstance(args.instruction, tuple) else (args.instruction,)
    instruction, *then = (*listed, *args.then)
    timeout_s = _EFFECT_S if args.timeout is None or args.until is not None else min(args.timeout, call.block_s)
    block_s = action_block_s(call)
    if then and not args.image:  # the shorter a host waits, the less time is spent on a step that has nothing to show
        block_s = max(block_s, call.block_s - _LAST_STEP_S)
        timeout_s = min(timeout_s, max(_STEP_S, block_s / 8))
    request = GuiDo(
        instruction,
        args.target,
        args.display,
        args.view,
        args.backend,
        expect,
        timeout_s,
        args.image,
        args.max_side,
        _QUALITY,
        args.task_id,
        then=tuple(then),
        wait=await make_action_wait(call, args.until, args.timeout),
        block_s=block_s,
    )
    follows = block_s if request.wait is not None or then else 0.0
    reply: DoReply = await call.ask_slowly(request, _SEARCH_S + timeout_s + follows)
    acted_on = reply.displays or (reply.display,)
    points = tuple(one.point for one in reply.found.candidates[:1]) if reply.found is not None else ()
    left_s = until_s - time.monotonic()
    changed = await scene_changes(call, acted_on, left_s, points) if _is_begun(reply) else SceneChanges()
    return _view_outcome(call, reply, changed)


def _is_begun(reply: DoReply) -> bool:
    return bool(reply.done) or reply.status in ("verified", "unverified")


def _view_outcome(call: ToolCall, reply: DoReply, changed: SceneChanges) -> DoView | ImageResult:
    nothing_done = reply.status not in ("verified", "unverified", "unfinished")
    told = reply.target_found or reply.found
    path = "" if reply.picture is None else str(save_picture(call.options.paths, reply.picture.image, "jpg"))
    view = make_view(
        DoView,
        reply,
        field=reading_line(reply.field) if reply.field is not None else "",
        wait=view_action_wait(call, reply.wait),
        happened=_list_effects(reply, changed),
        scene=changed.words,
        things=_view_things(told) if nothing_done and told is not None else (),
        evidence=_describe_evidence(reply),
        path=path,
        untrusted=UNTRUSTED,
    )
    return with_image(view, reply.picture)


def _list_effects(reply: DoReply, changed: SceneChanges) -> tuple[str, ...]:
    if reply.effects is None:
        return ()
    return effect_lines(reply.effects, only_moved_focus=changed.is_known, is_scene_told=changed.is_known)


def _describe_evidence(reply: DoReply) -> str:
    """Return the evidence of the verdict, unless the message contains it already."""
    detail = reply.verdict.detail if reply.verdict is not None else ""
    return detail if detail not in reply.message else ""


def _view_things(found: Found) -> tuple[ThingView, ...]:
    return tuple(
        make_view(ThingView, one, x=one.point.x, y=one.point.y, method=one.method.value) for one in found.candidates
    )


_FETCH = "call gui_agent with this run_id"
_NEXT = f"still running: {_FETCH}"


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
    """A run: `state` is running, done (its effect was seen), escalated (why: `reason`) or cancelled."""

    run_id: str
    state: RunState
    reason: str = ""
    evidence: str = ""
    steps: tuple[StepView, ...] = ()
    calls: int = 0
    cost_usd: float = 0.0
    next: str = ""
    untrusted: str = ""


async def gui_agent(call: ToolCall, args: AgentArguments) -> RunView:
    """Begin a run, return the state of a run, or end it."""
    if bool(args.instruction) == bool(args.run_id):
        raise InvalidRequest("give either an instruction or a run_id", hint="an instruction begins a run")
    if args.cancel:
        if not args.run_id:
            raise InvalidRequest("cancel needs a run_id", hint="it came with the run")
        ended: RunReply = await call.ask(AgentCancel(args.run_id))
        return _view_run(ended.run)
    if args.run_id:
        block_s = min(args.block, call.block_s)
        found: AgentResultReply = await call.ask_slowly(AgentResult(args.run_id, block_s), block_s)
        return _view_run(found.run)
    begun: RunReply = await call.ask(_make_request(args))
    return _view_run(begun.run, describe_wake_step(call, begun.run.spec.wake, begun.woken_by, _FETCH))


def _make_request(args: AgentArguments) -> GuiAgent:
    return GuiAgent(
        args.instruction,
        args.target,
        args.display,
        Criteria(args.expect) if args.expect else None,
        args.backend,
        limits=RunLimits(args.max_steps, args.max_time, max_cost_usd=args.max_cost_usd),
        task_id=args.task_id,
        wake=parse_address(args.session_key),
    )


def _view_run(run: RunInfo, step: str = _NEXT) -> RunView:
    steps = tuple(StepView(f"{one.kind}: {one.said}", one.outcome, one.reason) for one in run.steps)
    return make_view(
        RunView,
        run,
        steps=steps,
        calls=run.spent.calls,
        cost_usd=round(run.spent.cost_usd, 6),
        next=step if run.state is RunState.RUNNING else "",
        untrusted=UNTRUSTED,
    )


TOOLS = (
    Tool(
        "gui_find",
        "core",
        "Find something on screen by description; returns its point and box, or candidates.",
        request=GuiFind,
        arguments=FindArguments,
        result=FindView,
        shows=("status", "things"),
        run=gui_find,
        hidden=("display", "backend", "task_id"),
    ),
    Tool(
        "gui_do",
        "core",
        "Act on screen and verify each: click/double-click/right-click/hover over X, type 'T' into X"
        " (adds), set X to 'T', tick/untick X, select O in X, scroll to X, drag X to Y, press ctrl+s, click(x, y).",
        request=GuiDo,
        arguments=DoArguments,
        result=DoView,
        shows=("status", "message"),
        run=gui_do,
        aliases={"timeout_s": "timeout", "action": "instruction", "instructions": "instruction"},
        hidden=("display", "max_side", "backend", "view", "expect_text"),
        params={
            "view": "token of the picture with the coordinates",
            "expect": "sentence that is true after it; default: any change",
            "expect_text": "visible text after it, in place of expect",
            "then": "more instructions, until one fails",
            "until": "then wait, as smart_wait: {text: Saved}",
            "image": "return a picture after it",
        },
        always_load=True,
    ),
    Tool(
        "gui_agent",
        "core",
        "Have acud do several GUI steps in words; returns a run_id at once; `next` says how to get the result.",
        request=GuiAgent,
        arguments=AgentArguments,
        result=RunView,
        shows=("run_id", "state", "reason"),
        run=gui_agent,
        wants="planner",
        hidden=("target", "display", "backend", "max_time", "max_steps", "max_cost_usd", "session_key"),
        params={
            "max_time": "seconds",
            "max_steps": "at most so many actions",
            "max_cost_usd": "for models",
            "backend": "whose model: ollama, vllm, openrouter, claude",
            "run_id": "get this run's state and result",
            "expect": "what must be visible at the end",
        },
    ),
)
