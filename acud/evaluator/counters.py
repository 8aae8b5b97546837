"""What an evaluator has done so far, for its heartbeats."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Counters:
    """Totals since the start, by name. `<what>_n` counts, `<what>_ms` adds up waiting and work."""

    def __init__(self) -> None:
        self._totals: defaultdict[str, float] = defaultdict(float)

    def add(self, name: str, amount: float = 1) -> None:
        """Add `amount` to the total `name`."""
        self._totals[name] += amount

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Count one `what`, and the time it takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(f"{what}_n")
            self.add(f"{what}_ms", (time.perf_counter() - started) * 1000)

    def snapshot(self) -> dict[str, float]:
        """Return the totals."""
        return dict(self._totals)
