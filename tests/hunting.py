"""A hunt for changes that are missed or made up: many waits, random paint, a second X client that says what changed.

The oracle shares nothing with acud's capture: it reads the root window with plain GetImage requests before and after,
and knows what it had its own windows show. While the hunt is on all evaluators are stopped now and then, as if busy.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np
from msgspec import Struct

from acud.base.errors import Conflict
from acud.types import Change, DisplayInfo, Rect, Stable, Text, WaitInfo, WaitState
from acud_client import Client
from tests.daemon import Daemon
from tests.e2e.desktop import Desk, Pixels, until

SETTINGS = """[display]
window_manager = "none"
session_bus = false
[vision]
backend = "scripted"
scripted = '{"default": "no"}'
"""
SIZES = ((320, 240), (640, 480), (800, 600), (1024, 768), (1366, 768))
PREYS = 60
"""Waits on each display at a time."""
WINDOW = 96, 64
STILL_S = 1.0
"""After so long without paint whatever differs must have been told."""
PATIENCE_S = 60.0
"""A word that comes later than `STILL_S` is late (this machine may stand still), after this it is missed."""
BUSY_S = 0.25
CAP_S = 0.05
"""What the rate cap of a `change` may hide."""


class Found(Struct):
    """What a hunt found; `missed` and `false` must be 0.

    `checks`: targets that truly changed, each looked at after `STILL_S` of stillness. `untouched`: those that did not,
    checked for made-up changes. `late`: told after more than `STILL_S`. `counts_as_changed`: verdicts that say so of
    themselves, on targets that had not changed. `reverted`: changes undone within a burst that nobody was told of.
    `flashed`: windows told as changed that another one had covered for so short a time that no window list showed it.
    """

    checks: int = 0
    untouched: int = 0
    missed: int = 0
    false: int = 0
    late: int = 0
    counts_as_changed: int = 0
    reverted: int = 0
    flashed: int = 0
    words: list[str] = []

    def add(self, other: Found) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Prey:
    """A wait, what it looks at, and how that looked when it was armed. `window`: its number, None for a region."""

    wait_id: str
    target: str
    box: Rect
    ignore: tuple[Rect, ...] = ()
    window: int | None = None
    base: Pixels = field(default_factory=lambda: np.zeros((0, 0, 3), np.uint8))
    ever: bool = False
    flashed: bool = False

    def look(self, screen: Pixels) -> Pixels:
        """Return the target in `screen`, ignored boxes black."""
        part = screen[self.box.y : self.box.bottom, self.box.x : self.box.right].copy()
        for spot in self.ignore:
            part[spot.y : spot.bottom, spot.x : spot.right] = 0
        return part


class Ground:
    """One display of the hunt: windows wander in its upper half, its lower half is painted."""

    def __init__(self, client: Client, display: DisplayInfo, chance: random.Random) -> None:
        self._client, self._display, self._chance = client, display, chance
        self._desk = Desk(display.name, display.auth_file)
        self._width, self._height = display.width, display.height
        self.found = Found()
        self._preys: list[Prey] = []
        self._spots = [Rect(8 + left, 8, *WINDOW) for left in (0, self._width // 2)]
        self._shows = [self._noise() for _ in self._spots]
        self._windows = [self._desk.window(spot, title=f"prey {n}") for n, spot in enumerate(self._spots)]
        for window, pixels in zip(self._windows, self._shows, strict=True):
            self._desk.show(window, pixels)
        until(lambda: len(self._listed().windows) == len(self._windows), "the windows")

    def close(self) -> None:
        """Cancel what is left, and close the windows."""
        for prey in self._preys:
            with suppress(Conflict):
                self._client.wait_cancel(prey.wait_id)
        with self._desk:
            pass

    def _listed(self) -> DisplayInfo:
        return next(one for one in self._client.display_list().displays if one.name == self._display.name)

    def _noise(self) -> Pixels:
        seed = self._chance.getrandbits(32)
        return np.random.default_rng(seed).integers(0, 256, (WINDOW[1], WINDOW[0], 4), dtype=np.uint8)

    # ---- a round -------------------------------------------------------------------------------------------------

    def round(self) -> None:
        """Arm, paint, stand still, and compare what the waits say with what the oracle saw."""
        self._arm()
        if self._chance.random() < 0.6:
            time.sleep(self._chance.uniform(0.1, 0.4))  # else some are painted before anybody had read their look
        for _ in range(self._chance.randint(4, 9)):
            self._chance.choice([self._burst, self._burst, self._burst, self._undone, self._wander, self._cover])()
            time.sleep(self._chance.choice([0.0, CAP_S / 2, CAP_S, 2 * CAP_S]))
        time.sleep(STILL_S)
        self._check()

    def _arm(self) -> None:
        fresh = []
        while len(self._preys) + len(fresh) < PREYS:
            prey = self._choose()
            made = self._client.wait_create(
                Change(), prey.target, display=self._display.name, ignore=prey.ignore, timeout_s=86_400
            )
            prey.wait_id = made.wait.wait_id
            fresh.append(prey)
        screen = self._desk.pixels()
        for prey in fresh:
            prey.base = self._now(prey, screen)
        self._preys += fresh

    def _choose(self) -> Prey:
        chance, kind = self._chance, self._chance.random()
        if kind < 0.1:
            number = chance.randrange(len(self._windows))
            return Prey("", f"window:{self._windows[number]}", self._spots[number], window=number)
        if kind < 0.2:
            whole = Rect(0, 0, self._width, self._height)
            spots = (self._part(whole, 90),) if chance.random() < 0.5 else ()
            return Prey("", f"display:{self._display.name}", whole, spots)
        w, h = chance.choice([(1, 1), (1, 1), (7, 7), (16, 16), (37, 21), (120, 50)])
        x, y = chance.randrange(self._width - w), chance.randrange(self._height * 2 // 5, self._height - h)
        if w == 16:
            x, y = x // 16 * 16, y // 16 * 16
        box = Rect(x, y, w, h)
        ignore = (self._part(Rect(0, 0, w, h), 12),) if w > 16 and chance.random() < 0.4 else ()
        return Prey("", f"region:{x},{y},{w},{h}", box, ignore)

    def _part(self, box: Rect, size: int) -> Rect:
        x, y = self._chance.randrange(box.w - 2), self._chance.randrange(box.h - 2)
        return Rect(x, y, min(size, box.w - x), min(size, box.h - y))

    # ---- paint ---------------------------------------------------------------------------------------------------

    def _near(self) -> Rect:
        """Return a box to paint in the lower half: at a target, in part on it or just beside it, or anywhere."""
        chance = self._chance
        prey = chance.choice(self._preys)
        w, h = chance.choice([(1, 1), (3, 3), (9, 2), (20, 20), (40, 6)])
        x = prey.box.x + chance.randint(-w, prey.box.w)
        y = prey.box.y + chance.randint(-h, prey.box.h)
        if prey.window is not None or chance.random() < 0.2:
            x, y = chance.randrange(self._width), chance.randrange(self._height)
        half = self._height // 2
        x, y = min(max(0, x), self._width - 1), min(max(half, y), self._height - 1)
        return Rect(x, y, min(w, self._width - x), min(h, self._height - y))

    def _colour(self) -> int:
        return self._chance.getrandbits(24)

    def _burst(self) -> None:
        """Paint again and again, about as fast as frames are grabbed."""
        for _ in range(self._chance.randint(4, 24)):
            self._desk.fill(self._near(), self._colour())
            time.sleep(self._chance.choice([0.0, 0.0, 0.0, 0.005, 0.02, CAP_S]))
        self._saw()

    def _undone(self) -> None:
        near = self._near()
        box = Rect(near.x, near.y, min(near.w, 3), min(near.h, 3))
        before = self._desk.pixels(box)
        self._desk.fill(box, self._colour())
        self._saw()
        for y in range(box.h):
            for x in range(box.w):
                red, green, blue = (int(part) for part in before[y, x])
                self._desk.fill(Rect(box.x + x, box.y + y, 1, 1), red << 16 | green << 8 | blue)
        self._saw()

    def _wander(self) -> None:
        """Move a window, and sometimes have it show something else."""
        number = self._chance.randrange(len(self._windows))
        lane = self._width // 2 - WINDOW[0] - 4
        x = self._chance.randint(0, max(0, lane)) + number * (self._width // 2)
        spot = Rect(x, self._chance.randint(0, max(0, self._height // 2 - WINDOW[1] - 2)), *WINDOW)
        self._desk.place(self._windows[number], spot)
        self._spots[number] = spot
        for prey in self._preys:
            if prey.window == number:
                prey.box = spot
        self._saw()
        if self._chance.random() < 0.4:
            self._repaint(number)

    def _repaint(self, number: int) -> None:
        pixels = self._shows[number].copy()
        x, y = self._chance.randrange(WINDOW[0]), self._chance.randrange(WINDOW[1])
        pixels[y : y + 3, x : x + 5, :3] ^= 0x55
        self._shows[number] = pixels
        self._desk.show(self._windows[number], pixels)
        self._saw()

    def _cover(self) -> None:
        """Lay another window over one for a while; what is under it may change meanwhile."""
        number = self._chance.randrange(len(self._windows))
        spot = self._spots[number]
        box = Rect(spot.x + 10, spot.y + 10, WINDOW[0] - 20, WINDOW[1] - 20)
        cover = self._desk.window(box, self._colour(), popup=self._chance.random() < 0.5)
        self._saw()
        pause_s = self._chance.choice([0.0, 0.2, 0.8])
        for prey in self._preys:
            prey.flashed |= prey.window == number and not pause_s
        if pause_s:
            until(lambda: any(one.window_id == cover for one in self._listed().windows), "the cover")
        time.sleep(pause_s)
        if self._chance.random() < 0.3:
            self._repaint(number)
        self._desk.close(cover)
        self._saw()

    # ---- the oracle ----------------------------------------------------------------------------------------------

    def _now(self, prey: Prey, screen: Pixels) -> Pixels:
        return self._shows[prey.window][:, :, 2::-1] if prey.window is not None else prey.look(screen)

    def _saw(self) -> None:
        """Look at the display; whatever differs from its baseline has changed, though it may be as it was later."""
        screen = self._desk.pixels()
        for prey in self._preys:
            prey.ever |= not np.array_equal(self._now(prey, screen), prey.base)

    def _check(self) -> None:
        screen = self._desk.pixels()
        for number, spot in enumerate(self._spots):
            seen = screen[spot.y : spot.bottom, spot.x : spot.right]
            assert np.array_equal(seen, self._shows[number][:, :, 2::-1]), "the oracle does not know its own window"
        live = {wait.wait_id for wait in self._client.wait_list(displays=(self._display.name,), limit=500).waits}
        kept = []
        for prey in self._preys:
            differs = not np.array_equal(self._now(prey, screen), prey.base)
            if prey.wait_id in live and not differs:
                kept += self._spared(prey)
            else:
                self._judge(prey, differs=differs, told=prey.wait_id not in live)
        self._preys = kept

    def _spared(self, prey: Prey) -> list[Prey]:
        """Count a wait that goes on over a target that is as it was, and return it to be hunted on."""
        if not prey.ever:
            self.found.untouched += 1
            return [prey]
        try:
            self._client.wait_cancel(prey.wait_id)
        except Conflict:  # it has just been told
            self._judge(prey, differs=False, told=True)
        else:
            self.found.reverted += 1
        return []

    def _judge(self, prey: Prey, *, differs: bool, told: bool) -> None:
        wait = self._ended(prey)
        self.found.checks += prey.ever
        if wait is None:
            self.found.missed += 1
            self._note("missed", prey, self._client.wait_show(prey.wait_id).wait)
            with suppress(Conflict):
                self._client.wait_cancel(prey.wait_id)
        elif prey.ever:
            self.found.late += differs and not told
        elif "counts as changed" in wait.verdict.detail:
            self.found.counts_as_changed += 1
        elif prey.flashed:
            self.found.flashed += 1
        else:
            self.found.false += 1
            self._note("false", prey, wait)

    def _ended(self, prey: Prey) -> WaitInfo | None:
        reply = self._client.wait_end(prey.wait_id, timeout_s=PATIENCE_S)
        return reply.wait if reply.ended and reply.wait.state is WaitState.RESOLVED else None

    def _note(self, what: str, prey: Prey, wait: WaitInfo) -> None:
        size = f"{self._width}x{self._height}"
        self.found.words.append(f"{what} on {size}: {prey.target} ignore {prey.ignore}: {wait.verdict.detail}")


# ---- the hunt ------------------------------------------------------------------------------------------------------


@contextmanager
def busy(client: Client, chance: random.Random) -> Iterator[None]:
    """Stop all evaluators for a quarter of a second now and then."""
    over = threading.Event()
    pids = [child.pid for child in client.status().children if child.kind == "evaluator"]

    def disturb() -> None:
        while not over.wait(chance.uniform(0.2, 1.5)):
            _signal(pids, signal.SIGSTOP)
            time.sleep(BUSY_S)
            _signal(pids, signal.SIGCONT)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def hunt(daemon: Daemon, checks: int, seed: int, sizes: Sequence[tuple[int, int]] = SIZES) -> Found:
    """Return what was found in rounds on a display of each size at once, `checks` real changes or more in all.

    `daemon` runs with `SETTINGS`.
    """
    client = daemon.client
    until(lambda: all(c.state == "ready" for c in client.status().children if c.kind == "evaluator"), "evaluators")
    share = -(-checks // len(sizes))
    displays = [client.display_create(width, height).display for width, height in sizes]
    total = Found()
    with busy(client, random.Random(seed)), ThreadPoolExecutor(len(sizes)) as pool:
        jobs = [pool.submit(_hunted, daemon, one, share, seed + n) for n, one in enumerate(displays, 1)]
        for job in jobs:
            total.add(job.result())
    for display in displays:
        client.display_remove(display.name, force=True)
    return total


def _hunted(daemon: Daemon, display: DisplayInfo, checks: int, seed: int) -> Found:
    with Client(daemon.paths, timeout_s=60.0, patience_s=30.0) as client:
        ground = Ground(client, display, random.Random(seed))
        try:
            while ground.found.checks < checks:
                ground.round()
        finally:
            ground.close()
        return ground.found


# ---- stillness -----------------------------------------------------------------------------------------------------

WAITS = 64


def jobs_per_s_still(daemon: Daemon, over_s: float) -> float:
    """Return how many jobs a second the daemon gives to evaluators for 64 waits of several kinds on a still display."""
    client = daemon.client
    display = client.display_create(640, 480).display
    with Desk(display.name, display.auth_file) as desk:
        desk.words(Rect(20, 20, 300, 100), "all is well", title="still")
        for number in range(WAITS):
            x, y = 5 + 9 * number, 200 + 3 * number
            condition = (Change(), Change(settle_s=1.0), Stable(3_000.0), Text("finished"))[number % 4]
            target = ("screen", f"region:{x},{y},17,23", "window:still")[number % 3]
            shown = f"display:{display.name}" if target == "screen" else target
            client.wait_create(condition, shown, display=display.name, timeout_s=3_500.0, judge="ocr")  # type: ignore[arg-type]
        until(lambda: _are_judged(client, display.name), "the first looks")
        time.sleep(5.0)
        before = _jobs(client)
        time.sleep(over_s)
        return round((_jobs(client) - before) / over_s, 2)


def _are_judged(client: Client, display: str) -> bool:
    waits = client.wait_list(displays=(display,), limit=WAITS).waits
    return all(wait.verdict.code != "not_judged" for wait in waits) and not client.status().queued_jobs


def _jobs(client: Client) -> float:
    metrics = client.metrics().metrics
    return sum(sample.value for one in metrics if one.family.name == "acud_pool_jobs_total" for sample in one.samples)
