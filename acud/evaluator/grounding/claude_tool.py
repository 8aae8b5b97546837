"""Anthropic's computer-use tool, in its generations: what is declared, what fits, and what the answers mean.

Sources: the `anthropic` package's types (`BetaToolComputerUse20241022Param`, `…20250124Param`, `…20251124Param`,
`BetaComputerToolset20260801Param`, `AnthropicBetaParam`) and the computer-use page of Anthropic's documentation, which
names the beta header of each model generation and the largest picture that is not resized unseen.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

import msgspec

from acud.agent.chat import ChatCall
from acud.config import ClaudeTool
from acud.evaluator.grounding.scale import Size, Spot, holds
from acud.evaluator.judges.provider import ChatReply

TOOLSET = "computer_toolset_20260801"
_BETAS = {
    "computer_20241022": "computer-use-2024-10-22",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
_GENERATIONS: tuple[tuple[str, ClaudeTool], ...] = (
    (r"claude-3-5-sonnet-(?:20241022|latest)", "computer_20241022"),
    (r"claude-3-7-sonnet", "computer_20250124"),
    (r"claude-(?:opus|sonnet)-4(?:-1)?(?:-\d{8})?$", "computer_20250124"),
    (r"claude-(?:sonnet|haiku)-4-5(?!\d)", "computer_20250124"),
    (r"claude-(?:opus-4-[5-7]|sonnet-4-6)(?!\d)", "computer_20251124"),
)
_POINTING = frozenset({"left_click", "right_click", "middle_click", "double_click", "triple_click", "mouse_move"})
_MEMBERS = (
    *("key", "hold_key", "type", "cursor_position", "mouse_move", "left_mouse_down", "left_mouse_up", "left_click"),
    *("left_click_drag", "right_click", "middle_click", "double_click", "triple_click", "scroll", "wait"),
    *("screenshot", "zoom"),
)


class Limit(NamedTuple):
    """The largest picture that the API leaves as it is."""

    max_side: int
    max_pixels: int


STANDARD = Limit(1568, 1_150_000)
HIGH = Limit(2576, 3_750_000)
"""Of Opus 4.7; the same would do for later ones, but a picture that is smaller than it could be is never wrong."""


class Aim(NamedTuple):
    """A place in pixels of the declared display."""

    spot: Spot


class Wish(NamedTuple):
    """The model wants to see the screen; `call`, the only one of its answer, is to be answered."""

    call: ChatCall


class Absent(NamedTuple):
    """The model says that it is not there."""


class Unclear(NamedTuple):
    """No place: a code of `ChatReply` and why, in one line."""

    code: Literal["unparsable", "refusal"]
    reason: str


Meaning = Aim | Wish | Absent | Unclear


def tool_of(model: str) -> ClaudeTool | None:
    """Return the tool of that model's generation; None when its name does not tell."""
    name = model.lower().rpartition("/")[2].replace(".", "-")
    return next((tool for form, tool in _GENERATIONS if re.match(form, name)), None)


def limit_of(model: str) -> Limit:
    """Return the largest picture for `model`; the smaller limit where its name does not tell."""
    return HIGH if re.search(r"claude-opus-4[.-]7(?!\d)", model.lower()) else STANDARD


def declaration(tool: ClaudeTool, display: Size) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the entry for `tools` and the beta headers for a display of that size.

    A toolset declares no size (it counts in pixels of the picture); all of its members but `left_click` are off.
    """
    if tool == TOOLSET:
        off = {name: {"enabled": False} for name in _MEMBERS if name != "left_click"}
        return {"type": tool, "configs": off}, ()
    named = {"type": tool, "name": "computer"}
    return {**named, "display_width_px": display.width, "display_height_px": display.height}, (_BETAS[tool],)


def meaning(reply: ChatReply, display: Size, absent_word: str) -> Meaning:
    """Return what an answer says about the place asked for. Raises nothing, whatever the answer."""
    if not reply.calls:
        if reply.text.strip().strip("`*\"'.") == absent_word:
            return Absent()
        return Unclear("unparsable", f"words and no action: {_quote(reply.text)}")
    read = {_read(call, display) for call in reply.calls}
    only = read.pop()
    if not read:
        return only
    return Unclear("unparsable", f"{len(reply.calls)} different actions in one answer")


def _read(call: ChatCall, display: Size) -> Meaning:
    given = _arguments(call)
    if given is None:
        return Unclear("unparsable", f"arguments that are no JSON object: {_quote(call.arguments)}")
    action = given.get("action") if call.name == "computer" else call.name
    if action == "screenshot":
        return Wish(call)
    if not isinstance(action, str) or action not in _POINTING:
        return Unclear("unparsable", f"it chose {_quote(str(action))}, which points at no one place")
    return _aim(given.get("coordinate"), display)


def _aim(coordinate: Any, display: Size) -> Meaning:
    if not (isinstance(coordinate, list) and len(coordinate) == 2 and all(type(one) is int for one in coordinate)):
        return Unclear("unparsable", f"a coordinate that is no pair of whole numbers: {_quote(str(coordinate))}")
    spot = (float(coordinate[0]), float(coordinate[1]))
    if not holds(display, spot):
        return Unclear("unparsable", f"{coordinate} is outside the display of {display.width}x{display.height}")
    return Aim(spot)


def _arguments(call: ChatCall) -> dict[str, Any] | None:
    try:
        given = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _quote(text: str) -> str:
    return repr(" ".join(text.split())[:120])
