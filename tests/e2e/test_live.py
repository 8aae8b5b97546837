"""Live screens without HTTP: a real daemon and X server, viewers that paint, and what they are told when things die."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import numpy as np
import pytest

from acud.config.http_listeners import WebSettings
from acud.protocol.requests.daemon import ChildStatus
from acud.protocol.requests.looks import LiveWatch, LiveWatched
from acud.types import DisplayInfo, Rect
from acud_client import Client
from acud_client.aio import AsyncClient
from acud_web.daemon_gateway import DaemonGateway as Asker
from acud_web.live.displays import DisplayHub
from acud_web.live.viewer import Ended, Viewer
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import Desk, Pixels, until
from tests.e2e.live_support import Page
from tests.e2e.metrics import scrape
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.asyncio
Head = dict[str, Any]


@asynccontextmanager
async def hub_of(daemon: Daemon) -> AsyncIterator[DisplayHub]:
    """The live part of a web process."""
    async with AsyncClient(daemon.paths) as client, DisplayHub(Asker(client), daemon.paths, WebSettings()) as hub:
        yield hub


@asynccontextmanager
async def page_of(hub: DisplayHub, display: str, *, hides: bool = False) -> AsyncIterator[Page]:
    """A viewer of `display` that paints."""
    async with Viewer(hub.display(display), hub.workers, hides=hides) as viewer:
        yield Page(viewer.next, viewer.handle_message)


async def undisturbed(
    hub: DisplayHub, page: Page, display: str, change: Callable[[int], Awaitable[None]]
) -> list[Head]:
    """Return the frames that `change` brought. It is tried again, with the next number, where the display was lost
    meanwhile: one that stands still for 3 s, with this machine, counts as lost, and comes anew as a whole.
    """
    for turn in count():
        before, at = _serial(hub, display), len(page.painting.heads)
        await change(turn)
        if before and before == _serial(hub, display):
            return page.painting.heads[at:]
    raise AssertionError


def _serial(hub: DisplayHub, display: str) -> int:
    """Return which ring is shown, another one after each loss; 0 for none."""
    ring = hub.display(display).ring
    return ring.serial if ring is not None else 0


def noise(width: int, height: int, seed: int = 1) -> Pixels:
    """Return what no PNG makes small: BGRX."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)


async def test_a_painted_picture_becomes_the_display_byte_for_byte(
    shared: Daemon, view: DisplayInfo, desk: Desk
) -> None:
    window = desk.words(Rect(20, 20, 300, 60), "first words")
    async with hub_of(shared) as hub, page_of(hub, view.name) as page:
        await page.want()
        await page.until_equal(desk.pixels())
        assert page.painting.heads[0]["key"]

        async def rewrite(turn: int) -> None:
            desk.rewrite(window, f"{turn} other words")
            await page.until_equal(desk.pixels())

        steps = await undisturbed(hub, page, view.name, rewrite)
        assert not any(step["key"] for step in steps)
        assert sum(block["w"] * block["h"] for block in steps[-1]["blocks"]) <= 320 * 80


async def test_what_is_busy_is_sent_roughly_and_then_exactly(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    async with hub_of(shared) as hub, page_of(hub, view.name) as page:
        await page.want()
        await page.until_equal(desk.pixels())
        at = len(page.painting.heads)
        window = desk.window(Rect(64, 48, 512, 384))
        desk.show(window, noise(512, 384))
        await page.until_equal(desk.pixels())
        formats = [{block["format"] for block in head["blocks"]} for head in page.painting.heads[at:]]
        assert "jpeg" in set().union(*formats)
        assert formats[-1] == {"png"}
        assert page.painting.heads[-1]["frame"] == page.painting.heads[-2]["frame"]


async def test_a_quiet_screen_is_told_to_be_alive(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    async with hub_of(shared) as hub, page_of(hub, view.name) as page:
        await page.until_equal(desk.pixels())

        async def rest(_: int) -> None:
            heard = page.painting.kinds().count("alive")
            await page.until(lambda painting: painting.kinds().count("alive") >= heard + 3)

        assert await undisturbed(hub, page, view.name, rest) == []
        told = [one for one in page.painting.told if one["type"] == "alive"][-2:]
        assert told[1]["checked_ms"] > told[0]["checked_ms"]
        assert told[1]["frame"] == page.painting.heads[-1]["frame"]


async def test_a_slow_viewer_gets_the_newest_and_nothing_queues(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    async with hub_of(shared) as hub, page_of(hub, view.name) as page:
        await page.want()
        await page.until_equal(desk.pixels())

        async def paint(_: int) -> None:
            desk.fill(Rect(0, 0, 32, 32), 0x010101)
            while not (frame := await page.once(paints=False)):
                pass
            for shade in range(2, 40):
                desk.fill(Rect(0, 0, 32, 32), shade * 0x010101)
                await asyncio.sleep(0.01)
            await page.ack(frame)
            await page.until_equal(desk.pixels())

        steps = await undisturbed(hub, page, view.name, paint)
        assert len(steps) - 1 <= 3  # after the one that was not painted; not the 38 that were


async def test_two_viewers_share_what_is_made_and_both_see_everything(
    shared: Daemon, view: DisplayInfo, desk: Desk
) -> None:
    async with hub_of(shared) as hub, page_of(hub, view.name) as one, page_of(hub, view.name) as other:
        await one.want()
        await other.want(max_side_px=160)
        await one.until_equal(desk.pixels())
        await other.until(lambda painting: painting.heads)
        assert other.painting.picture.shape == (120, 160, 3)
        desk.fill(Rect(0, 0, 640, 480), 0x3366CC)
        await one.until_equal(desk.pixels())
        await other.until(lambda painting: (painting.picture[60, 80] == (0x33, 0x66, 0xCC)).all())
        await other.want()
        await other.until_equal(desk.pixels())


async def test_a_thumbnail_follows_small_changes(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    async with hub_of(shared) as hub, page_of(hub, view.name) as page:
        await page.want(max_side_px=320)
        await page.until(lambda painting: painting.heads)

        async def blink(turn: int) -> None:
            level = 0 if turn % 2 else 255
            desk.fill(Rect(100, 100, 64, 64), level * 0x010101)
            await page.until(lambda painting: (painting.picture[66, 66] == level).all())

        step = (await undisturbed(hub, page, view.name, blink))[-1]
        assert not step["key"]
        assert sum(block["w"] * block["h"] for block in step["blocks"]) < 60 * 60


async def test_nothing_is_grabbed_once_the_last_viewer_has_left(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    async with hub_of(shared) as hub:
        async with page_of(hub, view.name) as page:
            await page.until_equal(desk.pixels())
            assert scrape(shared).of("acud_display_wanted_fps", display=view.name) > 0

        def is_idle() -> bool:
            return scrape(shared).of("acud_display_wanted_fps", display=view.name) == 0

        await asyncio.to_thread(until, is_idle, "no demand of frames")  # the daemon hears of it a moment later
        _stands(shared, view, desk)


def _stands(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    """Return once the display is painted and none of that is grabbed: a grab may be under way at first."""
    shades = iter(range(1_000_000))

    def frame() -> int:
        desk.fill(Rect(0, 0, 8, 8), next(shades))
        return next(one.frame for one in _displays(shared.client) if one.name == view.name)

    seen = deque([frame()], maxlen=10)

    def stands() -> bool:
        seen.append(frame())
        return len(seen) == 10 and len(set(seen)) == 1

    until(stands, "the end of the grabbing")


def _displays(client: Client) -> tuple[DisplayInfo, ...]:
    return client.display_list().displays


async def test_a_lease_lapses_by_itself(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    async with AsyncClient(shared.paths) as client:
        found = await client.ask(LiveWatch(view.name, 10, 0.2), LiveWatched)
        assert found.path
        assert found.watch.startswith("live-")
        _stands(shared, view, desk)


async def test_another_size_is_a_key_frame(shared: Daemon) -> None:
    shown = shared.client.display_create(320, 240).display
    with Desk(shown.name, shown.auth_file) as desk:
        async with hub_of(shared) as hub, page_of(hub, shown.name) as page:
            await page.until_equal(desk.pixels())
            _resize(shown, "200x150")
            await page.until(lambda painting: painting.picture.shape == (150, 200, 3), "the new size")
            desk.fill(Rect(0, 0, 90, 90), 0x445566)
            await page.until_equal(desk.pixels(Rect(0, 0, 200, 150)))
    shared.client.display_remove(shown.name, force=True)


def _resize(display: DisplayInfo, size: str) -> None:
    env = {"PATH": os.environ["PATH"], "DISPLAY": display.name, "XAUTHORITY": display.auth_file}
    resize = ["xrandr", "--output", "screen", "--off", "--fb", size]
    subprocess.run(resize, env=env, check=True, capture_output=True, timeout=60)


HIDDEN = """
[redaction]
regions = [{ box = [16, 8, 100, 50] }]
windows = [{ title = "vault" }]
"""


async def test_what_rules_hide_is_black_for_whoever_is_elsewhere() -> None:
    with Daemon(settings=SCRIPTED + BARE + HIDDEN) as daemon:
        shown = daemon.client.display_create(320, 240).display
        with Desk(shown.name, shown.auth_file) as desk:
            desk.fill(Rect(0, 0, 320, 240), 0xFFFFFF)
            vault = desk.window(Rect(200, 100, 60, 40), 0x88FF88, title="my vault")
            async with (
                hub_of(daemon) as hub,
                page_of(hub, shown.name, hides=True) as far,
                page_of(hub, shown.name) as near,
            ):
                await near.until_equal(desk.pixels())
                await far.until_equal(_blackened(desk.pixels(), Rect(16, 8, 100, 50), Rect(200, 100, 60, 40)))
                desk.place(vault, Rect(150, 180, 60, 40))
                await far.until_equal(_blackened(desk.pixels(), Rect(16, 8, 100, 50), Rect(150, 180, 60, 40)))
                await near.until_equal(desk.pixels())


def _blackened(pixels: Pixels, *boxes: Rect) -> Pixels:
    for box in boxes:
        pixels[box.y : box.bottom, box.x : box.right] = 0
    return pixels


@pytest.fixture
def own() -> Iterator[Daemon]:
    """A daemon that may be broken."""
    with Daemon(settings=SCRIPTED + BARE) as running:
        yield running


async def test_stopped_and_killed_capture_is_a_loss_and_then_a_key_frame(own: Daemon) -> None:
    shown = own.client.display_create(320, 240).display
    with Desk(shown.name, shown.auth_file) as desk:
        async with hub_of(own) as hub, page_of(hub, shown.name) as page:
            await page.want()
            await page.until_equal(desk.pixels())
            capture, at = _capture(own), len(page.painting.told)
            os.kill(capture, signal.SIGSTOP)
            await page.until(lambda painting: "lost" in painting.kinds()[at:], "the loss")
            lost = next(one for one in page.painting.told[at:] if one["type"] == "lost")
            assert lost["code"] in ("stale", "silent")
            with suppress(ProcessLookupError):  # one that was silent for long is ended
                os.kill(capture, signal.SIGCONT)
            await _back(page, desk)

            os.kill(_capture(own), signal.SIGKILL)
            at = len(page.painting.told)
            await page.until(lambda painting: "lost" in painting.kinds()[at:], "the loss")
            desk.fill(Rect(10, 10, 50, 50), 0x00FF00)
            await _back(page, desk)
            assert page.painting.heads[-1]["epoch"] > 1


async def test_a_display_that_is_removed_says_bye(shared: Daemon) -> None:
    shown = shared.client.display_create(320, 240).display
    async with hub_of(shared) as hub, page_of(hub, shown.name) as page:
        await page.until(lambda painting: painting.heads)
        shared.client.display_remove(shown.name, force=True)
        with pytest.raises(Ended) as ended:
            await page.until(lambda painting: False)
        assert ended.value.bye.code in ("ended", "not_found")


def _capture(daemon: Daemon) -> int:
    """Return its process, once there is one: one that is being started again has the pid 0."""
    return until(lambda: _child(daemon, "capture").pid, "a capture process")


def _child(daemon: Daemon, kind: str) -> ChildStatus:
    return next(child for child in daemon.client.status().children if child.kind == kind)


async def _back(page: Page, desk: Desk) -> None:
    """Wait for a key frame, and the whole picture."""
    at = len(page.painting.heads)
    await page.until(lambda painting: len(painting.heads) > at, "a frame")
    assert page.painting.heads[at]["key"]
    await page.until_equal(desk.pixels())
