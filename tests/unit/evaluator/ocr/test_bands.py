"""Bands hold all text and no bare border; every part lies whole on one canvas, apart from the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.ocr.bands import HEIGHTS, PART_X, WIDTHS, cells, fill, glyph_widths, line_parts, pack, text_bands
from acud.types import Rect

INK = {"plain": (16, 250), "disabled": (150, 171), "inverse": (250, 30)}


def page(ink: int, paper: int) -> tuple[np.ndarray, list[Rect]]:
    """Return a window with a border, a field and three pieces of text, and where the text is."""
    image = Image.new("RGB", (800, 500), (90, 90, 90))
    draw, face = ImageDraw.Draw(image), ImageFont.truetype("DejaVuSans.ttf", 13)
    draw.rectangle((40, 30, 760, 470), fill=(paper,) * 3, outline=(ink,) * 3)
    draw.rectangle((100, 300, 400, 330), outline=(ink,) * 3, width=2)
    boxes = []
    for at, text in (((60, 50), "File Edit View"), ((60, 200), "Save the changes?"), ((120, 306), "report.pdf")):
        draw.text(at, text, (ink,) * 3, face)
        left, top, right, bottom = draw.textbbox(at, text, face)
        boxes.append(Rect(int(left), int(top), int(right - left), int(bottom - top)))
    return np.asarray(image), boxes


def test_a_bordered_window_is_searched_only_where_its_text_is() -> None:
    for ink, paper in INK.values():
        pixels, texts = page(ink, paper)
        bands = text_bands(pixels)
        for text in texts:
            assert any((common := band.intersect(text)) and common.area > 0.95 * text.area for band in bands)
        assert sum(band.area for band in bands) < 0.08 * pixels.shape[0] * pixels.shape[1]


def test_an_even_or_a_graded_ground_has_no_band() -> None:
    assert text_bands(np.full((300, 400, 4), 77, np.uint8)) == []
    grade = np.repeat(np.linspace(0, 255, 400).astype(np.uint8)[None, :, None], 300, 0).repeat(3, 2)
    assert text_bands(grade) == []
    assert text_bands(np.zeros((1, 1, 4), np.uint8)) == []


def test_letters_of_long_strokes_are_no_border() -> None:
    pixels = np.full((120, 400, 3), 255, np.uint8)
    pixels[40:44, 30:74] = 0  # the Chinese one, 44 px wide
    (band,) = text_bands(pixels)
    assert band.intersect(Rect(30, 40, 44, 4)) == Rect(30, 40, 44, 4)


sizes = st.tuples(st.integers(1, HEIGHTS[-1]), st.integers(1, WIDTHS[-1]))


@given(st.lists(sizes, max_size=40))
def test_every_part_lies_whole_and_alone_on_a_canvas_of_a_known_size(parts: list[tuple[int, int]]) -> None:
    packing = pack(parts)
    assert {high for high, _ in packing.sizes} <= set(HEIGHTS)
    assert {wide for _, wide in packing.sizes} <= set(WIDTHS)
    assert all(side % 32 == 0 for size in packing.sizes for side in size), "the detector's grid"
    boxes = [(place.canvas, Rect(place.x, place.y, w, h)) for place, (h, w) in zip(packing.places, parts, strict=True)]
    for index, (canvas, box) in enumerate(boxes):
        high, wide = packing.sizes[canvas]
        assert Rect(0, 0, wide, high).intersect(box) == box
        assert not any(other == canvas and box.intersect(beside) for other, beside in boxes[:index])


def test_a_canvas_shows_each_part_as_it_is() -> None:
    parts = [np.full((20 + n, 300, 3), 10 * n, np.uint8) for n in range(1, 6)]
    packing = pack([part.shape[:2] for part in parts])
    canvases = fill(packing, parts)
    for part, place in zip(parts, packing.places, strict=True):
        high, wide = part.shape[:2]
        assert (canvases[place.canvas][place.y : place.y + high, place.x : place.x + wide] == part).all()


def line(text: str, face: str, size: int) -> np.ndarray:
    """Return a line as a detector crops it: some pixels of ground around its letters."""
    font = ImageFont.truetype(face, size)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("RGB", (int(right - left) + 8, int(bottom - top) + 6), (26, 26, 31))
    ImageDraw.Draw(image).text((4 - left, 3 - top), text, (219, 219, 219), font)
    return np.asarray(image)


@pytest.mark.parametrize("size", [10, 12, 14, 20])
def test_a_long_terminal_line_is_cut_between_words_and_a_longer_one_at_the_same_places(size: int) -> None:
    text = "error: ill.lit... in /usr/lib/python3/dist-packages/illegal/file.py:1771 while it was listing all items"
    short, long = (line(words, "DejaVuSansMono.ttf", size) for words in (text, f"{text} and their lilies, twice"))
    parts = line_parts(long)
    assert [part.x for part in parts[1:]] == [part.right for part in parts[:-1]]
    assert (parts[0].x, parts[-1].right) == (0, long.shape[1])
    assert len(parts) >= 2
    assert parts[: len(line_parts(short)) - 1] == line_parts(short)[:-1]
    letter_px = ImageFont.truetype("DejaVuSansMono.ttf", size).getlength("x")
    for part in parts[1:]:
        before = int((part.x - 4) / letter_px)
        assert " " in f"{text} and their lilies, twice"[before - 1 : before + 2], "a word was cut"


def test_a_line_without_gaps_or_of_usual_length_is_read_whole() -> None:
    path = line("/usr/lib/python3/dist-packages/" * 5, "DejaVuSansMono.ttf", 14)
    usual = line("Save the changes to report.pdf?", "DejaVuSans.ttf", 14)
    for pixels in (path, usual):
        assert line_parts(pixels) == [Rect(0, 0, pixels.shape[1], pixels.shape[0])]
    assert path.shape[1] > PART_X * path.shape[0]


def table(*rules: int, cursor: int = 0) -> np.ndarray:
    """Return a table of three rows with upright rules at these columns, a word on both sides of each."""
    image = Image.new("RGB", (300, 66), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.truetype("DejaVuSans.ttf", 12)
    for row in range(3):
        for x in (6, *rules):
            draw.text((x + 4, 4 + 20 * row), "1,042", "black", font)
    for x in rules:
        draw.line((x, 0, x, 65), "#ccc")
    if cursor:
        draw.line((cursor, 22, cursor, 38), "black")
    return np.asarray(image)


def test_cells_of_a_table_are_no_line() -> None:
    box = Rect(6, 22, 200, 17)
    parts = cells(table(60, 110, 160), box)
    assert [(part.x, part.right) for part in parts] == [(6, 60), (61, 110), (111, 160), (161, 206)]
    assert {(part.y, part.h) for part in parts} == {(22, 17)}


def test_a_text_cursor_a_border_at_an_end_and_an_empty_cell_part_no_line() -> None:
    box = Rect(6, 22, 200, 17)
    assert cells(table(), box) == [box]
    assert cells(table(cursor=30), box) == [box]
    assert cells(table(7), box) == [box]
    ends = cells(table(60, 110)[:, :112], Rect(6, 22, 106, 17))
    assert [(part.x, part.right) for part in ends] == [(6, 60), (61, 112)]


def test_glyphs_stand_a_column_apart() -> None:
    pixels = np.full((20, 60, 3), 255, np.uint8)
    for left, right in ((4, 20), (22, 26)):
        pixels[4:16, left:right] = 0
    assert glyph_widths(pixels) == [17, 5]
