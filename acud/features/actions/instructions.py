"""Parses an instruction: one sentence ("click the Export button") or call ("click(847, 523)").

Nothing is guessed: a sentence that fits no form is refused with a list of the forms. Words in quotation marks are taken
verbatim, apostrophes included. Places (`at`, `start`, `to`) stay words, for grounding to find. The arguments of a call
are whole numbers and quoted words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from acud.base.errors import InvalidRequest
from acud.language.quotation_marks import CLOSING, MARKS, OPENING, unquote
from acud.types.actions import Button, Direction

_CALL = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]*)\s*\((?P<given>.*)\)\s*;?", re.DOTALL)
_ARGUMENT = re.compile(
    r"""\s*(?:(?P<number>[+-]?\d{1,6})|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)')\s*""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t"}


def parse_call(text: str) -> tuple[str, tuple[Any, ...]] | None:
    """Return (name in lower case, arguments as int or str), or None when `text` is no call.

    `\\n` and `\\t` in quotation marks are a line feed and a tab, any other escaped character is itself.
    """
    found = _CALL.fullmatch(text)
    if found is None:
        return None
    given = _parse_arguments(found["given"])
    return None if given is None else (found["name"].lower(), given)


def _parse_arguments(text: str) -> tuple[Any, ...] | None:
    if not text.strip():
        return ()
    given: list[Any] = []
    place = 0
    while True:
        found = _ARGUMENT.match(text, place)
        if found is None:
            return None
        given.append(_parse_value(found))
        place = found.end()
        if place == len(text):
            return tuple(given)
        if text[place] != ",":
            return None
        place += 1


def _parse_value(match: re.Match[str]) -> int | str:
    if match["number"] is not None:
        return int(match["number"])
    words = match["double"] if match["double"] is not None else match["single"]
    return _ESCAPE.sub(lambda one: _MEANT.get(one[1], one[1]), words)


class ClickOn(Struct, frozen=True):
    """Click `count` times on what `at` describes."""

    at: str
    button: Button = Button.LEFT
    count: int = 1


class TickBox(Struct, frozen=True):
    """Tick or untick the check box, radio button or switch that `at` describes, with a click if needed."""

    at: str
    is_on: bool = True


class HoverOver(Struct, frozen=True):
    """Leave the pointer on what `at` describes."""

    at: str


class TypeInto(Struct, frozen=True):
    """Type `text` into what `at` describes ("": where the focus is). `replace`: instead of the old text. `enter`: then
    press Return.
    """

    text: str
    at: str = ""
    replace: bool = False
    enter: bool = False


class SelectIn(Struct, frozen=True):
    """Choose `option` in the list, menu or combo box that `at` describes ("": anywhere on the screen)."""

    option: str
    at: str = ""


class ScrollUntil(Struct, frozen=True):
    """Scroll what `at` describes ("": anything scrollable) until what `to` describes is in view."""

    to: str
    at: str = ""


class ScrollBy(Struct, frozen=True):
    """Scroll `amount` clicks of the wheel, over what `at` describes ("": the middle of the target)."""

    direction: Direction
    amount: int = 5
    at: str = ""


class DragTo(Struct, frozen=True):
    """Drag what `start` describes to what `to` describes."""

    start: str
    to: str


class PressKeys(Struct, frozen=True):
    """Press chords one after the other."""

    chord: str


Instruction = ClickOn | TickBox | HoverOver | TypeInto | SelectIn | ScrollUntil | ScrollBy | DragTo | PressKeys

EXAMPLES = (
    "click the Export button",
    "click(847, 523)",
    "double-click the report icon",
    "right-click the first row",
    "tick the Express check box",
    "switch off Notifications",
    'type "hello" into the Name field',
    'replace the Name field with "hello"',
    "select Red in the Colour list",
    "hover over the Help icon",
    "scroll to the Licence heading",
    "scroll down 3",
    "drag the report to the Trash",
    "press ctrl+s",
)
"""One of each form, for the hint of a refusal."""

MAX_AMOUNT = 100

_BUTTONS = {
    "click": (Button.LEFT, 1),
    "left click": (Button.LEFT, 1),
    "tap": (Button.LEFT, 1),
    "focus": (Button.LEFT, 1),
    "double click": (Button.LEFT, 2),
    "triple click": (Button.LEFT, 3),
    "right click": (Button.RIGHT, 1),
    "middle click": (Button.MIDDLE, 1),
}
_ENTER = re.compile(r"(?:press|hit)\s{1,9}(?:the\s{1,9})?(?:enter|return)(?:\s{1,9}key)?$", re.IGNORECASE)
"""Runs of spaces are bounded: matching unbounded ones would take minutes."""
_JOINTS = ("and then", "then", "and")
_FLAGS = re.IGNORECASE | re.DOTALL


def parse(instruction: str) -> Instruction:
    """Return the parsed `instruction`. Raises: InvalidRequest naming every form when it fits none."""
    sentence = instruction.strip()
    called = parse_call(sentence)
    found = _from_call(*called) if called is not None else _from_sentence(sentence.removesuffix(".").rstrip())
    if found is None:
        hint = _suggest_verb(sentence) + "; ".join(EXAMPLES)
        raise InvalidRequest("the instruction fits no form that is known", hint=hint)
    return found


def _suggest_verb(sentence: str) -> str:
    """Return a question with the sentence corrected, if its first word is a misspelt verb; else ""."""
    first, _, rest = sentence.partition(" ")
    near = get_close_matches(first.lower(), _VERBS, 1)
    return f'did you mean "{near[0]} {rest}"? ' if rest and near and _from_sentence(f"{near[0]} {rest}") else ""


def places(instruction: Instruction) -> tuple[str, ...]:
    """Return the words of the instruction that name places; typed text and keys do not count."""
    found = (getattr(instruction, name, "") for name in ("start", "at", "option", "to"))
    return tuple(words for words in found if words)


def instruction_text(instruction: Instruction) -> str:
    """Return the instruction in one line; of typed text only the length, as it may be a password."""
    match instruction:
        case ClickOn(at, button, count):
            return f"{_click_word(button, count)} {_shorten_words(at)}"
        case TickBox(at, is_on):
            return f"{'tick' if is_on else 'untick'} {_shorten_words(at)}"
        case HoverOver(at):
            return f"hover over {_shorten_words(at)}"
        case TypeInto(text, at, replace, enter):
            verb = "replace by" if replace else "type"
            place = f" in {_shorten_words(at)}" if at else ""
            return f"{verb} {len(text)} characters{place}{' and press Return' if enter else ''}"
        case SelectIn(option, at):
            return f"select {_shorten_words(option)}" + (f" in {_shorten_words(at)}" if at else "")
        case ScrollUntil(to, at):
            return f"scroll to {_shorten_words(to)}" + (f" in {_shorten_words(at)}" if at else "")
        case ScrollBy(direction, amount, at):
            return f"scroll {direction.value} {amount}" + (f" at {_shorten_words(at)}" if at else "")
        case DragTo(start, to):
            return f"drag {_shorten_words(start)} to {_shorten_words(to)}"
        case PressKeys(chord):
            return f"press {chord}"


def _click_word(button: Button, count: int) -> str:
    return next(verb.replace(" ", "-") for verb, meant in _BUTTONS.items() if meant == (button, count))


def _shorten_words(words: str) -> str:
    return words if len(words) <= 200 else words[:199] + "…"


def _from_sentence(sentence: str) -> Instruction | None:
    for form, make in _FORMS:
        found = form.fullmatch(sentence)
        if found is not None:
            made = make(found)
            if made is not None:
                return made
    return None


def _make_click(match: re.Match[str]) -> Instruction | None:
    verb = re.sub(r"[\s_-]+", " ", match["verb"].lower())
    button, count = _BUTTONS["click" if verb in ("click", "press", "push", "hit", "tap", "toggle") else verb]
    return ClickOn(match["at"].strip(), button, count)


def _make_tick(match: re.Match[str]) -> Instruction | None:
    verb = re.sub(r"[\s_-]+", " ", (match["verb"] or match["way"]).lower())
    return TickBox(match["at"].strip(), verb not in _OFF)


def _make_typing(match: re.Match[str]) -> Instruction | None:
    rest, enter = _split_enter(match["rest"])
    text, place = _split_quoted(rest) or _split_at_joint(rest, ("into", "in", "to", "on"))
    if text == "" or (place is not None and not place):
        return None
    return TypeInto(text, place or "", enter=enter)


def _make_replacing(match: re.Match[str]) -> Instruction | None:
    rest, enter = _split_enter(match["rest"])
    joint = "with|by" if match["verb"].lower() == "replace" else "to"
    quoted = re.fullmatch(rf"(?P<at>.+?)\s+(?:{joint})\s+(?P<text>{OPENING}.+)", rest, _FLAGS)
    plain = re.fullmatch(rf"(?P<at>.+)\s+(?:{joint})\s+(?P<text>.+)", rest, _FLAGS)
    parts = quoted or plain
    if parts is None:
        return None
    text = unquote(parts["text"].strip())
    return TypeInto(text, parts["at"].strip(), replace=True, enter=enter) if text else None


def _make_select(match: re.Match[str]) -> Instruction | None:
    option, place = _split_quoted(match["rest"]) or _split_at_joint(match["rest"], ("in", "from", "on"))
    return SelectIn(option, place or "") if option else None


def _make_scroll(match: re.Match[str]) -> Instruction | None:
    amount = int(match["amount"] or 5)
    if not 1 <= amount <= MAX_AMOUNT:
        return None
    return ScrollBy(Direction(match["way"].lower()), amount, (match["at"] or "").strip())


def _make_drag(match: re.Match[str]) -> Instruction | None:
    quoted = _split_quoted(match["rest"], ("to", "onto", "into", "on"), keep=True)
    start, to = quoted or _split_at_joint(match["rest"], ("onto", "to", "into"), first=True)
    return DragTo(start, to) if start and to else None


def _make_press(match: re.Match[str]) -> Instruction | None:
    chord = unquote(match["chord"].strip())
    return PressKeys(re.sub(r"\s*\+\s*", "+", chord))


_CHORD = r"(?:[A-Za-z0-9_]+(?:\s*\+\s*[A-Za-z0-9_]+)+|[A-Z][A-Za-z0-9_]*_[A-Za-z0-9_]+|F\d{1,2}|[A-Za-z0-9])"
_NAMED = (
    r"(?:Enter|Return|Tab|Escape|Esc|Delete|Backspace|BackSpace|Space|Home|End|Insert|Up|Down|Left|Right"
    r"|Page_?Up|Page_?Down|Prior|Next|Menu)"
)
_Make = Callable[[re.Match[str]], Instruction | None]


def _compile(pattern: str, make: _Make) -> tuple[re.Pattern[str], _Make]:
    return re.compile(pattern, _FLAGS), make


_OFF = (
    "untick",
    "uncheck",
    "unmark",
    "unselect",
    "deselect",
    "clear",
    "turn off",
    "switch off",
    "disable",
    "deactivate",
    "off",
)
_BOX = r"(?:(?:check|tick)[\s-]?box|radio(?:\s?button)?)"
_SCROLLED = r"\b(?:list|list\s?box|table|tree|panel|pane|area|text\s?area|page|view|box)"
"""Words for something scrollable: without one of them, "in …" is a part of the description."""
_VERBS = {one.split()[0] for one in EXAMPLES} | {"set", "choose", "check", "uncheck", "untick", "toggle"}
_VERB = r"(?P<verb>(?:left|double|triple|right|middle)[\s_-]?click|click|tap)"
_FORMS = (
    _compile(_VERB + r"(?:\s+(?:on|at|in|over))?\s+(?P<at>.+)", _make_click),
    _compile(r"(?P<verb>focus)(?:\s+on)?\s+(?P<at>.+)", _make_click),
    _compile(
        r"(?P<verb>(?:un)?tick|(?:un)?check|(?:de)?activate|enable|disable|(?:turn|switch)[\s-]o(?:n|ff))"
        r"\s+(?!(?:whether|if|that|on|for)\b)(?P<at>.+)",
        _make_tick,
    ),
    _compile(
        rf"(?P<verb>(?:un|de)?select|clear|(?:un)?mark|choose|pick)\s+(?P<at>(?:.+\s)?{_BOX}(?:\s.+)?)", _make_tick
    ),
    _compile(r"(?P<verb>)(?:turn|switch)\s+(?P<at>.+)\s+(?P<way>on|off)", _make_tick),
    _compile(r"(?P<verb>toggle)\s+(?P<at>.+)", _make_click),
    _compile(r"(?:type|enter|write|input)(?:\s+in(?=\s+" + OPENING + r"))?\s+(?P<rest>.+)", _make_typing),
    _compile(r"(?P<verb>set|replace|overwrite)\s+(?P<rest>.+)", _make_replacing),
    _compile(r"(?:select|choose|pick)\s+(?P<rest>.+)", _make_select),
    _compile(
        r"scroll\s+(?P<way>up|down|left|right)(?:\s+(?:by\s+)?(?P<amount>\d{1,4})(?:\s+(?:clicks?|steps?|times?|lines?))?)?"
        r"(?:\s+(?:in|on|at|over)\s+(?P<at>.+))?",
        _make_scroll,
    ),
    _compile(
        r"scroll\s+(?:(?:up|down)\s+)?(?:to|until|till)\s+(?P<to>.+?)(?:\s+(?:is|becomes)\s+visible)?"
        rf"(?:\s+(?:in|inside|within)\s+(?P<at>(?:(?!\s(?:in|inside|within)\s).)+?{_SCROLLED}))?",
        lambda found: ScrollUntil(found["to"].strip(), (found["at"] or "").strip()),
    ),
    _compile(
        r"(?:hover\s+(?:over|on|at)|hover|move\s+(?:the\s+(?:mouse|pointer|cursor)\s+)?(?:to|over)|point\s+(?:at|to))\s+(?P<at>.+)",
        lambda found: HoverOver(found["at"].strip()),
    ),
    _compile(r"(?:drag(?:\s+and\s+drop)?)\s+(?P<rest>.+)", _make_drag),
    _compile(rf"(?:press|hit)\s+(?:the\s+)?(?P<chord>{_CHORD}|{_NAMED})(?:\s+keys?)?", _make_press),
    _compile(rf"(?:press|hit)\s+(?P<chord>{OPENING}[^{MARKS}']+[{MARKS}'])", _make_press),
    _compile(r"(?P<verb>press|push|hit)\s+(?:on\s+)?(?P<at>.+)", _make_click),
)


def _split_enter(rest: str) -> tuple[str, bool]:
    found = _ENTER.search(rest)
    if found is None:
        return rest, False
    head = rest[: found.start()].rstrip()
    joint = next((one for one in _JOINTS if head.lower().endswith(one)), "")
    head = head[: len(head) - len(joint)].rstrip().removesuffix(",").rstrip()
    return (head, True) if head else (rest, False)


def _split_quoted(
    rest: str, joints: tuple[str, ...] = ("into", "in", "to", "on", "from"), *, keep: bool = False
) -> tuple[str, str | None] | None:
    """Return (the quoted text at the start of `rest`, the words after a joint word or None); None for other forms."""
    closing = CLOSING.get(rest[:1])
    if closing is None:
        return None
    tail = rf"(?:\s+(?:{'|'.join(joints)})\s+(?P<at>.+))?"
    found = re.fullmatch(rf"{re.escape(rest[0])}(?P<text>.*?)[{closing}]{tail}", rest, _FLAGS)
    if found is None:
        return None
    place = found["at"].strip() if found["at"] is not None else None
    quoted = rest[: found.end("text") + 1]
    return (quoted if keep else unquote(quoted)), place


def _split_at_joint(rest: str, joints: tuple[str, ...], *, first: bool = False) -> tuple[str, str | None]:
    """Return `rest` split at the last (or `first`) place of a joint word, the earliest in `joints` that occurs."""
    for joint in joints:
        head = r".+?" if first else r".+"
        found = re.fullmatch(rf"(?P<text>{head})\s+{joint}\s+(?P<at>.+)", rest, _FLAGS)
        if found is not None:
            return found["text"].strip(), found["at"].strip()
    return rest.strip(), None


def _from_call(name: str, args: tuple[Any, ...]) -> Instruction | None:
    verb = name.replace("_", " ").replace("-", " ")
    place, rest = _split_place(args)
    match verb:
        case _ if verb in _BUTTONS and place and not rest:
            return ClickOn(place, *_BUTTONS[verb])
        case "tick" | "check" | "untick" | "uncheck" if place and not rest:
            return TickBox(place, verb not in _OFF)
        case "hover" | "move" | "move to" | "mouse move" if place and not rest:
            return HoverOver(place)
        case "type" | "write" if len(args) in (1, 2) and all(isinstance(word, str) for word in args) and args[0]:
            return TypeInto(*args)
        case "select" if len(args) in (1, 2) and all(isinstance(word, str) and word for word in args):
            return SelectIn(*args)
        case "press" | "key" | "hotkey" if len(args) == 1 and isinstance(args[0], str) and args[0]:
            return PressKeys(args[0])
        case "scroll to" if place and (not rest or (len(rest) == 1 and isinstance(rest[0], str))):
            return ScrollUntil(place, *rest)
        case "drag" | "drag to" if place:
            to, none = _split_place(rest)
            return DragTo(place, to) if to and not none else None
        case "scroll":
            return _make_scroll_call(args)
    return None


def _split_place(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return the place at the start of the arguments, in words, and the other arguments."""
    if len(args) >= 2 and isinstance(args[0], int) and isinstance(args[1], int):
        return f"{args[0]}, {args[1]}", args[2:]
    if args and isinstance(args[0], str):
        return args[0].strip(), args[1:]
    return "", args


def _make_scroll_call(args: tuple[Any, ...]) -> Instruction | None:
    place, rest = _split_place(args) if args and isinstance(args[0], int) else ("", args)
    way, amount = (*rest, 5)[:2] if rest else ("", 0)
    known = isinstance(way, str) and way in set(Direction)
    if not known or not isinstance(amount, int) or not 1 <= amount <= MAX_AMOUNT or len(rest) > 2:
        return None
    return ScrollBy(Direction(way), amount, place)
