"""Frames a second shared out among sources when all together want more than a host is to grab: pure arithmetic.

What is left over by those that want little goes to the others in equal parts (max-min fairness): a display where little
happens loses nothing, and those that play are slowed down to one common rate.
"""

from __future__ import annotations

from collections.abc import Mapping

LEAST_FPS = 1.0
"""Nobody gets less, so that waits still learn of what changes; with very many displays this goes over the total."""
_AT_CAP = 0.8
"""A source that uses this much of its cap would take more."""


def level(offered: Mapping[str, float], total_fps: float) -> float | None:
    """Return the rate to which the sources that offer more are held so that all fit in; None when they do."""
    if sum(offered.values()) <= total_fps:
        return None
    left, count = total_fps, len(offered)
    for rate in sorted(offered.values()):
        if rate * count >= left:
            break
        left, count = left - rate, count - 1
    return max(LEAST_FPS, left / count)


def caps(
    published: Mapping[str, float], demanded: Mapping[str, float], before: Mapping[str, float], total_fps: float
) -> dict[str, float]:
    """Return the sources to be held back, each with its rate.

    `published`: frames a second of late. `demanded`: what consumers want at most. `before`: the caps these were made
    under; a source that used its cap up is taken to want all that is demanded of it.
    """
    offered = {name: _offer(rate, demanded.get(name, 0.0), before.get(name)) for name, rate in published.items()}
    common = level(offered, total_fps)
    return {} if common is None else {name: common for name, rate in offered.items() if rate > common}


def _offer(published: float, demanded: float, cap: float | None) -> float:
    return demanded if cap is not None and published >= _AT_CAP * cap else published
