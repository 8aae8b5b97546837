"""Screens with secrets among plain lines, drawn so that the box of every letter is known."""

from __future__ import annotations

import random
import string
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from acud.features.redaction.personal_data import luhn
from acud.types import Rect

WIDTH, HEIGHT = 900, 400
Colour = tuple[int, int, int]
Colours = tuple[Colour, Colour]
"""Ink and paper, RGB."""

COLOURS: tuple[Colours, Colours] = (((10, 10, 10), (255, 255, 255)), ((220, 220, 220), (25, 25, 30)))


class Letter(NamedTuple):
    """A drawn letter: what it belongs to ("" for no secret) and its box."""

    secret: str
    box: Rect


def screen(seed: int) -> list[tuple[str, str, str]]:
    """Return lines as (before, secret, after); an empty secret is a line to keep."""
    rng = random.Random(seed)

    def word(length: int, letters: str = string.ascii_letters + string.digits) -> str:
        return "".join(rng.choice(letters) for _ in range(length))

    digits = "4" + word(14, string.digits)
    card = next(digits + str(n) for n in range(10) if luhn(digits + str(n)))
    grouped = " ".join(card[i : i + 4] for i in range(0, 16, 4))
    return [
        ("$ ls -l build and wait", "", ""), ("Card number ", grouped, " valid"),
        ("Order 20260101-4711 was shipped", "", ""), ("paid with ", card, ""),
        ("OPENAI_API_KEY=", f"sk-proj-{word(32)}", ""), ("export KEY=", f"sk-ant-api03-{word(28)}", ""),
        ("The tests have passed in 42 seconds", "", ""), ("token ", f"ghp_{word(36)}", " (new)"),
        ("id ", f"AKIA{word(16, string.ascii_uppercase + string.digits)}", " eu-west-1"), ("Password: ", word(10), ""),
        ("commit dd86e30f0a1b2c3d4e5f60718293a4b5c6d7e8f9", "", ""), ("db_password=", word(12), ""),
        ("postgres://bob:", word(12), "@db.example.org/main"), ("Authorization: Bearer ", word(24), ""),
        ("Line before the region", "", ""), ("", f"<private>{word(8)} {word(6)}", ""),
        ("", f"my address is {word(12)}", ""), ("", f"{word(5)}</private>", ""), ("Line after the region", "", ""),
    ]  # fmt: skip


def draw(lines: list[tuple[str, str, str]], font: str, size: int, colours: Colours) -> tuple[np.ndarray, list[Letter]]:
    """Return the screen, height x width x 4 BGRX, and its letters."""
    image = Image.new("RGBX", (WIDTH, HEIGHT), (*colours[1], 0))
    brush, face = ImageDraw.Draw(image), ImageFont.truetype(font, size)
    letters: list[Letter] = []
    for row, parts in enumerate(lines):
        top = 6 + row * (size + 5)
        whole = "".join(parts)
        brush.text((10, top), whole, (*colours[0], 0), face)
        first, last = len(parts[0]), len(parts[0]) + len(parts[1])
        for place, letter in enumerate(whole):
            if letter != " ":
                left, right = (10 + face.getlength(whole[:n]) for n in (place, place + 1))
                secret = f"{row}" if first <= place < last else ""
                letters.append(Letter(secret, Rect(int(left), top, max(1, round(right - left)), size + 1)))
    return np.asarray(image)[:, :, [2, 1, 0, 3]].copy(), letters


def covered(letters: list[Letter], boxes: list[Rect]) -> list[bool]:
    """Tell of each letter whether most of it lies in the boxes."""
    hidden = np.zeros((HEIGHT, WIDTH), np.bool_)
    for box in boxes:
        inside = box.intersect(Rect(0, 0, WIDTH, HEIGHT))
        if inside is not None:
            hidden[inside.y : inside.bottom, inside.x : inside.right] = True
    return [bool(hidden[one.box.y : one.box.bottom, one.box.x : one.box.right].mean() > 0.5) for one in letters]
