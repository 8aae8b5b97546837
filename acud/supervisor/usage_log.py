"""Stores the cost of calls to models, except evaluations of waits, which have rows of their own."""

from __future__ import annotations

from acud.base.clock import Clock
from acud.protocol.requests.daemon import Purpose
from acud.store.waits import UsageEntry
from acud.supervisor.journal import Journal

Tokens = tuple[int | None, int | None]
"""In and out; None: not reported."""


class UsageLog:
    """Enters each answer, also one that came too late to be used, as it was paid for."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal, self._clock = journal, clock

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
        """Store the cost of one answer of `judge` (None: unknown), in this turn or when the disk takes it again."""
        entry = UsageEntry(self._clock.instant().utc_s, purpose, judge, model, task_id, *tokens, cost_usd)
        self._journal.keep(lambda: self._journal.store.usage.add(entry), droppable=True)
