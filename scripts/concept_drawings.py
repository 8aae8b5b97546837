"""The drawings of docs/concepts.md, which `scripts/docs` writes to docs/pictures: one function for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape

from scripts.diagram import Box, boxed, framed

_WIDTH = 640


def drawings() -> Mapping[str, Callable[[], str]]:
    """Return what makes each drawing, by the name of its file."""
    return {
        "concept-waiting.svg": waiting,
        "concept-verdict.svg": verdict,
        "concept-parts.svg": parts,
        "concept-takeover.svg": takeover,
    }


def waiting() -> str:
    """Two lanes of time: an agent that polls, and one that is woken."""
    title = "An agent that polls looks and thinks again and again; with acud it acts, is away, and is woken once"
    return framed(_WIDTH, 250, title, [*_polling(), *_woken()])


def _polling() -> Iterator[str]:
    yield _words(16, 28, "polling", "title")
    yield _words(16, 48, "each look is a picture and a question to the model")
    for look in range(7):
        yield _block("other", 16 + 88 * look, 60, 36, 34, "look")
        yield _block("data", 54 + 88 * look, 60, 42, 34, "think")


def _woken() -> Iterator[str]:
    yield _words(16, 138, "waiting with acud", "title")
    yield _words(16, 158, "one condition, one wake")
    yield _block("other", 16, 170, 54, 34, "act")
    yield _block("data", 72, 170, 62, 34, "condition")
    yield _block("own", 140, 170, 384, 34, "acud watches; the agent does other work, or does not run")
    yield _block("data", 530, 170, 44, 34, "wake")
    yield _block("other", 576, 170, 48, 34, "go on")
    yield _line(16, 228, 624, 228)
    yield _words(592, 246, "time")


def verdict() -> str:
    """The way from pixels to a verdict, and where each step stops what needs no more work."""
    boxes = (
        Box("other", 12, 20, 92, 92, "display", ("programs", "paint")),
        Box("own", 130, 20, 138, 92, "changed?", ("tiles are compared", "exactly; if not,", "nothing is done")),
        Box("own", 294, 20, 138, 92, "new?", ("in the target, not", "judged before; else", "the memo answers")),
        Box(
            "own", 458, 20, 170, 92, "judge", ("rules, OCR, widgets: free", "a sentence: a model,", "within its budget")
        ),
        Box("data", 130, 176, 138, 92, "unknown", ("could not look;", "the reason is told,", "never taken for no")),
        Box("data", 294, 176, 138, 92, "no", ("looked, and it does", "not hold: watch on")),
        Box(
            "data",
            458,
            176,
            170,
            92,
            "yes",
            ("the picture is kept, the", "wait is over, its wake", "is stored and sent"),
        ),
    )
    arrows = (
        _line(104, 66, 128, 66), _line(268, 66, 292, 66), _line(432, 66, 456, 66),
        _line(543, 112, 543, 174), _line(500, 112, 400, 174), _line(478, 112, 240, 174),
    )  # fmt: skip
    drawn = [*(line for box in boxes for line in boxed(box)), *arrows]
    return framed(_WIDTH, 286, "Display, changed tiles, new view, judge; then yes, no or unknown", drawn)


def parts() -> str:
    """What belongs to what: task, display, window, wait, wake."""
    boxes = (
        Box("other", 12, 12, 616, 270, "task: what an agent is working on", ("plan, actions, messages, budget", "")),
        Box("own", 32, 72, 360, 190, "display", ("an X server: one of acud's, or one of yours", "")),
        Box("data", 188, 132, 188, 112, "window", ("a target: it is followed", "when it moves", "")),
        Box("data", 52, 132, 120, 112, "region", ("a target, too; so", "is the whole", "display")),
        Box("own", 422, 72, 186, 86, "wait", ("condition + target", "+ deadline", "")),
        Box("own", 422, 196, 186, 66, "wake", ("tells the agent the end,", "once", "")),
    )
    arrows = (_line(422, 120, 378, 150), _line(515, 158, 515, 194))
    drawn = [*(line for box in boxes for line in boxed(box)), *arrows, _words(524, 182, "ends in")]
    return framed(_WIDTH, 294, "A task has a display and waits; a wait has a target there, and ends in a wake", drawn)


def takeover() -> str:
    """Who may act while a person has a display."""
    drawn = [
        _words(16, 28, "who may act on a display", "title"),
        _block("own", 16, 44, 190, 36, "agents"),
        _block("data", 212, 44, 216, 36, "a person, with a lease"),
        _block("own", 434, 44, 190, 36, "agents"),
        _words(16, 104, "acud waits and looks all the time, whoever has the display"),
        _block("other", 16, 116, 608, 30, "waits, looks, recordings"),
        _line(209, 196, 209, 152),
        _line(431, 196, 431, 152),
        _words(140, 214, "take over: agents are refused"),
        _words(384, 214, "give back, or the time is over"),
    ]
    return framed(
        _WIDTH, 230, "Agents act, then a person with a lease, then agents again; waits go on throughout", drawn
    )


def _block(kind: str, x: int, y: int, width: int, height: int, words: str) -> str:
    middle = f'x="{x + width / 2:.0f}" y="{y + height / 2 + 4:.0f}" text-anchor="middle"'
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>'
        f'<text class="small" {middle}>{escape(words)}</text>'
    )


def _words(x: int, y: int, words: str, kind: str = "small") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def _line(x1: int, y1: int, x2: int, y2: int) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" marker-end="url(#end)"/>'
