"""How often the commentary would ask a model on a scripted day, and what it would send; beside a call every 10 s.

The real rules (when to analyse, window, prompt) in virtual time; the model answers after 0.5 s. Tokens are characters
over four, and 24 for each answer.
"""

from __future__ import annotations

from collections import deque
from statistics import fmean, median
from typing import Any, Literal

from msgspec import Struct

from acud.features.commentary.prompt import SYSTEM, make_window, user_prompt
from acud.features.commentary.schedule import AnalysisSchedule
from acud.types.commentary import FEED_KEPT, SENSE_KEPT, AnalysisConfig, FeedItem, SenseEvent, SenseMeta
from tests.bench._working_day import DAY_S, Moment, day

SEEDS = range(5)
ANSWER_S = 0.5
_ANSWER_TOKENS = 24
_CHARACTERS_A_TOKEN = 4
_HOURS = DAY_S / 3600


class Day(Struct):
    """What one day came to. `waited_s`: from each input to the call that told of it."""

    calls: int = 0
    tokens: float = 0.0
    waited_s: list[float] = []


class _Replay:
    """One day played to one loop."""

    def __init__(self, config: AnalysisConfig) -> None:
        self.config = config
        self.loop = AnalysisSchedule(config, 0.0)
        self.feed: deque[FeedItem] = deque(maxlen=FEED_KEPT)
        self.sense: deque[SenseEvent] = deque(maxlen=SENSE_KEPT)
        self.open: list[float] = []
        self.now_s = 0.0
        self.found = Day(waited_s=[])

    def play(self, moments: list[Moment]) -> Day:
        for moment in moments:
            self._until(moment.at_s)
            self._take(moment)
        self._until(DAY_S)
        return self.found

    def _until(self, at_s: float) -> None:
        while (due_s := self.loop.due_s()) is not None and due_s <= at_s:
            now_s = max(due_s, self.now_s)  # after a quiet time it is due at once
            version = self.loop.tick(now_s)
            assert version is not None
            self._analyse(version, now_s)

    def _take(self, moment: Moment) -> None:
        self.now_s = moment.at_s
        now_ms = int(moment.at_s * 1000)
        if moment.heard:
            self.feed.append(FeedItem(0, moment.heard, "normal", now_ms))
        else:
            kind: Literal["text", "context"] = "text" if moment.text else "context"
            self.sense.append(SenseEvent(0, kind, now_ms, now_ms, moment.text, SenseMeta(app=moment.app)))
        self.open.append(moment.at_s)
        self.loop.note_news(moment.at_s)

    def _analyse(self, version: int, now_s: float) -> None:
        window = make_window(self.feed, self.sense, int(now_s * 1000), self.config.max_age_ms)
        if window.is_empty:
            self.loop.skip(version)
            return
        self.found.calls += 1
        self.found.tokens += (len(SYSTEM) + len(user_prompt(window))) / _CHARACTERS_A_TOKEN + _ANSWER_TOKENS
        self.found.waited_s += [now_s - at_s for at_s in self.open]
        self.open.clear()
        # What comes during the call comes after it here: half a second later, and none of the figures is about that.
        self.loop.take_analysis(f"call {self.found.calls}", version, now_s + ANSWER_S)


def run() -> dict[str, Any]:
    days = [day(seed) for seed in SEEDS]
    return {**_figures("", days, "interval"), **_figures("event_", days, "event"), "fixed_calls_per_h": 360.0}


def _figures(prefix: str, days: list[list[Moment]], cadence: Literal["interval", "event"]) -> dict[str, Any]:
    played = [_Replay(AnalysisConfig(cadence=cadence)).play(moments) for moments in days]
    waited = [seconds for one in played for seconds in one.waited_s]
    return {
        f"{prefix}calls_per_h": round(median(one.calls for one in played) / _HOURS, 1),
        f"{prefix}tokens_per_h": round(median(one.tokens for one in played) / _HOURS),
        f"{prefix}waited_s": round(fmean(waited), 1),
        f"{prefix}waited_s_max": round(max(waited), 1),
    }


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:>20}  {value}" for name, value in figures.items())
