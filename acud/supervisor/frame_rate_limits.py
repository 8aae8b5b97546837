"""Shares frames a second among sources when all together want more than the host may grab: pure arithmetic.

What quiet sources leave over goes to the others in equal parts (max-min fairness): a quiet display loses nothing, and
busy ones are slowed down to one common rate.
"""

from __future__ import annotations

from collections.abc import Mapping

LEAST_FPS = 1.0
"""No source gets less, so that waits still see changes; with very many displays this exceeds the total."""
_AT_CAP = 0.8  # A source that uses this part of its cap would use more


def compute_level(offered: Mapping[str, float], total_fps: float) -> float | None:
    """Return the common rate to which busier sources are limited; None when all fit into the total."""
    if sum(offered.values()) <= total_fps:
        return None
    left, count = total_fps, len(offered)
    for rate in sorted(offered.values()):
        if rate * count >= left:
            break
        left, count = left - rate, count - 1
    return max(LEAST_FPS, left / count)


def compute_caps(
    published: Mapping[str, float], demanded: Mapping[str, float], before: Mapping[str, float], total_fps: float
) -> dict[str, float]:
    """Return the sources to limit, each with its rate.

    `published`: recent frames a second. `demanded`: the most that consumers want. `before`: the caps in force then; a
    source that used up its cap is assumed to want all that is demanded.
    """
    offered = {
        name: _estimate_offer(rate, demanded.get(name, 0.0), before.get(name)) for name, rate in published.items()
    }
    common = compute_level(offered, total_fps)
    return {} if common is None else {name: common for name, rate in offered.items() if rate > common}


def _estimate_offer(published: float, demanded: float, cap: float | None) -> float:
    return demanded if cap is not None and published >= _AT_CAP * cap else published
