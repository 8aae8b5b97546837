"""The picture of `scripts/bench peers`: a panel of bars for each figure, shorter is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_WIDTH, _PANEL, _LEFT, _TOP, _BAR = 720, 360, 84, 48, 18
_COLOURS = {
    "acud": "#1f77b4", "floor": "#d9d9d9", "mss": "#7a7a7a", "python-xlib": "#a6a6a6", "gptme": "#d62728",
    "rapidocr": "#7a7a7a", "tesseract": "#a6a6a6",
}  # fmt: skip
_COLUMNS = 2

Value = Callable[[dict[str, Any]], float | None]


class Panel(NamedTuple):
    """A figure, and whether it is one of the text round."""

    title: str
    value: Value
    text: bool = False


_PANELS = (
    Panel("drawing to noticed, p50, ms", lambda row: row["notice_p50_ms"]),
    Panel("changes missed", lambda row: row["missed"]),
    Panel("CPU of a still minute, ms", lambda row: sum(row["idle_cpu_ms_per_minute"].values())),
    Panel("CPU of a working minute, ms", lambda row: sum(row["work_cpu_ms_per_minute"].values())),
    Panel("judge calls in a working minute", lambda row: row["judge_calls"]),
    Panel("lamp to answer, ms", lambda row: row["told_ms"]),
    Panel("text drawn to answer, p50, ms", lambda row: row["told_p50_ms"], text=True),
    Panel("CPU of the text round, s", lambda row: row["cpu_s"], text=True),
)
_OF_WORK = frozenset(panel.title for panel in _PANELS[3:6])


def svg(figures: dict[str, Any]) -> str:
    """Return the chart; a figure that there is none of is written out, and has no bar."""
    high = 34 + (_BAR + 4) * max(len(figures["peers"]), len(figures["texts"]))
    height = _TOP + high * -(-len(_PANELS) // _COLUMNS)
    low, top = figures["load"]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
            f'<text x="8" y="20">Changes and texts: shorter is better ({figures["machine"]}, {figures["commit"]}, '
            f"load {low} to {top})</text>",
            *(line for n, panel in enumerate(_PANELS) for line in _panel(n, panel, _rows(panel, figures), high)),
            "</svg>",
            "",
        ]
    )


def _rows(panel: Panel, figures: dict[str, Any]) -> dict[str, Any]:
    rows: dict[str, Any] = figures["texts" if panel.text else "peers"]
    return {name: row for name, row in rows.items() if panel.title not in _OF_WORK or "judge_calls" in row}


def _panel(n: int, panel: Panel, peers: dict[str, Any], high: int) -> Iterator[str]:
    title, value = panel.title, panel.value
    x, y = n % _COLUMNS * _PANEL, _TOP + n // _COLUMNS * high
    yield f'<text x="{x + 8}" y="{y + 8}" font-weight="bold">{title}</text>'
    values = {name: value(row) for name, row in peers.items()}
    highest = max((v for v in values.values() if v), default=1) or 1
    for line, (name, found) in enumerate(values.items()):
        yield from _bar(x, y + 16 + line * (_BAR + 4), name, found, highest)


def _bar(x: int, y: int, name: str, found: float | None, highest: float) -> Iterator[str]:
    width = 0.0 if found is None else found / highest * (_PANEL - _LEFT - 64)
    said = "never" if found is None else f"{found:,.1f}" if found != int(found) else f"{found:,.0f}"
    yield f'<text x="{x + _LEFT - 6}" y="{y + 13}" text-anchor="end">{name}</text>'
    yield f'<rect x="{x + _LEFT}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{_COLOURS[name]}"/>'
    yield f'<text x="{x + _LEFT + width + 5:.1f}" y="{y + 13}">{said}</text>'
