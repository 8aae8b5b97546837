"""When to analyse, and when to speak: events in with their time (seconds of a steady clock), effects out. Pure.

News are counted by versions of inputs, not by lengths of rings (a full ring does not grow), and the commentary's own
words are no news: it falls silent when nothing happens.
"""

from __future__ import annotations

from acud.features.commentary.prompt import NOTHING
from acud.types.commentary import AnalysisConfig

DEBOUNCE_S = 3.0
"""Delay after the newest input, with the cadence `event` …"""
DEBOUNCE_MAX_S = 30.0
"""… but at most this after the first."""
COOLDOWN_S = 10.0
"""Least time between two analyses with the cadence `event`, and between any two pushes."""
BACKOFF_MAX_S = 600.0


class AnalysisSchedule:
    """The state of the loop. Call `tick` at `due_s` (None: after news or a new setting)."""

    def __init__(self, config: AnalysisConfig, now_s: float) -> None:
        self.config = config
        self.version = 0
        """Inputs so far."""
        self._analysed = 0
        self._calling = False
        self._last_call_s = now_s
        self._first_news_s: float | None = None
        self._news_s = now_s
        self._backoff = 1.0
        self._pushed = ""
        self._push_s: float | None = None

    def note_news(self, now_s: float) -> None:
        """Count an input from outside."""
        self.version += 1
        self._news_s = now_s
        if self._first_news_s is None:
            self._first_news_s = now_s

    def set_last_pushed(self, text: str) -> None:
        """Take `text`, the last one pushed before a restart, which is not to be repeated."""
        self._pushed = text

    def configure(self, config: AnalysisConfig, now_s: float) -> None:
        """Run with `config` from now on; another interval starts anew."""
        if config.interval_ms != self.config.interval_ms:
            self._last_call_s = now_s
        self.config = config

    def tick(self, now_s: float) -> int | None:
        """Return the version of the inputs up to which an analysis is to be made now; None: none is due."""
        due = self.due_s()
        if due is None or now_s < due:
            return None
        self._calling = True
        self._last_call_s = now_s
        self._first_news_s = None
        return self.version

    def take_analysis(self, text: str, version: int, now_s: float) -> str | None:
        """Take an analysis; return it if it is to be pushed: neither repeated nor empty nor within the cooldown."""
        self._calling = False
        self._backoff = 1.0
        self._analysed = version
        if text == NOTHING or text == self._pushed or not (self.config.push_to_feed and self.config.enabled):
            return None
        if self._push_s is not None and now_s - self._push_s < COOLDOWN_S - 0.001:
            return None
        self._pushed, self._push_s = text, now_s
        return text

    def take_failure(self, now_s: float, *, rate_limited: bool = False, retry_after_s: float = 0.0) -> None:
        """Take a failed call: its input still counts as new. A rate limit doubles the interval."""
        self._calling = False
        if rate_limited:
            longest = max(1.0, BACKOFF_MAX_S / self._interval_s)
            self._backoff = min(longest, max(self._backoff * 2, retry_after_s / self._interval_s))
        if self._first_news_s is None:
            self._first_news_s = now_s

    def skip(self, version: int) -> None:
        """Skip the analysis of an empty window: its inputs count as analysed."""
        self._calling = False
        self._analysed = version

    @property
    def interval_s(self) -> float:
        """Present seconds between two analyses, with the back-off."""
        return self._interval_s * self._backoff

    def due_s(self) -> float | None:
        """Return when the next analysis is due; None without news, during an analysis, or while it is off."""
        if not self.config.enabled or self._calling or self.version == self._analysed:
            return None
        paced = self._last_call_s + self.interval_s
        if self.config.cadence == "interval" or self._backoff > 1:
            return paced
        first = self._first_news_s if self._first_news_s is not None else self._news_s
        settled = min(self._news_s + DEBOUNCE_S, first + DEBOUNCE_MAX_S)
        return max(settled, self._last_call_s + COOLDOWN_S)

    @property
    def _interval_s(self) -> float:
        return self.config.interval_ms / 1000
