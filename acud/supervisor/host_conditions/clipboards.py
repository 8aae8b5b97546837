"""Conditions on the clipboards of displays, judged by what the capture process of each reads after a copy."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.base.patterns import compile_pattern
from acud.base.untrusted_text import quote
from acud.protocol.capture import MOST_CLIPBOARD, ClipboardSeen
from acud.supervisor.observers import Order
from acud.supervisor.redaction import Redaction
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import ClipboardText, DisplayState, Verdict, no, unknown, yes
from acud.waits.condition_tree import NOT_JUDGED
from acud.waits.read_text import comparable

OnVerdict = Callable[[Verdict], None]
_SHOWN = 200


class ClipboardConditions:
    """The conditions on clipboards, by key.

    The newest text of a clipboard is kept here as long as a wait asks about it, and no text is written to the store.
    """

    def __init__(self, displays: WatchedDisplays, clock: Clock, redaction: Redaction) -> None:
        self._displays, self._clock, self._redaction = displays, clock, redaction
        self._conditions: dict[str, dict[Hashable, tuple[ClipboardText, OnVerdict, Verdict]]] = {}
        """By display name, as a display of that name may come again."""
        self._seen: dict[str, ClipboardSeen] = {}
        displays.clipboard_seen.add(self._on_seen, Order.WAITS)

    def pin(self, leaf: ClipboardText) -> ClipboardText:
        """Return the leaf with the time from which a copy counts."""
        return leaf if leaf.since_utc_s else replace(leaf, since_utc_s=self._clock.instant().utc_s)

    def watch(
        self, key: Hashable, leaf: ClipboardText, watched: WatchedDisplay | None, on_verdict: OnVerdict
    ) -> Verdict:
        """Return the present verdict; `on_verdict` gets each one that follows, until `unwatch`."""
        name = watched.name if watched is not None else ""
        is_lost = watched is None or watched.state not in (DisplayState.UP, DisplayState.STARTING)
        verdict = _describe_lost(name) if is_lost else self._judge_leaf(name, leaf)
        self._conditions.setdefault(name, {})[key] = leaf, on_verdict, verdict
        self._displays.follow_clipboard(name, is_wanted=True)
        return verdict

    def unwatch(self, key: Hashable) -> None:
        """Stop judging the condition `key`; harmless for an unknown key."""
        for name, conditions in list(self._conditions.items()):
            if conditions.pop(key, None) is not None and not conditions:
                del self._conditions[name]
                self._seen.pop(name, None)
                self._displays.follow_clipboard(name, is_wanted=False)

    def close(self) -> None:
        self._seen.clear()

    def _on_seen(self, watched: WatchedDisplay, seen: ClipboardSeen | None) -> None:
        name = watched.name
        self._seen.pop(name, None)
        if seen is not None and name in self._conditions:
            self._seen[name] = seen
        for key, (leaf, on_verdict, verdict) in list(self._conditions.get(name, {}).items()):
            now = self._judge_leaf(name, leaf) if seen is not None else _describe_lost(name)
            if now != verdict and key in self._conditions.get(name, {}):
                self._conditions[name][key] = leaf, on_verdict, now
                on_verdict(now)

    def _judge_leaf(self, name: str, leaf: ClipboardText) -> Verdict:
        seen = self._seen.get(name)
        return judge_clipboard(leaf, seen, self._redaction) if seen is not None else NOT_JUDGED


def _describe_lost(name: str) -> Verdict:
    return unknown("display_down", f"the clipboard of display {name} cannot be read: it is not up")


def judge_clipboard(leaf: ClipboardText, seen: ClipboardSeen, redaction: Redaction) -> Verdict:
    """Return the verdict on what was read. Its words quote the line that matches a pattern, redacted, and no other."""
    if leaf.changed and seen.copied_utc_s < leaf.since_utc_s:
        if seen.since_utc_s > leaf.since_utc_s:
            return unknown("not_compared", "whether something was copied before acud was restarted is not known")
        return no("nothing was copied since the wait began")
    if not leaf.text:
        return yes("something was copied", times=seen.copies)
    if seen.code:
        return no(seen.message) if seen.code == "not_found" else unknown("unreadable", seen.message)
    if leaf.regex:
        span = compile_pattern(leaf.text, ignore_case=True, lines=True).search(seen.text)
        words = quote(redaction.redact(_cut_line(seen.text, span[0]))[:_SHOWN]) if span is not None else ""
    else:
        words = quote(leaf.text) if comparable(leaf.text) in comparable(seen.text) else ""
    if words:
        return yes(f"the clipboard holds {words}", times=seen.copies)
    if seen.is_cut:
        return unknown("incomplete", f"it is not in the first {MOST_CLIPBOARD:,} characters of the clipboard")
    return no(f"the clipboard holds another text, of {len(seen.text)} characters")


def _cut_line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    return text[start:].partition("\n")[0].strip()
