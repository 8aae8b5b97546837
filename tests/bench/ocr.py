"""Text reading on real windows: a whole 1280x720 frame, a dialog alone, and one changed line of a terminal.

`recall` and `precision` are of words, exactly as written: how many of the words shown were read, and how many of the
words read were shown; the X server's 6x13 bitmap letters are counted apart. Every `line_ms` is a new line in the
terminal, found and read; nothing of it was seen before. `plain_line_ms` is the same line by reading the whole frame
again, as an engine without memory does.
"""

from __future__ import annotations

import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from acud.child_process import rss_mb
from acud.evaluator.memory import keep_freed_memory
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.reader import RapidEngine, ScreenReader
from acud.evaluator.ocr.text_layout import rows
from tests.bench._text_desktop import BITMAP_BOX, DIALOG_BOX, TextDesktop

WHOLE_ROUNDS, LINE_ROUNDS = 3, 9


def run() -> dict[str, Any]:
    """Measure on a desktop of its own; each round of a whole frame starts with nothing remembered."""
    keep_freed_memory()
    engine, load_ms = _timed(RapidEngine)
    with TextDesktop() as desktop:
        whole = [_timed(lambda: ScreenReader(engine).read((), desktop.frame)) for _ in range(WHOLE_ROUNDS)]
        box = DIALOG_BOX
        dialog = desktop.frame[box.y : box.bottom, box.x : box.right].copy()
        alone = [_timed(lambda: ScreenReader(engine).read((), dialog)) for _ in range(WHOLE_ROUNDS)]
        bitmap = [line for line in whole[0][0] if line.box.intersect(BITMAP_BOX)]
        recall, precision = accuracy(desktop.truth, [line for line in whole[0][0] if line not in bitmap])
        bitmap_recall, bitmap_precision = accuracy(desktop.bitmap_truth, bitmap)
        lines = _changed_lines(engine, desktop)
    return {
        "full_ms": _median(ms for _, ms in whole),
        "dialog_ms": _median(ms for _, ms in alone),
        "line_ms": _median(one["ms"] for one in lines),
        "plain_line_ms": _median(one["plain_ms"] for one in lines),
        "lines_right": round(sum(one["right"] for one in lines) / len(lines), 3),
        "recall": round(recall, 4),
        "precision": round(precision, 4),
        "bitmap_recall": round(bitmap_recall, 4),
        "bitmap_precision": round(bitmap_precision, 4),
        "words": len(words_of([*desktop.truth, *desktop.bitmap_truth])),
        "load_ms": round(load_ms, 1),
        "rss_mb": round(rss_mb(), 1),
    }


def _changed_lines(engine: RapidEngine, desktop: TextDesktop) -> list[dict[str, float]]:
    """Return the cost of each new line, and whether it can then be read on the screen."""
    reader = ScreenReader(engine)
    reader.read((), desktop.frame)
    found = []
    for place in range(LINE_ROUNDS):
        written = desktop.write_line()
        lines, ms = _timed(lambda: reader.read((), desktop.frame))
        plain_ms = _timed(lambda: ScreenReader(engine).read((), desktop.frame))[1] if place == 0 else ms
        right = "".join(written.split()) in "".join("".join(text.split()) for text in _texts(lines))
        found.append({"ms": ms, "plain_ms": plain_ms, "right": float(right)})
    return [{**one, "plain_ms": found[0]["plain_ms"]} for one in found]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    value = work()
    return value, (time.perf_counter() - began) * 1000


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 1)


def _texts(lines: Iterable[Line]) -> list[str]:
    return [" ".join(line.text for line in row) for row in rows(lines)]


def words_of(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in text.split() if re.search(r"\w", word)]


def accuracy(truth: Iterable[str], lines: Iterable[Line]) -> tuple[float, float]:
    shown, read = Counter(words_of(truth)), Counter(words_of(line.text for line in lines))
    both = (shown & read).total()
    return both / shown.total(), both / read.total()


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    return "\n".join(
        [
            f"a whole 1280x720 frame          {figures['full_ms']:8.1f} ms",
            f"a dialog alone                  {figures['dialog_ms']:8.1f} ms",
            f"one changed terminal line       {figures['line_ms']:8.1f} ms  (by reading all: "
            f"{figures['plain_line_ms']:.0f} ms; read right: {figures['lines_right']:.0%})",
            f"recall / precision of words     {figures['recall']:.1%} / {figures['precision']:.1%} "
            f"(6x13 bitmap letters {figures['bitmap_recall']:.1%} / {figures['bitmap_precision']:.1%}), "
            f"{figures['words']} words",
            f"loading the engine              {figures['load_ms']:8.1f} ms, then {figures['rss_mb']:.0f} MB",
        ]
    )
