"""Text reading on real windows: a whole 1280x720 frame, a dialog alone, and one changed line of a terminal.

`recall` and `precision` are of words, exactly as written: how many of the words shown were read, and how many of the
words read were shown; the X server's 6x13 bitmap letters are counted apart. Every `line_ms` is a new line in the
terminal, found and read; each of its words is one of six, so after some lines most were seen before. `new_line_x` is
`line_x` with words that were not. `plain_line_ms` is the same line by reading the whole frame
again, as an engine without memory does. `grown_cpu_ms`: CPU time for each word by which a line grows to twenty.

The other part is the OCR set (`tests/ocr_set`), CPU time over that of plain rapidocr at one thread on the same frames:
`full_cpu_x` for a frame with nothing remembered, `line_x` for that terminal line. `worst_category_delta`: the recall of
the category that lost most since 75f28827, in points. Lines below `[ocr] min_confidence` do not count as text, as with
rapidocr; `precision_of_all` counts their words as well. `--closed` reads the closed half of the set instead, and
nothing else; see `tests/ocr_set/closed.py` before you open it. `growth_mb`: what the process holds more after 2,000
lines of all widths, and the bands around them, than after the first 200.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.memory import give_back, keep_freed_memory
from acud.evaluator.ocr.engine import Bgr, Line
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.evaluator.ocr.text_layout import rows
from acud.process.child_process import rss_mb
from tests.bench._text_desktop import BITMAP_BOX, DIALOG_BOX, TextDesktop
from tests.e2e.text_page import ENGLISH
from tests.ocr_set import closed as closed_half
from tests.ocr_set import screens
from tests.ocr_set.scores import OwnReader, figures, plain_rapidocr, tesseract
from tests.ocr_set.words import counted as words_of

WHOLE_ROUNDS, LINE_ROUNDS = 3, 9
SET_FOLDER = Path(".state/ocr-set")
_QUICK_STEP = 16
_GROWTH_LINES, _WARM_LINES = 2000, 200
_GROWN_WORDS = 20


def run(*, quick: bool = False, closed: bool = False) -> dict[str, Any]:
    """Measure on a desktop of its own; each round of a whole frame starts with nothing remembered. `quick`: a sixteenth
    of the set, a tenth of the lines. `closed`: only read the closed half.
    """
    keep_freed_memory()
    engine, load_ms = _timed(RapidEngine)
    peer = plain_rapidocr()
    readers = {"acud": OwnReader(engine), "rapidocr": peer, **({"tesseract": one} if (one := tesseract()) else {})}
    if closed:
        found = figures(readers, screens.drawn(SET_FOLDER, closed_half.read()), whole_set=False)
        return {**found, "engine": engine.version, "sha256": closed_half.sha256()}
    with TextDesktop() as desktop:
        whole = [_timed(lambda: ScreenReader(engine).read((), desktop.frame)) for _ in range(WHOLE_ROUNDS)]
        box = DIALOG_BOX
        dialog = desktop.frame[box.y : box.bottom, box.x : box.right].copy()
        alone = [_timed(lambda: ScreenReader(engine).read((), dialog)) for _ in range(WHOLE_ROUNDS)]
        bitmap = [line for line in whole[0][0] if line.box.intersect(BITMAP_BOX)]
        recall, precision = accuracy(desktop.truth, [line for line in whole[0][0] if line not in bitmap])
        bitmap_recall, bitmap_precision = accuracy(desktop.bitmap_truth, bitmap)
        lines = _changed_lines(engine, desktop)
        new_lines = _changed_lines(engine, desktop, new_words=True)
        frame_cpu_s = statistics.median(_cpu_s(lambda: peer(desktop.frame)) for _ in range(WHOLE_ROUNDS))
    wanted = screens.ALL[:: _QUICK_STEP if quick else 1]
    desktop_figures = {
        "full_ms": _median(ms for _, ms in whole),
        "dialog_ms": _median(ms for _, ms in alone),
        "line_ms": _median(one["ms"] for one in lines),
        "plain_line_ms": _median(one["plain_ms"] for one in lines),
        "lines_right": round(statistics.mean(one["right"] for one in [*lines, *new_lines]), 3),
        "desktop_recall": round(recall, 4),
        "desktop_precision": round(precision, 4),
        "bitmap_recall": round(bitmap_recall, 4),
        "bitmap_precision": round(bitmap_precision, 4),
        "desktop_words": len(words_of([*desktop.truth, *desktop.bitmap_truth])),
        "load_ms": round(load_ms, 1),
        "rss_mb": round(rss_mb(), 1),
        "engine": engine.version,
    }
    return {
        **figures(readers, screens.drawn(SET_FOLDER, wanted), whole_set=not quick),
        "line_x": round(statistics.median(one["cpu_s"] for one in lines) / frame_cpu_s, 4),
        "new_line_x": round(statistics.median(one["cpu_s"] for one in new_lines) / frame_cpu_s, 4),
        "grown_cpu_ms": _grown_cpu_ms(engine),
        "growth_mb": _growth_mb(engine, _GROWTH_LINES // 10 if quick else _GROWTH_LINES),
        **desktop_figures,
    }


def _grown_cpu_ms(engine: RapidEngine) -> float:
    reader, chance, words, found = ScreenReader(engine), random.Random(1), ["$"], []
    reader.read((), _page(words))
    for _ in range(_GROWN_WORDS):
        words.append(chance.choice(ENGLISH))
        page = _page(words)
        found.append(_cpu_s(lambda page=page: reader.read((), page)))  # type: ignore[misc]
    return round(statistics.median(found) * 1000, 1)


def _page(words: list[str]) -> Bgr:
    picture = Image.new("RGBX", (1280, 720), (26, 26, 31, 0))
    face = ImageFont.truetype("DejaVuSansMono.ttf", 14)
    ImageDraw.Draw(picture).text((6, 366), " ".join(words), fill=(219, 219, 219), font=face)
    return np.asarray(picture)


def _growth_mb(engine: RapidEngine, count: int) -> float:
    chance, loaded = random.Random(1), 0.0
    for place in range(count + _WARM_LINES):
        if place == _WARM_LINES:
            give_back()
            loaded = rss_mb()
        line = _line(chance.randrange(40, 600), chance.randrange(14, 30))
        engine.recognise([line])
        if place % 10 == 0:
            engine.detect([line] * chance.randrange(1, 8))
    give_back()
    return round(rss_mb() - loaded, 1)


def _line(width: int, height: int) -> Bgr:
    picture = Image.new("RGB", (width, height), "white")
    face = ImageFont.truetype("DejaVuSans.ttf", height // 2)
    ImageDraw.Draw(picture).text((2, 2), "word " * (width // 40), fill="black", font=face)
    return np.asarray(picture)


def _cpu_s(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _changed_lines(
    engine: RapidEngine, desktop: TextDesktop, *, new_words: bool = False
) -> list[dict[str, float]]:  # fmt: skip
    """Return the cost of each new line, and whether it can then be read on the screen."""
    reader, unseen = ScreenReader(engine), iter(random.Random(5).sample(ENGLISH, 6 * LINE_ROUNDS))
    reader.read((), desktop.frame)
    found = []
    for place in range(LINE_ROUNDS):
        written = desktop.write_line([next(unseen) for _ in range(6)] if new_words else None)
        began_s = time.process_time()
        lines, ms = _timed(lambda: reader.read((), desktop.frame))
        cpu_s = time.process_time() - began_s
        plain_ms = _timed(lambda: ScreenReader(engine).read((), desktop.frame))[1] if place == 0 else ms
        right = "".join(written.split()) in "".join("".join(text.split()) for text in _texts(lines))
        found.append({"ms": ms, "plain_ms": plain_ms, "right": float(right), "cpu_s": cpu_s})
    return [{**one, "plain_ms": found[0]["plain_ms"]} for one in found]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    value = work()
    return value, (time.perf_counter() - began) * 1000


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 1)


def _texts(lines: Iterable[Line]) -> list[str]:
    return [" ".join(line.text for line in row) for row in rows(lines)]


def accuracy(truth: Iterable[str], lines: Iterable[Line]) -> tuple[float, float]:
    shown, read = Counter(words_of(truth)), Counter(words_of(line.text for line in lines))
    both = (shown & read).total()
    return both / shown.total(), both / read.total()


def table(figures: dict[str, Any]) -> str:
    if "full_ms" not in figures:
        return "\n".join(["the closed half of the OCR set", *_set_table(figures), f"engine {figures['engine']}"])
    return "\n".join(
        [
            f"a whole 1280x720 frame          {figures['full_ms']:8.1f} ms",
            f"a dialog alone                  {figures['dialog_ms']:8.1f} ms",
            f"one changed terminal line       {figures['line_ms']:8.1f} ms  (by reading all: "
            f"{figures['plain_line_ms']:.0f} ms; read right: {figures['lines_right']:.0%})",
            f"recall / precision of words     {figures['desktop_recall']:.1%} / {figures['desktop_precision']:.1%} "
            f"(6x13 bitmap letters {figures['bitmap_recall']:.1%} / {figures['bitmap_precision']:.1%}), "
            f"{figures['desktop_words']} words",
            f"loading the engine              {figures['load_ms']:8.1f} ms, then {figures['rss_mb']:.0f} MB",
            f"engine                          {figures['engine']}",
            f"a terminal line over rapidocr's {figures['line_x']:8.3f} x  (of new words {figures['new_line_x']:.3f} x)",
            *_set_table(figures),
            f"worst category since 75f28827   {figures.get('worst_category_delta', '(whole set only)')} points",
            f"memory after {_GROWTH_LINES} lines         {figures['growth_mb']:+.1f} MB",
        ]
    )


def _set_table(figures: dict[str, Any]) -> list[str]:
    return [
        f"{figures['screens']} screens, {figures['words']} words; CPU over rapidocr's {figures['full_cpu_x']:.2f}x; "
        f"precision with doubtful lines {figures['precision_of_all']:.1f}",
        *(
            f"  {name:10} {figures['cpu_s_a_frame'][name]:6.2f} CPU s a frame, recall "
            f"{figures['recalls'][name]:5.1f}, precision {figures['precisions'][name]:5.1f}"
            for name in figures["recalls"]
        ),
        *(f"  {kind:10} {' '.join(f'{n} {v}' for n, v in row.items())}" for kind, row in figures["categories"].items()),
    ]
