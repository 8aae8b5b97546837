"""What waits ask of widgets: when the mirror is read for them, what is answered, and what it costs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import AccessibleApp, Node, State, Tree
from acud.base import extras
from acud.base.errors import Unavailable
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.ports import PassthroughRedactor
from acud.evaluator.widget_watches import WidgetWatches
from acud.protocol.widgets import DisplayWidgets, WidgetAnswer, WidgetAsk, WidgetLook, WidgetQuestion, WidgetsPainted
from acud.types import Rect, widget_condition
from acud.waits.widgets import WidgetPlace

OFF, ON = State.SHOWING | State.VISIBLE, State.SHOWING | State.VISIBLE | State.ENABLED


def tree(states: int) -> Tree:
    return Tree((AccessibleApp("form", 7),), (Node("1", 0, -1, 0, "push button", "Submit", states, None),))


class _Mirrors:
    """Stands for the mirrors of displays."""

    def __init__(self) -> None:
        self.tree = tree(OFF)
        self.fault = ""
        self.asks: list[AccessibilityAsk] = []
        self.held: list[Callable[[], None]] = []
        self.again_s: float | None = None

    async def read(self, ask: AccessibilityAsk) -> Tree:
        self.asks.append(ask)
        if self.fault:
            raise Unavailable(self.fault)
        return self.tree

    def hold(self, key: tuple[str, str], on_event: Callable[[], None]) -> None:
        self.held.append(on_event)

    def release(self, key: tuple[str, str], on_event: Callable[[], None]) -> None:
        self.held.remove(on_event)

    def ask_again_s(self, key: tuple[str, str]) -> float | None:
        return self.again_s


class Rig:
    """Watches over scripted mirrors."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self.mirrors: Any = _Mirrors()
        self.watches = WidgetWatches(AccessibilitySettings(), self.mirrors, PassthroughRedactor())
        self.answers: list[WidgetAnswer] = []
        self._group = group

    def take(self, message: Any) -> None:
        self.watches.handle_message(message, self._group, self._answered)

    async def _answered(self, answer: WidgetAnswer) -> None:
        self.answers.append(answer)

    def ask(self, wait_id: str, text: str = 'button "Submit" enabled', number: int = 1) -> None:
        question = WidgetQuestion(0, widget_condition(text))
        self.take(WidgetAsk(wait_id, number, ":1", WidgetPlace(), (question,)))

    async def answered(self, count: int) -> list[str]:
        """Return the newest answers, once there are `count` in all."""
        while len(self.answers) < count:  # noqa: ASYNC110 - nothing tells when the last has come
            await asyncio.sleep(0.005)
        return [one.verdicts[0].answer.value for one in self.answers[-count:]]

    async def rests(self) -> int:
        """Return how many readings there were, once nothing is under way."""
        await asyncio.sleep(0.2)
        return len(self.mirrors.asks)


def replay(play: Callable[[Rig], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            rig = Rig(group)
            rig.take(DisplayWidgets(":1", bus_address="unix:path=/x"))
            await play(rig)
            rig.watches.close()
            assert not rig.mirrors.held

    asyncio.run(run())


def test_many_waits_share_a_reading_and_while_nothing_changes_there_is_none() -> None:
    async def play(rig: Rig) -> None:
        for number in range(100):
            rig.ask(f"wait-{number}")
        assert await rig.answered(100) == ["no"] * 100
        assert await rig.rests() == 1
        assert len(rig.mirrors.held) == 1

    replay(play)


def test_what_programs_say_is_answered_to_those_whom_it_concerns() -> None:
    async def play(rig: Rig) -> None:
        rig.ask("enabled")
        rig.ask("there", 'button "Submit"')
        await rig.answered(2)
        rig.mirrors.tree = tree(ON)
        for _ in range(50):  # what comes together is read together
            rig.mirrors.held[0]()
        await rig.answered(4)
        assert {(one.wait_id, one.verdicts[0].answer.value) for one in rig.answers[2:]} == {
            ("enabled", "yes"),
            ("there", "yes"),  # its words are others
        }
        assert await rig.rests() == 2
        rig.mirrors.held[0]()
        assert (await rig.rests(), len(rig.answers)) == (3, 4)

    replay(play)


def test_a_look_is_answered_by_a_reading_begun_after_it() -> None:
    async def play(rig: Rig) -> None:
        rig.ask("wait-1")
        rig.ask("wait-2")
        await rig.answered(2)
        rig.take(WidgetLook("wait-1"))
        await rig.answered(3)
        assert rig.answers[2].wait_id == "wait-1"
        assert rig.answers[2].read_mono_ns > rig.answers[1].read_mono_ns

    replay(play)


def test_where_pixels_changed_is_told_to_the_mirror_once() -> None:
    async def play(rig: Rig) -> None:
        rig.ask("wait-1")
        await rig.answered(1)
        assert rig.mirrors.asks[0].changed is None
        rig.take(WidgetsPainted(":1", (Rect(0, 0, 16, 16),)))
        rig.take(WidgetsPainted(":1", (Rect(32, 0, 16, 16),)))
        assert await rig.rests() == 2
        assert rig.mirrors.asks[1].changed == (Rect(0, 0, 16, 16), Rect(32, 0, 16, 16))
        rig.mirrors.held[0]()
        await rig.rests()
        assert rig.mirrors.asks[2].changed == ()

    replay(play)


def test_a_bus_that_cannot_be_reached_is_unknown_and_tried_again_by_itself() -> None:
    async def play(rig: Rig) -> None:
        rig.mirrors.fault = "the display has no session bus"
        rig.ask("wait-1")
        assert await rig.answered(1) == ["unknown"]
        assert rig.answers[0].verdicts[0].code == "no_accessibility"
        assert "session_bus = true" in rig.answers[0].verdicts[0].detail
        rig.mirrors.fault = ""
        await rig.answered(2)
        assert rig.answers[1].verdicts[0].answer == "no"
        assert rig.mirrors.asks[-1].changed is None

    replay(play)


def test_a_kept_wait_without_the_extra_is_answered_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda extra: False)

    async def play(rig: Rig) -> None:
        rig.watches = WidgetWatches(AccessibilitySettings(), AtSpiProvider(1.0), PassthroughRedactor())
        rig.take(DisplayWidgets(":1", bus_address="unix:path=/x"))
        rig.ask("kept")
        assert await rig.answered(1) == ["unknown"]
        rig.take(DisplayWidgets(":1", bus_address="unix:path=/other"))
        rig.ask("another")
        assert await rig.answered(2) == ["unknown"] * 2
        assert all(extras.install_command("actions") in one.verdicts[0].detail for one in rig.answers)

    replay(play)


def test_what_a_mirror_wants_to_be_asked_again_is_asked_without_an_event() -> None:
    async def play(rig: Rig) -> None:
        rig.mirrors.again_s = 0.01
        rig.ask("wait-1")
        await rig.answered(1)
        rig.mirrors.tree = tree(ON)
        assert (await rig.answered(2))[-1] == "yes"

    replay(play)


def test_a_display_that_no_wait_asks_about_is_not_watched() -> None:
    async def play(rig: Rig) -> None:
        rig.ask("wait-1")
        rig.ask("wait-2")
        await rig.answered(2)
        rig.watches.forget_wait("wait-1")
        assert len(rig.mirrors.held) == 1
        rig.watches.forget_wait("wait-2")
        assert not rig.mirrors.held

    replay(play)
