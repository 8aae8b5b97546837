"""The real engine on rendered screens: text is read, changes are read as the whole would be, absence is absence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.ocr.match import letters_close, look_for
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.evaluator.ocr.second_reader import SecondReader
from acud.evaluator.ocr.tesseract import Tesseract
from acud.evaluator.ocr.text_layout import rows
from acud.protocol.evaluation import Judges
from acud.types import AllOf, Answer, Criteria, Rect, Text
from tests.fixtures.tesseract import needs_tesseract
from tests.integration.evaluator_rig import EvaluatorRig, PaintedRing, ask

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


SCRIPTS = {
    "rus": (LIGHT, "Загрузка завершена", "Открыть файл config.toml", "Повторить попытку через 30 секунд"),
    "ell": (DARK, "Η λήψη ολοκληρώθηκε", "Άνοιγμα αρχείου config.toml", "Νέα επανάληψη σε 30 δευτερόλεπτα"),
}


@needs_tesseract("eng", "rus", "ell")
@pytest.mark.parametrize("language", SCRIPTS)
def test_tesseract_reads_what_the_engine_cannot(engine: RapidEngine, language: str) -> None:
    colours, *lines = SCRIPTS[language]
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


def texts(engine_or_reader: RapidEngine | ScreenReader, pixels: np.ndarray) -> list[str]:
    reader = engine_or_reader if isinstance(engine_or_reader, ScreenReader) else ScreenReader(engine_or_reader)
    return [" ".join(line.text for line in row) for row in rows(reader.read(("view",), pixels))]


def edits() -> Iterator[list[str]]:
    """Yield screens as a terminal and a form change: a line replaced, extended, inserted, removed, a letter, blanks."""
    lines = list(LINES)
    changes = {3: "note: nothing to do", 7: "alpha passed in 3 ms", 0: "$ make clean", 5: "", 9: "clean"}
    for row, text in changes.items():
        lines[row] = text
        yield list(lines)
    lines.insert(2, "scrolled by one line")
    yield list(lines)
    yield []
    yield list(LINES)


def test_reading_changes_gives_the_text_that_reading_everything_gives(engine: RapidEngine) -> None:
    reader = ScreenReader(engine)
    reader.read(("view",), drawn(LINES, DARK))
    for lines in edits():
        pixels = drawn(lines, DARK)
        # Of letters that look alike another processor's rounding may choose another one: -o or -0.
        read, whole = (list(map(letters_close, texts(one, pixels))) for one in (reader, engine))
        assert read == whole


def test_a_dialog_that_covers_lines_and_goes_again(engine: RapidEngine) -> None:
    reader, bare = ScreenReader(engine), drawn(LINES)
    before = texts(reader, bare)
    covered = bare.copy()
    covered[60:150, 90:400] = 200
    dialog = drawn(["Save the changes?", "", "Cancel   OK"], ((0, 0, 0), (200, 200, 200)))[:70, :200]
    covered[70:140, 120:320] = dialog
    # The detector weighs each part against the whole picture, and may lose a line here that stands untouched there.
    known = {line.text for line in reader.read(("view",), covered)}
    # Its edge cuts the twelfth letter of lines in half, which may be read with an accent or without.
    assert {line.text[:11] for line in ScreenReader(engine).read((), covered)} <= {text[:11] for text in known}
    assert {"Save the changes?", "3 tests, 1 failed"} <= known
    assert not any("parser.o" in text for text in known if "ld main" in text)
    assert texts(reader, bare) == before


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 3), (33, 31)])
def test_tiny_views_hold_no_text_and_break_nothing(engine: RapidEngine, size: tuple[int, int]) -> None:
    assert ScreenReader(engine).read((), np.zeros((*size, 4), np.uint8)) == ()
    ScreenReader(engine).read((), np.random.default_rng(1).integers(0, 256, (*size, 4), np.uint8))


def test_an_evaluator_with_an_engine_answers_text_and_no_sentence(tmp_path: Path) -> None:
    path = Path("/dev/shm") / f"acud-test-{os.getpid()}-{tmp_path.name}"
    with PaintedRing(path, *SIZE) as ring, EvaluatorRig(tmp_path, owns_ocr=True, backend="ocr") as rig:
        assert {judge.name: judge.state for judge in rig.next(Judges).judges}["ocr"] == "idle"
        ring.pixels[:] = drawn(LINES)
        ring.publish()
        both = AllOf((Text("42 seconds"), Text("charlie failed")))
        asked = (Text("build finished"), both, Text("Build", gone=True), Criteria("the build looks fine"))
        asks = [ask(until, wait_id=f"w{number}") for number, until in enumerate(asked)]
        result = rig.run(ring.job(*asks, crop=Rect(4, 80, 500, 40)))
    found = [one.whole for one in result.answered]
    assert [one.answer for one in found] == [Answer.YES, Answer.NO, Answer.NO, Answer.UNKNOWN]
    assert "Build finished in 42 seconds" in found[0].detail
    assert found[3].code == "needs_vision"
    assert result.encode_ms == 0
