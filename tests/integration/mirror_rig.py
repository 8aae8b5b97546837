"""A mirror beside a program that changes step by step, with the pixels that really changed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
from Xlib import X

from acud.accessibility.nodes import Limits, Node, Tree
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.mirror import LATE_S, Mirror
from acud.evaluator.accessibility.reader import TreeReader
from acud.types import Rect
from tests.grounding.browser import FirefoxPage, Page
from tests.grounding.desktop import Desktop

PATIENT = Limits(walk_s=30, answer_s=10)
LONG_S = 1e9
"""An age that nothing reaches."""

STEPS = range(1, 10)
_TILE = 32


class Pixels:
    """What changed on a display since it was asked last."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._last = self._now()
        self._told: list[tuple[float, list[Rect]]] = []
        self._again: list[Rect] = []
        self._truth: tuple[object, ...] = ()

    def _now(self) -> np.ndarray:
        screen = self._desktop.screen
        image = self._desktop.x.root.get_image(0, 0, screen.w, screen.h, X.ZPixmap, 0xFFFFFFFF)
        return np.frombuffer(image.data, np.uint32).reshape(screen.h, screen.w)

    def changed(self) -> list[Rect]:
        before, self._last = self._last, self._now()
        ys, xs = np.nonzero(before != self._last)
        tiles = {(int(x) // _TILE, int(y) // _TILE) for x, y in zip(xs, ys, strict=True)}
        found = [*self._again, *(Rect(x * _TILE, y * _TILE, _TILE, _TILE) for x, y in tiles)]
        self._again = []
        if found:
            self._told.append((time.monotonic(), found))
        return found

    def known(self, truth: Tree) -> None:
        """Note what a fresh reading says. That a program tells later than LATE_S after it painted is not counted on:
        all that it painted so long ago counts as changed once more, whatever it painted since (a caret, a light).
        """
        if said(truth) == self._truth:
            return
        self._truth = said(truth)
        late_s = time.monotonic() - LATE_S
        self._again += [rect for told_s, some in self._told if told_s <= late_s for rect in some]
        self._told = [(told_s, some) for told_s, some in self._told if told_s > late_s]


class Program:
    """A program that does one step when told. `step` returns once it was done."""

    def __init__(self, desktop: Desktop, step: Callable[[], None], done: Callable[[], int]) -> None:
        self.desktop = desktop
        self._step = step
        self._done = done

    def step(self) -> int:
        wanted = self._done() + 1
        self._step()
        self.desktop.wait_for(lambda: self._done() >= wanted, f"step {wanted}")
        return wanted


@contextmanager
def changing(kind: str) -> Iterator[Program]:
    """Show a program that changes step by step: of a toolkit (`gtk3`, `gtk4`, `PyQt5`, `PyQt6`) or a page in a browser
    (`chromium`, `firefox`).
    """
    with Desktop() as desktop:
        if browser := {"chromium": Page, "firefox": FirefoxPage}.get(kind):
            with browser(desktop, "changing.html") as page:
                yield Program(desktop, lambda: _press(desktop), lambda: page.truth["step"].x)
            return
        process, _ = desktop.show("changing.py", kind)
        told = desktop.folder / "truth1.json"
        yield Program(
            desktop, lambda: os.kill(process.pid, signal.SIGUSR2), lambda: int(json.loads(told.read_text())["step"][0])
        )


def _press(desktop: Desktop) -> None:
    subprocess.run(["xdotool", "key", "n"], env={**os.environ, **desktop.env()}, check=True, timeout=60)


def mirror_of(desktop: Desktop) -> Mirror:
    return Mirror(AccessibilityBus(desktop.bus_address, connect_s=30))


def said(tree: Tree) -> tuple[object, ...]:
    """Return what two readings of the same widgets have in common; of a browser, what its page says: furniture of its
    own comes late, unseen and untold (a box of 1x1 pixels where a bubble might show).
    """
    return tree.apps, page_of(tree.nodes), tree.failed, tree.truncated


def page_of(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the widgets of the page that a browser shows, by their places in it; all, where there is no page."""
    places: dict[int, int] = {}
    for place, node in enumerate(nodes):
        if node.role == "document web" or node.parent in places:
            places[place] = len(places)
    if not places:
        return nodes
    return tuple(msgspec.structs.replace(nodes[at], parent=places.get(nodes[at].parent, -1)) for at in places)


async def fresh(desktop: Desktop, limits: Limits = PATIENT) -> Tree:
    """Read everything, over a connection of its own."""
    bus = AccessibilityBus(desktop.bus_address, connect_s=30)
    try:
        return await TreeReader(bus).read(desktop.windows(), limits)
    finally:
        await bus.close()


async def agreed(
    mirror: Mirror,
    desktop: Desktop,
    changed: Callable[[], list[Rect] | None],
    known: Callable[[Tree], None] = lambda _: None,
    limits: Limits = PATIENT,
) -> tuple[Tree, Tree]:
    """Ask the mirror and read anew until both say the same twice (a program needs its time), or for so long in vain.
    `known` hears each fresh reading.
    """
    until, times = time.monotonic() + 60, 0
    while True:
        windows = desktop.windows()
        held, truth = await mirror.tree(LONG_S, limits, windows, changed()), await fresh(desktop, limits)
        known(truth)
        times = times + 1 if said(held) == said(truth) and held.nodes else 0
        if times == 3 or time.monotonic() > until:
            return held, truth
        await asyncio.sleep(0.1)


def process_of(desktop: Desktop, *words: bytes) -> int:
    """Return the process of this desktop's session whose command line holds all of `words`."""
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            line, env = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
        except OSError:
            continue
        if all(word in line for word in words) and os.fsencode(desktop.bus_address) in env:
            return int(place.name)
    raise AssertionError(f"no process {words}")
