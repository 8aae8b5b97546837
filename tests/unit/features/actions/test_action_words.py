"""Actions in words: what may be a secret is counted."""

import msgspec
import pytest

from acud.features.actions.action_words import action_text, actions_text
from acud.types.actions import (
    Action,
    Button,
    Click,
    ClipboardSet,
    Drag,
    Hold,
    Key,
    Launch,
    Point,
    Release,
    Scroll,
    TypeText,
    WindowDo,
    WindowVerb,
)
from acud.types.actions import Direction as To


@pytest.mark.parametrize(("action", "words"), [
    (Click(Point(3, 4)), "click at 3,4"), (Click(button=Button.RIGHT, count=2, keys="ctrl"), "ctrl+double-click right"),
    (Drag(Point(3, 4), Point(1, 2)), "drag from 1,2 to 3,4"), (Scroll(To.UP, 2), "scroll up 2"),
    (Key("ctrl+s"), "key ctrl+s"), (TypeText("secret"), "type 6 characters"),
    (ClipboardSet("s"), "set the clipboard to 1 character"),
    (Launch(("curl", "--header", "token: secret")), "launch curl with 2 arguments"),
    (WindowDo("Work", WindowVerb.MOVE, Point(1, 2)), "move window 'Work' to 1,2"), (Hold("shift"), "hold shift"),
    (Release(), "release everything"),
])  # fmt: skip
def test_one(action: Action, words: str) -> None:
    assert action_text(action) == words


def test_every_kind_has_words() -> None:
    kinds = msgspec.json.schema(Action)["anyOf"]
    names = {kind["$ref"].rpartition("/")[2] for kind in kinds}
    plain = {"to": [1, 2], "direction": "up", "chord": "a", "text": "t", "what": "shift", "window": "w", "do": "focus"}
    made = [{"type": tag} | plain | {"command": ["c"]} for tag in _tags()]
    for given in made:
        action = msgspec.convert({k: v for k, v in given.items() if k in _fields(given["type"])}, Action)
        assert action_text(action) != type(action).__name__
    assert len(made) == len(names)


def _kinds() -> dict[str, type[msgspec.Struct]]:
    from typing import get_args

    return {kind.__struct_config__.tag: kind for kind in get_args(Action)}


def _tags() -> list[str]:
    return list(_kinds())


def _fields(tag: object) -> set[str]:
    return {"type", *_kinds()[str(tag)].__struct_fields__}


def test_a_long_list_is_cut() -> None:
    assert len(actions_text([Key("ctrl+s")] * 64)) == 300
