"""The clauses that surely mean a local condition: a named subject and one predicate."""

from __future__ import annotations

import re
from collections.abc import Callable

from acud.language.numbers import COUNT_WORDS, TIME_UNITS, is_unit
from acud.types import (
    Change,
    Comparison,
    FileState,
    ProcessExit,
    ScreenNumber,
    Stable,
    Text,
    Until,
    ValueComparison,
    Widget,
    WidgetState,
    WindowTitle,
)
from acud.types.conditions.host import MOST_PID
from acud.types.conditions.widget import OPPOSITE_STATES
from acud.waits.sentence_grammar import grammar
from acud.waits.sentence_phrase import Phrase

_MOST_LABEL = 2


class Clause:
    """A clause that fits a pattern: its kind, how it is said (`says`, `gone` …), and the words in its groups."""

    def __init__(self, phrase: Phrase, way: str, match: re.Match[str]) -> None:
        self.way = way
        self.words = {group.rstrip("23"): words for group, words in match.groupdict().items() if words is not None}
        self.text = match[0]
        self._phrase = phrase

    @property
    def gone(self) -> bool:
        return self.way == "gone"

    def quote(self, group: str) -> str:
        """Return the quoted words of a group, "" if they are not quoted."""
        return self._phrase.quote(self.words.get(group, ""))

    def name(self) -> str:
        """Return what is surely the name of its subject, else "". Among capitals only, capitals tell no name."""
        given = self.words.get("name", "")
        others = [word for word in self.text.replace(given, " ", 1).split() if word.isalpha()]
        is_told = self._phrase.quote(given) or not others or any(word == word.lower() for word in others)
        return self._phrase.name(given) if is_told else ""


def read_clause(phrase: Phrase) -> Until | None:
    """Return the condition that one clause means, None if the meaning is not certain."""
    if grammar().doubt.search(phrase.text) is not None:
        return None
    for kind, way, pattern in grammar().clauses:
        found = pattern.fullmatch(phrase.text)
        if found is not None and (meant := _READERS[kind](Clause(phrase, way, found))) is not None:
            return meant
    return None


def _read_text(clause: Clause) -> Until | None:
    return Text(name, gone=clause.gone) if (name := clause.name()) else None


def _read_window(clause: Clause) -> Until | None:
    return WindowTitle(name, gone=clause.gone) if (name := clause.name()) else None


def _read_file(clause: Clause) -> Until | None:
    path = clause.words.get("path") or clause.quote("name")
    if "bare" in clause.words:
        path = f"~/Downloads/{clause.words['bare']}"
    if not path.startswith(("/", "~/")):
        return None
    return FileState(path, 0.0 if clause.way == "says" else 1.0, gone=clause.gone)


def _read_process(clause: Clause) -> Until | None:
    pid = int(clause.words["pid"])
    return ProcessExit(pid) if 0 < pid <= MOST_PID else None


def _read_stable(clause: Clause) -> Until | None:
    seconds = read_span(clause.words)
    return Stable(seconds) if seconds > 0 else None


def read_span(words: dict[str, str]) -> float:
    count = words["count"].casefold()
    return float(COUNT_WORDS.get(count, count)) * TIME_UNITS[words["seconds"].casefold()]


def _read_change(clause: Clause) -> Until | None:
    return Change()


def _read_control(clause: Clause) -> tuple[str, str]:
    """Return the role and the name of a control; no name if that is not certain."""
    role = grammar().roles.get(clause.words.get("role", "progress bar").casefold(), "progress bar")
    given = clause.words.get("name", "")
    return role, given if given.casefold() in grammar().plain_names else clause.name()


def _read_widget(clause: Clause) -> Until | None:
    role, name = _read_control(clause)
    return Widget(role, name, gone=clause.gone) if name or "name" not in clause.words else None


def _read_state(clause: Clause) -> Until | None:
    group = next(group for group in clause.words if group not in ("role", "name"))
    state = WidgetState(group.removeprefix("not_"))
    return _in_state(clause, OPPOSITE_STATES.get(state) if group.startswith("not_") else state)


def _read_click(clause: Clause) -> Until | None:
    return _in_state(clause, WidgetState.DISABLED if clause.gone else WidgetState.ENABLED)


def _in_state(clause: Clause, state: WidgetState | None) -> Until | None:
    (role, name), groups = _read_control(clause), grammar().groups
    is_two_way = clause.text.casefold().endswith((" on", " off"))
    is_pressed = state in (WidgetState.PRESSED, WidgetState.UNPRESSED)
    is_odd = role in groups["stateless"] or (is_two_way and role not in groups["two_way"])
    is_odd |= (is_pressed and role != "toggle button") or (role == "tab" and state is WidgetState.ENABLED)
    if role == "radio button":  # people select one; toolkits report it as checked
        state = {WidgetState.SELECTED: WidgetState.CHECKED, WidgetState.UNSELECTED: WidgetState.UNCHECKED}.get(
            state or WidgetState.ENABLED, state
        )
    return Widget(role, name, states=(state,)) if name and state is not None and not is_odd else None


def _read_held(clause: Clause) -> Until | None:
    (role, name), held = _read_control(clause), clause.quote("held")
    if not name or role not in grammar().groups["holding"]:
        return None
    how = ValueComparison.CONTAINS if clause.way == "contains" else ValueComparison.EQUAL
    return Widget(role, name, value=held, compare=how)


def read_amount(words: dict[str, str], *, rises: bool = False) -> tuple[Comparison, str, str] | None:
    """Return the comparison, the number and its unit; None where it may be reached from above as well. What `rises`
    reaches any number above 0 from below, all else only 100 %.
    """
    value, unit = words["value"].replace(",", ""), (words.get("unit") or words.get("before") or "").casefold()
    unit = "%" if unit.startswith("per") else unit
    if unit and not is_unit(unit) and unit not in grammar().units:
        return None
    value = "0" if value.casefold() == "zero" else value
    for sign, verb, after in grammar().compared:
        if verb.fullmatch(words["verb"]) and after.fullmatch(words["after"]):
            is_reached = grammar().reached.fullmatch(words["verb"]) is not None and not words["after"]
            is_risen = float(value) > 0 if rises else (float(value), unit) == (100, "%")
            return (sign, value, unit) if is_risen or not is_reached else None
    return None


def _read_range(clause: Clause) -> Until | None:
    role, name = _read_control(clause)
    amount = read_amount(clause.words, rises=role == "progress bar")
    is_named = bool(name) or "name" not in clause.words
    if amount is None or not is_named or role not in grammar().groups["range"] or amount[2] not in ("", "%"):
        return None
    return Widget(role, name, value=amount[1], compare=ValueComparison(amount[0].value), percent=amount[2] == "%")


def _read_number(clause: Clause) -> Until | None:
    amount = read_amount(clause.words)
    given = clause.words["name"].rstrip(": ")
    is_label = given.casefold() == "progress" or (clause.words["verb"][0] in "<>=!≥≤≠" and _is_label(given))
    label = (given if is_label else clause.name()).rstrip(": ")
    if amount is None or not label or label.isdigit():
        return None
    sign, value, unit = amount
    return ScreenNumber(sign, float(value), label[:200], unit)


def _is_label(words: str) -> bool:
    """Return whether words before a sign such as `>=` are the label of a number."""
    first, *others = words.split()
    is_plain = all(word.isalpha() for word in (first, *others)) and len(others) <= _MOST_LABEL
    return is_plain and first[0].isupper() and first.casefold() not in grammar().never_first


_READERS: dict[str, Callable[[Clause], Until | None]] = {
    "text": _read_text,
    "window": _read_window,
    "file": _read_file,
    "process": _read_process,
    "stable": _read_stable,
    "change": _read_change,
    "widget": _read_widget,
    "state": _read_state,
    "click": _read_click,
    "range": _read_range,
    "held": _read_held,
    "number": _read_number,
}
