"""Pictures of a real display: exact to the pixel, fresh, whole or in part; and the one picture of wait_for_change."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

from acud.base.errors import InvalidRequest, NotFound
from acud.types import Change, DisplayInfo, Rect, WaitState
from acud_client import Client
from acud_client.exposition import text
from tests.e2e.desktop import Desk, decoded, ended, titled, until
from tests.e2e.metrics import Scrape
from tests.fixtures.daemon import Daemon

# ---- look ------------------------------------------------------------------------------------------------------------


def test_the_whole_display_to_the_pixel(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(33, 44, 300, 200), "Words to read", title="Words")
    desk.fill(Rect(401, 3, 7, 9), 0x123456)
    picture = client.look(display=view.name)
    assert np.array_equal(decoded(picture.image), desk.pixels())
    assert (picture.display, picture.crop, picture.format) == (view.name, Rect(0, 0, 640, 480), "png")
    assert (picture.width, picture.height) == (640, 480)


def test_a_region_to_the_pixel(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(33, 44, 300, 200), "Words to read", title="Words")
    box = Rect(41, 51, 133, 77)
    picture = client.look("region:41,51,133,77", display=view.name)
    assert np.array_equal(decoded(picture.image), desk.pixels(box))
    assert picture.crop == box


def test_a_picture_is_never_older_than_the_call(client: Client, view: DisplayInfo, desk: Desk) -> None:
    for shade in range(1, 40):
        desk.fill(Rect(7, 7, 3, 3), shade)
        picture = client.look("region:7,7,3,3", display=view.name)
        assert decoded(picture.image)[1, 1, 2] == shade
        assert picture.frame_age_s < 30.0


def test_a_visible_and_a_covered_window(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(50, 60, 200, 100), "Underneath", title="Under")
    titled(client, view.name, "Under")
    before = client.look("window:Under", display=view.name)
    assert (before.crop, before.width) == (Rect(50, 60, 200, 100), 200)
    desk.window(Rect(0, 0, 640, 480), 0xAA0000, title="Over")
    until(lambda: titled(client, view.name, "Under").visibility == "covered")
    covered = client.look("window:Under", display=view.name)
    assert np.array_equal(decoded(covered.image), decoded(before.image))
    assert (decoded(client.look("window:Over", display=view.name).image) == (0xAA, 0, 0)).all()


def test_a_covered_window_again_and_again(client: Client, view: DisplayInfo, desk: Desk) -> None:
    under = desk.window(Rect(50, 60, 200, 100), 0x0000FF, title="Under")
    desk.window(Rect(0, 0, 640, 480), 0xAA0000, title="Over")
    until(lambda: titled(client, view.name, "Under").visibility == "covered")
    client.look("window:Under", display=view.name)  # what was painted under a cover before that is lost, as X has it
    for shade in range(1, 20):
        desk.fill(Rect(0, 0, 10, 10), shade, under)
        assert decoded(client.look("window:Under", display=view.name).image)[5, 5, 2] == shade


def test_jpeg_and_smaller(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.fill(Rect(0, 0, 640, 480), 0x3366CC)
    small = client.look(display=view.name, format="jpeg", max_side_px=320, quality=95)
    assert (small.width, small.height, small.format) == (320, 240, "jpeg")
    with Image.open(io.BytesIO(small.image)) as image:
        assert (image.format, image.size) == ("JPEG", (320, 240))
    assert np.abs(decoded(small.image).astype(int) - (0x33, 0x66, 0xCC)).max() <= 4
    png = client.look(display=view.name, max_side_px=64)
    assert decoded(png.image).shape == (48, 64, 3)
    assert client.look(display=view.name, max_side_px=5000).width == 640


def test_what_is_not_there_cannot_be_looked_at(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.window(Rect(0, 0, 50, 50), title="Only this")
    titled(client, view.name, "Only this")
    with pytest.raises(NotFound, match="no window matches 'Nothing'") as fault:
        client.look("window:Nothing", display=view.name)
    assert "Only this" in fault.value.hint
    with pytest.raises(NotFound, match="outside"):
        client.look("region:1000,1000,10,10", display=view.name)
    with pytest.raises(NotFound):
        client.look("display::54321")
    with pytest.raises(InvalidRequest):
        client.look("moon")


# ---- wait_for_change -------------------------------------------------------------------------------------------------


def _wanted(client: Client, display: str) -> bool:
    return Scrape(text(client.metrics().metrics)).of("acud_display_wanted_fps", display=display) > 0


@contextmanager
def _soon(shared: Daemon, desk: Desk, box: Rect, colour: int = 0xFFFFFF) -> Iterator[None]:
    """Paint in a while, once the call made meanwhile has its baseline: it wants frames then."""

    def paint() -> None:
        with Client(shared.paths, timeout_s=60.0) as own:
            until(lambda: _wanted(own, desk.display), "the call")
        time.sleep(0.3)
        desk.fill(box, colour)

    with ThreadPoolExecutor(1) as painting:
        done = painting.submit(paint)
        yield
        done.result()


def test_one_call_one_picture_with_share_and_box(shared: Daemon, client: Client, view: DisplayInfo, desk: Desk) -> None:
    client.look(display=view.name)
    with _soon(shared, desk, Rect(160, 96, 64, 32)):
        reply = client.wait_for_change(display=view.name, timeout_s=60.0)
    assert (reply.changed, reply.box) == (True, Rect(160, 96, 64, 32))
    assert reply.share == pytest.approx(64 * 32 / (640 * 480), abs=1e-6)
    assert (decoded(reply.picture.image)[100, 170] == 255).all()
    assert reply.waited_s >= 0.3
    assert "Changed" in reply.message


def test_a_timeout_returns_the_target_as_it_is_and_says_so(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.fill(Rect(0, 0, 640, 480), 0x224466)
    reply = client.wait_for_change(display=view.name, timeout_s=0.5)
    assert (reply.changed, reply.share, reply.box) == (False, 0.0, None)
    assert "No change in 0.5 s" in reply.message
    assert np.array_equal(decoded(reply.picture.image), desk.pixels())
    assert client.wait_for_change(display=view.name, timeout_s=0.0).changed is False


def test_less_than_the_share_is_told_as_what_it_is(client: Client, view: DisplayInfo, desk: Desk) -> None:
    token = client.baseline(display=view.name).baseline
    desk.fill(Rect(0, 0, 64, 48), 0x224466)
    reply = client.wait_for_change(display=view.name, timeout_s=0.5, share=0.5, baseline=token)
    assert (reply.changed, reply.box) == (False, Rect(0, 0, 64, 48))
    assert reply.share == pytest.approx(0.01)
    assert "1.0%" in reply.message
    assert "50.0%" in reply.message


def test_a_baseline_from_a_look_catches_what_came_meanwhile(client: Client, view: DisplayInfo, desk: Desk) -> None:
    seen = client.look(display=view.name)
    desk.fill(Rect(320, 240, 16, 16), 0xABCDEF)
    reply = client.wait_for_change(display=view.name, timeout_s=60.0, baseline=seen.baseline)
    assert (reply.changed, reply.box) == (True, Rect(320, 240, 16, 16))
    again = client.wait_for_change(display=view.name, timeout_s=0.3, baseline=reply.picture.baseline)
    assert again.changed is False


def test_a_covered_window_has_baselines_too(client: Client, view: DisplayInfo, desk: Desk) -> None:
    under = desk.window(Rect(50, 60, 200, 100), 0x0000FF, title="Under")
    over = desk.window(Rect(0, 0, 640, 480), 0xAA0000, title="Over")
    until(lambda: titled(client, view.name, "Under").visibility == "covered")
    seen = client.look("window:Under", display=view.name)
    desk.recolour(over, 0x00AA00)
    still = client.wait_for_change("window:Under", display=view.name, timeout_s=0.5, baseline=seen.baseline)
    assert still.changed is False
    desk.fill(Rect(16, 16, 16, 16), 0xFFFFFF, under)
    reply = client.wait_for_change("window:Under", display=view.name, timeout_s=60.0, baseline=seen.baseline)
    assert (reply.changed, reply.box) == (True, Rect(16, 16, 16, 16))


def test_settling_returns_the_settled_picture(client: Client, view: DisplayInfo, desk: Desk) -> None:
    token = client.baseline(display=view.name).baseline
    painted_s: list[tuple[float, float]] = []
    """When each painting began and was through."""

    def work() -> None:
        for shade in range(1, 7):
            began_s = time.monotonic()
            desk.fill(Rect(64, 64, 32, 32), shade)
            painted_s.append((began_s, time.monotonic()))
            time.sleep(0.2)

    working = threading.Thread(target=work)
    working.start()
    reply = client.wait_for_change(display=view.name, timeout_s=60.0, settle_s=1.0, baseline=token)
    returned_s = time.monotonic()
    working.join()
    assert reply.changed
    stood_s = max(after[1] - before[0] for before, after in itertools.pairwise(painted_s))
    if stood_s < 0.9:  # else this machine stood still for a second, and so did the screen
        assert returned_s - painted_s[-1][0] >= 0.9
        assert decoded(reply.picture.image)[70, 70, 2] == 6


def test_an_unsettled_screen_times_out_and_says_so(client: Client, view: DisplayInfo, desk: Desk) -> None:
    token = client.baseline(display=view.name).baseline
    desk.fill(Rect(64, 64, 32, 32), 1)
    stop = threading.Event()

    def work() -> None:
        shade = 1
        while not stop.wait(0.05):
            shade += 1
            desk.fill(Rect(64, 64, 32, 32), shade)

    working = threading.Thread(target=work)
    working.start()
    try:
        reply = client.wait_for_change(display=view.name, timeout_s=2.0, settle_s=100.0, baseline=token)
    finally:
        stop.set()
        working.join()
    assert (reply.changed, reply.box) == (False, Rect(64, 64, 32, 32))
    assert "not settled" in reply.message


def test_a_blocking_call_leaves_no_wait_behind(client: Client, view: DisplayInfo, desk: Desk) -> None:
    before = client.wait_list(ended=True).total
    client.wait_for_change(display=view.name, timeout_s=0.1)
    assert client.wait_list(ended=True).total == before


def test_a_display_removed_during_a_call_is_its_answer(shared: Daemon, client: Client) -> None:
    made = client.display_create(64, 64).display

    def block() -> None:
        with Client(shared.paths) as own:
            own.wait_for_change(f"display:{made.name}", timeout_s=300)

    with ThreadPoolExecutor(1) as blocking:
        blocked = blocking.submit(block)
        until(lambda: _wanted(client, made.name), "the call")
        client.display_remove(made.name)
        with pytest.raises(NotFound, match="no display"):
            blocked.result(timeout=60)  # long before its own time is over
    assert client.status().pid == shared.pid


def test_looks_do_not_disturb_waits(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Change(), display=view.name, timeout_s=1.0).wait.wait_id
    for _ in range(10):
        client.look(display=view.name)
    assert ended(client, wait).state is WaitState.TIMEOUT
