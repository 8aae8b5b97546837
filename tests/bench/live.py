"""A live screen in a browser: from repaint to painted, and bytes a second while idle, typing and playing, beside MJPEG.

The painter writes down when it repainted a lamp (this host's clock), the page when that pixel of its canvas had the new
colour, looked at before each of its own paints. Both clocks are the host's; the page's counts whole milliseconds.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

import acud_web
from acud.protocol.web import Scope
from acud.types import DisplayInfo
from tests.e2e.chromium import SETTINGS, Chromium, Visit
from tests.e2e.gateway_support import served, token
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import LAMP, Painter

_REPAINTS = 60
_PAUSE_S = 0.15
_WATCH_S = 8.0
_MJPEG_WATCH_S = 20.0
_TYPING_S = 0.15
_VIDEO_S = 1 / 25


def run() -> dict[str, Any]:
    with Daemon(settings=SETTINGS) as daemon, Chromium() as chromium:
        display = daemon.client.display_create(1280, 720).display
        painter = Painter(display)
        try:
            return _measure(daemon, chromium, display, painter)
        finally:
            painter.close()


def _measure(daemon: Daemon, chromium: Chromium, display: DisplayInfo, painter: Painter) -> dict[str, Any]:
    sizes: list[int] = []
    with chromium.visit(daemon, "") as visit:
        visit.expected = ("willReadFrequently",)  # the canvas is looked at as the page has it
        visit.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sizes.append(len(data))))
        visit.go(f"screens/{quote(display.name, safe='')}")
        visit.until("() => document.querySelector('.screen-picture')?.dataset.state === 'still'")
        took_ms = _latencies(visit, painter)
        figures = {
            "p50_ms": round(statistics.median(took_ms), 1),
            "p95_ms": round(statistics.quantiles(took_ms, n=20)[-1], 1),
            **{f"{name}_bps": _rate(visit, sizes, painter, work) for name, work in _WORK.items()},
        }
    mjpeg = {f"mjpeg_{name}_bps": _mjpeg_rate(daemon, display, painter, work) for name, work in _WORK.items()}
    return {**figures, **mjpeg, **_page(daemon, chromium, display), "repaints": _REPAINTS}


# ---- from repaint to painted -----------------------------------------------------------------------------------------


def _latencies(visit: Visit, painter: Painter) -> list[float]:
    visit.page.evaluate(_WATCH_LAMP, [LAMP.x + LAMP.w // 2, LAMP.y + LAMP.h // 2])
    took = []
    for turn in range(_REPAINTS):
        began_ms = time.time() * 1000
        painter.lamp(on=turn % 2 == 0)
        visit.page.wait_for_function("(count) => window.painted.length > count", arg=turn, polling=5)
        took.append(visit.page.evaluate("(turn) => window.painted[turn]", turn) - began_ms)
        visit.page.wait_for_timeout(_PAUSE_S * 1000)
    return took


_WATCH_LAMP = """([x, y]) => {
  const pen = document.querySelector(".screen-canvas").getContext("2d");
  const green = () => { const [r, g] = pen.getImageData(x, y, 1, 1).data; return g > 100 && r < 50; };
  window.painted = [];
  let before = green();
  // After the callbacks of a frame the browser paints it: a message posted in one arrives behind that paint.
  const behind = new MessageChannel();
  behind.port1.onmessage = () => window.painted.push(Date.now());
  const look = () => {
    const now = green();
    if (now !== before) behind.port2.postMessage(0);
    before = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


# ---- bytes a second --------------------------------------------------------------------------------------------------


def _idle(_painter: Painter, _until_s: float) -> None:
    """Nothing changes."""


def _typing(painter: Painter, until_s: float) -> None:
    column = 0
    while time.monotonic() < until_s:
        painter.letter(column)
        column += 1
        time.sleep(_TYPING_S)


def _video(painter: Painter, until_s: float) -> None:
    step = 0
    while time.monotonic() < until_s:
        painter.scene(step)
        step += 1
        time.sleep(_VIDEO_S)


_WORK = {"idle": _idle, "typing": _typing, "video": _video}


def _working(painter: Painter, work: Any, watch_s: float) -> threading.Thread:
    thread = threading.Thread(target=work, args=(painter, time.monotonic() + watch_s))
    thread.start()
    return thread


def _rate(visit: Visit, sizes: list[int], painter: Painter, work: Any) -> int:
    visit.page.wait_for_timeout(2000)  # what went before is exact by now
    before, began_s = sum(sizes), time.monotonic()
    thread = _working(painter, work, _WATCH_S)
    visit.page.wait_for_timeout(_WATCH_S * 1000)
    thread.join()
    return round((sum(sizes) - before) / (time.monotonic() - began_s))


def _mjpeg_rate(daemon: Daemon, display: DisplayInfo, painter: Painter, work: Any) -> int:
    secret, _ = token(daemon.client, Scope.READ)
    url = f"{served(daemon)}/api/live/{quote(display.name, safe='')}.mjpeg"
    size, head = 0, {"Authorization": f"Bearer {secret}"}
    # One picture comes each 10 s whatever happens: the loop ends with the first bytes after the time is up.
    with httpx.stream("GET", url, headers=head, timeout=30, trust_env=False) as answer:
        parts = answer.iter_raw()
        _skip_picture(parts)  # the first one is no rate
        began_s = time.monotonic()
        thread = _working(painter, work, _MJPEG_WATCH_S)
        for part in parts:
            size += len(part)
            if time.monotonic() - began_s >= _MJPEG_WATCH_S:
                break
        thread.join()
    return round(size / (time.monotonic() - began_s))


def _skip_picture(parts: Iterator[bytes]) -> None:
    seen = b""
    while b"\xff\xd9" not in seen[-16:]:  # a JPEG's end (ITU T.81, B.1.1.3), then a line's end at most
        seen += next(parts)


# ---- the page --------------------------------------------------------------------------------------------------------


def _page(daemon: Daemon, chromium: Chromium, display: DisplayInfo) -> dict[str, Any]:
    """Return what the page weighs with all its panels, not packed, and how soon it paints anything."""
    with chromium.visit(daemon, f"screens/{quote(display.name, safe='')}") as visit:
        visit.page.reload()
        visit.until("() => document.querySelector('.screen-picture')?.dataset.state === 'still'")
        paint_ms = visit.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1")
    size = sum(file.stat().st_size for file in Path(acud_web.__file__).with_name("static").iterdir())
    return {"page_kb": round(size / 1000, 1), "first_paint_ms": round(paint_ms)}


def table(figures: dict[str, Any]) -> str:
    rates = ", ".join(f"{name} {figures[f'{name}_bps']:,}/{figures[f'mjpeg_{name}_bps']:,}" for name in _WORK)
    return (
        f"repaint to painted: p50 {figures['p50_ms']} ms (target 60), p95 {figures['p95_ms']} ms; "
        f"bytes a second live/MJPEG: {rates}; "
        f"page {figures['page_kb']} kB (target 300), first paint {figures['first_paint_ms']} ms"
    )
