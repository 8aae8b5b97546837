"""The OCR set: 120 screens of real programs on real X servers, and the words that each one shows.

`drawn(folder)` draws them (about 150 s for all) and keeps each as a PNG with its words beside it in a folder, where the
next call finds it: a screen is drawn from its seed alone, so its words never change; its pixels follow the machine's
toolkits and fonts. A program that a machine lacks leaves its screens out, by name. These are the half to work with;
`closed` has the other one.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import mss
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.grounding.desktop import SYSTEM_PYTHON, Desktop, chromium, end, missing
from tests.ocr_set import words

PROGRAM = Path(__file__).with_name("page.py")
CJK_FAMILY = "WenQuanYi Micro Hei"
MONO = "DejaVu Sans Mono"
LIGHT, DARK = ("#101010", "#fafafa"), ("#d8d8d8", "#1e1e1e")
THEMES = {"solarized": ("#657b83", "#fdf6e3"), "monokai": ("#f8f8f2", "#272822"), "dracula": ("#f8f8f2", "#282a36")}
POOLS = {
    "german": words.GERMAN, "russian": words.RUSSIAN, "greek": words.GREEK, "chinese": words.CHINESE,
    "japanese": words.JAPANESE, "korean": words.KOREAN,
}  # fmt: skip
CJK = ("chinese", "japanese", "korean")
_BANNERS = (
    "90deg, #1a2a6c, #b21f1f, #fdbb2d", "135deg, #667eea, #764ba2", "90deg, #11998e, #38ef7d",
    "120deg, #f6d365, #fda085", "180deg, #2c3e50, #4ca1af", "45deg, #ff9a9e, #fad0c4",
)  # fmt: skip
_CODE_COLOURS = ("#b58900", "#268bd2", "#d33682", "#2aa198", "#859900")
SETTLE_S, DEADLINE_S, LEAST_INK = 0.25, 30.0, 400


class Screen(NamedTuple):
    """One screen: how it is drawn, all from `seed`, or what it shows. `look`: ink and paper.

    `rows`: its texts, cell by cell; with `form` html one cell, the body of a page. Else `seed` gives texts and title.
    """

    category: str
    toolkit: str
    seed: int
    px: int
    look: tuple[str, str] = LIGHT
    form: str = "lines"
    language: str = "english"
    font: str = ""
    size: tuple[int, int] = (1280, 720)
    title: str = ""
    family: str = "DejaVu Sans"
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.category}-{self.toolkit}-{self.seed}"


class Drawn(NamedTuple):
    """A screen as it was grabbed: height x width x 4 uint8 BGRX, and the words on it."""

    screen: Screen
    pixels: NDArray[np.uint8]
    words: list[str]


def _screens() -> Iterator[Screen]:
    for place, font in enumerate(("6x13", "7x13", "8x13", "9x15", "6x10", "7x14", "9x18", "6x12")):
        yield Screen("bitmap", "xterm", 100 + place, 0, (LIGHT, DARK)[place % 2], font=font)
    for place, px in enumerate((8, 9, 10, 11, 12, 14, 8, 9, 10, 11, 12, 14)):
        yield Screen("terminal", "xterm", 200 + place, px, DARK if place > 5 else LIGHT)
    for place in range(20):
        toolkit = ("gtk3", "gtk4", "qt", "chromium")[place % 4]
        look = DARK if place % 8 > 3 else LIGHT
        form = "widgets" if place < 12 and toolkit != "chromium" else "lines"
        yield Screen(
            "dark" if look == DARK else "light", toolkit, 300 + place, (10, 11, 12, 13, 14)[place // 4], look, form
        )
    for place, theme in enumerate((*THEMES, *THEMES)):
        yield Screen("code", ("xterm", "chromium")[place % 2], 400 + place, 12 + place % 3, THEMES[theme], "code")
    for place in range(9):
        yield Screen("table", ("gtk3", "qt", "chromium")[place % 3], 500 + place, 11 + place % 4, LIGHT, "table")
    for place in range(6):
        yield Screen("cjk", ("gtk3", "qt", "chromium")[place % 3], 600 + place, 12 + place, LIGHT, language="chinese")
    for place in range(6):
        toolkit = ("gtk3", "qt", "xterm")[place % 3]
        yield Screen("cyrillic", toolkit, 700 + place, 11 + place // 2, (LIGHT, DARK)[place % 2], language="russian")
    for place in range(6):
        toolkit = ("gtk4", "chromium", "xterm")[place % 3]
        yield Screen("german", toolkit, 800 + place, 11 + place // 2, (LIGHT, DARK)[place % 2], language="german")
    for place in range(4):
        yield Screen("gradient", "chromium", 900 + place, 12 + place, (LIGHT, DARK)[place % 2], "gradient")
    for place in range(4):
        yield Screen("disabled", ("gtk3", "qt")[place % 2], 1000 + place, 12 + place // 2, LIGHT, "disabled")
    for place in range(4):
        yield Screen("inverse", ("xterm", "chromium")[place % 2], 1100 + place, 11 + place, LIGHT, "inverse")
    for place in range(3):
        toolkit = ("xterm", "chromium", "gtk3")[place]
        yield Screen("4k", toolkit, 1200 + place, 18 + 2 * place, LIGHT, size=(3840, 2160))
    yield from _screens_of_scripts()
    for place in range(6):
        toolkit = ("xterm", "chromium", "gtk3")[place % 3]
        yield Screen("code", toolkit, 1600 + place, 11 + place // 2, (LIGHT, DARK)[place % 2], "names", family=MONO)
    for place in range(6):
        toolkit = ("gtk3", "qt", "chromium")[place % 3]
        yield Screen("table", toolkit, 1700 + place, 11 + place // 2, (LIGHT, DARK)[place // 3], "sheet")
    for place in range(4):
        yield Screen("gradient", "chromium", 1800 + place, 12 + place, (LIGHT, DARK)[place % 2], "banners")


def _screens_of_scripts() -> Iterator[Screen]:
    for place in range(6):
        toolkit = ("gtk3", "qt", "xterm", "chromium", "gtk4", "qt")[place]
        yield Screen("greek", toolkit, 1300 + place, 11 + place // 2, (LIGHT, DARK)[place % 2], language="greek")
    for place in range(4):
        toolkit = ("chromium", "gtk4", "chromium", "qt")[place]
        form = ("prose", "widgets", "prose", "table")[place]
        yield Screen("cyrillic", toolkit, 1400 + place, 12 + place % 3, (LIGHT, DARK)[place // 3], form, "russian")
    for place in range(6):
        toolkit, language = ("gtk3", "chromium", "qt")[place % 3], ("japanese", "korean", "chinese")[place // 2]
        yield Screen("cjk", toolkit, 1500 + place, 13 + place % 2, (LIGHT, DARK)[place % 2], "prose", language)


ALL = tuple(_screens())


def lacking(screen: Screen) -> str:
    """Return why this machine can't draw `screen` ("" when it can)."""
    if screen.toolkit == "chromium":
        return "" if chromium() else "no chromium"
    if screen.toolkit == "xterm":
        return "" if shutil.which("xterm") else "no xterm"
    return missing("PyQt6" if screen.toolkit == "qt" else screen.toolkit)


def drawn(folder: Path, screens: Iterable[Screen] = ALL) -> Iterator[Drawn]:
    """Yield each screen, drawn where `folder` does not hold it yet."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = list(screens)
    for size in dict.fromkeys(screen.size for screen in wanted):
        missing_here = [s for s in wanted if s.size == size and not (folder / f"{s.name}.json").exists()]
        if missing_here:
            with Desktop(*size) as desktop:
                for screen in missing_here:
                    if not lacking(screen):
                        _draw(desktop, screen, folder)
    for screen in wanted:
        told = folder / f"{screen.name}.json"
        if told.exists():
            rgb = np.asarray(Image.open(folder / f"{screen.name}.png").convert("RGB"))
            pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
            pixels[:, :, :3] = rgb[:, :, ::-1]
            yield Drawn(screen, pixels, json.loads(told.read_text(encoding="utf-8")))


def _draw(desktop: Desktop, screen: Screen, folder: Path) -> None:
    rows = [list(row) for row in screen.rows] or _rows(screen)
    title = screen.title or " ".join(words.english(screen.seed + 7, 1, 24)) or "Page"
    os.environ.update({"DISPLAY": desktop.server.display, "XAUTHORITY": desktop.server.auth_file})
    with mss.MSS(display=desktop.server.display) as grabber:
        bare = _settled(grabber, screen, None)
        process = desktop.spawn(*_command(desktop, screen, rows, title))
        shown = _settled(grabber, screen, bare)
        end(process)
        _settled(grabber, screen, None)
    Image.fromarray(shown[:, :, 2::-1]).save(folder / f"{screen.name}.png")
    plain = words.of_page if screen.form == "html" else words.without_colours
    texts = [plain(text) for row in rows for text in row]
    if screen.toolkit == "chromium":
        title = screen.title or f"{screen.name}.html"  # a page without a title shows its file's name in its place
    shows = [*texts, title]
    (folder / f"{screen.name}.json").write_text(json.dumps(words.counted(shows), ensure_ascii=False), encoding="utf-8")


def _rows(screen: Screen) -> list[list[str]]:
    if screen.language != "english":
        rows = words.of_list(POOLS[screen.language], screen.seed, 12, 4)
        return [[" ".join(row)] for row in rows] if screen.form == "prose" else rows
    if screen.form == "sheet":
        return words.sheet(screen.seed, 16, 6)
    if screen.form == "names":
        return [[line] for line in words.code(screen.seed, 14)]
    if screen.form == "table":
        return words.cells(screen.seed, 12, 5)
    if screen.form in ("widgets", "disabled"):
        return words.cells(screen.seed, 11, 4)
    letters = 70 if screen.toolkit == "xterm" else 60
    return [[line] for line in words.english(screen.seed, 16 if screen.size[0] < 3000 else 24, letters)]


def _command(desktop: Desktop, screen: Screen, rows: list[list[str]], title: str) -> list[str]:
    page = desktop.folder / f"{screen.name}.page"
    ink, paper = screen.look
    width, height = (760, 520) if screen.size[0] < 3000 else (1900, 1100)
    if screen.toolkit == "xterm":
        page.write_text(_terminal_text(screen, rows), encoding="utf-8")
        face = ["-fn", screen.font] if screen.font else ["-fa", f"DejaVu Sans Mono:pixelsize={screen.px}"]
        return [
            "xterm", "-u8", *face, "-geometry", "78x26", "-bg", paper, "-fg", ink, "-T", title, "-e", "sh", "-c",
            f"printf '\\033[?25l'; cat {page}; exec sleep 600",
        ]  # fmt: skip
    if screen.toolkit == "chromium":
        path = page.with_suffix(".html")
        path.write_text(_html(screen, rows), encoding="utf-8")
        return [
            chromium(), "--no-sandbox", "--no-first-run", "--disable-gpu", "--test-type", "--password-store=basic",
            f"--user-data-dir={desktop.folder / 'chromium'}", f"--window-size={width},{height}",
            "--window-position=120,60", f"--app=file://{path}",
        ]  # fmt: skip
    family = CJK_FAMILY if screen.language in CJK else screen.family
    told = {
        "title": title, "rows": rows, "form": screen.form, "px": screen.px, "ink": ink, "paper": paper,
        "family": family, "disabled": screen.form == "disabled", "width": width, "height": height,
    }  # fmt: skip
    page.write_text(json.dumps(told), encoding="utf-8")
    return [SYSTEM_PYTHON, str(PROGRAM), screen.toolkit, str(page)]


def _terminal_text(screen: Screen, rows: list[list[str]]) -> str:
    lines = []
    for place, row in enumerate(rows):
        text = "  ".join(row)
        if screen.form == "inverse" and place % 2:
            text = f"\033[7m{text}\033[0m"
        elif screen.form == "code":
            text = (
                " ".join(f"\033[38;5;{(33, 64, 125, 136, 37)[n % 5]}m{w}" for n, w in enumerate(text.split()))
                + "\033[0m"
            )
        lines.append(text)
    return "\r\n".join(lines)


def _html(screen: Screen, rows: list[list[str]]) -> str:
    ink, paper = screen.look
    family = CJK_FAMILY if screen.language in CJK else MONO if screen.form == "code" else screen.family
    ground = (
        f"linear-gradient(120deg, {paper}, {'#9ec5ff' if paper == LIGHT[1] else '#314a6e'})"
        if screen.form == "gradient"
        else paper
    )
    style = f"body{{margin:12px;background:{ground};color:{ink};font:{screen.px}px '{family}';min-height:480px}}"
    style += (
        "td,th{border:1px solid #999;padding:3px 8px;text-align:left}table{border-collapse:collapse}p{margin:5px 0}"
    )
    style += "td,th{padding:1px 3px}" if screen.form == "sheet" else ""
    style += ".i{background:#1a5fb4;color:#ffffff}"
    style += "pre{font:inherit;margin:0}" if screen.form == "html" else ""
    if screen.form == "html":
        ((body,),) = rows
    elif screen.form in ("table", "sheet"):
        body = "<table>" + "".join(
            "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"
            for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
        ) + "</table>"  # fmt: skip
    elif screen.form == "banners":
        body = "".join(
            f"<p style='margin:0;padding:4px 8px;background:linear-gradient({_BANNERS[n % 6]})"
            f"{';color:#fff' if n % 6 != 3 else ''}'>{html.escape(row[0])}</p>"
            for n, row in enumerate(rows)
        )
    elif screen.form == "code":
        body = "".join(
            "<p>"
            + " ".join(
                f'<span style="color:{_CODE_COLOURS[n % 5]}">{html.escape(w)}</span>'
                for n, w in enumerate(row[0].split())
            )
            + "</p>"
            for row in rows
        )
    else:
        marked = screen.form == "inverse"
        body = "".join(
            f"<p{' class=i' if marked and n % 2 else ''}>{html.escape('   '.join(row)).replace('   ', ' &emsp; ')}</p>"
            for n, row in enumerate(rows)
        )
    head = f"<meta charset=utf-8><title>{screen.title or ' '}</title><style>{style}</style>"
    return f"<!doctype html>{head}{body}"


def _settled(grabber: mss.MSS, screen: Screen, bare: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """Return the screen once it stands still, and where `bare` is given, once it shows much more than that."""
    deadline, newest, since = time.monotonic() + DEADLINE_S, None, 0.0
    while time.monotonic() < deadline:
        shot = grabber.grab({"left": 0, "top": 0, "width": screen.size[0], "height": screen.size[1]})
        now = np.frombuffer(shot.raw, np.uint8).reshape(screen.size[1], screen.size[0], 4)[:, :, :3].copy()
        if newest is None or not np.array_equal(now, newest):
            newest, since = now, time.monotonic()
        elif time.monotonic() - since > (SETTLE_S if bare is None else 3 * SETTLE_S) and (
            bare is None or _written(now, bare)
        ):
            return np.dstack([newest, np.zeros(newest.shape[:2], np.uint8)])
        time.sleep(0.03)
    raise TimeoutError(f"{screen.name} never stood still")


def _written(now: NDArray[np.uint8], bare: NDArray[np.uint8]) -> bool:
    """Tell whether a window with letters is there: many places where neighbours differ."""
    new = (now != bare[:, :, :3]).any(axis=2)
    return np.count_nonzero(np.diff(now[:, :, 1].astype(np.int16), axis=1)[new[:, 1:]]) > 4 * LEAST_INK
