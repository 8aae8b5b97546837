"""Ten recorded tasks at typical work: what recording costs in CPU and on disk.

Each display shows a page of text. Somebody types a letter every 0.2 s for 12 s, then rests for 12 s with a blinking
caret; each time a page is through, the next one is drawn whole.
"""

from __future__ import annotations

import random
import time
from typing import Any

from acud.types import DisplayInfo
from tests.bench._model import scripted_settings
from tests.bench._process import CpuShare, family, rss_mb
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter

_TASKS = 10
_SETTLE_S = 5.0
_WATCH_S, _QUICK_S = 72.0, 24.0
_STEP_S = 0.2
_TYPING_S = 12.0
_PER_LINE, _LINES = 110, 40


def run(*, quick: bool = False) -> dict[str, Any]:
    bare = '[display]\nwindow_manager = "none"\nsession_bus = false\n'
    with Daemon(settings=scripted_settings() + bare) as daemon:
        tasks = [daemon.client.task_register(f"task {n}", display_width=1280).view.task for n in range(_TASKS)]
        known = {display.name: display for display in daemon.client.display_list().displays}
        people = [_Person(known[task.display], seed) for seed, task in enumerate(tasks)]
        try:
            _work(people, _SETTLE_S)
            return _measure(daemon, people, _QUICK_S if quick else _WATCH_S)
        finally:
            for person in people:
                person.close()


def _measure(daemon: Daemon, people: list[_Person], watch_s: float) -> dict[str, Any]:
    recorders = [child.pid for child in daemon.client.status().children if child.kind == "recorder"]
    everybody = family(daemon.pid)
    before = _kept(daemon)
    with CpuShare(everybody) as all_cpu, CpuShare(recorders) as cpu:
        _work(people, watch_s)
    frames, size = (now - then for now, then in zip(_kept(daemon), before, strict=True))
    return {
        "cpu_pct": round(all_cpu.percent, 1),
        "recorders_cpu_pct": round(cpu.percent, 1),
        "mib_per_h": round(size / 2**20 * 3600 / watch_s, 1),
        "frames_per_s": round(frames / watch_s, 2),
        "dropped": sum(one.dropped + one.gone for one in daemon.client.record_list().recordings),
        "recorder_mb": round(rss_mb(recorders) / len(recorders), 1),
        "tasks": _TASKS,
        "watched_s": watch_s,
    }


def _kept(daemon: Daemon) -> tuple[int, int]:
    found = daemon.client.record_list().recordings
    return sum(one.frames for one in found), sum(one.size_bytes for one in found)


def _work(people: list[_Person], seconds: float) -> None:
    """Have everybody work; each step is begun on time, as far as the machine allows."""
    began = time.monotonic()
    for step in range(int(seconds / _STEP_S)):
        for person in people:
            person.step()
        time.sleep(max(0.0, began + (step + 1) * _STEP_S - time.monotonic()))


class _Person(Painter):
    """Somebody who types, rests and turns pages, not in step with the others."""

    def __init__(self, display: DisplayInfo, seed: int) -> None:
        super().__init__(display)
        self._size = display
        self._chance = random.Random(seed)
        self._ink = self._window.create_gc(foreground=0x101010, background=0xF0F0F0)
        self._paper = self._window.create_gc(foreground=0xF0F0F0)
        self._steps = seed * 12
        self._typed = 0
        self._page()

    def _page(self) -> None:
        self._window.fill_rectangle(self._paper, 0, 0, self._size.width, self._size.height)
        self._text(self._size, self._ink)
        self._window.fill_rectangle(self._paper, 0, 0, self._size.width, 100)

    def step(self) -> None:
        self._steps += 1
        if self._steps * _STEP_S % (2 * _TYPING_S) < _TYPING_S:
            self._type()
        elif self._steps % 3 == 0:
            gc = self._ink if self._steps % 2 else self._paper
            self._window.fill_rectangle(gc, 8 + self._typed % _PER_LINE * 8, 8, 2, 12)
        self._display.sync()

    def _type(self) -> None:
        line, column = divmod(self._typed, _PER_LINE)
        letter = self._chance.choice("abcdefghijklmnopqrstuvwxyz ").encode()
        self._window.draw_text(self._ink, 8 + column * 8, 20 + line % 6 * 14, letter)
        self._typed += 1
        if self._typed % _PER_LINE == 0:
            self._page()


def table(figures: dict[str, Any]) -> str:
    return (
        f"{figures['tasks']} recorded tasks: {figures['cpu_pct']} % of a core in all, "
        f"{figures['recorders_cpu_pct']} % in recorders, {figures['mib_per_h']} MiB/h, "
        f"{figures['frames_per_s']} frames/s, {figures['dropped']} lost, {figures['recorder_mb']} MB a recorder"
    )
