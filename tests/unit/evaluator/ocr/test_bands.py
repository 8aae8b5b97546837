"""Bands hold all text and no bare border; every part lies whole on one canvas, apart from the others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from acud.evaluator.ocr.bands import HEIGHTS, WIDTHS, fill, pack, text_bands
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
