"""How well and at what cost readers read the set: acud's, plain rapidocr at one thread, tesseract."""

from __future__ import annotations

import io
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud.config import OcrSettings
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.evaluator.ocr.second_reader import SecondReader
from tests.ocr_set.screens import Drawn
from tests.ocr_set.words import counted

Reader = Callable[[NDArray[np.uint8]], Sequence[str]]
"""Reads a frame (height x width x 4 uint8 BGRX) from nothing, and returns the texts that it takes for text."""

RECALL_BEFORE = {
    "bitmap": 96.0, "terminal": 99.4, "light": 99.9, "dark": 100.0, "code": 95.4, "table": 99.8, "cjk": 57.7,
    "cyrillic": 11.1, "german": 99.3, "gradient": 99.5, "disabled": 99.5, "inverse": 99.1, "4k": 100.0, "greek": 11.9,
}  # fmt: skip
"""Percent of the words read at 75f28827, before lines were read a second time, on all screens of each category."""


class Score(NamedTuple):
    """Words shown, read, and both, and the CPU seconds that reading took. `doubtful`: more words that were read, in
    lines that do not count as text; those of them that are shown do not count either.
    """

    shown: int = 0
    read: int = 0
    right: int = 0
    cpu_s: float = 0.0
    doubtful: int = 0

    def plus(self, other: Score) -> Score:
        return Score(*(mine + more for mine, more in zip(self, other, strict=True)))  # type: ignore[arg-type]

    @property
    def recall(self) -> float:
        return 100 * self.right / max(1, self.shown)

    @property
    def precision(self) -> float:
        return 100 * self.right / max(1, self.read)

    @property
    def precision_of_all(self) -> float:
        return 100 * self.right / max(1, self.read + self.doubtful)


class OwnReader:
    """acud's reader with nothing remembered; like rapidocr's, lines of low confidence are no text."""

    def __init__(self, engine: RapidEngine) -> None:
        self._engine, self._second = engine, SecondReader()
        self.doubtful: list[Line] = []
        """The lines of the last frame that do not count."""

    def __call__(self, pixels: NDArray[np.uint8]) -> list[str]:
        lines = ScreenReader(self._engine, self._second).read((), pixels)
        least = OcrSettings().min_confidence
        self.doubtful = [line for line in lines if line.confidence < least]
        return [line.text for line in lines if line.confidence >= least]


def plain_rapidocr() -> Reader:
    engine = _rapidocr()
    return lambda pixels: list(engine(np.ascontiguousarray(pixels[:, :, :3])).txts or ())


def _rapidocr() -> Any:
    from rapidocr import RapidOCR

    one = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return RapidOCR(params={**one, "Global.log_level": "error"})


def line_recognizer() -> Callable[[NDArray[np.uint8]], str]:
    """Return rapidocr's recogniser at one thread, on a picture (height x width x 4 uint8 BGRX) of one line alone."""
    engine = _rapidocr()

    def read(pixels: NDArray[np.uint8]) -> str:
        found = engine(np.ascontiguousarray(pixels[:, :, :3]), use_det=False, use_cls=False, use_rec=True)
        return " ".join(found.txts or ())

    return read


def tesseract() -> Reader | None:
    """Return tesseract on the picture at twice its size, sparse text; None where it is not installed."""
    program = shutil.which("tesseract")
    return None if program is None else lambda pixels: _tesseract(program, pixels)


def _tesseract(program: str, pixels: NDArray[np.uint8]) -> list[str]:
    image = Image.fromarray(np.ascontiguousarray(pixels[:, :, 2::-1]))
    made = io.BytesIO()
    image.resize((image.width * 2, image.height * 2)).save(made, "PNG")
    done = subprocess.run(
        [program, "stdin", "stdout", "--psm", "11"], input=made.getvalue(), capture_output=True, check=True,
        env={"OMP_THREAD_LIMIT": "1"},
    )  # fmt: skip
    return done.stdout.decode(errors="replace").split()


def scored(read: Reader, drawn: Drawn) -> Score:
    began = _cpu_s()
    texts = read(drawn.pixels)
    spent = _cpu_s() - began
    shown, found = Counter(drawn.words), Counter(counted(list(texts)))
    doubtful = counted([line.text for line in read.doubtful]) if isinstance(read, OwnReader) else []
    return Score(shown.total(), found.total(), (shown & found).total(), spent, len(doubtful))


def _cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def by_category(scores: Iterable[tuple[str, Score]]) -> dict[str, Score]:
    found: dict[str, Score] = {}
    for category, score in scores:
        found[category] = found.get(category, Score()).plus(score)
    return found


def total(scores: Iterable[Score]) -> Score:
    found = Score()
    for score in scores:
        found = found.plus(score)
    return found


def figures(readers: dict[str, Reader], screens: Iterable[Drawn], *, whole_set: bool) -> dict[str, Any]:
    rows: dict[str, list[tuple[str, Score]]] = {name: [] for name in readers}
    for drawn in screens:
        for name, read in readers.items():
            rows[name].append((drawn.screen.category, scored(read, drawn)))
        sys.stderr.write(".")
        sys.stderr.flush()
    kinds = {name: by_category(found) for name, found in rows.items()}
    sums = {name: total(found.values()) for name, found in kinds.items()}
    ours, peer, *_ = readers
    mine = kinds[ours]
    result = {
        "screens": len(rows[ours]),
        "words": sums[ours].shown,
        "full_cpu_x": round(sums[ours].cpu_s / sums[peer].cpu_s, 3),
        "recall": round(sums[ours].recall, 2),
        "precision": round(sums[ours].precision, 2),
        "precision_of_all": round(sums[ours].precision_of_all, 2),
        "cpu_s_a_frame": {name: round(score.cpu_s / len(rows[name]), 3) for name, score in sums.items()},
        "recalls": {name: round(score.recall, 2) for name, score in sums.items()},
        "precisions": {name: round(score.precision, 2) for name, score in sums.items()},
        "categories": {
            kind: {"words": score.shown, **{name: round(kinds[name][kind].recall, 1) for name in readers}}
            for kind, score in mine.items()
        },
    }
    if whole_set:
        result["worst_category_delta"] = round(min(s.recall - RECALL_BEFORE[k] for k, s in mine.items()), 1)
    return result
