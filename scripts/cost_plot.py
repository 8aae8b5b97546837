"""README's plot: what waiting costs with acud, and what it costs to look again and again.

`scripts/docs` writes docs/pictures/cost-light.svg and cost-dark.svg from the figures of docs/benchmarks.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

_WIDTH, _LEFT, _RIGHT = 720, 236, 92
_ROW, _HEAD, _GAP, _BAR = 26, 52, 22, 16
_SHORT = 8
"""Letters that have room beside the longest bar."""

THEMES: Mapping[str, Mapping[str, str]] = {
    "light": {"back": "#ffffff", "text": "#1c2430", "small": "#55606e", "own": "#2d6cc0", "other": "#a9b1bc"},
    "dark": {"back": "#0d1117", "text": "#e8ebf0", "small": "#a7b0bd", "own": "#6aa5f0", "other": "#4b535f"},
}


class Bar(NamedTuple):
    """One way to wait: its name, its figure, and what to read beside the bar."""

    name: str
    value: float
    told: str


class Panel(NamedTuple):
    """A question and the ways that are compared; the first is acud."""

    title: str
    bars: tuple[Bar, ...]


def plot(page: str, theme: str) -> str:
    """Return the picture as SVG, of the figures in docs/benchmarks.md. Raises: ValueError if one is not there."""
    colours = THEMES[theme]
    drawn, y = [], 12.0
    for panel in panels(page):
        drawn += _panel(panel, y, colours)
        y += _HEAD + _ROW * len(panel.bars) + _GAP
    told = "; ".join(
        f"{panel.title}: {', '.join(f'{bar.name} {bar.told}' for bar in panel.bars)}" for panel in panels(page)
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y:.0f}" role="img" '
            'font-family="system-ui, sans-serif" font-size="14">',
            f"<title>{escape(told)}</title>",
            f'<rect width="{_WIDTH}" height="{y:.0f}" fill="{colours["back"]}"/>',
            *drawn,
            "</svg>",
            "",
        ]
    )


def panels(page: str) -> tuple[Panel, ...]:
    """Return what is compared, with the page's figures."""
    session = re.search(r"^\| \*\*all\*\* \(`fixed`: (\d+)\) \| \*\*([\d.]+)\*\* \|$", page, re.MULTILINE)
    if session is None:
        raise ValueError("docs/benchmarks.md: no line **all** of the judge calls")
    fixed, events = float(session[1]), float(session[2])
    still = _row(page, "CPU of a still minute, ms: watcher + X server")
    missed = _row(page, "changes missed, of 72")
    cpu = {who: sum(map(float, words.replace(",", "").split(" + "))) / 1000 for who, words in still.items()}
    told = {who: f"{seconds:.1f} s; missed {missed[who]} of 72 changes" for who, seconds in cpu.items()}
    return (
        Panel(
            "Questions to a vision model in five minutes of desktop work",
            (
                Bar("acud, when pixels changed", events, f"{events:.0f}"),
                Bar("a look once a second", fixed, f"{fixed:.0f}"),
            ),
        ),
        Panel(
            "CPU of one minute in which nothing happens",
            tuple(
                Bar(name, cpu[who], told[who])
                for name, who in (("acud", "acud"), ("mss, ten looks a second", "mss"), ("gptme's watcher", "gptme"))
            ),
        ),
    )


def _row(page: str, name: str) -> dict[str, str]:
    """Return the cells of the line `name` in the table of scripts/bench peers, by their column."""
    table = page[page.index("<!-- scripts/bench peers -->") : page.index("<!-- end of scripts/bench peers -->")]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    for line in lines:
        if line[0] == name:
            return dict(zip(lines[0][1:], line[1:], strict=True))
    raise ValueError(f"docs/benchmarks.md: no line {name!r}")


def _panel(panel: Panel, y: float, colours: Mapping[str, str]) -> Iterator[str]:
    yield _text(16, y + 24, panel.title, colours["text"], ' font-weight="600" font-size="16"')
    most = max(bar.value for bar in panel.bars)
    for n, bar in enumerate(panel.bars):
        top = y + _HEAD - 8 + _ROW * n
        length = max(2.0, (_WIDTH - _LEFT - _RIGHT) * bar.value / most)
        yield _text(_LEFT - 12, top + 13, bar.name, colours["small"], ' text-anchor="end"')
        yield (
            f'<rect x="{_LEFT}" y="{top:.0f}" width="{length:.1f}" height="{_BAR}" rx="3" '
            f'fill="{colours["other" if n else "own"]}"/>'
        )
        if length > (_WIDTH - _LEFT) / 2 and len(bar.told) > _SHORT:  # no room to the right of it
            yield _text(_LEFT + length - 8, top + 13, bar.told, colours["text"], ' text-anchor="end"')
        else:
            yield _text(_LEFT + length + 8, top + 13, bar.told, colours["text"])


def _text(x: float, y: float, words: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}"{more}>{escape(words)}</text>'
