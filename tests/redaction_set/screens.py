"""The screens of the redaction set: real terminals, GTK 3 forms and Chromium pages, with the box of every letter.

`shown(half)` yields each screen while its windows still stand, so that who scores may ask the widgets too. A program
that a machine lacks leaves its screens out; `lacking` says why.
"""

from __future__ import annotations

import asyncio
import html
import json
import shutil
import threading
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import mss
import numpy as np
import pytest
from numpy.typing import NDArray

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Limits
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.protocol.questions import WidgetSources
from acud.types import Rect
from tests.grounding.desktop import SYSTEM_PYTHON, Desktop, chromium, end, missing
from tests.redaction_set.marked import Half, Screen

PROGRAM, SCRIPT = Path(__file__).with_name("form.py"), Path(__file__).with_name("truth.js")
WIDTH, HEIGHT = 1280, 800
COLUMNS, ROWS = 110, 40
SETTLE_S, DEADLINE_S = 0.3, 60.0
_INK = 60
_COLOURS = {False: ("#101010", "#fafafa"), True: ("#d8d8d8", "#1e1e1e")}
_LIMITS = Limits(40, 5000, 10.0, 5.0, actions=True)

Boxes = list[list[tuple[float, float, float, float]]]
"""x, y, width, height of each character of each cell, in display pixels."""


class Letter(NamedTuple):
    """A letter that can be seen: its place in reading order, the number of its secret (-1: none), and its box."""

    place: int
    secret: int
    box: Rect


class Shown(NamedTuple):
    """A screen as it stands: height x width x 4 uint8 BGRX, who tells of its widgets, and its letters."""

    screen: Screen
    pixels: NDArray[np.uint8]
    told: WidgetSources
    letters: tuple[Letter, ...]


def lacking(screen: Screen) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    if screen.toolkit == "chromium":
        return "" if chromium() else "no chromium"
    if screen.toolkit == "gtk3":
        return missing("gtk3")
    return "" if shutil.which("xterm") else "no xterm"


async def shown(half: Half) -> AsyncIterator[Shown]:
    """Yield the screens of a half that this machine can show, each alone on its desktop."""
    with ExitStack() as stack:
        desktop = stack.enter_context(Desktop(WIDTH, HEIGHT))
        pages = stack.enter_context(_Pages()) if chromium() else None
        grabber = stack.enter_context(_grabber(desktop))
        for screen in half.screens:
            if lacking(screen):
                continue
            bare = len(desktop.windows())
            if screen.toolkit == "xterm":
                process, boxes = _terminal(desktop, screen)
            elif screen.toolkit == "gtk3":
                process, boxes = _form(desktop, screen)
            else:
                assert pages is not None
                process, boxes = pages.show(desktop, screen)
            letters = _letters(screen, boxes)
            pixels = _painted(grabber, letters)
            if screen.toolkit != "xterm":
                await _on_the_bus(desktop)
            told = WidgetSources(desktop.bus_address, "", desktop.windows())
            yield Shown(screen, pixels, told, letters)
            end(process)
            desktop.wait_for(lambda bare=bare: len(desktop.windows()) == bare, f"the end of {screen.name}")


def _letters(screen: Screen, boxes: Boxes) -> tuple[Letter, ...]:
    if [len(cell.text) for cell in screen.cells] != [len(one) for one in boxes]:
        raise RuntimeError(f"{screen.name} tells of other letters than it was given")
    found: list[Letter] = []
    for cell, places in zip(screen.cells, boxes, strict=True):
        for at, (character, (x, y, w, h)) in enumerate(zip(cell.text, places, strict=True)):
            if not character.isspace():
                box = Rect(round(x), round(y), max(1, round(w)), max(1, round(h)))
                if box.x < 0 or box.y < 0 or box.right > WIDTH or box.bottom > HEIGHT:
                    raise RuntimeError(f"{screen.name} shows {cell.text[:20]!r} outside of the display")
                found.append(Letter(len(found), cell.secret_at(at), box))
    return tuple(found)


# ---- the programs ------------------------------------------------------------------------------------------------


def _terminal(desktop: Desktop, screen: Screen) -> tuple[Any, Boxes]:
    ink, paper = _COLOURS[screen.dark]
    (cell,) = screen.cells
    source = desktop.folder / f"{screen.name}.txt"
    source.write_text(cell.text.replace("\n", "\r\n"), encoding="utf-8")
    process = desktop.spawn(
        "xterm", "-u8", "-fa", f"DejaVu Sans Mono:pixelsize={screen.px}", "-geometry", f"{COLUMNS}x{ROWS}+30+30",
        "-b", "2", "+sb", "-bg", paper, "-fg", ink, "-T", screen.title, "-e", "sh", "-c",
        f"printf '\\033[?25l'; cat {source}; exec sleep 600",
    )  # fmt: skip
    desktop.wait_for(lambda: _window(desktop, screen.title), screen.title)
    window = _window(desktop, screen.title)
    assert window is not None
    hints = desktop.x.xlib.create_resource_object("window", window.window_id).get_wm_normal_hints()
    wide, high = hints.width_inc, hints.height_inc
    left, top = window.bounds.x + 2, window.bounds.y + 2
    boxes, row, column = [], 0, 0
    for character in cell.text:
        if column == COLUMNS and character != "\n":
            row, column = row + 1, 0
        boxes.append((left + column * wide, top + row * high, wide, high))
        column += 1
        if character == "\n":
            row, column = row + 1, 0
    return process, [[(float(x), float(y), float(w), float(h)) for x, y, w, h in boxes]]


def _window(desktop: Desktop, title: str) -> Any:
    return next((one for one in desktop.windows() if one.title == title and one.visibility == "full"), None)


def _form(desktop: Desktop, screen: Screen) -> tuple[Any, Boxes]:
    source, truth = desktop.folder / f"{screen.name}.json", desktop.folder / f"{screen.name}.truth"
    rows = [[[cell.text, cell.entry] for cell in row] for row in screen.rows]
    told = {"title": screen.title, "form": screen.form, "px": screen.px, "dark": screen.dark, "rows": rows}
    source.write_text(json.dumps(told), encoding="utf-8")
    process = desktop.spawn(SYSTEM_PYTHON, str(PROGRAM), str(truth), str(source))
    desktop.wait_for(lambda: truth.exists() or process.poll() is not None, screen.name)
    return process, json.loads(truth.read_text(encoding="utf-8"))


class _Pages:
    """Serves pages on loopback; each posts where its letters are."""

    def __enter__(self) -> _Pages:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def show(self, desktop: Desktop, screen: Screen) -> tuple[Any, Boxes]:
        """Open the page of `screen` in a browser of its own and return once it has told of its letters."""
        self._server.page, self._server.told = _html(screen), None  # type: ignore[attr-defined]
        process = desktop.spawn(
            chromium(), "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu",
            "--test-type", "--password-store=basic", f"--user-data-dir={desktop.folder / f'of-{screen.name}'}",
            "--window-size=1180,740", "--window-position=30,20",
            f"--app=http://127.0.0.1:{self._server.server_port}/",
        )  # fmt: skip
        desktop.wait_for(lambda: self._server.told is not None, screen.name)  # type: ignore[attr-defined]
        return process, self._server.told  # type: ignore[attr-defined]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = self.server.page.encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page)

    def do_POST(self) -> None:
        self.server.told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _html(screen: Screen) -> str:
    ink, paper = _COLOURS[screen.dark]
    style = (
        f"body{{margin:14px;background:{paper};color:{ink};font:{screen.px}px 'DejaVu Sans'}}"
        "td,th{border:1px solid #999;padding:4px 9px;text-align:left}table{border-collapse:collapse}"
        "p,label{margin:6px 0;white-space:pre-wrap}.above label{display:block}"
        f"input{{font:{screen.px}px 'DejaVu Sans Mono';padding:3px 5px;border:1px solid #888;color:inherit;"
        "background:transparent}.left label{display:inline-block;min-width:190px}"
    )
    body = "".join(_html_row(screen, number) for number in range(len(screen.rows)))
    if screen.form == "table":
        body = f"<table>{body}</table>"
    head = f"<meta charset=utf-8><title>{html.escape(screen.title)}</title><style>{style}</style>"
    script = SCRIPT.read_text(encoding="utf-8")
    return f"<!doctype html>{head}<body class={screen.form}>{body}<script>{script}</script>"


def _html_row(screen: Screen, number: int) -> str:
    cells = []
    for place, cell in enumerate(screen.rows[number]):
        text, name = html.escape(cell.text), f"f{number}-{place + (0 if cell.entry else 1)}"
        if cell.entry:
            cells.append(f'<input data-cell id={name} size={len(cell.text) + 2} value="{text}">')
        elif screen.form == "table":
            tag = "td" if number else "th"
            cells.append(f"<{tag} data-cell>{text}</{tag}>")
        elif len(screen.rows[number]) > 1:
            cells.append(f"<label data-cell for={name}>{text}</label> ")
        else:
            cells.append(f"<p data-cell>{text}</p>")
    return f"<tr>{''.join(cells)}</tr>" if screen.form == "table" else f"<div>{''.join(cells)}</div>"


# ---- the display -------------------------------------------------------------------------------------------------


def _grabber(desktop: Desktop) -> mss.MSS:
    """Return a grabber of the desktop: it connects at once, with the cookie that the environment names then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XAUTHORITY", desktop.server.auth_file)
        return mss.MSS(display=desktop.server.display)


def has_ink(pixels: NDArray[np.uint8], box: Rect) -> bool:
    part = pixels[box.y : box.bottom, box.x : box.right, 1]
    return int(part.max()) - int(part.min()) > _INK


def _painted(grabber: mss.MSS, letters: tuple[Letter, ...]) -> NDArray[np.uint8]:
    """Return the display once it stands still with all its letters, or after so long as it is: programs tell where
    letters are before they have drawn them.
    """
    deadline = time.monotonic() + DEADLINE_S
    while True:
        pixels = _settled(grabber)
        if all(has_ink(pixels, one.box) for one in letters) or time.monotonic() > deadline:
            return pixels


def _settled(grabber: mss.MSS) -> NDArray[np.uint8]:
    deadline, newest, since = time.monotonic() + DEADLINE_S, None, 0.0
    while time.monotonic() < deadline:
        shot = grabber.grab({"left": 0, "top": 0, "width": WIDTH, "height": HEIGHT})
        now = np.frombuffer(shot.raw, np.uint8).reshape(HEIGHT, WIDTH, 4).copy()
        now[:, :, 3] = 0
        if newest is None or not np.array_equal(now, newest):
            newest, since = now, time.monotonic()
        elif time.monotonic() - since > SETTLE_S and now[:, :, :3].any():
            return now
        time.sleep(0.03)
    raise TimeoutError("the display never stood still")


async def _on_the_bus(desktop: Desktop) -> None:
    """Wait until the widgets of the newest window can be asked for: a program tells nobody when it is on the bus."""
    mirrors, until = AtSpiProvider(60), time.monotonic() + DEADLINE_S
    ask = AccessibilityAsk(":1", desktop.windows(), desktop.bus_address, "", 0.0, _LIMITS)
    while not (await mirrors.read(ask)).nodes and time.monotonic() < until:  # noqa: ASYNC110 - see above
        await asyncio.sleep(0.1)
    await mirrors.close()
