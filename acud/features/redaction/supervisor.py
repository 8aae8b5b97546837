"""Which places of a display the redaction rules hide, sent with each job; and what wakes may quote.

A job's picture is of the newest frame that the supervisor knows (`Hide.frame`). Capture reports windows before the
frame that shows them, so the newest list is that frame's; or that of the next one, whose notice is still to come. A
list that was replaced since the frame therefore counts too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from acud.base.patterns import Pattern, compile_pattern
from acud.config import RedactionSettings, Settings
from acud.features.redaction.spans import Rule
from acud.features.redaction.text_rules import TextRules, find_missing_rules, redact, redact_with_rule, text_rules
from acud.protocol.questions import Hide, WidgetSources
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Order
from acud.supervisor.redaction import Redaction
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import HiddenBox, Rect, WindowInfo, redaction_mark

_CONSUMER = "redaction"
_PIECE = 500
_NO_WINDOW = (0,)
"""Follows no window, so none is redirected; but frames then never precede the window list that they show."""


class RedactionPolicy:
    """Resolves the rules of `settings`."""

    def __init__(self, settings: RedactionSettings, watched_displays: WatchedDisplays, sources: Sources) -> None:
        self._settings = settings
        self._watched_displays = watched_displays
        self._sources = sources
        titles = tuple(window_rule(one.title, one.wm_class) for one in settings.windows)
        self._rules = PlaceRules(titles, tuple(RegionRule(one.display, Rect(*one.box)) for one in settings.regions))
        self._text = text_rules(settings.text_rules, settings.patterns)
        self._built_in = TextRules(self._text.active - {Rule.PATTERN})
        self._own = TextRules(self._text.active & {Rule.PATTERN}, self._text.patterns)
        self._shown: dict[str, tuple[WindowInfo, ...]] = {}
        self._before: dict[str, list[tuple[int, tuple[WindowInfo, ...]]]] = {}
        if self._rules.windows:
            watched_displays.watchers.add(self, Order.POLICY)
            watched_displays.removed.add(self._forget_display, Order.POLICY)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Store a new window list of `watched`; keep the old places while its newest frame may show them."""
        self._watched_displays.follow(watched, _CONSUMER, _NO_WINDOW)
        shown = hidden_windows(self._rules, watched.windows)
        before = self._shown.get(watched.name, ())
        if shown != before:
            frame = self._newest_frame(watched.name)
            self._before[watched.name] = [*self._shown_since(watched.name, frame), (frame, before)]
            self._shown[watched.name] = shown

    def _forget_display(self, watched: WatchedDisplay) -> None:
        self._shown.pop(watched.name, None)
        self._before.pop(watched.name, None)

    def _newest_frame(self, name: str) -> int:
        source = self._sources.by_name.get(name)
        return source.frame if source is not None else 0

    def _shown_since(self, name: str, frame: int) -> list[tuple[int, tuple[WindowInfo, ...]]]:
        return [old for old in self._before.get(name, ()) if old[0] >= frame]

    def find_hidden(self, source: Source, *, leaves: bool = False) -> Hide | None:
        """Return what to hide of `source` in its newest frame; None without a rule for a place.

        `leaves`: a picture of it may leave the machine, so password fields must be found too.
        """
        watched = self._watched_displays.by_name.get(source.display)
        told = _bus_of(watched, source) if leaves and "secure" in self._settings.rules else None
        if not self._rules:
            return Hide(told=told) if told is not None else None
        if self._rules.windows and (watched is None or not watched.windows_known):
            return Hide(frame=source.frame, fault="which windows are to be hidden is not known yet")
        return Hide(tuple(dict.fromkeys(self._hidden_boxes(source, watched))), source.frame, told=told)

    def _hidden_boxes(self, source: Source, watched: WatchedDisplay | None) -> tuple[HiddenBox, ...]:
        shown = self._shown.get(source.display, ())
        old = self._shown_since(source.display, self._newest_frame(source.display))
        windows = (*shown, *(window for _, ones in old for window in ones))
        if not source.window_id:
            return on_display(self._rules, source.display, windows)
        listed = watched.windows if watched is not None else ()
        itself = next((window for window in listed if window.window_id == source.window_id), None)
        whole = Rect(0, 0, source.width, source.height)
        unplaced = WindowInfo(source.window_id, "", whole)
        return on_window(self._rules, source.display, itself or unplaced, windows)

    def needs_reader(self, *, local: bool, keeps_evidence: bool) -> bool:
        """Return whether a job needs an evaluator that reads: its picture leaves, or is kept redacted."""
        kept = keeps_evidence and self._settings.evidence == "redacted"
        return self._settings.reads and (kept or not local)

    def redact(self, text: str) -> str:
        """Return words from a screen as they may be kept or sent elsewhere.

        The user's own expressions search one line, or `_PIECE` characters of it, at a time: each search takes as long
        as the text, and there may be as many finds.
        """
        plain = redact(text, self._built_in)
        if not self._own.patterns:
            return plain
        return "\n".join("".join(redact(piece, self._own) for piece in _split_line(line)) for line in plain.split("\n"))

    def redact_for_wake(self, text: str) -> str:
        return redact(text, self._text) if self._settings.redact_wakes else text

    def title(self, watched: WatchedDisplay, window: WindowInfo) -> tuple[str, str]:
        """Return a window's title as a scene may hold it, and the rule that redacted it ("": none)."""
        if any(one.window_id == window.window_id for one in self._shown.get(watched.name, ())):
            return redaction_mark(Rule.WINDOW), Rule.WINDOW.value
        return redact_with_rule(window.title, self._text)

    def describe_rules(self) -> str:
        """Return the active rules in a line, for `acud doctor`."""
        settings = self._settings
        counted = {
            "patterns": len(settings.patterns),
            "windows": len(settings.windows),
            "regions": len(settings.regions),
        }
        numbers = (f"{count} {name}" for name, count in counted.items() if count)
        rules = ", ".join((*(settings.rules or ("no text rules",)), *numbers))
        return f"{rules}; evidence {settings.evidence}, wakes {'redacted' if settings.redact_wakes else 'full'}"

    def find_missing_rules(self) -> list[str]:
        return find_missing_rules(self._settings.rules)


def _bus_of(watched: WatchedDisplay | None, source: Source) -> WidgetSources | None:
    if watched is None or not (watched.bus_address or watched.a11y_address):
        return None
    itself = next((window for window in watched.windows if window.window_id == source.window_id), None)
    place = itself.bounds if itself is not None and source.window_id else Rect(0, 0, 0, 0)
    return WidgetSources(watched.bus_address, watched.a11y_address, watched.windows, place.x, place.y)


def _split_line(line: str) -> list[str]:
    return [line[at : at + _PIECE] for at in range(0, len(line), _PIECE)]


def policy(settings: Settings, watched_displays: WatchedDisplays, sources: Sources) -> Redaction:
    return RedactionPolicy(settings.redaction, watched_displays, sources)


def start(core: Core) -> RunningFeature:
    """Return the feature running: the core calls its policy, and there is nothing else to do."""
    return RunningFeature()


_TITLE_CHARS = 300
"""Characters of a title that a pattern is tried on: titles are untrusted."""


class WindowRule(NamedTuple):
    """Matches windows by title and class; None matches every one. Case is ignored."""

    title: Pattern | None
    wm_class: Pattern | None

    def fits(self, window: WindowInfo) -> bool:
        return _fits_title(self.title, window.title) and _fits_title(self.wm_class, window.wm_class)


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


def _fits_title(pattern: Pattern | None, text: str) -> bool:
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
