"""Places that rules hide whatever their content: windows by title and class, and regions of a display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from acud.base.patterns import Pattern, compile_pattern
from acud.features.redaction.spans import Rule
from acud.types import HiddenBox, Rect, WindowInfo

_TITLE_CHARS = 300
"""Characters of a title that a pattern is tried on: titles are untrusted."""


class WindowRule(NamedTuple):
    """Matches windows by title and class; None matches every one. Case is ignored."""

    title: Pattern | None
    wm_class: Pattern | None

    def fits(self, window: WindowInfo) -> bool:
        return _fits(self.title, window.title) and _fits(self.wm_class, window.wm_class)


class RegionRule(NamedTuple):
    """A box of a display, in its pixels; display "" is every display."""

    display: str
    box: Rect


class PlaceRules(NamedTuple):
    """Every rule that names places."""

    windows: tuple[WindowRule, ...] = ()
    regions: tuple[RegionRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.windows or self.regions)


def window_rule(title: str, wm_class: str) -> WindowRule:
    """Return the rule of two patterns, "" for any. Raises: PatternFault."""
    return WindowRule(*(compile_pattern(words, ignore_case=True) if words else None for words in (title, wm_class)))


def _fits(pattern: Pattern | None, text: str) -> bool:
    return pattern is None or pattern.search(text[:_TITLE_CHARS]) is not None


def hidden_windows(rules: PlaceRules, windows: Iterable[WindowInfo]) -> tuple[WindowInfo, ...]:
    """Return the windows that a rule names and that have pixels."""
    shown = (window for window in windows if window.visibility != "unmapped")
    return tuple(window for window in shown if any(rule.fits(window) for rule in rules.windows))


def on_display(rules: PlaceRules, display: str, windows: Iterable[WindowInfo]) -> tuple[HiddenBox, ...]:
    """Return the boxes of regions and of (already chosen) `windows`, in the display's pixels.

    A window counts whole, also where another covers it: what is above may be shaped, or see-through.
    """
    boxes = [HiddenBox(Rule.REGION.value, rule.box) for rule in rules.regions if rule.display in ("", display)]
    return (*boxes, *(HiddenBox(Rule.WINDOW.value, window.bounds) for window in windows))


def on_window(
    rules: PlaceRules, display: str, window: WindowInfo, hidden: Sequence[WindowInfo]
) -> tuple[HiddenBox, ...]:
    """Return the boxes in the pixels of one window's own picture: all of it, when it is hidden itself."""
    if any(other.window_id == window.window_id for other in hidden):
        return (HiddenBox(Rule.WINDOW.value, Rect(0, 0, window.bounds.w, window.bounds.h)),)
    return tuple(
        HiddenBox(found.rule, found.box.shift(-window.bounds.x, -window.bounds.y))
        for found in on_display(rules, display, ())
    )
