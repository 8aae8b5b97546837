"""Pictures found in views: size, mask, colour, what tells nothing apart; and searched anew only where tiles changed."""

import io
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from acud.base import png
from acud.evaluator.image_match import Template, places, similarity_at, templates
from acud.evaluator.image_search import ImageSearch, search_parts
from acud.evaluator.view_pixels import ViewPixels
from acud.types import Answer, Rect, ScreenImage, Verdict
from acud.types.actions import Point

Pixels = npt.NDArray[np.uint8]
RED, GREEN = (200, 40, 40), (40, 200, 40)


def screen(width: int = 320, height: int = 200, seed: int = 1) -> Pixels:
    rng = np.random.default_rng(seed)
    pixels = np.full((height, width, 4), 245, np.uint8)
    for _ in range(width * height // 200):
        x, y, w, h = rng.integers((0, 0, 1, 3), (width, height, 7, 10))
        pixels[y : y + h, x : x + w] = rng.integers(0, 120)
    return pixels


def icon(lamp: tuple[int, int, int] = RED, shade: int = 20, paper: int = 230) -> Pixels:
    """Return a button of 48x20 with a lamp of 6x6 beside strong marks, BGRX."""
    pixels = np.full((20, 48, 4), paper, np.uint8)
    pixels[4:16, 18:21] = pixels[4:16, 30:44:3] = pixels[9:11, 18:44] = shade
    pixels[7:13, 5:11, :3] = lamp[::-1]
    return pixels


def put(pixels: Pixels, picture: Pixels, x: int, y: int) -> Pixels:
    after = pixels.copy()
    after[y : y + len(picture), x : x + picture.shape[1]] = picture
    return after


def shot(pixels: Pixels, crop: Rect | None = None) -> ViewPixels:
    crop = crop or Rect(0, 0, pixels.shape[1], pixels.shape[0])
    return ViewPixels(":1", 1, 1, 0, crop, np.ascontiguousarray(pixels), "")


def look(pixels: Pixels, picture: bytes, search: ImageSearch | None = None, **leaf: object) -> Verdict:
    wanted = ScreenImage(digest=f"{hash(picture) & 2**64 - 1:032x}", **leaf)  # type: ignore[arg-type]
    return (search or ImageSearch()).look_for(shot(pixels), wanted, picture, Point(0, 0))


def sizes(picture: bytes) -> tuple[Template, ...]:
    found = templates(picture)
    assert not isinstance(found, Verdict)
    return found


ICON = png.encode(icon())


def test_equal_pixels_are_found_at_their_place() -> None:
    found = look(put(screen(), icon(), 101, 57), ICON)
    assert found.answer is Answer.YES
    assert found.boxes == (Rect(101, 57, 48, 20),)
    assert found.detail == "the image is at 101,57 (48x20), its middle at 125,67; similarity 1.00"
    assert look(put(screen(), icon(), 272, 180), ICON, similarity=1.0).answer is Answer.YES
    assert look(screen(), ICON).answer is Answer.NO


def test_the_place_is_one_of_the_display() -> None:
    view = shot(put(screen(), icon(), 100, 50), Rect(10, 20, 320, 200))
    found = ImageSearch().look_for(view, ScreenImage(digest="0" * 32), ICON, Point(300, 40))
    assert "at 410,110 (48x20)" in found.detail


def test_gone_is_the_opposite() -> None:
    assert look(screen(), ICON, gone=True).answer is Answer.YES
    still = look(put(screen(), icon(), 100, 50), ICON, gone=True)
    assert (still.answer, still.detail.startswith("still there: the image is at 100,50")) == (Answer.NO, True)


@pytest.mark.parametrize("scale", [0.9, 0.95, 1.05, 1.1])
def test_a_size_near_its_own_is_found(scale: float) -> None:
    drawn = cv2.resize(icon(), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    found = look(put(screen(), np.asarray(drawn, np.uint8), 90, 60), ICON)
    assert found.answer is Answer.YES
    assert f"scaled to {scale:.0%}" in found.detail


def test_another_colour_of_a_small_part_is_another_picture() -> None:
    """The lamp has 36 of 960 pixels, and grey alone does not tell it: red and green are alike light."""
    assert look(put(screen(), icon(GREEN), 100, 50), ICON).answer is Answer.NO
    assert look(put(screen(), icon((0, 118, 0)), 100, 50), png.encode(icon((231, 0, 0)))).answer is Answer.NO
    assert look(put(screen(), icon((205, 45, 38)), 100, 50), ICON).answer is Answer.YES


def test_a_pale_one_and_another_letter_are_other_pictures() -> None:
    assert look(put(screen(), icon(shade=150), 100, 50), ICON).answer is Answer.NO
    other = icon()
    other[4:16, 30:44:3] = 230
    assert look(put(screen(), other, 100, 50), ICON).answer is Answer.NO


def row(text: str, *, at: float = 0.0, weight: float = 1.0, ink: int = 30, paper: int = 245) -> Pixels:
    """Return a row of text, BGRX, drawn from `at` between pixels: with its eight parts of each pixel's width."""
    font = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 13 * 8)
    drawn = Image.new("L", (200 * 8, 24 * 8))
    ImageDraw.Draw(drawn).text(((6 + at) * 8, 4 * 8), text, fill=255, font=font)
    cover = (np.asarray(drawn, np.float64).reshape(24, 8, 200, 8).mean(axis=(1, 3)) / 255) ** weight
    return np.repeat((paper + (ink - paper) * cover).astype(np.uint8)[:, :, None], 4, axis=2)


@pytest.mark.parametrize(("wanted", "shown"), [
    ("Order 1084 shipped", "Order 1034 shipped"), ("Total 3 files", "Total 8 files"),
    ("Total -5.00 EUR", "Total  5.00 EUR"), ("Build 12 passed", "Build 13 passed"),
    ("Invoice 129 due 14 May", "Invoice 129 due 11 May"), ("Sent: 1 of 7", "Sent: 7 of 7"),
    ("Quantity: C", "Quantity: G"), ("Ready", "Ready *"),
])  # fmt: skip
def test_one_other_sign_is_another_picture(wanted: str, shown: str) -> None:
    """The whole is alike: 0.9 and more of it agrees."""
    assert look(put(screen(), row(wanted), 60, 70), png.encode(row(wanted))).answer is Answer.YES
    assert look(put(screen(), row(shown), 60, 70), png.encode(row(wanted))).answer is Answer.NO
    assert look(put(screen(), row(shown, at=0.25), 60, 70), png.encode(row(wanted))).answer is Answer.NO


@pytest.mark.parametrize(
    "other", [{"at": 0.25}, {"at": 0.375}, {"weight": 0.7}, {"weight": 1.4}, {"ink": 50, "paper": 235}]
)
def test_the_same_sign_drawn_otherwise_is_no_other_picture(other: dict[str, Any]) -> None:
    drawn = row("Order 1084 shipped", **other)
    assert look(put(screen(), drawn, 60, 70), png.encode(row("Order 1084 shipped"))).answer is Answer.YES


def test_noise_is_forgiven() -> None:
    rng = np.random.default_rng(3)
    noisy = np.clip(put(screen(), icon(), 100, 50) + rng.normal(0, 10, (200, 320, 4)), 0, 255).astype(np.uint8)
    assert "at 100,50" in look(noisy, ICON).detail


@pytest.mark.parametrize("paper", [0, 128, 255])
def test_blank_places_are_never_alike(paper: int) -> None:
    blank = np.full((200, 320, 4), paper, np.uint8)
    faint = icon((paper, paper, paper), shade=abs(paper - 12), paper=paper)
    for picture in (ICON, png.encode(faint)):
        assert look(blank, picture, similarity=0.5).answer is Answer.NO
    assert look(put(blank, faint, 33, 44), png.encode(faint)).answer is Answer.YES


def draw_masked(alpha: Pixels, colours: Pixels | None = None) -> bytes:
    rgba = np.ascontiguousarray((icon() if colours is None else colours)[:, :, [2, 1, 0, 3]])
    rgba[:, :, 3] = alpha
    written = io.BytesIO()
    Image.fromarray(rgba, "RGBA").save(written, "PNG")
    return written.getvalue()


def test_what_is_transparent_may_be_anything() -> None:
    alpha = np.zeros((20, 48), np.uint8)
    alpha[2:18, 3:46] = 255
    shown = icon()
    shown[alpha == 0] = np.random.default_rng(5).integers(0, 255, (int((alpha == 0).sum()), 4))
    found = look(put(screen(), shown, 100, 50), draw_masked(alpha))
    assert (found.answer, "at 100,50 (48x20)" in found.detail) == (Answer.YES, True)
    assert look(put(screen(), shown, 100, 50), ICON).answer is Answer.NO
    wrong = put(shown, icon(GREEN)[7:13, 5:11], 5, 7)
    assert look(put(screen(), wrong, 100, 50), draw_masked(alpha)).answer is Answer.NO
    assert look(np.zeros((200, 320, 4), np.uint8), draw_masked(alpha), similarity=0.5).answer is Answer.NO


@pytest.mark.parametrize("picture", [
    png.encode(np.full((20, 20, 4), 128, np.uint8)), draw_masked(np.zeros((20, 48), np.uint8)),
    draw_masked(np.eye(20, 48, dtype=np.uint8) * 255),
])  # fmt: skip
def test_a_picture_that_could_be_anywhere_is_unknown(picture: bytes) -> None:
    for leaf in ({}, {"gone": True}):
        assert (found := look(screen(), picture, **leaf)).code == "image_flat", found


def test_what_cannot_be_looked_for_is_unknown() -> None:
    assert look(screen(30, 30), ICON, gone=True).code == "image_too_large"
    assert look(screen(), ICON[:60], gone=True).code == "image_unreadable"
    missing = ImageSearch().look_for(shot(screen()), ScreenImage(digest="0" * 32), None, Point(0, 0))
    assert missing.code == "image_missing"


# ---- what changed --------------------------------------------------------------------------------------------------


def test_only_what_a_changed_tile_can_touch_is_searched() -> None:
    search, before = ImageSearch(), screen(640, 480)
    look(before, ICON, search)
    assert search.searched_px == search.view_px
    searched, view = search.searched_px, search.view_px
    after = before.copy()
    after[100:104, 200:204] ^= 255
    look(after, ICON, search)
    share = (search.searched_px - searched) / (search.view_px - view)
    assert 0 < share < 0.07
    searched = search.searched_px
    look(after.copy(), ICON, search)
    assert search.searched_px == searched


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), similarity=st.sampled_from([0.6, 0.8, 0.9]), mask=st.booleans())
def test_searching_what_changed_gives_what_searching_everything_gives(seed: int, similarity: float, mask: bool) -> None:
    rng = np.random.default_rng(seed)
    alpha = np.full((20, 48), 255, np.uint8)
    alpha[:4, :4] = 0 if mask else 255
    picture = draw_masked(alpha)
    search, pixels = ImageSearch(), screen(256, 168, seed % 1000)
    for _ in range(6):
        pixels = _change(pixels, rng)
        assert look(pixels, picture, search, similarity=similarity) == look(pixels, picture, similarity=similarity)


def _change(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Return the page with a picture more, one moved by a pixel, one cut into, or some marks more."""
    x, y = int(rng.integers(0, 256 - 60)), int(rng.integers(0, 168 - 24))
    match int(rng.integers(0, 5)):
        case 0:
            return put(pixels, icon(GREEN if rng.random() < 0.3 else RED), x, y)
        case 1:
            return put(put(pixels, icon(), x, y), icon(), min(x + 1, 208), y)
        case 2:
            return put(pixels, pixels[:24, :60].copy(), x, y)
        case 3:
            scale = float(rng.choice([0.9, 0.95, 1.05, 1.1]))
            return put(pixels, np.asarray(cv2.resize(icon(), None, fx=scale, fy=scale), np.uint8), x, y)
    after = pixels.copy()
    after[y : y + 3, x : x + 3] = rng.integers(0, 255)
    return after


def test_all_places_stand_that_no_change_touches() -> None:
    """Each of many pictures is kept, not the best alone: when that goes, the next one is told."""
    pixels = screen(640, 480)
    for number in range(6):
        pixels = put(pixels, icon(), 20 + 90 * number, 300)
    search = ImageSearch()
    for number in range(6):
        assert f"at {20 + 90 * number},300" in look(pixels, ICON, search).detail
        pixels = put(pixels, screen(48, 20, number), 20 + 90 * number, 300)
    assert look(pixels, ICON, search).answer is Answer.NO


def test_a_change_all_over_is_one_search() -> None:
    whole = Rect(0, 0, 320, 208)
    mask = np.zeros((13, 20), np.bool_)
    assert search_parts(mask, sizes(ICON)[0], whole) == []
    mask[::3, ::3] = True
    assert search_parts(mask, sizes(ICON)[0], whole) == [whole]
    mask[:] = False
    mask[0, 0] = mask[12, 19] = True
    assert [part.area < whole.area / 4 for part in search_parts(mask, sizes(ICON)[0], whole)] == [True, True]


def test_places_are_those_of_a_plain_search_at_every_offset() -> None:
    """The correlation leaves out no place: each offset is measured by itself."""
    pixels = put(put(screen(120, 90), icon(), 7, 9), icon(GREEN), 60, 50)
    template = sizes(ICON)[0]
    found = {(one.x, one.y): one.similarity for one in places(template, pixels, 0.5)}
    plain = {(x, y): similarity_at(template, pixels, x, y) for y in range(71) for x in range(73)}
    alike = {place: value for place, value in plain.items() if value >= 0.5}
    assert max(alike.values()) == max(found.values()) == 1.0
    assert found == alike


def test_each_of_many_repeated_places_is_found() -> None:
    """Of so many only local maxima are measured; the rounding of a score hides none of them."""
    tile = np.random.default_rng(1).integers(0, 256, (6, 6, 4), np.uint8)
    found = places(sizes(png.encode(np.tile(tile, (4, 4, 1))))[0], np.tile(tile, (20, 20, 1)), 0.9)
    assert {(one.x, one.y) for one in found} == {(6 * x, 6 * y) for y in range(17) for x in range(17)}
