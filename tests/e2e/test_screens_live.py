"""Live screens in a real browser: the canvas shows what the display shows, and a picture that may be old says so."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import WebSocket

from acud.types import DisplayInfo, Rect, Text
from tests.e2e.chromium import SETTINGS, Chromium, Pixels, Visit, is_there
from tests.e2e.desktop import Desk, until
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.skipif(not is_there(), reason="there is no Chromium")


DAEMON_SETTINGS = SETTINGS


@pytest.fixture
def view(daemon: Daemon) -> Iterator[DisplayInfo]:
    made = daemon.client.display_create(640, 480).display
    yield made
    daemon.client.display_remove(made.name, force=True)


@pytest.fixture(scope="module")
def session(daemon: Daemon, chromium: Chromium) -> Iterator[Visit]:
    """A page for all: each login starts a renderer, which loads the dashboard anew."""
    with chromium.visit(daemon, "usage") as one:
        yield one


@pytest.fixture
def visit(session: Visit, view: DisplayInfo) -> Iterator[Visit]:
    """The page, which shows no display before and after."""
    yield session
    session.go("usage")
    session.until("() => !document.querySelector('.screen-picture')")


def single(view: DisplayInfo) -> str:
    return f"screens/{quote(view.name, safe='')}"


def noise(seed: int) -> Pixels:
    """Return what compresses badly: 300x200 BGRX of noise, as a photo would be."""
    return np.random.default_rng(seed).integers(0, 256, (200, 300, 4), dtype=np.uint8)


def same(visit: Visit, desk: Desk) -> bool:
    """Tell whether the canvas shows exactly what the display shows now."""
    return np.array_equal(visit.pixels(), desk.pixels())


@contextmanager
def standing_still(view: DisplayInfo) -> Iterator[None]:
    """Have the display's X server answer nobody for a while."""
    number = view.name.lstrip(":")
    server = int(Path(f"/tmp/.X{number}-lock").read_text(encoding="ascii"))
    os.kill(server, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server, signal.SIGCONT)


def test_the_canvas_equals_the_display(visit: Visit, view: DisplayInfo) -> None:
    visit.go(single(view))
    with Desk(view.name, view.auth_file) as desk:
        words = desk.words(Rect(20, 20, 300, 120), "Exactly this")
        desk.show(desk.window(Rect(320, 240, 300, 200)), noise(1))
        until(lambda: same(visit, desk), "the first picture, in exact pixels")
        for step in range(3):
            desk.rewrite(words, f"Step {step}")
            desk.show(desk.window(Rect(5 + step, 200, 300, 200)), noise(step + 2))
            until(lambda: same(visit, desk), f"step {step}, in exact pixels")
        visit.page.get_by_text("unchanged, checked").wait_for()
        visit.until("() => / ms$/.test(document.querySelector('.screen-delay').textContent)")
        visit.shot("screens-single")


def test_all_displays_are_small_in_a_grid(daemon: Daemon, chromium: Chromium, view: DisplayInfo) -> None:
    other = daemon.client.display_create(1280, 720).display
    with chromium.visit(daemon, "screens") as visit:
        # A picture was asked for as its display ended, or before it had one.
        visit.expected = ("status of 404", "status of 503")
        with Desk(other.name, other.auth_file) as desk:
            desk.words(Rect(0, 0, 1280, 720), "the second one", size_px=80)
            visit.until("() => document.querySelector('.screen-card:last-child canvas')?.width === 320")
            until(lambda: visit.pixels(".screen-card:last-child canvas")[135:170, 268:292].min() == 255, "its picture")
            visit.shot("screens-grid")
        visit.until("() => document.querySelectorAll('.screen-picture[data-state=still]').length === 2")
        sizes = visit.page.locator(".screen-canvas").evaluate_all("all => all.map((one) => [one.width, one.height])")
        assert sorted(map(tuple, sizes)) == [(320, 180), (320, 240)]
        daemon.client.display_remove(other.name, force=True)
        visit.page.get_by_role("link", name=other.name, exact=True).wait_for(state="detached")
        visit.page.get_by_role("link", name=view.name, exact=True).click()
        visit.until("() => document.querySelector('.screen-canvas')?.width === 640")


def test_a_card_follows_what_verdicts_say(daemon: Daemon, visit: Visit, view: DisplayInfo) -> None:
    """A wait that is unsure is counted as that until it is sure: no list has to change for it."""
    wait = daemon.client.wait_create(Text("Saved"), "window:Later", display=view.name, timeout_s=600).wait
    visit.go("screens")
    with Desk(view.name, view.auth_file) as desk:
        unsure = visit.page.get_by_role("link", name="1 of them unsure")
        unsure.wait_for()
        desk.words(Rect(40, 60, 320, 120), "Saving", "Later")
        unsure.wait_for(state="detached")
        desk.clear()
        unsure.wait_for()
    daemon.client.wait_cancel(wait.wait_id)


def test_a_lost_picture_is_grey_and_comes_back(daemon: Daemon, visit: Visit, view: DisplayInfo) -> None:
    visit.go(single(view))
    with Desk(view.name, view.auth_file) as desk:
        window = desk.words(Rect(20, 20, 300, 120), "Before")
        until(lambda: same(visit, desk), "the picture")
        visit.page.evaluate(
            "() => { window.states = []; const picture = document.querySelector('.screen-picture');"
            "new MutationObserver(() => states.push([picture.dataset.state, picture.classList.contains('stale')]))"
            ".observe(picture, { attributes: true }); }"
        )
        # That of a display of before may still be ending.
        children = [child for child in daemon.client.status().children if child.name == view.name]
        (capture,) = [child for child in children if child.kind == "capture"]
        with standing_still(view):  # nothing captures it again before the page was told
            os.kill(capture.pid, signal.SIGKILL)
            visit.until("() => states.some(([state, stale]) => state === 'lost' && stale)")
        desk.rewrite(window, "After")
        until(lambda: same(visit, desk), "the picture after the loss")
        visit.until("() => !document.querySelector('.screen-picture').classList.contains('stale')")


def test_what_is_not_seen_holds_no_connection(visit: Visit, view: DisplayInfo) -> None:
    sockets: list[WebSocket] = []
    visit.page.on("websocket", lambda socket: sockets.append(socket))  # sets attributes on it

    def until_heard(holds: Callable[[], bool], what: str) -> None:
        until(lambda: visit.page.evaluate("0") == 0 and holds(), what)  # events come with an answer

    visit.go(single(view))
    visit.until("() => document.querySelector('.screen-picture')?.dataset.state === 'still'")
    # A connection that says nothing for five seconds is made anew.
    until_heard(lambda: len(held(sockets)) == 1, "its one connection")
    visit.page.evaluate("() => { document.querySelector('.screen-frame').hidden = true; }")
    until_heard(lambda: not held(sockets), "the end of its connection")
    before = len(sockets)
    visit.page.evaluate("() => { document.querySelector('.screen-frame').hidden = false; }")
    until_heard(lambda: len(held(sockets)) == 1, "the next connection")
    panels = sockets[before:]
    visit.go("screens")  # which opens one of its own, before or after
    until_heard(lambda: not held(panels), "the end of the panel")


def held(sockets: list[WebSocket]) -> list[WebSocket]:
    return [one for one in sockets if not one.is_closed()]
