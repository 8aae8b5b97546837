"""Looking for a picture in a working screen: acud's search beside `matchTemplate` over the whole screen on every look.

A screen of 1920x1080, 120 looks, one a second, from a seed. Each look shows typed letters, a clock's next second and a
step of a progress bar; every 5th a terminal of 640x384 has scrolled, every 30th a dialog of 420x220 came or went, every
60th a page of 860x900 scrolled. A button of 48x20 is there in 2 of 10 looks, else one like it in another colour.

`cpu_x`: CPU of acud's way, its first search of the whole screen included, over that of OpenCV's `matchTemplate`
(TM_CCOEFF_NORMED, in colour, one size, one thread) on each look, which is how tools that keep nothing look for a
picture. acud looks for five sizes. `share`: of the pixels that five whole searches a look would take. `wrong`: looks at
which acud did not tell the button rightly; `plain_wrong`: the same of a correlation of at least 0.9.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from acud.base import png
from acud.evaluator.image_search import ImageSearch
from acud.evaluator.view_pixels import ViewPixels
from acud.types import Answer, Rect, ScreenImage
from acud.types.actions import Point

WIDTH, HEIGHT = 1920, 1080
LOOKS, SIMILARITY = 120, 0.9
PAGE, TERMINAL, DIALOG = Rect(20, 60, 860, 900), Rect(1000, 560, 640, 384), Rect(700, 330, 420, 220)
EDITOR, CLOCK, BAR = Rect(930, 80, 900, 400), Rect(1780, 10, 120, 24), Rect(930, 500, 600, 16)
_INK, _PAPER = (25, 25, 25), (246, 246, 246)
_RED, _GREEN = (50, 50, 200), (50, 170, 50)

Pixels = npt.NDArray[np.uint8]


class Look(NamedTuple):
    """A frame, and whether the button is in it."""

    pixels: Pixels
    there: bool


def button(colour: tuple[int, int, int]) -> Pixels:
    pixels = np.full((20, 48, 4), 225, np.uint8)
    cv2.rectangle(pixels, (0, 0), (47, 19), (120, 120, 120), 1)
    cv2.circle(pixels, (11, 10), 5, colour, -1)
    cv2.putText(pixels, "Run", (19, 14), cv2.FONT_HERSHEY_SIMPLEX, 0.36, _INK, 1, cv2.LINE_AA)
    return pixels


def _words(rng: np.random.Generator, width: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz     0123456789"
    return "".join(letters[i] for i in rng.integers(0, len(letters), width // 8))


def _line(pixels: Pixels, text: str, x: int, y: int) -> None:
    cv2.putText(pixels, text, (x, y), cv2.FONT_HERSHEY_PLAIN, 0.9, _INK, 1, cv2.LINE_AA)


def _part(pixels: Pixels, box: Rect) -> Pixels:
    return pixels[box.y : box.bottom, box.x : box.right]


def _scroll(pixels: Pixels, box: Rect, rng: np.random.Generator, lines: int = 1) -> None:
    part, step = _part(pixels, box), 16 * lines
    part[:-step] = part[step:].copy()
    part[-step:, :, :3] = _PAPER
    for line in range(lines):
        _line(pixels, _words(rng, box.w), box.x + 4, box.bottom - 4 - 16 * line)


def looks(seed: int = 16) -> Iterator[Look]:
    """Yield the frames of the day's work, each in memory of its own."""
    rng = np.random.default_rng(seed)
    pixels = np.full((HEIGHT, WIDTH, 4), 205, np.uint8)
    for box in (PAGE, TERMINAL, EDITOR):
        _part(pixels, box)[:, :, :3] = _PAPER
        _scroll(pixels, box, rng, box.h // 16)
    under: Pixels | None = None
    column = row = 0
    for look in range(LOOKS):
        for _ in range(int(rng.integers(2, 8))):
            at = EDITOR.x + 4 + column % 100 * 8, EDITOR.y + 12 + row % 24 * 16
            pixels[at[1] - 11 : at[1] + 4, at[0] : at[0] + 9, :3] = _PAPER
            _line(pixels, "abcdefghij"[int(rng.integers(0, 10))], *at)
            column += 1
            row += column % 100 == 0
        _part(pixels, CLOCK)[:] = 205
        _line(pixels, f"14:{look // 60:02d}:{look % 60:02d}", CLOCK.x + 4, CLOCK.y + 16)
        pixels[BAR.y : BAR.bottom, BAR.x : BAR.x + BAR.w * look // LOOKS, :3] = (180, 120, 40)
        if look % 5 == 4:
            _scroll(pixels, TERMINAL, rng)
        if look % 60 == 59:
            _scroll(pixels, PAGE, rng, 3)
        if look % 30 == 29:
            part = _part(pixels, DIALOG)
            under, part[:] = (part.copy(), 232) if under is None else (None, under)
        yield _with_button(pixels, look, rng)


def _with_button(pixels: Pixels, look: int, rng: np.random.Generator) -> Look:
    shown = pixels.copy()
    there = look % 10 in (6, 7)
    x, y = 1000 + 60 * (look // 10), 1000
    shown[y : y + 20, x : x + 48] = button(_RED if there else _GREEN)
    return Look(shown, there)


def run() -> dict[str, Any]:
    wanted, template = png.encode(button(_RED)), np.ascontiguousarray(button(_RED)[:, :, :3])
    search, leaf = ImageSearch(), ScreenImage(digest="0" * 32, width=48, height=20, similarity=SIMILARITY)

    def ours(pixels: Pixels) -> bool:
        shot = ViewPixels(":1", 1, 1, 0, Rect(0, 0, WIDTH, HEIGHT), pixels, "")
        return search.look_for(shot, leaf, wanted, Point(0, 0)).answer is Answer.YES

    def plain(pixels: Pixels) -> bool:
        scores = cv2.matchTemplate(np.ascontiguousarray(pixels[:, :, :3]), template, cv2.TM_CCOEFF_NORMED)
        return bool(scores.max() >= SIMILARITY)

    ways: dict[str, Callable[[Pixels], bool]] = {"ours": ours, "plain": plain}
    cpu_s, wall_s = dict.fromkeys(ways, 0.0), {name: list[float]() for name in ways}
    wrong = dict.fromkeys(ways, 0)
    for look in looks():
        for name, way in ways.items():
            cpu, wall = time.process_time(), time.perf_counter()
            found = way(look.pixels)
            cpu_s[name] += time.process_time() - cpu
            wall_s[name].append(time.perf_counter() - wall)
            wrong[name] += found is not look.there
    return {
        "cpu_x": round(cpu_s["ours"] / cpu_s["plain"], 4),
        "share": round(search.searched_px / search.view_px, 4),
        "p50_ms": round(statistics.median(wall_s["ours"]) * 1000, 2),
        "first_ms": round(wall_s["ours"][0] * 1000, 1),
        "plain_p50_ms": round(statistics.median(wall_s["plain"]) * 1000, 1),
        "wrong": wrong["ours"],
        "plain_wrong": wrong["plain"],
        "looks": LOOKS,
    }


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:14} {value:>9}" for name, value in figures.items())
