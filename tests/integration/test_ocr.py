"""The real engine on rendered screens: text is read, changes are read as the whole would be, absence is absence."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.ocr.match import look_for
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.evaluator.ocr.second_reader import SecondReader
from acud.evaluator.ocr.tesseract import Tesseract
from acud.types import Answer, Rect, Text
from tests.fixtures.tesseract import needs_tesseract

SIZE = (640, 360)
LINES = [
    "$ make all", "cc main.c -o main.o", "cc parser.c -o parser.o", "warning: unused variable", "ld main.o parser.o",
    "Build finished in 42 seconds", "$ run tests", "alpha passed", "bravo passed", "charlie failed",
    "3 tests, 1 failed",
]  # fmt: skip
DARK = ((220, 220, 220), (25, 25, 30))
LIGHT = ((10, 10, 10), (255, 255, 255))


def drawn(
    lines: list[str], colours: tuple = LIGHT, font: str = "DejaVuSansMono.ttf", size: int = 12, apart: int = 4
) -> np.ndarray:
    """Return a screen with these lines, `apart` pixels between them, height x width x 4 BGRX."""
    image = Image.new("RGBX", SIZE, (*colours[1], 0))
    draw, face = ImageDraw.Draw(image), ImageFont.truetype(font, size)
    for row, text in enumerate(lines):
        draw.text((8, 6 + row * (size + apart)), text, (*colours[0], 0), face)
    return np.asarray(image)[:, :, [2, 1, 0, 3]].copy()


@pytest.fixture(scope="module")
def engine() -> RapidEngine:
    return RapidEngine()


CODE = [
    "if (x !== y) return", "return a != b;", "if (x === y) go", "if (x == y) go", "xs.map(x => x + 1)", "node -> next",
    "key = value", "x => y !== z",
]  # fmt: skip


@pytest.mark.parametrize("font", ["Fira Code", "DejaVuSansMono.ttf", "DejaVuSerif.ttf"])
def test_signs_that_a_font_draws_as_one_are_spelt_by_their_width(engine: RapidEngine, font: str) -> None:
    if font == "Fira Code":  # as Chromium shows it
        with Image.open(Path(__file__).with_name("fira_code.png")) as image:
            pixels = np.asarray(image.convert("RGBX")).copy()
    else:
        pixels = drawn(CODE, font=font, size=16)
    read, at = ScreenReader(engine).read(("view",), pixels), Rect(0, 0, *SIZE)
    for text in CODE:
        assert look_for(read, Text(text), 0.5, at).answer is Answer.YES, (text, read)
    for absent in ("x != y", "a !== b", "(x = y)", "x ==> x", "node --> next", "key == value"):
        assert look_for(read, Text(absent), 0.5, at).answer is Answer.NO, (absent, read)


@pytest.mark.parametrize("font", ["DejaVuSansMono.ttf", "DejaVuSans.ttf"])
def test_no_line_is_lost_beside_those_that_share_its_canvas(engine: RapidEngine, font: str) -> None:
    pixels = drawn([*CODE, "end", "ok", "# done"], font=font, size=16, apart=13)
    middles = [6 + row * 29 + 10 for row in range(len(CODE) + 3)]
    boxes = [line.box for line in ScreenReader(engine).read((), pixels)]
    assert [y for y in middles if not any(box.y <= y < box.bottom for box in boxes)] == []


def test_no_line_of_a_terminal_in_its_own_letters_is_lost(engine: RapidEngine) -> None:
    with Image.open(Path(__file__).with_name("xterm.png")) as image:
        pixels = np.asarray(image.convert("RGBX")).copy()
    assert {"Download complete", "# abc"} <= {line.text for line in ScreenReader(engine).read((), pixels)}


@pytest.mark.parametrize("degrees", [0, 3, 8])
def test_a_line_that_leans_as_in_a_scan_is_read(engine: RapidEngine, degrees: int) -> None:
    line = Image.fromarray(drawn(["Download complete now"], font="DejaVuSans.ttf", size=18)[:40, :300, :3])
    leaning = np.asarray(line.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=(255, 255, 255)))
    pixels = np.full((*SIZE[::-1], 4), 255, np.uint8)
    pixels[50 : 50 + leaning.shape[0], 50 : 50 + leaning.shape[1], :3] = leaning
    assert [line.text for line in ScreenReader(engine).read((), pixels)] == ["Download complete now"]


def test_letters_of_a_line_that_stands_on_its_side_are_no_lines(engine: RapidEngine) -> None:
    upright = drawn(["Download complete now"], font="DejaVuSans.ttf", size=18)[:40, :300]
    pixels = np.full((*SIZE[::-1], 4), 255, np.uint8)
    pixels[30:330, 50:90] = np.rot90(upright)
    assert [line for line in ScreenReader(engine).read((), pixels) if line.confidence >= 0.5] == []


@pytest.mark.parametrize("size", [9, 10, 12])
def test_small_accents_are_kept_or_in_doubt_and_none_is_made_up(engine: RapidEngine, size: int) -> None:
    words, plain = ["naïve", "café", "Zürich"], ["title", "Resume", "Unit"]
    read, at = ScreenReader(engine).read((), drawn([*words, *plain], DARK, size=size)), Rect(0, 0, *SIZE)
    assert Answer.NO not in [look_for(read, Text(text), 0.5, at).answer for text in words], read
    assert [look_for(read, Text(text), 0.5, at).answer for text in plain] == [Answer.YES] * 3, read
    assert [look_for(read, Text(text), 0.5, at).answer for text in ("cafe", "Zurich", "Résumé")] == [Answer.NO] * 3


@pytest.mark.parametrize(("colours", "font", "size"), [
    (LIGHT, "DejaVuSansMono.ttf", 11), (DARK, "DejaVuSansMono.ttf", 13), (LIGHT, "DejaVuSans.ttf", 12),
    (DARK, "DejaVuSerif.ttf", 16), (LIGHT, "DejaVuSans-Bold.ttf", 18),
])  # fmt: skip
def test_words_are_read_and_found(engine: RapidEngine, colours: tuple, font: str, size: int) -> None:
    lines = ScreenReader(engine).read((), drawn(LINES, colours, font, size))
    at = Rect(0, 0, *SIZE)
    found = [look_for(lines, Text(text), 0.5, at).answer for text in LINES]
    assert found.count(Answer.YES) >= len(LINES) - 1
    assert look_for(lines, Text("Build finished in 42 seconds"), 0.5, at).answer is Answer.YES
    assert look_for(lines, Text("Build failed"), 0.5, at).answer is Answer.NO
    assert look_for(lines, Text("charlie failed", gone=True), 0.5, at).answer is Answer.NO
    assert look_for(lines, Text("delta passed", gone=True), 0.5, at).answer is Answer.YES


SCRIPTS = [
    pytest.param(
        "rus", ["Загрузка завершена", "Открыть файл config.toml", "Повторить попытку через 30 секунд"], id="cyrillic"
    ),
    pytest.param(
        "ell", ["Η λήψη ολοκληρώθηκε", "Άνοιγμα αρχείου config.toml", "Νέα επανάληψη σε 30 δευτερόλεπτα"], id="greek"
    ),
]


@needs_tesseract("eng", "rus", "ell")
@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize(("language", "lines"), SCRIPTS)
def test_tesseract_reads_what_the_engine_cannot(
    engine: RapidEngine, language: str, lines: list[str], colours: tuple
) -> None:
    reader = ScreenReader(engine, SecondReader())
    read = reader.read((), drawn([*LINES[:3], *lines], colours, "DejaVuSans.ttf", 13))
    at = Rect(0, 0, *SIZE)
    assert [look_for(read, Text(text), 0.5, at).answer for text in [*LINES[:3], *lines]] == [Answer.YES] * 6
    readers = {line.reader.partition("+")[0] for line in read}
    assert readers == {"", f"tesseract {language}"}
    grown = reader.read((), drawn([*LINES[:3], *lines, lines[0]], colours, "DejaVuSans.ttf", 13))
    assert [line.text for line in grown].count(lines[0]) == 2


def test_a_tesseract_that_hangs_or_dies_leaves_the_first_reading_and_says_so(
    engine: RapidEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\ncase $1 in --list-langs) echo eng; echo rus;; *) eval $FAULT;; esac\n")
    program.chmod(0o755)
    monkeypatch.setattr("acud.evaluator.ocr.tesseract._ENVIRONMENT", ("PATH", "FAULT"))
    screen = drawn(["Загрузка завершена, попытку повторить"], LIGHT, "DejaVuSans.ttf", 13)
    alone = ScreenReader(engine).read((), screen)

    def made(start_s: float) -> Tesseract:
        """Give it its time to say what languages it has, and so long to begin a batch."""
        found = Tesseract(str(program), start_s=100)
        found._start_s = start_s
        return found

    for fault, start_s, words in (
        ("exec sleep 100", 0.3, "did not answer in 0.55 s"),
        ("exit 3", 100.0, "ended with status 3"),
    ):
        monkeypatch.setenv("FAULT", fault)
        second = SecondReader(partial(made, start_s))
        assert ScreenReader(engine, second).read((), screen) == alone
        assert words in second.fault
        assert words in second.cannot_read("Загрузка")
