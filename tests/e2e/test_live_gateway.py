"""Live screens over HTTP: a WebSocket and an MJPEG stream of a real daemon's gateway, and passes that end them."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from itertools import islice

import httpx
import numpy as np
import pytest
from PIL import Image
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from acud.protocol.web import Scope
from acud.types import DisplayInfo, Rect
from tests.e2e.desktop import Desk, until
from tests.e2e.gateway_support import SETTINGS, Browser, served, token
from tests.e2e.live_support import Page
from tests.fixtures.daemon import Daemon

LIMITED = "live_streams_per_pass = 2\n[redaction]\nregions = [{ box = [0, 0, 100, 50] }]\n"


DAEMON_SETTINGS = SETTINGS + LIMITED


@pytest.fixture(scope="module")
def view(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(320, 240).display


@pytest.fixture
def desk(view: DisplayInfo) -> Iterator[Desk]:
    with Desk(view.name, view.auth_file) as working:
        yield working


@pytest.fixture
def url(daemon: Daemon) -> str:
    return served(daemon)


@asynccontextmanager
async def socket_of(url: str, display: str, bearer: str) -> AsyncIterator[ClientConnection]:
    """A WebSocket with that token."""
    address = url.replace("http", "ws", 1) + f"/api/live/{display}"
    head = {"Authorization": f"Bearer {bearer}"}
    async with connect(address, additional_headers=head, proxy=None, open_timeout=60, max_size=None) as opened:
        yield opened


@asynccontextmanager
async def page_of(url: str, display: str, bearer: str) -> AsyncIterator[Page]:
    """A page that paints what comes."""
    async with socket_of(url, display, bearer) as opened:
        yield Page(opened.recv, opened.send)


@pytest.mark.asyncio
async def test_a_page_paints_the_display(daemon: Daemon, url: str, view: DisplayInfo, desk: Desk) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    async with page_of(url, view.name, secret) as page:
        await page.want()
        await page.until_equal(desk.pixels())
        desk.fill(view_box(view), 0x336699)
        await page.until_equal(desk.pixels())  # this host's viewers see what rules hide from others


def view_box(view: DisplayInfo) -> Rect:
    """The whole of it."""
    return Rect(0, 0, view.width, view.height)


@pytest.mark.asyncio
async def test_a_revoked_pass_ends_it(daemon: Daemon, url: str, view: DisplayInfo) -> None:
    secret, made = token(daemon.client, Scope.READ)
    async with page_of(url, view.name, secret) as page:
        await page.until(lambda painting: painting.heads)
        daemon.client.web_token_revoke(made.pass_id)
        with pytest.raises(ConnectionClosed):
            await page.until(lambda painting: False)
        assert page.painting.told[-1]["type"] == "bye"
        assert page.painting.told[-1]["code"] == "revoked"


@pytest.mark.asyncio
async def test_limits_of_passes(daemon: Daemon, url: str, view: DisplayInfo) -> None:
    task = daemon.client.task_register("shown", isolated_display=True).view.task
    own, _ = token(daemon.client, Scope.READ, tasks=(task.task_id,))
    async with page_of(url, task.display, own) as page:
        await page.until(lambda painting: painting.heads)
    assert await _refused(url, view.name, own) == (403, "forbidden")
    assert await _refused(url, ":9999", own) == (403, "forbidden")
    other, _ = token(daemon.client, Scope.READ, displays=(":9999",))
    assert await _refused(url, view.name, other) == (403, "forbidden")
    everything, _ = token(daemon.client, Scope.READ)
    assert await _refused(url, ":9999", everything) == (404, "not_found")


@pytest.mark.asyncio
async def test_a_pass_has_so_many_streams_and_no_more(daemon: Daemon, url: str, view: DisplayInfo) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    async with page_of(url, view.name, secret) as one, page_of(url, view.name, secret) as two:
        await one.until(lambda painting: painting.heads)
        await two.until(lambda painting: painting.heads)
        assert await _refused(url, view.name, secret) == (429, "too_many")
        with Browser(url, secret) as browser:
            assert browser.ask("GET", f"/api/live/{view.name}.mjpeg")[0] == 429


async def _refused(url: str, display: str, bearer: str) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as refused:
        async with socket_of(url, display, bearer):
            pass
    answer = refused.value.response
    return answer.status_code, json.loads(answer.body or b"{}")["code"]


@pytest.mark.asyncio
async def test_what_means_nothing_ends_it(daemon: Daemon, url: str, view: DisplayInfo) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    for said in ('{"type": "want", "fps": 1000}', "nonsense", b"\0", '{"type": "ack", "frame": ' + "1" * 5000 + "}"):
        async with socket_of(url, view.name, secret) as opened:
            await opened.send(said)
            closed = await _closed(opened)
            assert closed.rcvd is not None
            assert closed.rcvd.code == 1008


async def _closed(opened: ClientConnection) -> ConnectionClosed:
    try:
        while True:
            await opened.recv()
    except ConnectionClosed as closed:
        return closed


def test_mjpeg_shows_changes_and_ends_with_the_pass(daemon: Daemon, url: str, view: DisplayInfo, desk: Desk) -> None:
    secret, made = token(daemon.client, Scope.READ)
    desk.fill(view_box(view), 0xC03020)
    head = {"Authorization": f"Bearer {secret}"}
    with httpx.stream("GET", f"{url}/api/live/{view.name}.mjpeg", headers=head, timeout=60, trust_env=False) as answer:
        assert answer.headers["content-type"].startswith("multipart/x-mixed-replace")
        with closing(_pictures(answer)) as shown:
            _until_like(shown, (0xC0, 0x30, 0x20))
            desk.fill(view_box(view), 0x20C030)
            _until_like(shown, (0x20, 0xC0, 0x30))
            daemon.client.web_token_revoke(made.pass_id)
            assert len(list(islice(shown, 5))) < 5  # it ends; what was on its way may still come


def test_a_small_picture_is_of_now_hides_nothing_here_and_is_not_sent_twice(
    daemon: Daemon, url: str, view: DisplayInfo, desk: Desk
) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    path = f"/api/live/{view.name}.jpeg"
    with Browser(url, secret) as browser:
        desk.fill(view_box(view), 0xC03020)
        before = until(lambda: _of_colour("red", _small(browser, path)), "the picture")
        seal = {"If-None-Match": before.headers["etag"]}
        assert _small(browser, path, seal).status_code == 304
        desk.fill(view_box(view), 0x20C030)
        until(lambda: _of_colour("green", _small(browser, path, seal)), "the next picture")
        assert browser.ask("GET", "/api/live/:9998.jpeg")[0] == 404


def _small(browser: Browser, path: str, head: dict[str, str] | None = None) -> httpx.Response:
    """Return the answer, once it is another than that nothing was grabbed in time."""

    def found() -> httpx.Response | None:
        answer = browser.raw.get(path, headers=head)
        return answer if answer.status_code != 503 else None

    return until(found, "an answer")


def _of_colour(wanted: str, answer: httpx.Response) -> httpx.Response | None:
    if answer.status_code == 304:
        return None
    red, green, _ = np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB"))[120, 160].astype(int)
    found = "red" if red > 150 > green else "green" if green > 150 > red else ""
    return answer if found == wanted else None


def _until_like(shown: Iterator[Image.Image], colour: tuple[int, int, int]) -> None:
    for picture in shown:
        if np.abs(np.asarray(picture.convert("RGB"))[120, 160].astype(int) - colour).max() < 8:
            return
    pytest.fail("the stream ended")


def _pictures(answer: httpx.Response) -> Iterator[Image.Image]:
    """Yield the parts of the answer."""
    data = b""
    for more in answer.iter_raw():
        data += more
        while b"\r\n\r\n" in data:
            head, _, rest = data.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            if len(rest) < length + 2:
                break
            yield Image.open(io.BytesIO(rest[:length]))
            data = rest[length + 2 :]


@pytest.mark.asyncio
async def test_nothing_is_watched_once_everybody_has_gone(
    daemon: Daemon, url: str, view: DisplayInfo, desk: Desk
) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    async with page_of(url, view.name, secret) as page:
        await page.until(lambda painting: painting.heads)
    shades = iter(range(1, 1 << 24))

    def frame() -> int:
        desk.fill(view_box(view), next(shades))
        return next(one.frame for one in daemon.client.display_list().displays if one.name == view.name)

    until(lambda: len({frame() for _ in range(5)}) == 1, "the end of the demand")
