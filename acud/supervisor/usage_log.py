"""What asking models cost for anything but the evaluations of waits, which have rows of their own: into the store."""

from __future__ import annotations

from collections.abc import Callable

from acud.protocol.requests.daemon import Purpose
from acud.store.waits import UsageEntry
from acud.supervisor.journal import Journal

Tokens = tuple[int | None, int | None]
"""In and out; None: not told."""


class UsageLog:
    """Enters each answer as it comes, also one that came too late to count: it was paid for."""

    def __init__(self, journal: Journal, utc_s: Callable[[], float]) -> None:
        self._journal = journal
        self._utc_s = utc_s

    def enter(
        self,
        purpose: Purpose,
        judge: str,
        cost_usd: float | None,
        tokens: Tokens = (None, None),
        *,
        model: str = "",
        task_id: str = "",
    ) -> None:
        """Keep what one answer of `judge` cost (None: not known), in this turn or when the disk takes it again."""
        entry = UsageEntry(self._utc_s(), purpose, judge, model, task_id, *tokens, cost_usd)
        self._journal.keep(lambda: self._journal.store.usage.add(entry), droppable=True)
