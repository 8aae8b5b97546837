"""A plot of loads by size as SVG: both axes logarithmic, a line for each part of the fleet."""

from __future__ import annotations

import math
from collections.abc import Sequence

_W, _H, _L, _B = 720, 380, 64, 48
_COLOURS = ("#1b6ca8", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0f766e")


def chart(sizes: Sequence[int], lines: dict[str, Sequence[float]], low: float = 1e-4, high: float = 10.0) -> str:
    """Return the drawing. `lines`: by name, a load for each of `sizes`; 1 is all that a part can do."""

    def x(size: float) -> float:
        return _L + math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0]) * (_W - _L - 190)

    def y(load: float) -> float:
        return _H - _B - math.log(min(high, max(low, load)) / low) / math.log(high / low) * (_H - _B - 20)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W} {_H}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_W}" height="{_H}" fill="#fff"/>',
    ]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        at, bold = y(10.0**power), ' stroke-width="2" stroke="#b91c1c"' if power == 0 else ' stroke="#ddd"'
        parts.append(f'<path d="M{_L} {at:.1f}H{_W - 190}"{bold}/>')
        parts.append(_text(_L - 8, at + 4, f"{10.0**power:g}", "end"))
    parts += [_text(x(size), _H - _B + 18, str(size), "middle") for size in sizes]
    parts.append(_text((_L + _W - 190) / 2, _H - 8, "hosts of 64 displays; 1 = all that the part can do", "middle"))
    for (name, loads), colour in zip(lines.items(), _COLOURS, strict=False):
        way = " ".join(f"{x(size):.1f},{y(load):.1f}" for size, load in zip(sizes, loads, strict=True))
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_W - 184}" y="{y(loads[-1]) + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
