"""Counters and histograms in plain Python; counting a frame, a judgement or a request takes under a microsecond."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from acud.types.metrics import Sample

Labels = tuple[str, ...]


class Tally:
    """A counter for each combination of labels."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[Labels, float] = {}

    def add(self, *labels: str, amount: float = 1) -> None:
        self._counts[labels] = self._counts.get(labels, 0) + amount

    def of(self, *labels: str) -> float:
        return self._counts.get(labels, 0)

    def samples(self) -> Iterator[Sample]:
        """Yield one sample for each combination that was counted."""
        for labels, count in self._counts.items():
            yield Sample(labels, count)


class Histogram:
    """Values by bucket; `bounds` are the buckets' upper ends, included."""

    __slots__ = ("_bounds", "_buckets", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._buckets = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count `value`; a negative one (by rounding) counts as 0."""
        value = max(value, 0.0)
        self._buckets[bisect_left(self._bounds, value)] += 1
        self._sum += value

    @property
    def count(self) -> int:
        return sum(self._buckets)

    def sample(self, *labels: str) -> Sample:
        return Sample(labels, self._sum, self.count, tuple(self._buckets))


class Histograms:
    """A histogram for each combination of labels, all with the same `bounds`."""

    __slots__ = ("_bounds", "_found")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._found: dict[Labels, Histogram] = {}

    def observe(self, value: float, *labels: str) -> None:
        found = self._found.get(labels)
        if found is None:
            found = self._found[labels] = Histogram(self._bounds)
        found.observe(value)

    def samples(self) -> Iterator[Sample]:
        """Yield one sample for each combination that was observed."""
        for labels, found in self._found.items():
            yield found.sample(*labels)


class Summaries:
    """Count and sum of values for each combination of labels."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Labels, tuple[int, float]] = {}

    def observe(self, value: float, *labels: str) -> None:
        count, total = self._found.get(labels, (0, 0.0))
        self._found[labels] = count + 1, total + value

    def samples(self) -> Iterator[Sample]:
        """Yield one sample for each combination that was observed."""
        for labels, (count, total) in self._found.items():
            yield Sample(labels, total, count)


class Totals:
    """The counters in a child's heartbeats, summed over its restarts."""

    __slots__ = ("_before", "_now")

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._now: Mapping[str, float] = {}

    def note_counters(self, counters: Mapping[str, float]) -> None:
        """Note the newest heartbeat's `counters`, which are kept, not copied."""
        self._now = counters

    def restart(self) -> None:
        """Note that the process is gone: the next one counts from 0."""
        for name, amount in self._now.items():
            self._before[name] = self._before.get(name, 0) + amount
        self._now = {}

    def of(self, name: str) -> float:
        return self._before.get(name, 0) + self._now.get(name, 0)

    def newest(self, name: str) -> float:
        """Return the present process's figure `name`, for figures that are not totals; 0 if it sent none."""
        return self._now.get(name, 0)
