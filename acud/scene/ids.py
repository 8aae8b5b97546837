"""Ids of the elements of one display: the same thing keeps its id while it is there, and no id is given twice."""

from __future__ import annotations

from collections.abc import Sequence

from acud.scene.matching import Seen, matched


class Ids:
    """Gives ids `<letter><display>-<n>`. `next_number` is to be kept over restarts, so that no id is ever reused."""

    def __init__(self, letter: str, display_id: int, next_number: int = 1) -> None:
        self._prefix = f"{letter}{display_id}-"
        self._before: Sequence[Seen] = ()
        self._ids: list[str] = []
        self.next_number = next_number

    def given(self, now: Sequence[Seen]) -> list[str]:
        """Return the ids of the elements of a new frame; equal elements mint nothing."""
        if list(now) == list(self._before):
            return list(self._ids)
        earlier = matched(self._before, now)
        self._ids = [self._mint() if index is None else self._ids[index] for index in earlier]
        self._before = tuple(now)
        return list(self._ids)

    def _mint(self) -> str:
        number, self.next_number = self.next_number, self.next_number + 1
        return f"{self._prefix}{number}"
