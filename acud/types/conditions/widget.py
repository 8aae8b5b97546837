"""The condition on a widget, in words: `button "Submit" enabled`, `slider "Volume" >= 50`, `entry "Name" = "Ada"`."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.language.quotation_marks import CLOSING, unquote
from acud.types.conditions.kind import Argument, ConditionKind, FormField, KindForm, SearchPattern, check_zero_byte


class NameMatch(StrEnum):
    """How a widget's name is compared, white space folded and case ignored."""

    EXACT = "exact"
    CONTAINS = "contains"
    REGEX = "regex"


class WidgetState(StrEnum):
    """A state of a widget, or its opposite."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    CHECKED = "checked"
    UNCHECKED = "unchecked"
    MIXED = "mixed"
    """Neither checked nor unchecked."""
    FOCUSED = "focused"
    UNFOCUSED = "unfocused"
    SELECTED = "selected"
    UNSELECTED = "unselected"
    EXPANDED = "expanded"
    COLLAPSED = "collapsed"
    PRESSED = "pressed"
    UNPRESSED = "unpressed"
    EDITABLE = "editable"
    READ_ONLY = "read_only"


class ValueComparison(StrEnum):
    """How a widget's value is compared with another: as numbers where both are numbers, else letter by letter."""

    AT_LEAST = ">="
    MORE = ">"
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    CONTAINS = "contains"


class Widget(ConditionKind, frozen=True, tag="widget", forbid_unknown_fields=True):
    """A widget of this role and name is in the target, in all of these states and with this value, as its program
    reports (docs/accessibility.md); or none of this role and name is, when `gone`.

    `role`: as in scenes and AT-SPI (`button`, `check box`, `progress bar`; "": any). `name` "": any. `value` None: any.
    It is a field's text, a combo box's choice, a slider's position; of a progress bar, and where `percent` is set, the
    percent of its range. A password field's value is never compared.
    """

    extra: ClassVar[str] = "actions"

    role: Annotated[str, Meta(max_length=60)] = ""
    name: Annotated[str, Meta(max_length=500)] = ""
    match: NameMatch = NameMatch.EXACT
    states: Annotated[tuple[WidgetState, ...], Meta(max_length=8)] = ()
    value: Annotated[str, Meta(max_length=300)] | None = None
    compare: ValueComparison = ValueComparison.EQUAL
    percent: bool = False
    gone: bool = False

    def describe(self) -> str:
        states = " and ".join(map(state_word, self.states))
        state = "gone" if self.gone else states or ("" if self.value is not None else "there")
        value = "" if self.value is None else f"has a value {_COMPARED[self.compare]} {self._write_value()}"
        return f"the {widget_name(self)} {' and '.join(filter(None, (f'is {state}' if state else '', value)))}"

    def abbreviate(self, *, detailed: bool) -> str:  # it has one form, that of a request
        value = "" if self.value is None else f"{self.compare} {self._write_value()}"
        parts = [widget_name(self), *map(state_word, self.states), value, "gone" if self.gone else ""]
        return " ".join(filter(None, parts))

    def _write_value(self) -> str:
        value = self.value or ""
        return f"{value.strip() if as_number(value) is not None else _quote_text(value)}{' %' if self.percent else ''}"

    def normalise(self) -> Widget:
        check_zero_byte(self.role + self.name + (self.value or ""), "the widget's role, name or value")
        role, name = " ".join(self.role.split()), self.name if self.match is NameMatch.REGEX else self.name.strip()
        has_state = bool(self.states) or self.value is not None
        if not role and not name and (self.gone or not has_state):
            raise InvalidRequest("the condition names no widget", hint='give its role or name: button "Submit"')
        if self.gone and has_state:
            raise InvalidRequest("a widget that is gone has no state or value", hint="put the widget in a `not`")
        both = next((one for one in self.states if OPPOSITES.get(one) in self.states), None)
        if both is not None:
            words = f"no widget is {state_word(both)} and {state_word(OPPOSITES[both])}"
            raise InvalidRequest(words, hint="leave one out")
        is_number = self.value is not None and as_number(self.value) is not None
        if (self.percent or (self.value is not None and self.compare in ORDERED)) and not is_number:
            words = f"the widget's value is compared with {self.value!r}"
            raise InvalidRequest(words, hint="give a number with a point")
        if self.percent and self.compare is ValueComparison.CONTAINS:
            raise InvalidRequest("a percentage contains nothing", hint="compare it with >=, >, =, !=, < or <=")
        return replace(self, role=role, name=name)

    def find_pattern(self) -> SearchPattern | None:
        return SearchPattern(self.name, "widget name", ((True, False),)) if self.match is NameMatch.REGEX else None


OPPOSITES = {
    WidgetState.ENABLED: WidgetState.DISABLED,
    WidgetState.CHECKED: WidgetState.UNCHECKED,
    WidgetState.FOCUSED: WidgetState.UNFOCUSED,
    WidgetState.SELECTED: WidgetState.UNSELECTED,
    WidgetState.EXPANDED: WidgetState.COLLAPSED,
    WidgetState.PRESSED: WidgetState.UNPRESSED,
    WidgetState.EDITABLE: WidgetState.READ_ONLY,
}
"""States, each with its opposite."""
ORDERED = frozenset(ValueComparison) - {ValueComparison.EQUAL, ValueComparison.NOT_EQUAL, ValueComparison.CONTAINS}
"""Comparisons of numbers alone."""
OPPOSITE_STATES = OPPOSITES | {opposite: state for state, opposite in OPPOSITES.items()}
_STATES = {state.value.replace("_", "-"): state for state in WidgetState} | {"readonly": WidgetState.READ_ONLY}
_FILLERS = frozenset({"the", "a", "an", "is", "are", "and", "with"})
_COMPARISON = r">=|<=|!=|==?|>|<|≥|≤|≠"
_SIGNS = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!="}
_FINE = "".join(one for one in CLOSING if one not in "\"'`")
_TEXT = "|".join(
    rf"{a}(?:[^{b}]|(?<=\w)[{b}](?=\w))*[{b}](?!\w)" if a != '"' else r'"(?:\\.|[^"\\])*"' for a, b in CLOSING.items()
)
_TOKEN = re.compile(
    rf"\s*(?:(?P<name>~?\s*(?:{_TEXT})|/(?:\\.|[^/\\])+/)|(?P<compare>{_COMPARISON})|(?P<word>[^\s\"{_FINE}/<>=!≥≤≠~,]+)|,)"
)
_VALUE = re.compile(
    rf"(?P<text>{_TEXT})|(?P<number>[+-]?(?:\d+(?:\.\d+)?|\.\d+))\s*(?P<percent>%?)|(?P<bare>[^\"{_FINE}]+)"
)
_HINT = (
    'write a role, a name in quotation marks (~"part", /pattern/), then states, `gone` or a value: \'button "Submit" '
    "enabled', 'check box \"Agree\" not checked', 'progress bar >= 90', 'entry \"Name\" = \"Ada\"', 'dialog gone'"
)


def widget_condition(text: str) -> Widget:
    """Return the condition that `text` spells: `[ROLE] ["NAME"] [STATE…] [COMPARISON VALUE]`, or `… gone`.

    A name is exact, `~"…"` a part of it, `/…/` a pattern. A state may have `not` before it. Raises: InvalidRequest.
    """
    return _Parser(text).parse()


class _Parser:
    """Reads one condition, word by word."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._at = 0
        self._words: list[str] = []
        """Words read, not yet known to be the role or states."""
        self._found = Widget()
        self._named = False

    def parse(self) -> Widget:
        while self._at < len(self._text):
            self._read_token()
        self._end_words()
        if self._found == Widget():
            raise self._make_fault("it names no widget")
        return self._found

    def _read_token(self) -> None:
        token = _TOKEN.match(self._text, self._at)
        if token is None:
            raise self._make_fault(f"{self._text[self._at :]!r} is not understood")
        self._at = token.end()
        if token["name"]:
            self._read_name(token["name"])
        elif token["compare"]:
            self._read_value(_SIGNS.get(token["compare"], token["compare"]))
        elif token["word"] and token["word"].lower() == "contains":
            self._read_value(ValueComparison.CONTAINS)
        elif token["word"]:
            self._words.append(token["word"])

    def _read_name(self, written: str) -> None:
        if self._named:
            raise self._make_fault("it has two names")
        self._end_words()
        self._named = True
        if written.startswith("/"):
            name, match = written[1:-1].replace("\\/", "/"), NameMatch.REGEX
        else:
            name = _unquote_text(written.lstrip("~ ").strip())
            match = NameMatch.CONTAINS if written.startswith("~") else NameMatch.EXACT
        if not name.strip():
            raise self._make_fault("its name is blank")
        self._found = replace(self._found, name=name, match=match)

    def _read_value(self, compare: str) -> None:
        self._end_words()
        rest, self._at = self._text[self._at :].strip(), len(self._text)
        found = _VALUE.fullmatch(rest)
        if found is None:
            raise self._make_fault(f"{rest!r} is no value: end with a number, or a text in quotation marks")
        value = _unquote_text(found["text"]) if found["text"] else found["number"] or found["bare"].strip()
        percent = bool(found["percent"])
        self._found = replace(self._found, value=value, compare=ValueComparison(compare), percent=percent)

    def _end_words(self) -> None:
        """Split the words read so far into the role, if neither role nor name is known, and states."""
        words, self._words = self._words, []
        states, gone, role = [], False, list(words)
        while role and (last := role[-1].lower().strip(".")) in (*_STATES, *_FILLERS, "gone", "there"):
            role.pop()
            gone |= last == "gone"
            if last in _STATES:
                states.append(self._find_state(last, is_negated=bool(role) and role[-1].lower() == "not"))
                if role and role[-1].lower() == "not":
                    role.pop()
        role = [word for word in role if word.lower() not in (*_FILLERS, "widget")]
        if role and (self._named or self._found.role):
            raise self._make_fault(f"{' '.join(role)!r} is no state ({', '.join(_STATES)}, gone)")
        self._found = replace(
            self._found,
            role=" ".join(role) or self._found.role,
            states=(*self._found.states, *reversed(states)),
            gone=self._found.gone or gone,
        )

    def _find_state(self, word: str, *, is_negated: bool) -> WidgetState:
        state = _STATES[word]
        if is_negated and state not in OPPOSITE_STATES:
            raise self._make_fault(f"nothing is the opposite of {word}")
        return OPPOSITE_STATES[state] if is_negated else state

    def _make_fault(self, words: str) -> InvalidRequest:
        return InvalidRequest(f"{self._text!r} is no condition on a widget: {words}", hint=_HINT)


def _unquote_text(text: str) -> str:
    return unquote(text) if text[0] != '"' else re.sub(r"\\(.)", r"\1", text[1:-1])


def widget_name(leaf: Widget) -> str:
    """Return the role and name of a widget condition as written: `button "Submit"`."""
    if leaf.match is NameMatch.REGEX:
        name = f"/{leaf.name}/"
    else:
        name = f"{'~' if leaf.match is NameMatch.CONTAINS else ''}{_quote_text(leaf.name)}"
    return " ".join(filter(None, (leaf.role or ("" if leaf.name else "widget"), name if leaf.name else "")))


_COMPARED = {
    ValueComparison.AT_LEAST: "of at least", ValueComparison.MORE: "of more than", ValueComparison.EQUAL: "of",
    ValueComparison.NOT_EQUAL: "other than", ValueComparison.LESS: "of less than",
    ValueComparison.AT_MOST: "of at most", ValueComparison.CONTAINS: "that contains",
}  # fmt: skip


def state_word(state: WidgetState) -> str:
    return state.value.replace("_", "-")


def _quote_text(text: str) -> str:
    return '"{}"'.format(re.sub(r'(["\\])', r"\\\1", text))


def as_number(text: str) -> float | None:
    """Return the number that `text` is, with a decimal point; None if it is none."""
    return float(text) if re.fullmatch(r"\s*[+-]?(?:\d+(?:\.\d+)?|\.\d+)\s*", text) else None


Widget.arguments = (
    Argument(
        "widget", widget_condition, (),
        'a program\'s widget: role, "name", states, `gone` or value: check box "Agree" checked, progress bar >= 90',
        {"widget": 'button "Submit" enabled'},
        help="A widget is so: 'button \"Submit\" enabled', 'entry \"Name\" = \"Ada\"', 'dialog gone'.", metavar="W",
    ),
)  # fmt: skip
_OUTCOMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("is there", {}),
    ("is gone", {"gone": True}),
    *((f"is {state_word(state)}", {"states": (state,)}) for state in WidgetState),
)
Widget.form = KindForm(
    "A control",
    (
        FormField("role", "Role", "button"),
        FormField("name", "Name", "Submit"),
        FormField("outcome", "Holds when it", choices=_OUTCOMES),
    ),
)
