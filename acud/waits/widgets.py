"""Verdicts on a `widget` condition, from the widgets that programs report; their words are redacted and quoted."""

from __future__ import annotations

import json
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.labels import derive_names
from acud.accessibility.nodes import PASSWORD, TEXT_INPUT, Node, State, Tree
from acud.accessibility.roles import WORDS, roles_of
from acud.base.patterns import is_found
from acud.types import (
    Answer,
    NameMatch,
    Rect,
    ValueComparison,
    Verdict,
    Widget,
    WidgetState,
    WindowInfo,
    no,
    numbers_in,
    unknown,
    yes,
)
from acud.types.conditions.widget import ORDERED, as_number, state_word, widget_name

NOT_READ = unknown("not_judged", "the widgets have not been read yet")
NO_ACCESSIBILITY = "no_accessibility"
_CURE = (
    "start it on this display so that it tells its widgets (docs/accessibility.md names the switch of each toolkit), "
    "or wait for a text instead, which is read off the picture"
)
_MAX_TEXT = 300  # characters read of a field; the end of a longer text is not known
_MAX_QUOTE = 80
_MOST_NAMED = 3
_ORDER: dict[ValueComparison, Callable[[float, float], bool]] = {
    ValueComparison.AT_LEAST: operator.ge, ValueComparison.MORE: operator.gt, ValueComparison.EQUAL: operator.eq,
    ValueComparison.NOT_EQUAL: operator.ne, ValueComparison.LESS: operator.lt, ValueComparison.AT_MOST: operator.le,
}  # fmt: skip
_IN_PERCENT = frozenset({"progress bar", "level bar"})
_BY_STATE = {
    WidgetState.CHECKED: State.CHECKED,
    WidgetState.MIXED: State.INDETERMINATE,
    WidgetState.FOCUSED: State.FOCUSED,
    WidgetState.SELECTED: State.SELECTED,
    WidgetState.EXPANDED: State.EXPANDED,
    WidgetState.PRESSED: State.PRESSED,
    WidgetState.EDITABLE: State.EDITABLE,
}
_OFF = {
    WidgetState.UNFOCUSED: State.FOCUSED,
    WidgetState.UNCHECKED: State.CHECKED | State.INDETERMINATE,
    WidgetState.UNSELECTED: State.SELECTED,
    WidgetState.COLLAPSED: State.EXPANDED,
    WidgetState.UNPRESSED: State.PRESSED,
}
_SHOWN_STATES = ("checked", "mixed", "focused", "selected", "expanded", "pressed")


class WidgetPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a display that a target is: an X window (0: none), else a box in display pixels (None: all of it).
    Widgets in one of the `ignore` boxes, in display pixels, do not count.
    """

    window: int = 0
    box: Rect | None = None
    ignore: tuple[Rect, ...] = ()


class WidgetsSeen:
    """The widgets of a display at one moment, looked up by role and name. `windows`: the display's.

    `hidden`: returns the rule that keeps the value of a widget secret ("": none), called only to compare values.
    `redacted`: redacts words of programs.
    """

    def __init__(
        self, tree: Tree, windows: Sequence[WindowInfo], hidden: Callable[[Node], str], redacted: Callable[[str], str]
    ) -> None:
        self.tree, self.hidden, self._redacted, self._windows = tree, hidden, redacted, windows
        self._by_name: dict[str, list[Node]] = defaultdict(list)
        self._by_role: dict[str, list[Node]] = defaultdict(list)
        for node in tree.nodes:
            self._by_name[_fold_text(node.name)].append(node)
            self._by_role[node.role].append(node)
        self._heard_windows = {node.window for node in tree.nodes}
        self._pids = {tree.apps[node.app].pid for node in tree.nodes}

    def find_named(self, leaf: Widget, place: WidgetPlace) -> list[Node]:
        """Return the widgets of the leaf's role and name in `place`; if there are none, those with that label."""
        found = [node for node in self._find_candidates(leaf) if _is_in(node, place)]
        if found or not leaf.name:
            return found
        roles = roles_of(leaf.role) if leaf.role else None
        return [
            node
            for node in self.tree.nodes
            if (name := self._by_label.get(node.ref))
            if (roles is None or node.role in roles) and _is_called(leaf, name) and _is_in(node, place)
        ]

    @cached_property
    def _by_label(self) -> Mapping[str, str]:
        """The names that labels give to nameless widgets, by handle."""
        return derive_names(self.tree.nodes)

    def name(self, node: Node) -> str:
        """Return a widget's name, or that of its label; "" for neither."""
        return node.name or self._by_label.get(node.ref, "")

    def quote(self, text: str) -> str:
        """Return words of a program redacted, quoted and cut to a line."""
        words = self._redacted(text[:_MAX_TEXT])
        return json.dumps(words[:_MAX_QUOTE] + ("…" if len(words) > _MAX_QUOTE else ""), ensure_ascii=False)

    def _find_candidates(self, leaf: Widget) -> Iterable[Node]:
        roles = roles_of(leaf.role) if leaf.role else None
        if leaf.name and leaf.match is NameMatch.EXACT:
            return (node for node in self._by_name[_fold_text(leaf.name)] if roles is None or node.role in roles)
        some = self.tree.nodes if roles is None else [node for role in roles for node in self._by_role[role]]
        return (node for node in some if _is_called(leaf, node.name)) if leaf.name else some

    def explain_gap(self, place: WidgetPlace) -> Verdict | None:
        """Return why an unreported widget may be in `place` all the same; None where it cannot."""
        shown = [one for one in self._windows if _is_shown(one, place)]
        pids = {one.pid for one in shown}
        gaps = [
            f"{self.quote(app.name or str(app.pid))}: {app.reason}"
            for app in (*self.tree.failed, *self.tree.silent)
            if app.pid in pids or not app.pid
        ]
        if self.tree.truncated:
            gaps = [self.tree.gaps()[0], *gaps]
        if gaps:
            return unknown("incomplete", "; ".join(gaps[:_MOST_NAMED]))
        mute = [one for one in shown if one.window_id not in self._heard_windows and one.pid not in self._pids]
        if not mute:
            return None
        names = ", ".join(self.quote(one.title or one.wm_class) for one in mute[:_MOST_NAMED])
        is_all = len(mute) == len(shown)
        what = "no program here tells" if is_all else "not every program here tells"
        narrow = "" if is_all else "name the window that is meant as the target, or "
        words = f"{what} its widgets: the program of {names} is not heard"
        return unknown(NO_ACCESSIBILITY, f"{words}; {narrow}{_CURE}")


def judge_widget(leaf: Widget, seen: WidgetsSeen, place: WidgetPlace, *, was_there: bool = False) -> Verdict:
    """Return the verdict on `leaf` from the widgets in `place`, with boxes in display pixels. An unreported widget may
    belong to a program that reports none; `was_there`: it was reported before, so it cannot.
    """
    found = seen.find_named(leaf, place)
    if not found:
        return _judge_absence(leaf, seen, place, was_there=was_there)
    if leaf.gone:
        return no(f"{_describe_node(found[0], seen)}: it is still there", _list_boxes(found[0]))
    verdicts = [_judge_node(leaf, node, seen) for node in found]
    for answer in (Answer.YES, Answer.UNKNOWN):
        fitting = [one for one in verdicts if one.answer is answer]
        if fitting:
            return replace(fitting[0], times=len(fitting) if answer is Answer.YES else 0)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return no(f"{verdicts[0].detail}{more}", verdicts[0].boxes)


def _judge_absence(leaf: Widget, seen: WidgetsSeen, place: WidgetPlace, *, was_there: bool) -> Verdict:
    lacking = seen.explain_gap(place)
    if lacking is not None and not (was_there and lacking.code == NO_ACCESSIBILITY):
        return lacking
    words = f"no {widget_name(leaf)} is there"
    return yes(words) if leaf.gone else no(words)


def _judge_node(leaf: Widget, node: Node, seen: WidgetsSeen) -> Verdict:
    """Return the verdict on the states and the value of a widget with the role and name."""
    words = _describe_node(node, seen)
    missing = [state_word(state) for state in leaf.states if not has_state(node, state)]
    if missing:
        return no(f"{words}: not {' and not '.join(missing)}", _list_boxes(node))
    if leaf.value is None:
        return yes(words, _list_boxes(node))
    verdict = _compare_value(leaf, node, seen)
    return Verdict(verdict.answer, f"{words}: {verdict.detail}", verdict.code, _list_boxes(node))


def _list_boxes(node: Node) -> tuple[Rect, ...]:
    return (node.box,) if node.box is not None else ()


def has_state(node: Node, state: WidgetState) -> bool:
    if state in (WidgetState.ENABLED, WidgetState.DISABLED):
        return node.is_enabled is (state is WidgetState.ENABLED)
    if state is WidgetState.READ_ONLY:
        return bool(node.states & State.READ_ONLY) or not node.states & State.EDITABLE
    if state is WidgetState.EDITABLE and node.states & State.READ_ONLY:
        return False
    wanted = _BY_STATE.get(state)
    return bool(node.states & wanted) if wanted is not None else not node.states & _OFF[state]


def _describe_node(node: Node, seen: WidgetsSeen) -> str:
    at = f" at {node.box.x},{node.box.y} ({node.box.w}x{node.box.h} px)" if node.box is not None else ""
    found = [word for word in _SHOWN_STATES if has_state(node, WidgetState(word))]
    states = ", ".join(["enabled" if node.is_enabled else "disabled", *found])
    sight = "" if node.has(State.SHOWING) else ", scrolled out of sight"
    name = f" {seen.quote(called)}" if (called := seen.name(node)) else ""
    return f"{WORDS.get(node.role, node.role)}{name}{at}, {states}{sight}"


# ---- values --------------------------------------------------------------------------------------------------------


def _compare_value(leaf: Widget, node: Node, seen: WidgetsSeen) -> Verdict:
    if node.secure or node.role == PASSWORD:
        return unknown("redaction", "it is a password field: its value is never read")
    if node.role in TEXT_INPUT and seen.tree.apps[node.app].is_gtk_4:
        return unknown("no_value", "GTK 4 does not tell which fields are password fields, so none of its is read")
    if not _has_value(node):
        return unknown("no_value", "its program tells no value of it")
    if rule := seen.hidden(node):
        return unknown("redaction", f"its value is hidden by the redaction rule {rule!r}, so it is not compared")
    if leaf.percent or node.role in _IN_PERCENT:
        return _compare_percent(leaf, node)
    return _compare_text(leaf, " ".join(node.text.split()), seen)


def _has_value(node: Node) -> bool:
    is_field = node.role in TEXT_INPUT and bool(node.states & (State.EDITABLE | State.FOCUSABLE))
    return bool(node.text) or is_field


def _compare_percent(leaf: Widget, node: Node) -> Verdict:
    number, wanted = _parse_number(node.text), as_number(leaf.value or "")
    if node.span is None or number is None:
        return unknown("no_value", "its program does not tell where in its range it stands")
    if wanted is None:
        return unknown("no_value", f"it stands at a number, and {leaf.value!r} is none")
    low, high = node.span
    if not low <= number <= high:  # Qt's sign of a bar that has not begun
        return unknown("no_value", "it stands at no point of its range")
    percent = round((number - low) / (high - low) * 100, 6)
    return _judge(_ORDER[leaf.compare](percent, wanted), f"it is at {percent:.4g} %")


def _compare_text(leaf: Widget, text: str, seen: WidgetsSeen) -> Verdict:
    wanted, words = leaf.value or "", f"it reads {seen.quote(text)}"
    is_cut = len(text) >= _MAX_TEXT
    if leaf.compare is ValueComparison.CONTAINS:
        found = " ".join(wanted.split()) in text
        return (
            unknown("no_value", "its text is longer than what is read of it")
            if is_cut and not found
            else _judge(found, words)
        )
    number = as_number(wanted)
    if number is not None and (values := _find_numbers(text)):
        answers = {_ORDER[leaf.compare](value, number) for value in values}
        return _judge(answers.pop(), words) if len(answers) == 1 else unknown("unreadable", f"{words}, two numbers")
    if leaf.compare in ORDERED:
        return unknown("unreadable", f"{words}, which is not one number")
    if is_cut:
        return unknown("no_value", "its text is longer than what is read of it")
    return _judge((text == " ".join(wanted.split())) is (leaf.compare is ValueComparison.EQUAL), words)


def _find_numbers(text: str) -> tuple[float, ...]:
    """Return the possible values of the one number of a text; none if there is not exactly one."""
    own = _parse_number(text)
    if own is not None:
        return (own,)
    found = list(numbers_in(text))
    return found[0].values_in("") if len(found) == 1 and not found[0].is_least else ()


def _parse_number(text: str) -> float | None:
    """Return the number that a text is in a program's notation (`0.5`, `1e+06`)."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _judge(holds: bool, words: str) -> Verdict:
    return yes(words) if holds else no(words)


# ---- places --------------------------------------------------------------------------------------------------------


def _is_called(leaf: Widget, name: str) -> bool:
    if leaf.match is NameMatch.REGEX:
        return is_found(leaf.name, name, ignore_case=True)
    wanted, own = _fold_text(leaf.name), _fold_text(name)
    return wanted == own if leaf.match is NameMatch.EXACT else wanted in own


def _is_in(node: Node, place: WidgetPlace) -> bool:
    if place.window and node.window != place.window:
        return False
    if node.box is None:
        return place.box is None
    x, y = node.box.x + node.box.w // 2, node.box.y + node.box.h // 2
    return (place.box is None or place.box.holds(x, y)) and not any(box.holds(x, y) for box in place.ignore)


def _is_shown(window: WindowInfo, place: WidgetPlace) -> bool:
    if window.kind == "popup" or window.visibility == "unmapped":
        return False
    if place.window:
        return window.window_id == place.window
    return place.box is None or window.bounds.intersect(place.box) is not None


def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split())
