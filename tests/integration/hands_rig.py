"""Acts asked of a capture process under test, and what programs make of them."""

from __future__ import annotations

import itertools
from typing import Any

from acud.desktop.actions import InputAction
from acud.protocol.children import Act, Acted, DropActs
from tests.integration.capture_rig import CaptureRig


class HandsRig(CaptureRig):
    """A capture rig that acts."""

    numbers = itertools.count(1)

    def ask(self, action: InputAction) -> str:
        """Ask for `action` and return its id."""
        act_id = f"act-{next(self.numbers)}"
        self.send(Act(act_id, action))
        return act_id

    def answer(self, act_id: str) -> Acted:
        """Return how an act ended."""
        since = next((n for n, m in enumerate(self.said) if isinstance(m, Acted) and m.act_id == act_id), None)
        answer: Acted = self.until(lambda m: isinstance(m, Acted) and m.act_id == act_id, since)
        return answer

    def do(self, action: InputAction) -> Acted:
        """Do `action`, and return its answer, which must be good."""
        answer = self.answer(self.ask(action))
        assert not answer.code, answer
        return answer

    def fail(self, action: InputAction) -> Acted:
        """Do `action`, which must fail."""
        answer = self.answer(self.ask(action))
        assert answer.code, answer
        return answer

    def drop(self, reason: str) -> None:
        """Have it stop acting."""
        self.send(DropActs(reason))


def pressed_keys(connection: Any) -> list[int]:
    """Return the keycodes that are down (QueryKeymap)."""
    return [code for code in range(256) if connection.xlib.query_keymap()[code // 8] >> code % 8 & 1]
