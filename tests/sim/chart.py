"""A plot of loads by size as SVG, for light and dark pages: both axes logarithmic, a line for each part of a fleet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_W, _H, _LEFT, _TOP, _BOTTOM = 860, 460, 64, 20, 48
_RIGHT = 450
_GAP = 34
_PARTS = 8
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1c2430; } text.cure { fill: #55606e; font-size: 11px; }
rect.back { fill: #ffffff; } path.grid { stroke: #d8dce2; } path.full { stroke: #b91c1c; stroke-width: 2; }
polyline { fill: none; stroke-width: 2; }
.c0 { stroke: #1b6ca8; } .c1 { stroke: #c2410c; } .c2 { stroke: #15803d; } .c3 { stroke: #7e22ce; }
.c4 { stroke: #a16207; } .c5 { stroke: #0f766e; } .c6 { stroke: #be185d; } .c7 { stroke: #57534e; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf0; } text.cure { fill: #a7b0bd; } rect.back { fill: #131416; }
path.grid { stroke: #33373d; } path.full { stroke: #f87171; }
.c0 { stroke: #6aa5f0; } .c1 { stroke: #fb923c; } .c2 { stroke: #4ade80; } .c3 { stroke: #c084fc; }
.c4 { stroke: #facc15; } .c5 { stroke: #2dd4bf; } .c6 { stroke: #f472b6; } .c7 { stroke: #d6d3d1; }
}
"""


def chart(
    sizes: Sequence[int],
    points: Sequence[Mapping[str, float]],
    cures: Mapping[str, str],
    low: float = 1e-3,
    high: float = 1e4,
) -> str:
    """Return the drawing. `points`: for each of `sizes` the loads by part; 1 is all that a part can do. The parts that
    saturate first are drawn, in that order, each with what to do about it.
    """

    def x(size: float) -> float:
        return _LEFT + math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0]) * (_W - _LEFT - _RIGHT)

    def y(load: float) -> float:
        return _H - _BOTTOM - math.log(min(high, max(low, load)) / low) / math.log(high / low) * (_H - _BOTTOM - _TOP)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W} {_H}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="back" width="{_W}" height="{_H}"/>',
    ]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        at = y(10.0**power)
        lines.append(f'<path class="{"grid" if power else "full"}" d="M{_LEFT} {at:.1f}H{_W - _RIGHT}"/>')
        lines.append(_text(_LEFT - 8, at + 4, f"{10.0**power:g}", "end"))
    lines += [_text(x(size), _H - _BOTTOM + 18, str(size), "middle") for size in sizes]
    lines.append(
        _text((_LEFT + _W - _RIGHT) / 2, _H - 8, "hosts of 64 displays; 1 = all that the part can do", "middle")
    )
    first = sorted(points[-1], key=lambda part: -points[-1][part])[:_PARTS]
    for number, part in enumerate(first):
        way = " ".join(f"{x(size):.1f},{y(loads[part]):.1f}" for size, loads in zip(sizes, points, strict=True))
        at = _TOP + 24 + number * (_GAP + 14)
        lines.append(f'<polyline class="c{number}" points="{way}"/>')
        lines.append(f'<path class="c{number}" stroke-width="4" d="M{_W - _RIGHT + 20} {at - 4}h18"/>')
        lines.append(_text(_W - _RIGHT + 46, at, f"{number + 1}. {part}: {_full_at(sizes, points, part)}", "start"))
        lines.append(_text(_W - _RIGHT + 46, at + 15, cures[part], "start", "cure"))
    return "\n".join([*lines, "</svg>", ""])


def _full_at(sizes: Sequence[int], points: Sequence[Mapping[str, float]], part: str) -> str:
    """Return at how many hosts the part is all used, between the sizes that were simulated."""
    loads = [point[part] for point in points]
    if loads[-1] < 1:
        return f"{loads[-1]:.2g} at {sizes[-1]:,}"
    at = next(number for number, load in enumerate(loads) if load >= 1)
    return f"full at {sizes[at] / loads[at]:,.0f} hosts"


def _text(x: float, y: float, words: str, anchor: str, kind: str = "") -> str:
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of}>{words}</text>'
