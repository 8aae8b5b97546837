"""Scenes of one managed display of 1280x720 with a terminal full of text: what a look costs, asked for by a client.

`idle_ms`: a look at a display on which nothing changed. `line_ms`: a look after one line of the terminal changed, its
text found and read. `full_ms`: everything read anew (readings of equal pixels are kept). `ax_300_ms`: the first walk of
a GTK window of about 300 widgets on a new connection, by an evaluator's own reader; `ax_cpu_ms` is our part of it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from acud.accessibility.nodes import Limits
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.reader import TreeReader
from acud.types import DisplayInfo, WindowInfo
from acud.types.scene import Scene, SceneMode
from acud_client import Client
from tests.bench._text_desktop import LOG
from tests.fixtures.daemon import Daemon

IDLE_ROUNDS, LINE_ROUNDS, FULL_ROUNDS, WALKS = 40, 12, 4, 12
_PYTHON = "/usr/bin/python3"
_DEADLINE_S = 60.0
_SETTLE_S = 0.6


def run() -> dict[str, Any]:
    with Daemon() as daemon:
        made = daemon.client.display_create(1280, 720).display
        env = _environment(made)
        fifo = daemon.home / "lines"
        os.mkfifo(fifo)
        command = ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "10", "-geometry", "100x36+0+0", "-e", "sh", "-c"]
        with subprocess.Popen([*command, f"exec cat {fifo} -"], env=env) as terminal, fifo.open("w") as lines:
            try:
                figures = _terminal(daemon.client, made, lines)
            finally:
                terminal.kill()
        figures |= _widgets(daemon.client, made, env)
    return figures


def _environment(display: DisplayInfo) -> dict[str, str]:
    own = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file, "DBUS_SESSION_BUS_ADDRESS": display.bus_address}
    return {**os.environ, **own}


def _terminal(client: Client, display: DisplayInfo, lines: Any) -> dict[str, Any]:
    for line in LOG:
        print(line, file=lines, flush=True)
    _until(lambda: "Total disk" in _words(_look(client, display)))
    idle = [_timed(client, display, SceneMode.ACTIVE) for _ in range(IDLE_ROUNDS)]
    changed = []
    for number in range(LINE_ROUNDS):
        words = f"step {number * 7919} of the build finished in {number + 3} seconds"
        print(words, file=lines, flush=True)
        time.sleep(_SETTLE_S)
        changed.append((*_timed(client, display, SceneMode.ACTIVE), words))
    full = [_timed(client, display, SceneMode.AGENT_TURN) for _ in range(FULL_ROUNDS)]
    return {
        "idle_ms": _median(ms for ms, _ in idle),
        "line_ms": _median(ms for ms, _, _ in changed),
        "lines_right": sum(words in _words(scene) for _, scene, words in changed) / len(changed),
        "full_ms": _median(ms for ms, _ in full),
        "texts": len(full[-1][1].ocr),
    }


def _look(client: Client, display: DisplayInfo) -> Scene:
    return client.refresh_scene(SceneMode.ACTIVE, [display.name])


def _words(scene: Scene) -> str:
    return "\n".join(one.text for one in scene.ocr)


def _timed(client: Client, display: DisplayInfo, mode: SceneMode) -> tuple[float, Scene]:
    started = time.perf_counter()
    scene = client.refresh_scene(mode, [display.name])
    return (time.perf_counter() - started) * 1000, scene


def _until(holds: Any) -> None:
    give_up_s = time.monotonic() + _DEADLINE_S
    while not holds():
        if time.monotonic() > give_up_s:
            raise TimeoutError("the terminal did not show its text")
        time.sleep(0.1)


def _widgets(client: Client, display: DisplayInfo, env: dict[str, str]) -> dict[str, Any]:
    program = [_PYTHON, str(Path(__file__).with_name("_widgets.py"))]
    with subprocess.Popen(program, env=env, stdout=subprocess.PIPE) as window:
        try:
            assert window.stdout is not None
            if window.stdout.readline().strip() != b"ready":
                return {"ax_300_ms": None, "ax_nodes": 0}  # no gi on this machine
            _until(lambda: any(one.title == "Widgets" for one in client.display_list().displays[0].windows))
            windows = client.display_list().displays[0].windows
            walks = [asyncio.run(_walk(display.bus_address, windows)) for _ in range(WALKS)]
        finally:
            window.kill()
    return {
        "ax_300_ms": _median(ms for ms, _, _ in walks),
        "ax_cpu_ms": _median(cpu_ms for _, cpu_ms, _ in walks),
        "ax_nodes": walks[-1][2],
    }


async def _walk(address: str, windows: tuple[WindowInfo, ...]) -> tuple[float, float, int]:
    bus = AccessibilityBus(address)
    await bus.connection()
    wall, cpu = time.perf_counter(), time.process_time()
    tree = await TreeReader(bus).read(windows, Limits(actions=True))
    spent = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    await bus.close()
    return (*spent, len(tree.nodes))


def _median(values: Any) -> float:
    return round(statistics.median(itertools.chain(values)), 2)


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:<12} {value}" for name, value in figures.items())
