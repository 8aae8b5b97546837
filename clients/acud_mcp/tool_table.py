"""Every tool, one row each, and which of them one server serves.

A tool that is its request comes from that request's declaration; the rows here add to a request, or make several.
"""

from __future__ import annotations

from collections.abc import Iterable

from acud.errors import InvalidRequest
from acud.protocol.requests import REQUESTS
from acud.protocol.requests.actions import DesktopAction
from acud.protocol.requests.agents import GuiAgent
from acud.protocol.requests.command import Effect
from acud.protocol.requests.commentary import FeedPost
from acud.protocol.requests.daemon import Doctor
from acud.protocol.requests.displays import DisplayList
from acud.protocol.requests.gui import GuiDo, GuiFind
from acud.protocol.requests.looks import Look
from acud.protocol.requests.recordings import RecordStart
from acud.protocol.requests.scenes import SceneGet
from acud.protocol.requests.waits import WaitCancel, WaitCreate, WaitForChange, WaitList, WaitResult, WaitUpdate
from acud_mcp import (
    action_tool,
    daemon,
    gui_tools,
    history_tools,
    look_tools,
    memory_tools,
    wait_tools,
)
from acud_mcp.options import Options
from acud_mcp.tool import Tool
from acud_mcp.views import WaitView

CAPS = {
    "core": "waits, looks, actions and displays",
    "tasks": "task memory",
    "memory": "notes under ACU_WORKSPACE",
    "admin": "the daemon's health",
}
"""Toolsets by name, as `--caps` takes them."""

_WAIT_ALIASES = {"wake_when": "criteria", "timeout_s": "timeout", "timeout_seconds": "timeout"}
_WAIT_SHOWS = ("wait_id", "status", "evidence")
_HELD_BACK = ("baseline", "poll_interval", "priority", "regex")


_FROM_REQUESTS = tuple(
    Tool(
        command.name,
        command.tool.toolset,
        command.tool.about,
        request=command.request,
        hidden=command.tool.hidden,
        quotes_screens=command.tool.quotes_screens,
    )
    for command in REQUESTS
    if command.tool is not None
)
"""The tools that are their request: same name, same fields, the reply as it is."""

TOOLS: tuple[Tool, ...] = (
    Tool(
        "smart_wait",
        "core",
        "Wait for something on screen without polling: give criteria (a sentence) or text, gone, window, change,"
        " stable; returns at once, and `next` says how you get the result.",
        request=WaitCreate,
        arguments=wait_tools.SmartWait,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_tools.smart_wait,
        aliases=_WAIT_ALIASES,
        hidden=("poll_interval", "display", "on_budget", "force"),
        passed=("task_id",),
        params={
            "criteria": 'what must be visible, e.g. "the download has finished"',
            "text": "visible text (no model needed)",
            "gone": "text no longer visible",
            "window": "title of a window that appears",
            "change": "any pixel changes",
            "stable": "nothing changes for so many seconds",
            "any": "one condition is enough",
            "regex": "text, gone, window are regexes",
            "baseline": "change since this token of desktop_look",
            "session_key": "your session, to be woken there",
            "max_cost_usd": "for vision models; then local only",
        },
        always_load=True,
    ),
    Tool(
        "wait_result",
        "core",
        "Get a wait's result: blocks until it ends, at most 45 s; still watching then: call again. Never cancels it.",
        request=WaitResult,
        arguments=wait_tools.WaitPoll,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_tools.wait_result,
        aliases={"job_id": "wait_id", "block_s": "block", "timeout": "block"},
        params={"block": "seconds, at most 45"},
        always_load=True,
    ),
    Tool(
        "wait_status",
        "core",
        "Show one wait now; without wait_id all live waits.",
        request=WaitList,
        arguments=wait_tools.WaitStatus,
        result=wait_tools.WaitsView,
        shows=(*_WAIT_SHOWS, "waits", "count"),
        run=wait_tools.wait_status,
        aliases={"job_id": "wait_id"},
    ),
    Tool(
        "wait_update",
        "core",
        "Change criteria or timeout of a live wait; restarts its clock.",
        request=WaitUpdate,
        arguments=wait_tools.WaitChanges,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_tools.wait_update,
        aliases=_WAIT_ALIASES | {"job_id": "wait_id"},
        hidden=("change", "stable", "any", "window", "force", *_HELD_BACK),
    ),
    Tool(
        "wait_cancel",
        "core",
        "End a wait.",
        request=WaitCancel,
        arguments=wait_tools.WaitEnd,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=wait_tools.wait_cancel,
        aliases={"job_id": "wait_id"},
    ),
    Tool(
        "wait_for_change",
        "core",
        "Block until the screen, window or region changes, e.g. after a click; returns a screenshot file. Beyond 45 s:"
        " a wait_id for wait_result.",
        request=WaitForChange,
        arguments=look_tools.ChangeArguments,
        result=look_tools.ChangeView,
        shows=("changed", "message", "picture", "wait_id", "next"),
        run=look_tools.wait_for_change,
        aliases={"timeout_s": "timeout", "settle_s": "settle"},
        hidden=("display", "share", "max_side"),
        passed=("task_id",),
        params={
            "settle": "then still for so many seconds",
            "baseline": "token taken before the action",
            "image": "picture in the answer too",
        },
    ),
    Tool(
        "desktop_look",
        "core",
        "Screenshot of the screen, a window or a region, now: a file path and size; image=true shows it too.",
        request=Look,
        arguments=look_tools.LookArguments,
        result=look_tools.PictureView,
        shows=("path", "view", "baseline"),
        run=look_tools.desktop_look,
        aliases={"window_name": "window", "max_side_px": "max_side"},
        hidden=("display", "window"),
        passed=("task_id",),
        params={"max_side": "pixels; 0: full size", "image": "picture in the answer too"},
    ),
    Tool(
        "scene",
        "core",
        "What is on screen as text: windows, focus, texts and widgets with ids and boxes. Cheaper than a screenshot.",
        request=SceneGet,
        arguments=look_tools.SceneArguments,
        result=look_tools.SceneView,
        shows=("scene", "changes"),
        run=look_tools.scene,
        hidden=("display", "max_tokens", "mode"),
        passed=("task_id",),
        params={"since": "id of an earlier scene: only what changed"},
        always_load=True,
    ),
    Tool(
        "desktop_action",
        "core",
        "Act on the desktop: mouse, keyboard, windows, clipboard, launch. Answers with a screenshot file taken at rest"
        " and a baseline for wait_for_change.",
        request=DesktopAction,
        arguments=action_tool.ActArguments,
        result=action_tool.ActView,
        shows=("baseline", "picture", "text", "windows", "note"),
        run=action_tool.desktop_action,
        aliases={
            "start_coordinate": "start",
            "scroll_direction": "direction",
            "scroll_amount": "amount",
            "timeout": "duration",
            "window_name": "window",
            "size": "coordinate",
        },
        hidden=("display", "max_side", "lease", "baseline", "picture", "target"),
        passed=("task_id",),
        params={
            "coordinate": "[x, y] or element id; a new size for window_resize",
            "start": "of a drag",
            "text": "to type; keys (ctrl+s); keys held in a click; command",
            "window": "title part, id, or active",
            "duration": "seconds",
            "view": "of the picture that the coordinates are of",
            "image": "picture in the answer too",
        },
    ),
    Tool(
        "display_list",
        "core",
        "List displays and their windows (titles, ids, boxes).",
        request=DisplayList,
        arguments=look_tools.DisplaysAsked,
        result=look_tools.DisplaysView,
        run=look_tools.display_list,
    ),
    Tool(
        "gui_find",
        "core",
        "Find something on screen by description; gives its point and box, or candidates.",
        request=GuiFind,
        arguments=gui_tools.FindArguments,
        result=gui_tools.FindView,
        shows=("status", "things"),
        run=gui_tools.gui_find,
        hidden=("display",),
        passed=("task_id",),
    ),
    Tool(
        "gui_do",
        "core",
        "Do one thing on screen and verify its effect: click/double-click/right-click/hover over X, type 'T' into X,"
        " select O in X, scroll to X, drag X to Y, press ctrl+s, click(x, y).",
        request=GuiDo,
        arguments=gui_tools.DoArguments,
        result=gui_tools.DoView,
        shows=("status", "message"),
        run=gui_tools.gui_do,
        aliases={"timeout_s": "timeout", "action": "instruction"},
        hidden=("display", "max_side", "backend", "view"),
        passed=("task_id",),
        params={
            "expect": "sentence that shows the effect; default: any change",
            "expect_text": "or visible text",
            "image": "picture after it too",
        },
        always_load=True,
    ),
    Tool(
        "gui_agent",
        "core",
        "Hand over several GUI steps in words; returns a run_id at once, and `next` says how you get the result.",
        request=GuiAgent,
        arguments=gui_tools.AgentArguments,
        result=gui_tools.RunView,
        shows=("run_id", "state", "reason"),
        run=gui_tools.gui_agent,
        hidden=("display", "backend", "max_time", "max_steps"),
        params={
            "run_id": "of a run: ask after it",
            "expect": "what must be visible at the end",
            "block": "seconds to wait for the end",
        },
    ),
    Tool(
        "commentary",
        "core",
        "The running commentary: what is going on; post adds to its feed.",
        request=FeedPost,
        arguments=history_tools.CommentaryArguments,
        result=history_tools.CommentaryView,
        shows=("results", "messages", "context"),
        run=history_tools.commentary,
        hidden=("after", "limit"),
    ),
    Tool(
        "video_record",
        "tasks",
        "Record a display to video.",
        request=RecordStart,
        arguments=history_tools.RecordArguments,
        result=history_tools.RecordView,
        shows=("videos",),
        run=history_tools.video_record,
        hidden=("fps", "recording_id", "task_id"),
    ),
    *_FROM_REQUESTS,
    Tool(
        "memory_search",
        "memory",
        "Search your notes.",
        arguments=memory_tools.MemorySearch,
        result=memory_tools.MemorySearchView,
        run=memory_tools.memory_search,
        needs_workspace=True,
    ),
    Tool(
        "memory_read",
        "memory",
        "Read a note.",
        arguments=memory_tools.MemoryRead,
        result=memory_tools.MemoryReadView,
        run=memory_tools.memory_read,
        params={"offset": "first line"},
        needs_workspace=True,
    ),
    Tool(
        "memory_append",
        "memory",
        "Add to a note.",
        arguments=memory_tools.MemoryAppend,
        result=memory_tools.MemoryAppendView,
        run=memory_tools.memory_append,
        needs_workspace=True,
        own_effect=Effect.WRITES,
    ),
    Tool(
        "health_check",
        "admin",
        "Check the daemon: judges, displays, faults and their fix.",
        request=Doctor,
        arguments=daemon.HealthAsked,
        result=daemon.HealthView,
        shows=("status", "findings"),
        run=daemon.health_check,
    ),
)


def selected(options: Options) -> tuple[Tool, ...]:
    """Return the tools to serve, in the order of the table: those of `caps` and those named in `tools`, or all when
    neither is given; `read_only` then takes away whatever writes. Raises: InvalidRequest for a name that is none."""
    possible = [tool for tool in TOOLS if not (tool.needs_workspace and options.workspace is None)]
    _check("toolset", options.caps, CAPS)
    _check("tool", options.tools, [tool.name for tool in possible])
    everything = not options.caps and not options.tools
    return tuple(
        tool
        for tool in possible
        if (everything or tool.toolset in options.caps or tool.name in options.tools)
        and not (options.read_only and tool.effect is not Effect.READS)
    )


def _check(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for name in given:
        if name not in names:
            raise InvalidRequest(f"no {kind} {name!r}", hint=f"known: {', '.join(names)}")
