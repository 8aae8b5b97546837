"""The plain way to watch many displays: grab each so many times a second and compare, with mss and with python-xlib."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tests.bench._many_cost import cpu_s
from tests.bench._progress import say
from tests.integration.xserver import XServer

_FPS = 5.0
_WATCH_S = 4.0


def run(counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return, by peer and number of displays, what one look costs in the poller and in the X servers."""
    rows = []
    for count in counts:
        say(f"peers on {count} displays")
        with ExitStack() as stack:
            servers = [stack.enter_context(XServer(1280, 720)) for _ in range(count)]
            rows += [_row(peer, servers) for peer in ("mss", "python-xlib")]
    return rows


def _row(peer: str, servers: list[XServer]) -> dict[str, Any]:
    places = [part for server in servers for part in (server.display, server.auth_file)]
    command = [sys.executable, "-m", "tests.bench._many_peers", peer, str(_FPS), str(_WATCH_S), *places]
    pids = [server.pid for server in servers]
    before = cpu_s(pids)
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.split()
    looks, own_s = int(said[0]), float(said[1])
    return {
        "peer": peer,
        "displays": len(servers),
        "wanted_fps": len(servers) * _FPS,
        "looks_fps": round(looks / _WATCH_S, 1),
        "cpu_ms_per_look": {
            "poller": round(1000 * own_s / looks, 3),
            "Xvfb": round(1000 * (cpu_s(pids) - before) / looks, 3),
        },
    }


def _grabber(peer: str, display: str, auth_file: str) -> Callable[[], bytes]:
    os.environ["XAUTHORITY"] = auth_file
    if peer == "mss":
        from mss import MSS

        grabber = MSS(display=display)
        area = {"left": 0, "top": 0, "width": 1280, "height": 720}
        return lambda: bytes(grabber.grab(area).raw)
    from Xlib import X
    from Xlib.display import Display

    root = Display(display).screen().root
    return lambda: bytes(root.get_image(0, 0, 1280, 720, X.ZPixmap, 0xFFFFFFFF).data)


def _poll(peer: str, fps: float, seconds: float, places: list[str]) -> None:
    grabbers = [_grabber(peer, *pair) for pair in zip(places[::2], places[1::2], strict=True)]
    before = [grab() for grab in grabbers]
    looks, changed, used_s, until_s = 0, 0, time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until_s:
        began = time.monotonic()
        for n, grab in enumerate(grabbers):
            now = grab()
            changed += now != before[n]
            before[n] = now
            looks += 1
        time.sleep(max(0.0, began + 1 / fps - time.monotonic()))
    sys.stdout.write(f"{looks} {time.process_time() - used_s} {changed}\n")


if __name__ == "__main__":
    _poll(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
