"""The tool `terminal`: programs in a terminal session, typed into and read as text, and waited for in the same call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.base.errors import InvalidRequest
from acud.protocol.requests.terminals import (
    Moment,
    TerminalClose,
    TerminalClosed,
    TerminalInfo,
    TerminalList,
    TerminalListReply,
    TerminalOpen,
    TerminalRead,
    TerminalReply,
    TerminalType,
)
from acud_mcp.tool import Tool, ToolCall
from acud_mcp.tool_calls import UNTRUSTED
from acud_mcp.wait_tools import SmartWait, Timeout, WaitView, make_action_wait, view_action_wait

_DONE = "done"
_AT_REST_S, _ANSWER_S = 10.0, 1.0
_LINES = 100


class TerminalArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    action: Literal["open", "type", "read", "list", "close"]
    name: str = ""
    text: str = ""
    keys: str = ""
    until: SmartWait | str | None = None
    timeout: Timeout | None = None
    enter: bool = True
    lines: Annotated[int, Meta(ge=0, le=2000)] = 0
    since: str = ""
    cwd: str = ""
    display: str = ""
    task_id: str = ""


class TerminalView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session. `state`: prompt (its shell waits for a command), busy (its shell runs one), running or ended. `end`:
    how its program ended. `text`: what it wrote since; `left_out`: lines above. `wait`: how the wait of `until` stands.
    """

    terminal: str = ""
    state: str = ""
    end: str = ""
    pid: int = 0
    since: str = ""
    next: str = ""
    wait: WaitView | None = None
    left_out: int = 0
    command: str = ""
    note: str = ""
    untrusted: str = ""
    terminals: tuple[TerminalView, ...] | None = None
    text: str = ""


def _describe_state(info: TerminalInfo) -> str:
    if not info.running:
        return "ended"
    return {None: "running", True: "busy", False: "prompt"}[info.busy]


async def terminal(call: ToolCall, args: TerminalArguments) -> TerminalView:
    return await _ACTIONS[args.action](call, args)


async def _open_terminal(call: ToolCall, args: TerminalArguments) -> TerminalView:
    _refuse_arguments(args, "keys", "since", "lines")
    moment, block_s = _choose_moment(call, args), _block_s(call, args)
    request = TerminalOpen(
        _split_command(args.text),
        args.name,
        args.cwd,
        display=args.display,
        task_id=args.task_id,
        moment=moment,
        lines=_LINES,
        wait=await make_action_wait(call, _make_condition(args), args.timeout),
        block_s=block_s,
    )
    reply: TerminalReply = await call.ask_slowly(request, block_s)
    return _view_session(call, reply, moment, pid=reply.terminal.pid)


def _split_command(text: str) -> tuple[str, ...]:
    """Return the words of a command of a shell; one word is a program, nothing is the shell itself."""
    words = text.split()
    return tuple(words) if len(words) < 2 else ("sh", "-c", text)


async def _type_into(call: ToolCall, args: TerminalArguments) -> TerminalView:
    _refuse_arguments(args, "since", "cwd", "display")
    keys = tuple(args.keys.split()) or (("Enter",) if args.enter and args.text else ())
    moment, block_s = _choose_moment(call, args), _block_s(call, args)
    request = TerminalType(
        await _find_session(call, args),
        args.text.removesuffix("\n") if keys else args.text,
        keys,
        args.task_id,
        moment=moment,
        lines=args.lines or _LINES,
        wait=await make_action_wait(call, _make_condition(args), args.timeout),
        block_s=block_s,
    )
    reply: TerminalReply = await call.ask_slowly(request, block_s)
    return _view_session(call, reply, moment)


async def _read_terminal(call: ToolCall, args: TerminalArguments) -> TerminalView:
    _refuse_arguments(args, "text", "keys", "cwd", "display")
    if _make_condition(args) is not None:
        hint = 'give until "done", or call smart_wait with target "pty:NAME"'
        raise InvalidRequest("terminal: read waits for nothing else", hint=hint)
    moment: Moment = "now" if args.until is None and args.timeout is None else _choose_moment(call, args)
    request = TerminalRead(
        await _find_session(call, args),
        args.lines,
        args.since,
        moment,
        0.0 if moment == "now" else _block_s(call, args),
    )
    reply: TerminalReply = await call.ask_slowly(request, request.block_s)
    return _view_session(call, reply, moment)


async def _list_terminals(call: ToolCall, args: TerminalArguments) -> TerminalView:
    found: TerminalListReply = await call.ask(TerminalList())
    views = tuple(
        TerminalView(terminal=one.name, state=_describe_state(one), end=one.end, pid=one.pid, command=one.command)
        for one in found.terminals
    )
    return TerminalView(terminals=views, untrusted=UNTRUSTED if views else "")


async def _close_terminal(call: ToolCall, args: TerminalArguments) -> TerminalView:
    closed: TerminalClosed = await call.ask(TerminalClose(await _find_session(call, args)))
    return TerminalView(terminal=closed.terminal.name, state="closed", end=closed.terminal.end)


_ACTIONS: dict[str, Callable[[ToolCall, TerminalArguments], Awaitable[TerminalView]]] = {
    "open": _open_terminal,
    "type": _type_into,
    "read": _read_terminal,
    "list": _list_terminals,
    "close": _close_terminal,
}


def _refuse_arguments(args: TerminalArguments, *names: str) -> None:
    for name in names:
        if getattr(args, name):
            raise InvalidRequest(f"terminal: {args.action} takes no {name}", hint='see help "terminal"')


async def _find_session(call: ToolCall, args: TerminalArguments) -> str:
    """Return the named session, or the open one if none is named. Raises: InvalidRequest."""
    if args.name:
        return args.name
    found: TerminalListReply = await call.ask(TerminalList())
    names = [one.name for one in found.terminals]
    if len(names) != 1:
        hint = f"sessions open: {', '.join(names)}" if names else "open one first"
        raise InvalidRequest(f"terminal: {args.action} needs name", hint=hint)
    return names[0]


def _make_condition(args: TerminalArguments) -> SmartWait | str | None:
    return None if args.until == _DONE else args.until


def _choose_moment(call: ToolCall, args: TerminalArguments) -> Moment:
    return "done" if args.until == _DONE else "settled"


def _block_s(call: ToolCall, args: TerminalArguments) -> float:
    """Return how long the call may block: as long as its host waits, if it waits for something."""
    most_s = call.block_s - min(_ANSWER_S, call.block_s / 4)
    usual_s = _AT_REST_S if args.until is None else most_s
    return min(args.timeout if args.timeout is not None else usual_s, most_s)


def _view_session(call: ToolCall, reply: TerminalReply, moment: Moment, *, pid: int = 0) -> TerminalView:
    info = reply.terminal
    late = moment == "done" and reply.settled is False and _describe_state(info) in ("busy", "running")
    step = f'not done: read with until "done", or smart_wait with process "{info.pid}"' if late else ""
    if late and info.busy:
        step = 'not done: read with until "done" and this since'
    return TerminalView(
        terminal=info.name,
        state=_describe_state(info),
        end=info.end,
        pid=pid,
        since=reply.since if late or info.busy or (reply.wait and not reply.wait.ended) else "",
        next=step,
        wait=view_action_wait(call, reply.wait),
        left_out=reply.left_out,
        note=reply.note,
        untrusted=UNTRUSTED,
        text=reply.text,
    )


TOOLS = (
    Tool(
        "terminal",
        "core",
        "Run commands in a terminal without a display: open a shell or command, type into it, read it. Answers the new"
        " text once it is at rest.",
        request=TerminalType,
        arguments=TerminalArguments,
        result=TerminalView,
        shows=("terminal", "state", "end", "text", "wait", "next"),
        run=terminal,
        aliases={"command": "text", "session": "name", "terminal": "name", "key": "keys"},
        hidden=("enter", "lines", "since", "cwd", "display", "task_id"),
        params={
            "text": "command",
            "keys": "ctrl+c Enter …",
            "until": 'as smart_wait, of new text; "done": command ended',
            "name": "the session; where one is open, that",
            "enter": "false: no Enter after text",
            "lines": "so many of its last lines, those scrolled away too",
            "since": "read: what was written after this mark of an answer",
            "cwd": "open: its working directory, a full path",
            "display": "open: whose DISPLAY its programs get",
        },
    ),
)
