"""Debian's tesseract as a reader of single lines: one process for all lines of a batch, bounded in time and memory.

A process is started for each batch and ends with it: loading two languages takes 80 ms, a line 12 ms, and nothing stays
in memory between batches (measured). Lines go in as the pages of one TIFF over standard input, words come back as TSV.
"""

from __future__ import annotations

import io
import os
import resource
import shutil
import subprocess
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud.base.errors import Unavailable
from acud.evaluator.ocr.bands import text_rows
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.pixels.gates import luma
from acud.types import Rect

PROGRAM = "tesseract"
_LANGUAGE = "eng"
ENGINE_VERSION = f"{PROGRAM} {_LANGUAGE}"
START_S, LINE_S = 10.0, 0.25
"""What a batch may take: far more than it takes on a machine that is overloaded ten times."""
_MEMORY_BYTES = 1 << 30
_ENVIRONMENT = ("PATH", "TESSDATA_PREFIX")  # all that it is given of this process's
_LINE_PX, _MARGIN_PX = 40, 10
"""Lines are brought to this height: tesseract's models were trained on letters of about 30 px."""
_FRAME_PX, _FRAME_SHARE = 4, 0.9
"""A column this near to an end with so much ink is the border of a window: it would be read as `[`."""
_INK = 48
_PAGE_PX = 1600
_WORD_LEVEL = "5"


class Tesseract:
    """The installed program. Blocks for as long as a batch takes; `languages` are those installed when it was made."""

    def __init__(self, program: str = PROGRAM, *, start_s: float = START_S) -> None:
        """Raises: Unavailable when the program is missing or does not list its languages."""
        path = shutil.which(program)
        if path is None:
            raise Unavailable(f"{PROGRAM} is not installed", hint="apt install tesseract-ocr")
        self._path, self._start_s = path, start_s
        told = self._run(["--list-langs"], b"", start_s).splitlines()
        self.languages = frozenset(line.strip() for line in told if line.strip() and not line.startswith("List of"))

    @property
    def detects_scripts(self) -> bool:
        """Whether the data for `script_name` is installed; Debian's package brings it."""
        return "osd" in self.languages

    def read(self, crops: Sequence[Bgr], languages: Sequence[str]) -> list[Reading]:
        """Return the reading of each crop, in order, as sure as its letters on average; "" where it sees no word.
        Raises: Unavailable when the program fails, takes too long or too much memory.
        """
        if not crops:
            return []
        pages = [_prepare_line(crop) for crop in crops]
        arguments = ["stdin", "stdout", "-l", "+".join(languages), "--psm", "7", "tsv"]
        told = self._run(arguments, _to_tiff(pages), self._start_s + LINE_S * len(crops))
        # The reading of each page of a TSV. `scales`: pixels of the crop for one of its page.
        scales = [crop.shape[0] / _LINE_PX for crop in crops]
        words: list[list[tuple[str, float, float, float]]] = [[] for _ in scales]
        for row in told.splitlines():
            fields = row.split("\t")
            if fields[0] == _WORD_LEVEL and len(fields) == 12 and fields[11].strip():
                page = int(fields[1]) - 1
                left = (int(fields[6]) - _MARGIN_PX) * scales[page]
                words[page].append((fields[11].strip(), float(fields[10]) / 100, left, int(fields[8]) * scales[page]))
        return [_join_words(line) for line in words]

    def script_name(self, crops: Sequence[Bgr]) -> str:
        """Return tesseract's name of the lines' script; "" if it is not sure. Raises: Unavailable, as `read`."""
        arguments = ["stdin", "stdout", "--psm", "0", "-c", "min_characters_to_try=8"]
        told = self._run(arguments, _to_tiff([_draw_page(crops)]), self._start_s + LINE_S * len(crops), may_fail=True)
        return next((line.partition(":")[2].strip() for line in told.splitlines() if line.startswith("Script:")), "")

    def _run(self, arguments: Sequence[str], data: bytes, timeout_s: float, *, may_fail: bool = False) -> str:
        """Return the program's output. `may_fail`: a status other than 0 only means that it found no answer."""
        try:
            with subprocess.Popen(
                [self._path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=_make_environment(),
            ) as running:  # fmt: skip
                try:
                    told = self._await_output(running, data, timeout_s)
                finally:
                    running.kill()
        except subprocess.TimeoutExpired as fault:
            raise Unavailable(f"{PROGRAM} did not answer in {timeout_s:g} s") from fault
        except OSError as fault:
            raise Unavailable(f"{PROGRAM} can't be run: {fault}") from fault
        if running.returncode and not may_fail:
            raise Unavailable(f"{PROGRAM} ended with status {running.returncode}")
        return told.decode(errors="replace")

    @staticmethod
    def _await_output(running: subprocess.Popen[bytes], data: bytes, timeout_s: float) -> bytes:
        for kind, most in ((resource.RLIMIT_AS, _MEMORY_BYTES), (resource.RLIMIT_CPU, int(timeout_s) + 1)):
            resource.prlimit(running.pid, kind, (most, most))
        return running.communicate(data, timeout_s)[0]


def _make_environment() -> dict[str, str]:
    return {"OMP_THREAD_LIMIT": "1", **{name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}}


def _prepare_line(crop: Bgr) -> NDArray[np.uint8]:
    """Return a line as tesseract reads it best: dark on light, in its size, no window's border, with margins."""
    gray = luma(crop)
    paper = int(np.median(np.concatenate((gray[0], gray[-1]))))
    if paper < 128:
        gray, paper = np.subtract(255, gray, dtype=np.uint8), 255 - paper
    full = (np.abs(gray.astype(np.int16) - paper) > _INK).mean(axis=0) >= _FRAME_SHARE
    full[_FRAME_PX : max(_FRAME_PX, full.size - _FRAME_PX)] = False
    gray[:, full] = paper
    wide = max(1, round(gray.shape[1] * _LINE_PX / gray.shape[0]))
    scaled = Image.fromarray(gray).resize((wide, _LINE_PX), Image.Resampling.BICUBIC)
    return np.pad(np.asarray(scaled), _MARGIN_PX, constant_values=paper)


def _draw_page(crops: Sequence[Bgr]) -> NDArray[np.uint8]:
    """Return the lines as one page, row by row."""
    rows: list[list[NDArray[np.uint8]]] = []
    for line in map(_prepare_line, crops):
        if rows and sum(one.shape[1] for one in rows[-1]) + line.shape[1] <= _PAGE_PX:
            rows[-1].append(line)
        else:
            rows.append([line])
    joined = [np.hstack(row) for row in rows]
    wide = max(row.shape[1] for row in joined)
    return np.vstack([np.pad(row, ((0, 0), (0, wide - row.shape[1])), constant_values=255) for row in joined])


def _to_tiff(pages: Sequence[NDArray[np.uint8]]) -> bytes:
    first, *others = map(Image.fromarray, pages)
    made = io.BytesIO()
    first.save(made, "TIFF", save_all=True, append_images=others)
    return made.getvalue()


def _join_words(words: Sequence[tuple[str, float, float, float]]) -> Reading:
    letters = sum(len(text) for text, *_ in words)
    if not letters:
        return Reading("", 0.0)
    sure = sum(sure * len(text) for text, sure, *_ in words) / letters
    middles: list[float] = []
    for text, _, left, wide in words:
        if middles:
            middles.append((middles[-1] + left) / 2)  # of the space between
        middles += [left + wide * (place + 0.5) / len(text) for place in range(len(text))]
    text = " ".join(text for text, *_ in words).replace("\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}")
    return Reading(text, max(0.0, min(1.0, sure)), tuple(middles))


class TesseractEngine:
    """The `Engine` where RapidOCR is not installed: lines are found by their edges. Other scripts than Latin are the
    second reader's. Raises: Unavailable.
    """

    version = ENGINE_VERSION

    def __init__(self) -> None:
        self._program = Tesseract()

    def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
        """Return the boxes of lines in each part; see `Engine`."""
        return [text_rows(part) for part in parts]

    def recognise(self, crops: Sequence[Bgr]) -> list[Reading]:
        """Return the reading of each crop; see `Engine`."""
        return self._program.read(crops, [_LANGUAGE])

    def release(self) -> None:
        """Do nothing: each batch is a process of its own."""
