"""From the flat arguments of `desktop_action` to typed actions."""

from typing import Any, get_args

import pytest

from acud.base.errors import InvalidRequest
from acud.types.actions import (
    Action,
    Button,
    Click,
    ClipboardGet,
    ClipboardSet,
    CursorPosition,
    Direction,
    Drag,
    Hold,
    Key,
    Launch,
    Move,
    Point,
    Release,
    Scroll,
    TypeText,
    WaitIdle,
    WindowDo,
    WindowList,
    WindowVerb,
)
from acud_mcp.action_tool import MAKERS, XDOTOOL, ActArguments, Name, parse_action
from acud_mcp.help_tool import ACTIONS
from acud_mcp.server import TOOLS
from acud_mcp.tool import parse_arguments

TOOL = next(tool for tool in TOOLS if tool.name == "desktop_action")
AT = {"coordinate": [3, 4]}


def make_arguments(action: str, **more: Any) -> ActArguments:
    arguments = parse_arguments(TOOL, {"action": action, **more})
    assert isinstance(arguments, ActArguments)
    return arguments


@pytest.mark.parametrize(("action", "more", "wanted"), [
    ("left_click", AT, Click(Point(3, 4))), ("left_click", {}, Click()),
    ("left_click", {**AT, "text": "ctrl"}, Click(Point(3, 4), keys="ctrl")),
    ("left_click", {"coordinate": " 3,4"}, Click(Point(3, 4))),
    ("left_click", {"coordinate": "[3, 4]"}, Click(Point(3, 4))),
    ("left_click", {"x": 3, "y": "4"}, Click(Point(3, 4))), ("left_click", {"element": "t1-2"}, Click("t1-2")),
    ("left_click", {"coordinate": "t1-2"}, Click("t1-2")), ("right_click", AT, Click(Point(3, 4), Button.RIGHT)),
    ("middle_click", AT, Click(Point(3, 4), Button.MIDDLE)), ("double_click", AT, Click(Point(3, 4), count=2)),
    ("triple_click", AT, Click(Point(3, 4), count=3)),
    ("left_click_drag", {**AT, "start_coordinate": [1, 2]}, Drag(Point(3, 4), Point(1, 2))),
    ("left_click_drag", AT, Drag(Point(3, 4))), ("mouse_move", AT, Move(Point(3, 4))),
    ("scroll", {"scroll_direction": "up", "scroll_amount": "5"}, Scroll(Direction.UP, 5)),
    ("scroll", AT, Scroll(Direction.DOWN, 3, Point(3, 4))), ("type", {"text": "Grüße"}, TypeText("Grüße")),
    ("key", {"text": "ctrl+s"}, Key("ctrl+s")), ("hold", {"text": "shift", "duration": 2}, Hold("shift", 2)),
    ("release", {}, Release()), ("cursor_position", {}, CursorPosition()), ("wait_idle", {}, WaitIdle()),
    ("wait_idle", {"timeout": 3}, WaitIdle(timeout_s=3)), ("window_list", {"text": "Fire"}, WindowList("Fire")),
    ("window_focus", {"window": "Fire"}, WindowDo("Fire", WindowVerb.FOCUS)),
    ("window_move", {"window": "Fire", **AT}, WindowDo("Fire", WindowVerb.MOVE, Point(3, 4))),
    ("window_resize", {"window": "Fire", "size": [30, 40]}, WindowDo("Fire", WindowVerb.RESIZE, size=(30, 40))),
    ("window_close", {"window_name": "active"}, WindowDo("active", WindowVerb.CLOSE)),
    ("clipboard_get", {}, ClipboardGet()), ("clipboard_set", {"text": "copied"}, ClipboardSet("copied")),
    ("launch", {"text": "xterm -title 'My work'"}, Launch(("xterm", "-title", "My work"))),
])  # fmt: skip
def test_an_action(action: str, more: dict[str, Any], wanted: Action) -> None:
    assert parse_action(make_arguments(action, **more)) == wanted


@pytest.mark.parametrize(("action", "more", "words"), [
    ("mouse_move", {}, "mouse_move needs coordinate"), ("left_click_drag", {}, "left_click_drag needs coordinate"),
    ("type", {}, "type needs text"), ("key", {}, "key needs text"),
    ("launch", {"text": "xterm 'half"}, "No closing quotation"), ("launch", {"text": "  "}, "launch"),
    ("window_focus", {}, "window_focus needs window"),
    ("window_resize", {"window": "w", "coordinate": [0, 5]}, "window_resize"),
    ("scroll", {"amount": 1000}, "scroll"), ("left_click", {"coordinate": [99999, 1]}, "left_click"),
    ("type", {"text": "x" * 10_001}, "type"),
])  # fmt: skip
def test_what_is_missing_or_malformed_is_named(action: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        parse_action(make_arguments(action, **more))


def test_an_unknown_action() -> None:
    with pytest.raises(InvalidRequest, match=r"desktop_action: action must be one of .*, not 'dance'"):
        make_arguments("dance")
    with pytest.raises(InvalidRequest, match="coordinate"):
        make_arguments("left_click", coordinate=[1])


def test_every_name_does_something() -> None:
    assert set(get_args(Name)) - set(MAKERS) == {
        "screenshot", "wait", "wait_for_change", "launch_status", "notification",
    }  # fmt: skip
    assert set(MAKERS) <= set(get_args(Name)) == set(ACTIONS)


@pytest.mark.parametrize("word", XDOTOOL)
def test_words_of_xdotool_are_taken(word: str) -> None:
    arguments = parse_arguments(next(tool for tool in TOOLS if tool.name == "desktop_action"), {"action": word})
    assert isinstance(arguments, ActArguments)
    assert arguments.action == XDOTOOL[word]
