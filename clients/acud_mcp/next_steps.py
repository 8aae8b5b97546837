"""Errors as agents read them: the daemon's hints name CLI commands; here they name tools."""

from __future__ import annotations

import re

from acud.base.errors import AcudError

COMMANDS = (
    "wait", "waits", "wake", "task", "usage", "look", "scene", "annotate", "baseline", "display", "analysis", "record",
    "replay", "events", "top", "do", "gui", "agent", "mcp", "web", "status", "daemon", "config", "doctor", "notify",
    "metrics", "logs", "backup", "dashboard", "restore", "vacuum", "fleet", "help", "completion", "terminal",
)  # fmt: skip
"""The commands of the CLI; a test compares them with it."""

_TOOLS = {
    "agent": "gui_agent with its run_id",
    "analysis config": "commentary",
    "baseline": "desktop_look",
    "daemon restart": "ask whoever runs acud to restart its daemon",
    "daemon start": "ask whoever runs acud to start its daemon",
    "display create": "display_create",
    "display list": "display_list",
    "doctor": "health_check",
    "logs": "health_check",
    "look": "desktop_look",
    "record list": "video_record with action list",
    "record stop": "video_record with action stop",
    "scene": "scene",
    "status": "health_check",
    "task list": "task_list",
    "wait": "smart_wait",
    "wait list": "wait_status",
    "wait show": "wait_status",
    "waits list": "wait_status",
}
"""The tool that does what a command does, by command, or by its first word alone."""

_OTHERS = "ask whoever runs acud"
_VERBS = {"agent", "analysis", "daemon", "display", "fleet", "record", "task", "wait", "waits", "wake", "web"}
"""Commands that have commands of their own."""
_COMMAND = re.compile(
    rf"(?:start it with: )?`?\bacud (?P<noun>{'|'.join(sorted(COMMANDS, key=len, reverse=True))})\b(?P<verb> [a-z]+\b)?"
    r"(?P<rest>(?: --?[a-z-]+(?: (?:[A-Z]+|error|warning|\d+)\b)?)*)`?"
)
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")


def error_words(fault: AcudError) -> str:
    """Return an error with its next step, in words for an agent: tools and arguments, no commands and options."""
    hint = fault.hint and f"; {fault.hint.replace('acud --fleet …', _OTHERS)}"
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), _COMMAND.sub(_name_tool, f"{fault.message}{hint}"))


def _name_tool(match: re.Match[str]) -> str:
    noun, verb = match["noun"], match["verb"] or ""
    whole = noun + verb if noun in _VERBS else noun
    step = _TOOLS.get(whole) or _TOOLS.get(noun) if noun != "wait" or not verb else _TOOLS.get(whole)
    unused = "" if noun in _VERBS else verb
    return f"{step or _OTHERS}{unused}"
