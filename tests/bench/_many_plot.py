"""The picture of docs/benchmarks.md: what a frame costs over the number of displays, by kind of process.

scripts/bench displays --json >figures.json; .venv/bin/python -m tests.bench._many_plot <figures.json >docs/scale.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 640, 360, 56, 34, 44, 150
_COLOURS = {"Xvfb": "#7a7a7a", "capture": "#1f77b4", "supervisor": "#d62728", "evaluator": "#2ca02c"}
_STEPS = 4


def svg(figures: dict[str, Any]) -> str:
    """Return a chart of stacked bars, one for each point, the load of the machine under it."""
    points = figures["points"]
    highest = max(sum(point["cpu_ms_per_frame"][kind] for kind in _COLOURS) for point in points)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
            f'<text x="{_LEFT}" y="18">CPU per captured frame, ms ({figures["machine"]}, {figures["commit"]})</text>',
            *_grid(highest),
            *(line for n, point in enumerate(points) for line in _bar(n, len(points), point, highest)),
            *_legend(),
            "</svg>",
            "",
        ]
    )


def _y(value: float, highest: float) -> float:
    return _HEIGHT - _BOTTOM - value / highest * (_HEIGHT - _TOP - _BOTTOM)


def _grid(highest: float) -> Iterator[str]:
    for step in range(_STEPS + 1):
        value = highest * step / _STEPS
        y = _y(value, highest)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>'


def _bar(n: int, count: int, point: dict[str, Any], highest: float) -> Iterator[str]:
    each = (_WIDTH - _LEFT - _RIGHT) / count
    x, width, below = _LEFT + each * (n + 0.2), each * 0.6, 0.0
    for kind, colour in _COLOURS.items():
        value = point["cpu_ms_per_frame"][kind]
        top = _y(below + value, highest)
        height = _y(below, highest) - top
        yield f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        below += value
    middle, foot = x + width / 2, _HEIGHT - _BOTTOM
    yield f'<text x="{middle:.1f}" y="{foot + 16}" text-anchor="middle">{point["displays"]} displays</text>'
    yield f'<text x="{middle:.1f}" y="{foot + 32}" text-anchor="middle">{point["captured_fps"]:.0f} fps</text>'


def _legend() -> Iterator[str]:
    for n, (kind, colour) in enumerate(reversed(_COLOURS.items())):
        y = _TOP + 20 * n
        yield f'<rect x="{_WIDTH - _RIGHT + 16}" y="{y}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{_WIDTH - _RIGHT + 34}" y="{y + 10}">{kind}</text>'


if __name__ == "__main__":
    sys.stdout.write(svg(json.load(sys.stdin)))
