"""Answers waits' questions about widgets from the mirror of each display: when its programs send events, its pixels or
windows change, or a look is asked for. Otherwise nothing is read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Node, Tree
from acud.base.errors import NotInstalled, Unavailable
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.provider import MAX_AGE_S, AtSpiProvider, display_limits
from acud.evaluator.expression_time_limit import TookTooLong
from acud.evaluator.ports import Redactor
from acud.protocol.widgets import (
    DisplayWidgets,
    WidgetAnswer,
    WidgetAsk,
    WidgetAskOver,
    WidgetLook,
    WidgetMessage,
    WidgetQuestion,
    WidgetsPainted,
)
from acud.types import Rect, Verdict, unknown
from acud.waits.widgets import NO_ACCESSIBILITY, WidgetPlace, WidgetsSeen, judge_widget

Send = Callable[[WidgetAnswer], Awaitable[None]]

_PAUSE_S = 0.05  # between two readings of a display, so that what comes together is read together
_SHARE = 4
"""The pause is at least so many times as long as the reading was: a busy program costs a fifth of a core at most."""
_MOST_PAUSE_S = 2.0
_RETRY_S = (1.0, 30.0)  # first and longest pause before a bus that could not be reached is tried again
_MOST_BOXES = 64
_NO_BUS = (
    "{}; a managed display has a session bus with [display] session_bus = true, for an adopted one see "
    "docs/accessibility.md; or wait for a text instead, which is read off the picture"
)


class _AnsweredAsk(NamedTuple):
    """A wait's ask, and its last answer (None: not yet)."""

    ask: WidgetAsk
    told: tuple[Verdict, ...] | None


class WidgetWatches:
    """The displays whose widgets waits ask about. `mirrors` is the caller's; `close` ends all readings."""

    def __init__(self, settings: AccessibilitySettings, mirrors: AtSpiProvider, redactor: Redactor) -> None:
        self._settings, self._mirrors, self._redactor = settings, mirrors, redactor
        self._displays: dict[str, _DisplayWatch] = {}
        self._told: dict[str, DisplayWidgets] = {}
        self._places: dict[str, str] = {}  # by wait: its display

    def handle_message(self, message: WidgetMessage, group: asyncio.TaskGroup, send: Send) -> None:
        """Handle a message; readings run in `group`, and answers go to `send`."""
        match message:
            case DisplayWidgets():
                self._told[message.display] = message
                if (watch := self._displays.get(message.display)) is not None:
                    watch.update_display(message)
            case WidgetAsk():
                self._begin_watch(message, group, send)
            case WidgetAskOver(wait_id=wait_id):
                self.forget_wait(wait_id)
            case WidgetLook(wait_id=wait_id):
                if (watch := self._displays.get(self._places.get(wait_id, ""))) is not None:
                    watch.answer_anew(wait_id)
            case WidgetsPainted(display=display, changed=changed):
                if (watch := self._displays.get(display)) is not None:
                    watch.note_painted(changed)

    def _begin_watch(self, ask: WidgetAsk, group: asyncio.TaskGroup, send: Send) -> None:
        if self._places.get(ask.wait_id, ask.display) != ask.display:
            self.forget_wait(ask.wait_id)
        self._places[ask.wait_id] = ask.display
        watch = self._displays.get(ask.display)
        if watch is None:
            told = self._told.get(ask.display) or DisplayWidgets(ask.display)
            watch = self._displays[ask.display] = _DisplayWatch(
                told, self._settings, self._mirrors, self._redactor, send
            )
            watch.begin_reading(group)
        watch.add_ask(ask)

    def forget_wait(self, wait_id: str) -> None:
        """Stop answering a wait; a display without waits is no longer watched."""
        display = self._places.pop(wait_id, "")
        watch = self._displays.get(display)
        if watch is not None and watch.drop_wait(wait_id):
            watch.close()
            del self._displays[display]
            self._told.pop(display, None)

    def close(self) -> None:
        for watch in self._displays.values():
            watch.close()
        self._displays.clear()


class _DisplayWatch:
    """One display's widgets, and the waits that ask about them."""

    def __init__(
        self,
        sources: DisplayWidgets,
        settings: AccessibilitySettings,
        mirrors: AtSpiProvider,
        redactor: Redactor,
        send: Send,
    ) -> None:
        self._told = sources
        self._limits = display_limits(settings)
        self._mirrors, self._redactor, self._send = mirrors, redactor, send
        self._asked: dict[str, _AnsweredAsk] = {}
        self._there: set[tuple[str, int]] = set()  # questions whose widget was there once
        self._looks: set[str] = set()
        self._changed: list[Rect] | None = None
        self._due = asyncio.Event()
        self._backoff_s = 0.0
        self._held: tuple[str, str] | None = None
        self._task: asyncio.Task[None] | None = None

    def begin_reading(self, group: asyncio.TaskGroup) -> None:
        """Read from now on."""
        self._hold_mirror()
        self._task = group.create_task(self._read_repeatedly())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._release_mirror()

    # ---- what may change an answer ---------------------------------------------------------------------------------

    def add_ask(self, ask: WidgetAsk) -> None:
        self._asked[ask.wait_id] = _AnsweredAsk(ask, None)
        self._there = {key for key in self._there if key[0] != ask.wait_id}
        self._there |= {(ask.wait_id, one.index) for one in ask.questions if one.was_there}
        self._due.set()

    def drop_wait(self, wait_id: str) -> bool:
        """Stop answering a wait; return whether none is left."""
        self._asked.pop(wait_id, None)
        self._looks.discard(wait_id)
        self._there = {key for key in self._there if key[0] != wait_id}
        return not self._asked

    def answer_anew(self, wait_id: str) -> None:
        """Answer a wait from a reading that begins now."""
        self._looks.add(wait_id)
        self._due.set()

    def update_display(self, display: DisplayWidgets) -> None:
        self._told = display
        self._hold_mirror()
        self._due.set()

    def note_painted(self, changed_boxes: tuple[Rect, ...] | None) -> None:
        """Note that pixels changed in these boxes (None: not known where)."""
        boxes = None if changed_boxes is None or self._changed is None else [*self._changed, *changed_boxes]
        self._changed = boxes if boxes is not None and len(boxes) <= _MOST_BOXES else None
        self._due.set()

    def _hold_mirror(self) -> None:
        key = (self._told.bus_address, self._told.a11y_address)
        if key != self._held:
            self._release_mirror()
            with suppress(NotInstalled):  # each reading says so
                self._mirrors.hold(key, self._due.set)
                self._held, self._changed = key, None

    def _release_mirror(self) -> None:
        if self._held is not None:
            self._mirrors.release(self._held, self._due.set)
            self._held = None

    # ---- reading ---------------------------------------------------------------------------------------------------

    async def _read_repeatedly(self) -> None:
        while True:
            await self._await_change()
            begun = time.monotonic()
            self._due.clear()
            await self._read_widgets()
            spent_s = time.monotonic() - begun
            await asyncio.sleep(min(max(_PAUSE_S, _SHARE * spent_s), _MOST_PAUSE_S))

    async def _await_change(self) -> None:
        """Wait until something may have changed, or something that failed is to be tried again."""
        again_s = self._backoff_s or (self._mirrors.ask_again_s(self._held) if self._held is not None else None)
        try:
            async with asyncio.timeout(again_s):
                await self._due.wait()
        except TimeoutError:
            return

    async def _read_widgets(self) -> None:
        begun_ns = time.monotonic_ns()
        looks, self._looks = self._looks, set()
        # What is painted while it is read may have been read before: it is in doubt the next time.
        changed, self._changed = self._changed, []
        told = self._told
        ask = AccessibilityAsk(
            told.display,
            told.windows,
            told.bus_address,
            told.a11y_address,
            MAX_AGE_S,
            self._limits,
            None if changed is None else tuple(changed),
        )
        try:
            tree = await self._mirrors.read(ask)
            self._backoff_s = 0.0
            verdicts = self._judge_asks(tree, told)
        except Unavailable as fault:
            self._changed = None
            self._backoff_s = min(max(_RETRY_S[0], self._backoff_s * 2), _RETRY_S[1])
            verdicts = self._same_for_all(unknown(NO_ACCESSIBILITY, _NO_BUS.format(fault.message)))
        except NotInstalled as fault:
            verdicts = self._same_for_all(unknown(NO_ACCESSIBILITY, str(fault)))
        except TookTooLong as fault:
            verdicts = self._same_for_all(unknown("redaction", fault.message))
        await self._send_answers(verdicts, looks, begun_ns)

    def _same_for_all(self, verdict: Verdict) -> dict[str, tuple[WidgetAsk, tuple[Verdict, ...]]]:
        return {id_: (one.ask, (verdict,) * len(one.ask.questions)) for id_, one in self._asked.items()}

    async def _send_answers(
        self, verdicts: dict[str, tuple[WidgetAsk, tuple[Verdict, ...]]], looks: set[str], begun_ns: int
    ) -> None:
        for wait_id, (ask, now) in verdicts.items():
            asked = self._asked.get(wait_id)
            if asked is None or asked.ask is not ask:
                continue
            if now != asked.told or wait_id in looks:
                self._asked[wait_id] = _AnsweredAsk(ask, now)
                await self._send(WidgetAnswer(wait_id, ask.number, now, begun_ns))

    # ---- judging ---------------------------------------------------------------------------------------------------

    def _judge_asks(self, tree: Tree, sources: DisplayWidgets) -> dict[str, tuple[WidgetAsk, tuple[Verdict, ...]]]:
        """Return the answers of every ask. Raises: TookTooLong when redacting them took too long."""
        seen = WidgetsSeen(tree, sources.windows, _Hidden(self._redactor, tree), cache(self._redactor.redact_text))
        return {
            wait_id: (one.ask, tuple(self._judge_question(wait_id, q, one.ask.place, seen) for q in one.ask.questions))
            for wait_id, one in self._asked.items()
        }

    def _judge_question(self, wait_id: str, question: WidgetQuestion, place: WidgetPlace, seen: WidgetsSeen) -> Verdict:
        key = (wait_id, question.index)
        if key not in self._there and seen.find_named(question.leaf, place):
            self._there.add(key)
        return judge_widget(question.leaf, seen, place, was_there=key in self._there)


class _Hidden:
    """Returns the rule that keeps a widget's value secret; the rules are applied to the tree when first asked."""

    def __init__(self, redactor: Redactor, tree: Tree) -> None:
        self._redactor, self._tree = redactor, tree
        self._rules: dict[str, str] | None = None

    def __call__(self, node: Node) -> str:
        if self._rules is None:
            rules = self._redactor.in_widgets(self._tree.nodes)
            self._rules = {one.ref: rule for one, rule in zip(self._tree.nodes, rules, strict=True) if rule}
        (text,) = self._redactor.redact_texts([node.text])
        return self._rules.get(node.ref, "") or text.rule
