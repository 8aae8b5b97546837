"""Every tool, one row each. A row whose request is not in the protocol does not exist."""

from __future__ import annotations

from acud_mcp import commenting, health, remembering, seeing, waiting
from acud_mcp.tool import Effect, Tool
from acud_mcp.views import WaitView

CAPS = {
    "core": "waits, looks and displays",
    "tasks": "task memory",
    "memory": "notes under ACU_WORKSPACE",
    "admin": "the daemon's health",
}
"""Toolsets by name, as `--caps` takes them."""

_WAIT_ALIASES = {"wake_when": "criteria", "timeout_s": "timeout", "timeout_seconds": "timeout"}
_WAIT_SHOWS = ("wait_id", "status", "answer", "evidence", "message", "next")
_HELD_BACK = ("baseline", "poll_interval", "regex")


def _task(name: str, about: str, effect: Effect = Effect.WRITES, *, quotes_screens: bool = False) -> Tool:
    """Return a tool that is its request: same name, same fields, the reply as it is."""
    return Tool(name, "tasks", about, effect, requests=(name,), quotes_screens=quotes_screens)


TOOLS: tuple[Tool, ...] = (
    Tool(
        "smart_wait",
        "core",
        "Wait for something on screen without polling: give criteria (a sentence) or text, gone, window, change,"
        " stable; returns at once, you are woken once with evidence.",
        Effect.WRITES,
        requests=("wait_create",),
        arguments=waiting.SmartWait,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=waiting.smart_wait,
        aliases=_WAIT_ALIASES,
        hidden=("poll_interval", "display", "on_budget"),
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
        Effect.READS,
        requests=("wait_result", "wait_show"),
        arguments=waiting.WaitPoll,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=waiting.wait_result,
        aliases={"job_id": "wait_id", "block_s": "block", "timeout": "block"},
        params={"block": "seconds, at most 45"},
        always_load=True,
    ),
    Tool(
        "wait_status",
        "core",
        "Show one wait now; without wait_id all live waits.",
        Effect.READS,
        requests=("wait_list", "wait_show"),
        arguments=waiting.WaitStatus,
        result=waiting.WaitsView,
        shows=(*_WAIT_SHOWS, "waits", "count"),
        run=waiting.wait_status,
        aliases={"job_id": "wait_id"},
    ),
    Tool(
        "wait_update",
        "core",
        "Change criteria or timeout of a live wait; restarts its clock.",
        Effect.WRITES,
        requests=("wait_update", "wait_show"),
        arguments=waiting.WaitChanges,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=waiting.wait_update,
        aliases=_WAIT_ALIASES | {"job_id": "wait_id"},
        hidden=("change", "stable", "any", "window", *_HELD_BACK),
    ),
    Tool(
        "wait_cancel",
        "core",
        "End a wait.",
        Effect.DESTROYS,
        requests=("wait_cancel", "wait_show"),
        arguments=waiting.WaitEnd,
        result=WaitView,
        shows=_WAIT_SHOWS,
        run=waiting.wait_cancel,
        aliases={"job_id": "wait_id"},
    ),
    Tool(
        "wait_for_change",
        "core",
        "Block until the screen, window or region changes, e.g. after a click; returns a screenshot file. Beyond 45 s:"
        " a wait_id for wait_result.",
        Effect.WRITES,
        requests=("wait_for_change", "wait_create", "baseline", "look"),
        arguments=seeing.ChangeArguments,
        result=seeing.ChangeView,
        run=seeing.wait_for_change,
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
        Effect.READS,
        requests=("look",),
        arguments=seeing.LookArguments,
        result=seeing.PictureView,
        run=seeing.desktop_look,
        aliases={"window_name": "window", "max_side_px": "max_side"},
        hidden=("display", "window"),
        passed=("task_id",),
        params={"max_side": "pixels; 0: full size", "image": "picture in the answer too"},
    ),
    Tool(
        "display_list",
        "core",
        "List displays and their windows (titles, ids, boxes).",
        Effect.READS,
        requests=("display_list",),
        arguments=seeing.DisplaysAsked,
        result=seeing.DisplaysView,
        run=seeing.display_list,
    ),
    Tool(
        "commentary",
        "core",
        "What is going on: the running commentary, its context, its feed; post adds to the feed.",
        Effect.WRITES,
        requests=("analysis_history", "analysis_context", "analysis_config", "feed_list", "feed_post"),
        arguments=commenting.CommentaryArguments,
        result=commenting.CommentaryView,
        shows=("results", "messages", "context", "config", "posted"),
        run=commenting.commentary,
        hidden=("after", "limit"),
    ),
    _task("task_register", "Start a task with a plan; gets its own isolated display."),
    # An end cancels the task's waits and closes its display.
    _task("task_update", "Message, query or status of a task.", Effect.DESTROYS, quotes_screens=True),
    _task("task_item_update", "Set a plan item's status."),
    _task("task_plan_append", "Add plan items."),
    _task("task_log_action", "Log an action under a plan item."),
    _task("task_summary", "Summary of a task's plan and progress.", Effect.READS, quotes_screens=True),
    _task("task_drill_down", "One plan item with its actions and logs.", Effect.READS, quotes_screens=True),
    _task("task_thread", "Messages of a task.", Effect.READS, quotes_screens=True),
    _task("task_list", "List tasks.", Effect.READS),
    Tool(
        "memory_search",
        "memory",
        "Search your notes.",
        Effect.READS,
        arguments=remembering.Search,
        result=remembering.SearchView,
        run=remembering.memory_search,
        needs_workspace=True,
    ),
    Tool(
        "memory_read",
        "memory",
        "Read a note.",
        Effect.READS,
        arguments=remembering.Read,
        result=remembering.ReadView,
        run=remembering.memory_read,
        params={"offset": "first line"},
        needs_workspace=True,
    ),
    Tool(
        "memory_append",
        "memory",
        "Add to a note.",
        Effect.WRITES,
        arguments=remembering.Append,
        result=remembering.AppendView,
        run=remembering.memory_append,
        needs_workspace=True,
    ),
    Tool(
        "health_check",
        "admin",
        "Check the daemon: judges, displays, faults and their fix.",
        Effect.READS,
        requests=("doctor", "status"),
        arguments=health.HealthAsked,
        result=health.HealthView,
        run=health.health_check,
    ),
)
