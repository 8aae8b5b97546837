"""Actions through the control socket: a click, a key, a thousand characters; beside them xdotool, a process a click.

The display has no window manager and one window that takes input. The clock runs from the call to its reply, which
comes when the X server has taken the events: the request's start and its answer are on disk by then.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

from acud.types import DisplayInfo, Rect
from acud.types.actions import Click, Key, Point, TypeText
from tests.e2e.desktop import Desk
from tests.fixtures.daemon import Daemon

_SETTINGS = '[display]\nwindow_manager = "none"\nsession_bus = false\n[evaluator]\nworkers = 1\n'
_WARM_UP = 20
_ROUNDS = 300
_XDOTOOLS = 100
_TYPINGS = 5
_TEXT = ("The quick brown fox jumps over the lazy dog. " * 23)[:1000]


def run() -> dict[str, Any]:
    with Daemon(settings=_SETTINGS) as daemon:
        display = daemon.client.display_create(640, 480).display
        with Desk(display.name, display.auth_file) as desk:
            desk.window(Rect(0, 0, 640, 480), 0x336699, title="Target")
            return _measured(daemon, display)


def _measured(daemon: Daemon, display: DisplayInfo) -> dict[str, Any]:
    def act(action: Click | Key | TypeText) -> None:
        daemon.client.desktop_action(action, display=display.name)

    env = os.environ | {"DISPLAY": display.name, "XAUTHORITY": display.auth_file}
    xdotool = ["xdotool", "mousemove", "100", "120", "click", "--delay", "0", "1"]  # by itself it sleeps 100 ms
    clicks, keys = [], []
    for _ in range(_WARM_UP + _ROUNDS):  # in turns, so that whatever else the machine does meets both alike
        clicks.append(_ms(lambda: act(Click(Point(100, 120)))))
        keys.append(_ms(lambda: act(Key("a"))))
    tools = [_ms(lambda: subprocess.run(xdotool, env=env, check=True)) for _ in range(_XDOTOOLS)]
    typed = [_ms(lambda: act(TypeText(_TEXT))) for _ in range(_TYPINGS)]
    clicks, keys = sorted(clicks[_WARM_UP:]), sorted(keys[_WARM_UP:])
    return {
        "click_p50_ms": round(statistics.median(clicks), 2),
        "click_p90_ms": round(clicks[int(len(clicks) * 0.9)], 2),
        "key_p50_ms": round(statistics.median(keys), 2),
        "key_p90_ms": round(keys[int(len(keys) * 0.9)], 2),
        "type_1000_ms": round(statistics.median(typed), 1),
        "xdotool_p50_ms": round(statistics.median(tools), 2),
    }


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def table(figures: dict[str, Any]) -> str:
    return (
        f"click     p50 {figures['click_p50_ms']} ms (target 2), p90 {figures['click_p90_ms']} ms; "
        f"xdotool, a process a click: {figures['xdotool_p50_ms']} ms\n"
        f"key       p50 {figures['key_p50_ms']} ms (target 2), p90 {figures['key_p90_ms']} ms\n"
        f"1,000 characters typed in {figures['type_1000_ms']} ms"
    )
