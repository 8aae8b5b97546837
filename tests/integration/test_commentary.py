"""The commentary over a real store, with a clock that the test turns and a model that says what the test wants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from acud.features.commentary.supervisor.service import MARK, Commentary
from acud.features.redaction.text_rules import redact
from acud.process.event_loop import EventLoop
from acud.protocol.evaluation import Thought
from acud.protocol.events import Event
from acud.store.store import Store
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Order
from acud.supervisor.usage_log import UsageLog
from acud.types.commentary import AnalysisConfig, ContextWindow, SenseEvent, SenseMeta
from tests.fixtures.manual_clock import ManualClock
from tests.integration.store_support import open_store


class _Mind:
    """A model that answers when told to."""

    def __init__(self) -> None:
        self.asked: list[ContextWindow] = []
        self._done: Resume[Thought] | None = None

    def ask(self, config: AnalysisConfig, window: ContextWindow) -> Callback[Thought]:
        assert self._done is None, "one question at a time"
        self.asked.append(window)
        return Callback(self._begin)

    def _begin(self, done: Resume[Thought]) -> None:
        self._done = done

    def say(self, thought: Thought) -> None:
        assert self._done is not None, "nothing was asked"
        done, self._done = self._done, None
        done(thought)


class _Rig:
    """A commentary, its store and its time."""

    def __init__(self, home: Path, **settings: object) -> None:
        self.clock = ManualClock()
        self.store: Store = open_store(home)
        self.loop = EventLoop(self.clock.monotonic_s, self._after_turn)
        self.told: list[Event] = []
        self.journal = Journal(self.store, self.loop, self.clock)
        self.journal.committed.add(self.told.append, Order.CORE)
        self.mind = _Mind()
        usage_log = UsageLog(self.journal, self.clock)
        core = SimpleNamespace(
            store=self.store,
            journal=self.journal,
            loop=self.loop,
            clock=self.clock,
            settings=SimpleNamespace(of=lambda kind: replace(kind(), **settings)),
            redaction=SimpleNamespace(redact=redact),
            usage_log=usage_log,
        )
        self.commentary = Commentary(cast(Any, core), cast(Any, self.mind))
        self.commentary.start()

    def _after_turn(self) -> None:
        while self.journal.dirty:
            assert self.journal.end_turn() is None

    def after(self, seconds: float) -> None:
        self.clock.advance(seconds)
        for _ in range(3):
            self.loop.turn(0.0)

    def see(self, text: str = "", app: str = "Editor") -> None:
        self.commentary.add_event(SenseEvent(0, "text" if text else "context", 0, 0, text, SenseMeta(app=app)))
        self.after(0)

    def hear(self, text: str, source: str = "") -> None:
        self.commentary.add_message(text, "normal", source)
        self.after(0)

    @property
    def said(self) -> list[str]:
        return [item.text for item in self.commentary.feed.above(0) if item.source == "agent"]

    @property
    def results(self) -> list[str]:
        return [one.analysis for one in reversed(self.commentary.analyses.newest(50))]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[_Rig]:
    made = _Rig(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[_Rig]:
    made = _Rig(tmp_path, backend="vllm")
    yield made
    made.store.close()


def words(text: str) -> Thought:
    return Thought(text, model="small", tokens_in=280, tokens_out=24, cost_usd=0.001)


def test_an_answer_cut_off_is_said_as_far_as_it_came(asking: _Rig) -> None:
    asking.see("one")
    asking.after(10)
    asking.mind.say(Thought("Reading a log. It ends", code="truncated", reason="cut off"))
    asking.after(0)
    assert asking.results == ["Reading a log. It ends"]


def test_switched_off_in_mid_question_it_says_nothing(asking: _Rig) -> None:
    asking.see("one")
    asking.after(10)
    asking.commentary.configure(replace(asking.commentary.config, enabled=False))
    asking.mind.say(words("Too late."))
    asking.after(0)
    assert (asking.results, asking.said) == (["Too late."], [])


def test_a_wall_clock_that_steps_stops_nothing(rig: _Rig) -> None:
    for step_s in (0, -86_400, 3 * 86_400):
        rig.clock.utc_offset_s += step_s
        rig.see(f"after a step of {step_s} s")
        rig.after(10)
        assert f"after a step of {step_s} s" in rig.results[-1]
    assert len(rig.results) == 3
    window = rig.commentary.window()
    assert [moment.ocr for moment in window.screen] == ["after a step of 259200 s"]


def test_what_nobody_answered_for_before_a_kill_is_answered_for_after(tmp_path: Path) -> None:
    first = _Rig(tmp_path, backend="vllm")
    first.see("one")
    first.after(10)
    first.mind.say(words("Reading."))
    first.after(0)
    first.see("two")
    first.after(10)  # asked, and killed before the answer
    first.store.close()
    second = _Rig(tmp_path, backend="vllm")
    second.after(10)
    assert [moment.ocr for moment in second.mind.asked[0].screen] == ["one", "two"]
    second.mind.say(words("Reading."))
    second.after(0)
    assert second.said == [MARK + "Reading."]  # said before the restart, not said again
    second.store.close()
    third = _Rig(tmp_path, backend="vllm")
    third.after(60)
    assert third.mind.asked == []
    third.store.close()


def test_it_senses_only_while_it_is_on_and_somebody_listens(rig: _Rig) -> None:
    assert not rig.commentary.sensing
    began: list[bool] = []
    rig.commentary.attended.add(lambda: began.append(True), Order.FEATURES)
    rig.commentary.note_listener()
    rig.commentary.note_listener()
    assert (rig.commentary.sensing, began) == (True, [True])
    rig.after(600)
    assert not rig.commentary.sensing
    rig.commentary.configure(replace(rig.commentary.config, enabled=False))
    rig.commentary.note_listener()
    assert not rig.commentary.sensing


def test_a_cooldown_lies_between_two_words(asking: _Rig) -> None:
    asking.commentary.configure(replace(asking.commentary.config, interval_ms=5000))
    for number in range(4):
        asking.see(f"screen {number}")
        asking.after(5)
        asking.mind.say(words(f"Screen {number}."))
        asking.after(0)
    assert asking.results == [f"Screen {number}." for number in range(4)]
    assert asking.said == [f"{MARK}Screen 0.", f"{MARK}Screen 2."]
