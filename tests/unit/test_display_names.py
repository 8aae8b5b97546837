"""A display has one name wherever a request may name one, however it is spelled."""

from typing import Any, get_type_hints

import msgspec
import pytest

from acud.base.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.display_names import rename_displays, use_canonical_names
from acud.protocol.requests import REQUESTS, Command
from acud.protocol.requests.displays import DisplayAdd, DisplayListReply, DisplayRemove
from acud.protocol.requests.waits import WaitCreate
from acud.protocol.requests.web import WebLogin
from acud.types import Change, DisplayInfo
from tests.fuzz.samples import sample

_NO_NAMES = {"display_width", "display_height", "display_labels"}


def naming(spec: Command) -> list[str]:
    fields = get_type_hints(spec.request)
    return [name for name in fields if name.startswith("display") and name not in _NO_NAMES]


@pytest.mark.parametrize("spec", [one for one in REQUESTS if naming(one)], ids=lambda spec: spec.name)
def test_every_field_that_names_a_display_is_spelled_one_way(spec: Command) -> None:
    for name in naming(spec):
        known = name in ("display", "displays")
        assert known, f"{spec.name}.{name} names displays and acud/protocol/display_names.py does not know it"
        for spelled in (":0471", "471", "unix:471", ":471.0"):
            given: Any = (spelled,) if name == "displays" else spelled
            request = use_canonical_names(msgspec.structs.replace(_make(spec), **{name: given}))
            assert getattr(request, name) == ((":471",) if name == "displays" else ":471")


def _make(spec: Command) -> Any:
    fields = msgspec.structs.fields(spec.request)
    return spec.request(**{field.name: "x" for field in fields if field.required})


def test_displays_that_are_added_removed_and_aimed_at() -> None:
    assert use_canonical_names(DisplayAdd(":0471")) == DisplayAdd(":471")
    assert use_canonical_names(DisplayAdd("h1/:0471.0")) == DisplayAdd("h1/:471")
    assert use_canonical_names(DisplayRemove(":00471.00")) == DisplayRemove(":471")
    assert use_canonical_names(WaitCreate(Change(), "display::0471")).target == "display::471"
    assert use_canonical_names(WaitCreate(Change(), "display:h1/:0471")).target == "display:h1/:471"


def test_what_is_no_name_of_a_display_stays() -> None:
    asked = WaitCreate(Change(), "window:007", display="localhost:07")
    assert use_canonical_names(asked) == asked


@pytest.mark.parametrize("name", [" ", "", "h1/:7", ":", "localhost:7", ":7x"])
def test_a_pass_is_limited_to_displays_of_this_machine(name: str) -> None:
    with pytest.raises(InvalidRequest, match="displays"):
        codec.convert({"type": "web_login", "digest": "0" * 64, "displays": [name]}, WebLogin)


def _everywhere(value: Any) -> Any:
    """Return `value` with the names of displays changed, by a look at every field of every message."""
    if isinstance(value, tuple | list):
        return type(value)(_everywhere(one) for one in value)
    if not isinstance(value, msgspec.Struct):
        return value
    found = {}
    for name in value.__struct_fields__:
        given = getattr(value, name)
        is_list = name == "displays" and isinstance(given, tuple) and given and isinstance(given[0], str)
        found[name] = tuple(map(_outer, given)) if is_list else _everywhere(given)
        if isinstance(given, str):
            own = {"name": DisplayInfo | DisplayAdd | DisplayRemove, "default": DisplayListReply}.get(name)
            names = name in ("display", "baseline", "view") or (own is not None and isinstance(value, own))
            found[name] = _outer(given) if names else _target(given) if name == "target" else given
    return msgspec.structs.replace(value, **found)


def _outer(word: str) -> str:
    return f"h1/{word}"


def _target(word: str) -> str:
    return f"display:{_outer(word[8:])}" if word.startswith("display:") else word


@pytest.mark.parametrize("spec", REQUESTS, ids=lambda spec: spec.name)
def test_no_message_inside_a_reply_is_left_out(spec: Command) -> None:
    for kind in (spec.request, spec.reply):
        value = msgspec.convert(sample(kind), kind)
        assert rename_displays(value, _outer) == _everywhere(value)
        assert rename_displays(value, lambda word: word) == value
