"""The picture of docs/architecture.md: the processes, and the way of a frame from the X server to an agent.

`scripts/docs` writes docs/pictures/architecture.svg from the two tables here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 600, 640
_BADGE = 10
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1c2430; }
text.title { font-weight: 600; font-size: 15px; }
text.small { fill: #55606e; font-size: 12px; }
text.step { fill: #ffffff; font-size: 11px; font-weight: 600; text-anchor: middle; }
rect.back { fill: #ffffff; }
rect.own { fill: #eaf1fb; stroke: #2d6cc0; }
rect.other { fill: #f4f4f2; stroke: #8a8f98; }
rect.data { fill: #fdf3dc; stroke: #b98212; }
line { stroke: #55606e; stroke-width: 1.5; }
circle { fill: #2d6cc0; }
#head { fill: #55606e; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf0; } text.small { fill: #a7b0bd; } rect.back { fill: #131416; }
rect.own { fill: #182739; stroke: #6aa5f0; } rect.other { fill: #212327; stroke: #7d838c; }
rect.data { fill: #332a14; stroke: #d2a23a; } line { stroke: #a7b0bd; } #head { fill: #a7b0bd; }
}
"""


class Box(NamedTuple):
    """A process of acud (`own`), something that it uses (`other`), or data; px of the picture."""

    kind: str
    x: int
    y: int
    width: int
    height: int
    title: str
    words: tuple[str, ...]


class Step(NamedTuple):
    """An arrow between two points (px): its number, its words and where these begin."""

    number: int
    start: tuple[int, int]
    end: tuple[int, int]
    words: str
    place: tuple[int, int]


BOXES = (
    Box("other", 15, 20, 165, 70, "X server", ("programs paint here;", "one per display")),
    Box("own", 15, 150, 165, 70, "capture", ("one process per display", "")),
    Box("data", 235, 150, 150, 70, "frame ring", ("shared memory,", "4 frames")),
    Box("own", 15, 285, 165, 335, "supervisor", ("waits, timers, tasks;", "decides what is asked")),
    Box("data", 30, 440, 135, 70, "store", ("SQLite: one turn,", "one transaction")),
    Box("own", 235, 285, 150, 70, "evaluators", ("a pool: OCR,", "encoding, questions")),
    Box("other", 460, 285, 125, 70, "judge", ("a vision model,", "local or cloud")),
    Box("own", 235, 440, 150, 70, "delivery", ("webhook, OpenClaw,", "command")),
    Box("own", 235, 550, 150, 70, "clients", ("acud, MCP,", "web, Python")),
    Box("other", 460, 440, 125, 180, "agent", ("hands over a", "condition, leaves,", "is woken once")),
)

STEPS = (
    Step(1, (460, 585), (385, 585), "condition", (394, 606)),
    Step(2, (235, 585), (180, 585), "request", (184, 606)),
    Step(3, (70, 90), (70, 150), "damage", (84, 116)),
    Step(4, (180, 60), (300, 150), "pixels", (262, 96)),
    Step(5, (97, 220), (97, 285), "notice", (111, 248)),
    Step(6, (180, 305), (235, 305), "job", (196, 280)),
    Step(7, (310, 220), (310, 285), "frame", (324, 248)),
    Step(8, (385, 305), (460, 305), "question", (393, 280)),
    Step(9, (460, 335), (385, 335), "answer", (398, 362)),
    Step(10, (235, 335), (180, 335), "verdict", (185, 362)),
    Step(11, (97, 375), (97, 440), "commit", (111, 404)),
    Step(12, (180, 475), (235, 475), "wake", (192, 500)),
    Step(13, (385, 475), (460, 475), "evidence", (393, 500)),
)


def architecture() -> str:
    """Return the picture as SVG, legible on light and on dark ground."""
    steps = "; ".join(f"{step.number} {step.words}" for step in STEPS)
    drawn = [line for box in BOXES for line in boxed(box)] + [line for step in STEPS for line in _step(step)]
    return framed(_WIDTH, _HEIGHT, f"The processes of acud and the way of a frame: {steps}", drawn)


def framed(width: int, height: int, title: str, drawn: Iterable[str]) -> str:
    """Return a picture of that size (px) as SVG; `title` is for those who do not see it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path id="head" d="M0 0L8 4L0 8z"/></marker></defs>',
            f'<rect class="back" width="{width}" height="{height}"/>',
            *drawn,
            "</svg>",
            "",
        ]
    )


def boxed(box: Box) -> Iterator[str]:
    """Draw a box with its title and its words."""
    yield f'<rect class="{box.kind}" x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="8"/>'
    yield f'<text class="title" x="{box.x + 12}" y="{box.y + 24}">{escape(box.title)}</text>'
    for row, words in enumerate(box.words):
        yield f'<text class="small" x="{box.x + 12}" y="{box.y + 42 + 16 * row}">{escape(words)}</text>'


def _step(step: Step) -> Iterator[str]:
    (x1, y1), (x2, y2) = step.start, step.end
    yield f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" marker-end="url(#end)"/>'
    x, y = (x1 + x2) // 2, (y1 + y2) // 2
    yield f'<circle cx="{x}" cy="{y}" r="{_BADGE}"/>'
    yield f'<text class="step" x="{x}" y="{y + 4}">{step.number}</text>'
    yield f'<text class="small" x="{step.place[0]}" y="{step.place[1]}">{escape(step.words)}</text>'
