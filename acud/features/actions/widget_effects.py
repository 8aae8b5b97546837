"""Which changes of widgets are an effect of an action: pure rules over observations before and after it."""

from __future__ import annotations

from acud.accessibility.nodes import TEXT_INPUT, State
from acud.protocol.observation import Observed, WidgetNow

_TOGGLED = State.CHECKED | State.PRESSED | State.SELECTED | State.EXPANDED


def widget_effect(before: Observed, now: Observed, *, is_pointed: bool) -> str:
    """Return what an action changed in the widgets, in words ("": nothing). `is_pointed`: it was at a point, where the
    widgets `at` and `field` are; else at the keyboard, and `field` has the focus.

    A click that focuses a button shows no effect; one that focuses a field does.
    """
    toggle = describe_toggle(before.at, now.at)
    if toggle or now.focus is None:
        return toggle
    if is_pointed:
        is_there = now.focus.role in TEXT_INPUT and is_same(now.focus, now.field)
        return f"the focus is in the {now.focus.role}" if is_there else ""
    if not is_same(before.focus, now.focus):
        return f"the focus moved to the {now.focus.role}"
    if before.field is None or now.field is None or not is_same(before.field, now.field):
        return ""
    if before.field.text is not None and now.field.text is not None and before.field.text != now.field.text:
        return f"the content of the {now.field.role} changed"
    return f"the caret moved in the {now.field.role}" if _has_caret_moved(before.field, now.field) else ""


def caret_stands(before: WidgetNow | None, now: WidgetNow | None) -> bool:
    """Return whether the caret of a field certainly has not moved."""
    if before is None or now is None or not is_same(before, now):
        return False
    return before.text is not None and before.text == now.text and before.caret >= 0 and before.caret == now.caret


def _has_caret_moved(before: WidgetNow, now: WidgetNow) -> bool:
    return before.caret >= 0 and now.caret >= 0 and before.caret != now.caret


def is_same(one: WidgetNow | None, other: WidgetNow | None) -> bool:
    """Return whether both are the same widget in the same place, or both None."""
    if one is None or other is None:
        return one is other
    return (one.role, one.box) == (other.role, other.box)


def describe_toggle(before: WidgetNow | None, now: WidgetNow | None) -> str:
    """Return how a widget was (un)checked, (un)pressed, (un)selected or expanded ("": it was not)."""
    if before is None or now is None or not is_same(before, now):
        return ""
    changed = (before.states ^ now.states) & _TOGGLED
    state = next((one for one in (State.CHECKED, State.PRESSED, State.SELECTED, State.EXPANDED) if changed & one), None)
    if state is None:
        return ""
    word = str(state.name).lower()
    return f"the {now.role} is {word} now" if now.states & state else f"the {now.role} is not {word} any more"
