"""The wait tools: `smart_wait`, `wait_status`, `wait_update`, `wait_cancel`, `wait_result`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert, decode_json
from acud.base.untrusted_text import own_words
from acud.base.value_errors import describe_decode_fault, value_fault
from acud.protocol.requests.tasks import TaskUpdate
from acud.protocol.requests.waits import (
    ActionWait,
    WaitCancel,
    WaitCreate,
    WaitId,
    WaitList,
    WaitListReply,
    WaitReply,
    WaitResult,
    WaitResultReply,
    WaitShow,
    WaitShowReply,
    WaitUpdate,
)
from acud.types import (
    Answer,
    Budget,
    ConditionWords,
    OnBudget,
    Policy,
    RouteName,
    Then,
    WaitInfo,
    WaitNote,
    WaitState,
    WakeAddress,
    condition_text,
    target_argument,
)
from acud.types.tasks import Content
from acud_client.help_tables import WORDS
from acud_mcp.condition_arguments import (
    NO_IMAGES,
    Condition,
    make_condition,
    make_policy,
    read_images,
    require_condition,
)
from acud_mcp.tool import GLOSSARY, Tool, ToolCall
from acud_mcp.tool_calls import UNTRUSTED

Timeout = Annotated[float, Meta(ge=0)]


class StageView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stage of a sequence that was reached: when (UTC), its condition, what was seen, and its picture."""

    at: str
    condition: str
    evidence_path: str = ""
    evidence: str = ""


class WaitView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A wait. `status`: watching, resolved, timeout, cancelled, failed. `answer` and `evidence` are the newest verdict:
    yes, no or unknown, and what was seen. `message`: the end of a wait that did not resolve. `next`: what to call next.
    """

    wait_id: str
    status: str
    your_note: str = ""
    criteria: str = ""
    target: str = ""
    timeout: float = 0.0
    elapsed_s: float = 0.0
    remaining_s: float = 0.0
    answer: str = ""
    evidence: str = ""
    message: str = ""
    evidence_path: str = ""
    stages: tuple[StageView, ...] = ()
    notes: tuple[str, ...] = ()
    next: str = ""
    untrusted: str = ""


def _view_stages(info: WaitInfo, paths: tuple[str, ...]) -> tuple[StageView, ...]:
    parts = info.spec.until.parts if isinstance(info.spec.until, Then) else ()
    return tuple(
        StageView(
            at=f"{datetime.fromtimestamp(stage.utc_s, UTC):%Y-%m-%d %H:%M:%S} UTC",
            condition=condition_text(part, ConditionWords.BRIEF),
            evidence_path=path,
            evidence=stage.verdict.detail,
        )
        for stage, part, path in zip(info.stages, parts, paths or ("",) * len(info.stages), strict=False)
    )


def view_wait(
    info: WaitInfo,
    *,
    notes: tuple[str, ...] = (),
    evidence_path: str = "",
    stage_paths: tuple[str, ...] = (),
    step: str = "",
) -> WaitView:
    live = info.state is WaitState.WATCHING
    judged = info.verdict.answer is not Answer.UNKNOWN or info.verdict.code != "not_judged"
    told = "" if live or info.state is WaitState.RESOLVED else own_words(info.message)
    amiss = (info.note, info.asking) if info.state is not WaitState.RESOLVED else ()
    all_notes = (*notes, *(note for note in amiss if note and note not in notes))
    return WaitView(
        wait_id=info.wait_id,
        status=info.state.value,
        your_note="" if live else info.spec.note,
        criteria=condition_text(info.spec.until, ConditionWords.BRIEF),
        target=target_argument(info.spec.target, info.display),
        timeout=info.spec.timeout_s,
        elapsed_s=round((time.time() if live else info.ended_utc_s) - info.created_utc_s, 1),
        remaining_s=round(info.remaining_s, 1) if live else 0.0,
        answer=info.verdict.answer.value if judged else "",
        evidence=info.verdict.detail if judged else "",
        message=told,
        evidence_path=evidence_path,
        stages=_view_stages(info, stage_paths),
        notes=all_notes,
        next=step,
        untrusted=UNTRUSTED if judged or told or all_notes else "",
    )


_OPENCLAW = ("openclaw-bundle-mcp", {RouteName.OPENCLAW, RouteName.OPENCLAW_CLI})


def describe_wake_step(call: ToolCall, address: WakeAddress, woken_by: tuple[RouteName, ...], fetch: str) -> str:
    """Return the next step to learn of an end: a wake comes only if the caller named its session, or a route leads to
    its host. `fetch`: the call that gets the result.
    """
    if not woken_by:
        return f"no wake will come (no wake route is set): {fetch}, again while it is not over"
    host, routes = _OPENCLAW
    if address.session_key or (call.client == host and routes & set(woken_by)):
        return f"you are woken once when it ends; or {fetch}"
    over = ", ".join(route.value for route in woken_by)
    return f"{fetch}, again while it is not over; its end also goes over {over}, which may wake another session"


def _describe_next_step(call: ToolCall, reply: WaitReply) -> str:
    return describe_wake_step(call, reply.wait.spec.wake, reply.woken_by, "call wait_result")


class SmartWait(Condition, frozen=True, kw_only=True, forbid_unknown_fields=True):
    target: str = "screen"
    display: str = ""
    timeout: Timeout = 300
    task_id: str = ""
    session_key: str = ""
    note: WaitNote = ""
    max_cost_usd: Annotated[float, Meta(ge=0)] | None = None
    max_evaluations: Annotated[int, Meta(ge=0)] | None = None
    on_budget: OnBudget = OnBudget.LOCAL
    force: bool = False


def parse_address(session_key: str) -> WakeAddress:
    """Return the address of the session to wake. Raises: InvalidRequest."""
    try:
        return convert({"session_key": session_key}, WakeAddress)
    except msgspec.ValidationError as fault:
        words = value_fault(fault, WakeAddress).of("session_key")
        raise InvalidRequest(words, hint="give the session as your host names it") from fault


def _make_budget(args: SmartWait) -> Budget:
    try:
        asked = {name: getattr(args, name) for name in _BUDGET_WORDS}
        return convert(asked, Budget)
    except msgspec.ValidationError as fault:
        words = value_fault(fault, Budget).of("the budget")
        raise InvalidRequest(words, hint="mend the argument and call again") from fault


def make_wait_request(args: SmartWait, images: Mapping[str, bytes] = NO_IMAGES) -> WaitCreate:
    """Return the request for a wait. `images`: see `read_images`. Raises: InvalidRequest."""
    return WaitCreate(
        require_condition(args, images),
        args.target,
        args.display,
        timeout_s=args.timeout,
        policy=make_policy(args, Policy()) or Policy(),
        wake=parse_address(args.session_key),
        budget=_make_budget(args),
        force=args.force,
        task_id=args.task_id,
        note=args.note,
    )


async def smart_wait(call: ToolCall, args: SmartWait) -> WaitView:
    """Arm a wait and return at once."""
    reply: WaitReply = await call.ask(make_wait_request(args, await read_images(call, args)))
    return view_wait(reply.wait, notes=reply.notes, step=_describe_next_step(call, reply))


_AFTER_ACTION_S = 5.0


def action_block_s(call: ToolCall) -> float:
    """Return the longest that an action of this call may wait for its effect: its picture at rest comes after."""
    return call.block_s - min(_AFTER_ACTION_S, call.block_s / 2)


async def make_action_wait(call: ToolCall, until: SmartWait | str | None, timeout: float | None) -> WaitCreate | None:
    """Return the wait of an action: `until` is what smart_wait takes (as JSON text, too), or a sentence.

    Raises: InvalidRequest.
    """
    if until is None:
        return None
    if isinstance(until, str):
        until = _parse_wait(
            until if until.lstrip().startswith("{") else msgspec.json.encode({"criteria": until}).decode()
        )
    asked = until if timeout is None else msgspec.structs.replace(until, timeout=timeout)
    return make_wait_request(asked, await read_images(call, asked))


def _parse_wait(text: str) -> SmartWait:
    try:
        return decode_json(text, SmartWait, strict=False)
    except msgspec.DecodeError as fault:
        words = describe_decode_fault(fault, SmartWait, "its text", lax=True)
        raise InvalidRequest(f"until: {words}", hint='it takes what smart_wait takes: {"text": "Saved"}') from fault


def view_action_wait(call: ToolCall, action_wait: ActionWait | None) -> WaitView | None:
    """Return how the wait of an action stands, without what its caller has just sent."""
    if action_wait is None:
        return None
    step = ""
    if not action_wait.ended:
        fetch = "call wait_result with this wait_id"
        step = f"still watching: {describe_wake_step(call, action_wait.wait.spec.wake, action_wait.woken_by, fetch)}"
    view = view_wait(action_wait.wait, notes=action_wait.notes, evidence_path=action_wait.evidence_path, step=step)
    return msgspec.structs.replace(view, criteria="", target="", timeout=0.0, message="", untrusted="")


class WaitStatus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wait_id: WaitId | None = None


class WaitsView(WaitView, frozen=True, kw_only=True, omit_defaults=True):
    """One wait, or every live wait in `waits` with their `count`."""

    wait_id: str = ""
    status: str = ""
    waits: tuple[WaitView, ...] | None = None
    count: int | None = None


async def _show_wait(call: ToolCall, wait_id: str) -> WaitShowReply:
    """Return the wait. An agent that names an ended wait knows of its end: it gets no more reminders."""
    shown: WaitShowReply = await call.ask(WaitShow(wait_id, 0))
    if shown.wait.state is not WaitState.WATCHING:
        await call.ask(WaitResult(shown.wait.wait_id, 0.0))
    return shown


async def wait_status(call: ToolCall, args: WaitStatus) -> WaitView:
    """Show one wait, or list the active ones."""
    if args.wait_id is None:
        live: WaitListReply = await call.ask(WaitList())
        views = tuple(view_wait(info) for info in live.waits)
        return WaitsView(waits=views, count=live.total, untrusted=UNTRUSTED if views else "")
    shown = await _show_wait(call, args.wait_id)
    return view_wait(shown.wait, evidence_path=shown.evidence_path, stage_paths=shown.stage_paths)


class WaitChanges(Condition, frozen=True, kw_only=True, forbid_unknown_fields=True):
    wait_id: WaitId
    timeout: Timeout | None = None
    force: bool = False
    message: Content = ""


async def wait_update(call: ToolCall, args: WaitChanges) -> WaitView:
    """Change a live wait; its clock starts again with the new timeout, else with the old one. A `message` goes into the
    thread of the wait's task, and changes nothing of the wait.
    """
    shown = await _show_wait(call, args.wait_id)
    said = (await _post_message(call, shown.wait, args.message),) if args.message else ()
    if said and msgspec.structs.replace(args, message="") == WaitChanges(wait_id=args.wait_id):
        return view_wait(shown.wait, notes=said)
    timeout_s = args.timeout if args.timeout is not None else shown.wait.spec.timeout_s or None
    policy = make_policy(args, shown.wait.spec.policy)
    changes = WaitUpdate(
        shown.wait.wait_id, make_condition(args, await read_images(call, args)), timeout_s, policy, force=args.force
    )
    reply: WaitReply = await call.ask(changes)
    return view_wait(reply.wait, notes=(*said, *reply.notes), step=_describe_next_step(call, reply))


async def _post_message(call: ToolCall, wait: WaitInfo, message: str) -> str:
    """Put `message` into the thread of the wait's task, and return a note on it."""
    if not wait.spec.task_id:
        return "the message was not kept: this wait belongs to no task"
    await call.ask(TaskUpdate(wait.spec.task_id, message))
    return f"the message is in the thread of {wait.spec.task_id}"


class WaitEnd(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wait_id: WaitId
    reason: Annotated[str, Meta(max_length=500)] = ""


async def wait_cancel(call: ToolCall, args: WaitEnd) -> WaitView:
    shown = await _show_wait(call, args.wait_id)
    reply: WaitReply = await call.ask(WaitCancel(shown.wait.wait_id, args.reason))
    return view_wait(reply.wait, notes=reply.notes)


class WaitPoll(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wait_id: WaitId | None = None
    block: Annotated[float, Meta(ge=0)] = 30


async def wait_result(call: ToolCall, args: WaitPoll) -> WaitView:
    """Return when the wait has ended, or after `block` seconds with its state so far. Without an id: of the session's
    waits the first to end.
    """
    block_s = min(args.block, call.block_s)
    wait_id = args.wait_id
    if wait_id is None:
        wait_id, block_s = await call.first_wait_to_end(block_s), 0.0
    shown: WaitShowReply = await call.ask(WaitShow(wait_id, 0))
    reply: WaitResultReply = await call.ask_slowly(WaitResult(shown.wait.wait_id, block_s), block_s)
    step = "" if reply.ended else "still watching: call wait_result again, or go on with other work"
    paths = reply.evidence_path, reply.stage_paths
    return view_wait(reply.wait, evidence_path=paths[0], stage_paths=paths[1], step=step)


_WAIT_ALIASES = {"wake_when": "criteria", "timeout_s": "timeout", "timeout_seconds": "timeout"}
_WAIT_SHOWS = ("wait_id", "status", "evidence")
_SHORT = frozenset({"criteria", "text", "gone"})
_LISTED = _SHORT | {"number", "window", "change", "stable", "any", "baseline", "fresh"}
_HIDDEN = tuple(name for name in Condition.__struct_fields__ if name not in _LISTED)
_BUDGET_WORDS = {
    "max_cost_usd": "for vision models; then local only",
    "max_evaluations": "questions to vision models; then local only",
    "on_budget": "local: go on with what costs nothing; fail: end the wait",
}

TOOLS = (
    Tool(
        "smart_wait",
        "core",
        "Wait for something on screen without polling: give criteria or other conditions (also widget,"
        " image, file, process, then: see help conditions);"
        " returns at once; `next` says how to get the result.",
        request=WaitCreate,
        arguments=SmartWait,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=smart_wait,
        aliases=_WAIT_ALIASES,
        hidden=(*_BUDGET_WORDS, *_HIDDEN, "force"),
        params=WORDS
        | _BUDGET_WORDS
        | {"session_key": GLOSSARY["session_key"], "note": "why, what next", "display": ""},
        always_load=True,
    ),
    Tool(
        "wait_result",
        "core",
        "Get a wait's result (without wait_id: your first wait to end): blocks until it ends or block seconds passed.",
        request=WaitResult,
        arguments=WaitPoll,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_result,
        aliases={"job_id": "wait_id", "block_s": "block", "timeout": "block"},
        always_load=True,
    ),
    Tool(
        "wait_status",
        "core",
        "Show a wait now, or without wait_id all active waits.",
        request=WaitList,
        arguments=WaitStatus,
        result=WaitsView,
        shows=(*_WAIT_SHOWS, "waits", "count"),
        run=wait_status,
        aliases={"job_id": "wait_id"},
    ),
    Tool(
        "wait_update",
        "core",
        "Change criteria or timeout of an active wait; the timeout starts again.",
        request=WaitUpdate,
        arguments=WaitChanges,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_update,
        aliases=_WAIT_ALIASES | {"job_id": "wait_id"},
        hidden=(*(_LISTED - _SHORT), *_HIDDEN, "force", "message"),
        params=WORDS | {"criteria": "", "text": "", "gone": "", "message": "a note for the thread of the wait's task"},
    ),
    Tool(
        "wait_cancel",
        "core",
        "Cancel a wait.",
        request=WaitCancel,
        arguments=WaitEnd,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_cancel,
        aliases={"job_id": "wait_id"},
        hidden=("reason",),
        params={"reason": "for the record"},
    ),
)
