"""Reading what changed gives what reading everything would, and costs only what changed."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.base.extras import install_command
from acud.config import OcrSettings
from acud.evaluator.ocr import reader as module
from acud.evaluator.ocr.engine import Bgr, Line, Reading
from acud.evaluator.ocr.reader import ScreenReader, TextReading
from acud.evaluator.ocr.text_layout import rows
from acud.evaluator.view_pixels import ViewPixels
from acud.types import Answer, Rect, Text
from tests.fixtures.ink_engine import InkEngine
from tests.fixtures.manual_clock import ManualClock

ROWS, COLUMNS, PITCH, LETTER = 12, 40, 16, 8

letters = st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1), st.integers(0, 9))
edits = st.lists(letters, min_size=1, max_size=6)


class Terminal:
    """A picture of letters on a grid; letter 0 is a blank, and each letter has a shape of its own."""

    def __init__(self) -> None:
        self.pixels = np.zeros((ROWS * PITCH + 5, COLUMNS * LETTER + 3, 4), np.uint8)

    def put(self, row: int, column: int, letter: int) -> None:
        cell = self.pixels[row * PITCH + 3 : row * PITCH + 13, column * LETTER + 1 : column * LETTER + 7]
        cell[:] = 0
        if letter:
            cell[:, :, :3] = 100 + letter
            cell[letter % 10, letter % 6, 1] = 255


def words(lines: tuple[Line, ...]) -> list[list[str]]:
    return [[line.text for line in row] for row in rows(lines)]


@settings(max_examples=25, deadline=None)
@given(edits, st.lists(edits, min_size=1, max_size=5))
def test_reading_changes_gives_what_reading_everything_gives(first: list, later: list) -> None:
    terminal, reader = Terminal(), ScreenReader(InkEngine())
    for batch in (first, *later):
        for place in batch:
            terminal.put(*place)
        read = reader.read(("view",), terminal.pixels.copy())
        assert words(read) == words(ScreenReader(InkEngine()).read(("view",), terminal.pixels.copy()))


class ShortSightedEngine(InkEngine):
    """Misses lines of letters lower than 15 pixels."""

    def _detect(self, pixels: Bgr) -> list[Rect]:
        return [box for box in super()._detect(pixels) if box.h >= 15]


def test_a_row_that_the_search_misses_is_searched_enlarged() -> None:
    terminal = Terminal()
    for column in (2, 3, 4):
        terminal.put(2, column, 1)
    found = ScreenReader(ShortSightedEngine()).read((), terminal.pixels)
    assert words(found) == words(ScreenReader(InkEngine()).read((), terminal.pixels)) != []


def full_terminal() -> Terminal:
    terminal = Terminal()
    for row in range(ROWS):
        for column in range(COLUMNS - row):
            terminal.put(row, column, 1 + (row * 7 + column) % 9)
    return terminal


def test_enlarged_rows_take_no_longer_steps() -> None:
    class StepEngine(ShortSightedEngine):
        def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
            steps.append([part.shape[0] * part.shape[1] for part in parts])
            return super().detect(parts)

    steps: list[list[int]] = []
    assert len(ScreenReader(StepEngine()).read((), full_terminal().pixels)) == ROWS
    assert len(steps) > 1
    assert all(sum(step) <= module.AREA_A_STEP for step in steps if len(step) > 1)


def test_one_changed_row_costs_one_row() -> None:
    engine, terminal = InkEngine(), full_terminal()
    reader = ScreenReader(engine)
    reader.read(("view",), terminal.pixels.copy())
    whole_px, engine.detected_px, engine.recognised = engine.detected_px, 0, 0
    terminal.put(5, 3, 9)
    reader.read(("view",), terminal.pixels.copy())
    assert engine.recognised == 1
    assert engine.detected_px <= 0.55 * whole_px


def test_the_same_pixels_cost_nothing_and_a_row_seen_before_is_not_read_again() -> None:
    engine, terminal = InkEngine(), full_terminal()
    reader = ScreenReader(engine)
    first = reader.read(("view",), terminal.pixels.copy())
    engine.detected_px = engine.recognised = 0
    assert reader.read(("view",), terminal.pixels.copy()) == first
    assert (engine.detected_px, engine.recognised) == (0, 0)
    terminal.put(5, 3, 9)
    reader.read(("view",), terminal.pixels.copy())
    terminal.put(5, 3, 1 + (5 * 7 + 3) % 9)
    reader.read(("view",), terminal.pixels.copy())
    assert engine.recognised == 1


def test_of_a_line_that_counts_on_only_the_part_that_changed_is_read() -> None:
    engine, terminal = InkEngine(), Terminal()
    reader = ScreenReader(engine)
    for column in range(COLUMNS):
        if column % 6 != 5:
            terminal.put(2, column, 1 + column % 9)
    for letter in (1, 2, 3):
        terminal.put(2, COLUMNS - 2, letter)
        engine.widths_px = []
        read = reader.read(("view",), terminal.pixels.copy())
        assert words(read) == words(ScreenReader(InkEngine()).read(("view",), terminal.pixels.copy()))
    assert len(engine.widths_px) == 1
    assert engine.widths_px[0] < COLUMNS * LETTER / 2


def test_a_line_that_changes_between_its_edges_is_not_searched_and_its_known_words_are_not_read() -> None:
    engine, terminal = InkEngine(), Terminal()
    reader = ScreenReader(engine)
    for row in (2, 3, 4):
        for column in range(6, 30):
            if column % 6 != 5:
                terminal.put(row, column, 1 + column % 9 + (row == 2))
    reader.read(("view",), terminal.pixels.copy())
    for columns in (range(12, 17), range(12, 23), range(24, 35)):  # its second word, two, and two of which one is new
        for column in columns:
            terminal.put(3, column, 7 if column == 33 else 0 if column % 6 == 5 else 1 + (column + len(columns)) % 9)
        engine.detected_px, engine.widths_px = 0, []
        read = reader.read(("view",), terminal.pixels.copy())
        assert words(read) == words(ScreenReader(InkEngine()).read(("view",), terminal.pixels.copy()))
        assert engine.detected_px == 0
        assert sum(engine.widths_px) < 13 * LETTER


def test_a_line_that_becomes_two_or_moves_is_searched() -> None:
    def changed(*places: tuple[int, int, int]) -> int:
        engine, terminal = InkEngine(), Terminal()
        reader = ScreenReader(engine)
        for column in range(6, 30):
            terminal.put(3, column, 1 + column % 9)
        reader.read(("view",), terminal.pixels.copy())
        engine.detected_px = 0
        for place in places:
            terminal.put(*place)
        read = reader.read(("view",), terminal.pixels.copy())
        assert words(read) == words(ScreenReader(InkEngine()).read(("view",), terminal.pixels.copy()))
        return engine.detected_px

    assert changed((3, 15, 9)) == 0
    assert changed((3, 6, 0)) > 0
    assert changed((3, 15, 0), (3, 16, 0)) > 0
    assert changed((3, 15, 9), (4, 15, 9)) > 0


@pytest.mark.parametrize(
    ("parts", "line"),
    [(("on and", "on"), "on and on"), (("\u597d\uff0c", "\u4e16"), "\u597d\uff0c\u4e16"), (("", "on"), "on")],
)
def test_parts_of_a_line_are_joined_as_it_is_written(
    parts: tuple[str, str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, terminal = InkEngine(), Terminal()
    reader = ScreenReader(engine)
    for column in range(30):
        if column != 15:
            terminal.put(2, column, 1 + column % 9)
    reader.read(("view",), terminal.pixels.copy())
    for column in (3, 20):
        terminal.put(2, column, 8)
    monkeypatch.setattr(
        engine, "recognise", lambda crops: [Reading(parts[place], 1.0) for place, _ in enumerate(crops)]
    )
    assert [one.text for one in reader.read(("view",), terminal.pixels.copy())] == [line]


def test_another_view_or_size_is_read_whole() -> None:
    engine, terminal = InkEngine(), full_terminal()
    reader = ScreenReader(engine)
    reader.read(("view",), terminal.pixels.copy())
    whole_px = engine.detected_px
    for key, pixels in ((("other",), terminal.pixels), (("view",), terminal.pixels[:-4])):
        engine.detected_px = 0
        reader.read(key, pixels.copy())
        assert engine.detected_px >= 0.9 * whole_px


def test_an_empty_desktop_is_not_searched() -> None:
    engine, terminal = InkEngine(), full_terminal()
    desktop = np.zeros((720, 1280, 4), np.uint8)
    height, width = terminal.pixels.shape[:2]
    desktop[300 : 300 + height, 500 : 500 + width] = terminal.pixels
    alone = ScreenReader(InkEngine()).read(("alone",), terminal.pixels.copy())
    found = ScreenReader(engine).read(("view",), desktop)
    assert sorted(line.text for line in found) == sorted(line.text for line in alone)
    assert engine.detected_px < desktop.shape[0] * desktop.shape[1] / 4
    engine.detected_px = 0
    assert ScreenReader(engine).read(("blank",), np.zeros((720, 1280, 4), np.uint8)) == ()
    assert engine.detected_px == 0


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = np.zeros((32, 32, 4), np.uint8)
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", 3 * frame.nbytes)
    reader = ScreenReader(InkEngine())
    for number in range(9):
        reader.read((number,), frame.copy())
    assert sum(seen.pixels.nbytes for seen in reader._seen.values()) <= 3 * frame.nbytes


def test_black_text_lines_vanish_with_their_pixels() -> None:
    terminal, reader = full_terminal(), ScreenReader(InkEngine())
    reader.read(("view",), terminal.pixels.copy())
    assert reader.read(("view",), np.zeros_like(terminal.pixels)) == ()


@pytest.mark.asyncio
async def test_letters_that_nothing_reads_are_neither_absent_nor_gone() -> None:
    class English:
        languages, detects_scripts = frozenset({"eng"}), False

        def read(self, crops: Sequence[Bgr], languages: Sequence[str]) -> list[Reading]:
            return [Reading("", 0.0) for _ in crops]

        def script_name(self, crops: Sequence[Bgr]) -> str:
            return ""

    reading = TextReading(OcrSettings(), InkEngine, make_program=English)
    shot = as_seen(full_terminal().pixels)
    for leaf in (Text("Загрузка"), Text("Загрузка", gone=True)):
        verdict = await reading.look_for(shot, leaf)
        assert (verdict.answer, verdict.code) == (Answer.UNKNOWN, "engine")
        assert "apt install tesseract-ocr-rus" in verdict.detail
    assert (await reading.look_for(shot, Text("Download"))).answer is Answer.NO
    assert (await reading.look_for(shot, Text("Download", gone=True))).answer is Answer.YES
    assert [one.packages for one in (await reading.check_health()).missing] == [("tesseract-ocr-rus",)]
    reading.close()


@pytest.mark.asyncio
async def test_an_engine_that_rests_is_unloaded_and_what_it_read_is_kept() -> None:
    terminal, made, clock = full_terminal(), [], ManualClock()

    def make() -> InkEngine:
        made.append(InkEngine())
        return made[-1]

    async def read() -> list[str]:
        return [line.text for line in await reading.lines(as_seen(terminal.pixels.copy()))]

    reading = TextReading(OcrSettings(), make, clock.monotonic_s)
    first = await read()
    clock.advance(4)
    assert not reading.release_idle_engine()
    clock.advance(1)
    assert reading.release_idle_engine()
    clock.advance(114)
    assert not reading.release_idle_engine()
    assert await read() == first
    clock.advance(119)
    assert reading.release_idle_engine()
    assert made[0].released == 2
    assert not reading.release_idle_engine(), "it read two minutes ago, not four"
    clock.advance(1)
    assert reading.release_idle_engine()
    assert not reading.release_idle_engine()
    assert (await reading.check_health()).state == "idle"
    assert await read() == first
    assert (len(made), made[1].recognised) == (2, 0)
    assert (await reading.check_health()).state == "ready"
    reading.close()


@pytest.mark.asyncio
async def test_an_engine_that_reads_is_not_unloaded() -> None:
    clock, begun, go_on = ManualClock(), threading.Event(), threading.Event()

    class Slow(InkEngine):
        def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
            begun.set()
            assert go_on.wait(30)
            return super().detect(parts)

    reading = TextReading(OcrSettings(), Slow, clock.monotonic_s)
    asked = asyncio.ensure_future(reading.lines(as_seen(full_terminal().pixels)))
    await asyncio.to_thread(begun.wait, 30)
    clock.advance(500)
    assert not reading.release_idle_engine()
    go_on.set()
    assert await asked
    assert not reading.release_idle_engine()
    reading.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("words", ["完成", "ダウンロード", "共 3 个文件"])
async def test_letters_of_the_missing_engine_are_unknown_never_absent(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, shot = TextReading(OcrSettings(), InkEngine), as_seen(full_terminal().pixels)
    assert (await reading.look_for(shot, Text(words))).answer is Answer.NO
    monkeypatch.setattr(module, "has_rapidocr", lambda: False)
    for leaf in Text(words), Text(words, gone=True):
        verdict = await reading.look_for(shot, leaf)
        assert (verdict.answer, verdict.code) == (Answer.UNKNOWN, "engine")
        assert install_command("ocr") in verdict.detail
    assert (await reading.look_for(shot, Text("Download"))).answer is Answer.NO
    reading.close()


def as_seen(pixels: np.ndarray) -> ViewPixels:
    return ViewPixels(":1", 1, 1, 0, Rect(0, 0, pixels.shape[1], pixels.shape[0]), pixels, "abc")
