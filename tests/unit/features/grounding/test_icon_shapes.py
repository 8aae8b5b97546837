"""Icons by their shape: pictures of this machine's theme and drawn characters, on other grounds and in other sizes."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from acud.features.grounding.evaluator.icon_shapes import shape_meanings
from acud.features.grounding.icon_words import icon_table, meanings_of_name
from acud.types import Rect

THEME = Path("/usr/share/icons/Adwaita")
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def on_ground(ink: np.ndarray, ground: int, colour: int) -> np.ndarray:
    """Return a picture (height x width x 4 uint8 BGRX) of `ink` (0 to 1) in the middle of a plain ground."""
    height, width = ink.shape
    picture = np.full((height + 20, width + 20, 4), ground, np.float32)
    part = picture[10 : 10 + height, 10 : 10 + width]
    part += (colour - ground) * ink[:, :, None]
    return picture.astype(np.uint8)


def seen(ink: np.ndarray, ground: int = 240, colour: int = 40) -> dict[str, float]:
    picture = on_ground(ink, ground, colour)
    return dict(shape_meanings(picture, Rect(0, 0, picture.shape[1], picture.shape[0])))


def themed(name: str, size: str = "48x48", side: int = 18) -> np.ndarray:
    file = next(THEME.glob(f"{size}/*/{name}-symbolic.symbolic.png"), None)
    if file is None:
        pytest.skip(f"no {name} in {THEME}")
    ink = np.asarray(Image.open(file).convert("RGBA"), np.float32)[:, :, 3] / 255
    return cv2.resize(ink, (side, side), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("user-trash", "delete"), ("edit-find", "search"), ("document-print", "print"), ("emblem-system", "settings")],
)
@pytest.mark.parametrize(("ground", "colour"), [(240, 40), (30, 220)])
def test_an_icon_of_the_theme_is_known_in_another_size_and_colour(
    name: str, meaning: str, ground: int, colour: int
) -> None:
    likes = seen(themed(name), ground, colour)
    assert max(likes, key=lambda one: likes[one]) == meaning


def test_a_character_drawn_as_an_icon_is_known_without_a_theme() -> None:
    image = Image.new("L", (60, 60))
    ImageDraw.Draw(image).text((14, 8), "★", fill=255, font=ImageFont.truetype(str(FONT), 28))
    assert "star" in seen(np.asarray(image, np.float32) / 255)


def test_an_empty_button_and_a_frame_mean_nothing() -> None:
    assert seen(np.zeros((24, 24), np.float32)) == {}
    frame = np.full((44, 90, 4), 240, np.uint8)
    frame[4:40, 4:86] = 90
    frame[5:39, 5:85] = 240
    assert shape_meanings(frame, Rect(4, 4, 82, 36)) == {}


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Move to bin", "delete"), ("user-trash-symbolic", "delete"), ("⚙", "settings"), ("+", "add"),
        ("Open application menu", "menu"), ("Save the day", "save"), ("✕", "close"), ("Open a new tab", "add"),
    ],
)  # fmt: skip
def test_names_tips_theme_names_and_characters_have_meanings(name: str, meaning: str) -> None:
    assert meaning in meanings_of_name(name)


def test_every_phrase_of_the_table_can_be_compared() -> None:
    table = icon_table()
    assert len(table.by_phrase) > 500
    assert {"magnifier", "floppy", "trash can", "gear"} <= table.looks
    assert meanings_of_name("Customers") == frozenset()
