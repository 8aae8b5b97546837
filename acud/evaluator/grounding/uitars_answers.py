"""The strict reader of UI-TARS' answers: one place, or nothing is known.

Forms as documented in bytedance/UI-TARS (README, `codes/ui_tars/prompt.py`, `codes/ui_tars/action_parser.py`):
`Thought:`, `Reflection:` and `Action_Summary:` before an `Action:`; calls such as `click(start_box='(x,y)')`; the place
as `(x,y)`, `(x1,y1,x2,y2)`, `[x,y]`, `[x1,y1,x2,y2]`, `<point>x y</point>` or `<bbox>x1 y1 x2 y2</bbox>`, alone or
between `<|box_start|>` and `<|box_end|>`; and such a place with no call around it. Numbers are whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from acud.evaluator.grounding.scale import Corners

MAX_ANSWER = 20_000
"""Characters; whatever is longer is no answer to a question for one place."""

POINTING = frozenset({"click", "left_single", "left_double", "right_single", "hover", "long_press"})
"""Actions that happen at one place; `left_single`, `hover`, `long_press` are of the mobile and older action spaces."""

_OTHER = frozenset({"drag", "select", "hotkey", "press", "keydown", "keyup", "release", "type", "scroll", "wait"})
_OTHER |= {"finished", "call_user", "open_app", "press_home", "press_back"}
"""Documented actions that say no place, more than one, or that the task is over."""

_PLACES = frozenset({"start_box", "start_point", "point"})

_N = r"\s*(\d{1,5})\s*"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"\({_N},{_N}\)",
        rf"\({_N},{_N},{_N},{_N}\)",
        rf"\[{_N},{_N}\]",
        rf"\[{_N},{_N},{_N},{_N}\]",
        r"<point>\s*(\d{1,5})\s+(\d{1,5})\s*</point>",
        r"<bbox>\s*(\d{1,5})\s+(\d{1,5})\s+(\d{1,5})\s+(\d{1,5})\s*</bbox>",
    )
)
_CALL = re.compile(r"(\w{1,40})\((.*)\)", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(\w{1,40})\s*=\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(,|$)""", re.DOTALL)
_LEADS = ("Thought:", "Reflection:", "Action_Summary:")
_ENDS = ("[EOS]", "<|im_end|>", "<|endoftext|>")


class Place(NamedTuple):
    """A place as the model counts; a point has twice the same corner."""

    corners: Corners

    @property
    def is_box(self) -> bool:
        """Whether the model gave extents."""
        return self.corners[:2] != self.corners[2:]


class Unparsable(NamedTuple):
    """No single place: why, in one line."""

    reason: str


def parse(answer: str) -> Place | Unparsable:
    """Return the place in `answer`, else why there is none. Raises nothing, whatever the text."""
    if len(answer) > MAX_ANSWER:
        return Unparsable(f"an answer of {len(answer)} characters")
    body = _body(_stripped(answer))
    if isinstance(body, Unparsable):
        return body
    found = {_one(part.strip()) for part in re.split(r"\n\s*\n", body) if part.strip()}
    if not found:
        return Unparsable("an empty answer")
    if len(found) > 1:
        return Unparsable(f"several different actions: {_quote(body)}")
    return found.pop()


def _stripped(text: str) -> str:
    text = text.strip()
    for end in _ENDS:
        text = text.removesuffix(end).rstrip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        text = text[3:-3].strip()
    return text


def _body(text: str) -> str | Unparsable:
    """Return what follows the one `Action:`, or the whole of a text that has none."""
    marks = list(re.finditer(r"^[ \t]*Action:", text, re.MULTILINE))
    if len(marks) > 1:
        return Unparsable(f"several actions: {_quote(text)}")
    if not marks:
        return text
    before = text[: marks[0].start()].strip()
    if before and not before.startswith(_LEADS):
        return Unparsable(f"words before the action: {_quote(text)}")
    return text[marks[0].end() :].strip()


def _one(text: str) -> Place | Unparsable:
    """Return the place of one call, or of a place with no call around it."""
    bare = _place(text)
    if bare is not None:
        return bare
    call = _CALL.fullmatch(text)
    if call is None:
        return Unparsable(f"neither an action nor a place: {_quote(text)}")
    if call[1] in _OTHER:
        return Unparsable(f"an action that points at no one place: {_quote(text)}")
    if call[1] not in POINTING:
        return Unparsable(f"an unknown action: {_quote(text)}")
    return _argument_place(call[2], text)


def _argument_place(arguments: str, text: str) -> Place | Unparsable:
    values = _arguments(arguments)
    if values is None:
        return Unparsable(f"arguments in no documented form: {_quote(text)}")
    places = [_place(value) for name, value in values if name in _PLACES]
    if len(places) != 1 or places[0] is None:
        return Unparsable(f"not exactly one place in a documented form: {_quote(text)}")
    if any(name.startswith("end_") for name, _ in values):
        return Unparsable(f"a second place: {_quote(text)}")
    return places[0]


def _arguments(text: str) -> list[tuple[str, str]] | None:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        one = _ARGUMENT.match(text, at)
        if one is None:
            return None
        found.append((one[1], one[2] if one[2] is not None else one[3]))
        at = one.end()
    return found


def _place(text: str) -> Place | None:
    inner = text.strip()
    if inner.startswith("<|box_start|>") and inner.endswith("<|box_end|>"):
        inner = inner.removeprefix("<|box_start|>").removesuffix("<|box_end|>").strip()
    for form in _FORMS:
        if match := form.fullmatch(inner):
            return _ordered([float(number) for number in match.groups()])
    return None


def _ordered(numbers: list[float]) -> Place | None:
    x1, y1, x2, y2 = numbers if len(numbers) == 4 else numbers * 2
    return Place((x1, y1, x2, y2)) if x1 <= x2 and y1 <= y2 else None


def _quote(text: str) -> str:
    return repr(" ".join(text.split())[:120])
