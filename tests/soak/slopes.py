"""How fast something grows over the lives of processes, and how sure that is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

BLOCK_S = 20.0
"""Samples of so long are one point: neighbouring samples of memory are no independent measurements."""

# Student's t, two-sided 95 %, by degrees of freedom (NIST/SEMATECH e-Handbook, table 1.3.6.7.2).
_T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 8: 2.31, 10: 2.23, 15: 2.13, 20: 2.09, 30: 2.04, 60: 2.0}


class Slope(Struct, frozen=True):
    """Growth per hour with its 95 % interval from `low` to `high`; None: too few points to say. `points`: how many."""

    per_hour: float | None
    low: float | None
    high: float | None
    points: int
    processes: int


def slope(samples: Mapping[int, Iterable[tuple[float, float]]]) -> Slope:
    """Return the common slope of `samples` by process: (seconds, value) each.

    Each process has a level of its own (it is taken out), all share the slope. A point is the least value of a block:
    what is used and given back within seconds is no growth. A process with fewer than two blocks says nothing about
    growth.
    """
    lives = [blocks for one in samples.values() if len(blocks := _blocks(one)) > 1]
    x = [at - _mean(t for t, _ in life) for life in lives for at, _ in life]
    y = [value - _mean(v for _, v in life) for life in lives for _, value in life]
    spread, freedom = sum(a * a for a in x), len(x) - len(lives) - 1
    if freedom < 1 or not spread:
        return Slope(None, None, None, len(x), len(lives))
    rate = sum(a * b for a, b in zip(x, y, strict=True)) / spread
    left = sum((b - rate * a) ** 2 for a, b in zip(x, y, strict=True))
    error = _t95(freedom) * math.sqrt(left / freedom / spread)
    return Slope(*(round(3600 * value, 2) for value in (rate, rate - error, rate + error)), len(x), len(lives))


def _blocks(samples: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for at, value in samples:
        kept[int(at // BLOCK_S)].append((at, value))
    return [(_mean(t for t, _ in one), min(v for _, v in one)) for _, one in sorted(kept.items())]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _t95(freedom: int) -> float:
    return next((t for limit, t in reversed(_T95.items()) if freedom >= limit), _T95[1])
