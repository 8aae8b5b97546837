"""A picture on a real display: it comes, moves and goes, is clicked, outlasts the daemon; what is none is refused."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from acud.base import png
from acud.base.errors import InvalidRequest
from acud.types import AllOf, AnyOf, DisplayInfo, NotOf, Rect, ScreenImage, Text, WaitState, appears_then_goes
from acud.types.actions import Click, CursorPosition, Point
from acud_client import Client
from acud_client.image_files import png_of
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import BARE
from tests.e2e.desktop import Desk, Pixels, ended, judged, shown, titled, until
from tests.e2e.recording import act
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
WINDOW = Rect(40, 30, 300, 200)
PLACE = re.compile(r"at (\d+),(\d+) \(48x20\), its middle at (\d+),(\d+); similarity (\d\.\d\d)")


def button(colour: int) -> Pixels:
    """Return a button of 48x20 with a lamp of `colour` and a mark, BGRX."""
    pixels = np.full((20, 48, 4), 225, np.uint8)
    pixels[[0, 19], :] = pixels[:, [0, 47]] = 120
    pixels[6:14, 6:14, :3] = colour & 255, colour >> 8 & 255, colour >> 16
    pixels[5:15, 24:26] = pixels[9:11, 20:40] = 30
    return pixels


def page(at: tuple[int, int] | None = None, colour: int = 0xC02020) -> Pixels:
    """Return the window's pixels, with the button at `at`."""
    pixels = np.full((WINDOW.h, WINDOW.w, 4), 250, np.uint8)
    pixels[::12, 10:-10] = 60
    if at is not None:
        pixels[at[1] : at[1] + 20, at[0] : at[0] + 48] = button(colour)
    return pixels


RED = png.encode(button(0xC02020))


@pytest.fixture(scope="module")
def image_daemon() -> Iterator[Daemon]:
    with Daemon(settings=BARE + '[vision]\nbackend = "ocr"\n') as running:
        yield running


def _place(detail: str) -> tuple[int, ...]:
    found = PLACE.search(detail)
    assert found is not None, detail
    return tuple(int(found[n]) for n in range(1, 5))


def test_a_picture_that_comes_moves_and_goes(client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.window(WINDOW, title="icons")
    desk.show(window, page())
    came = client.wait_create(ScreenImage(RED), display=view.name, timeout_s=LONG_S).wait
    assert (came.spec.until.png, came.spec.until.width, came.spec.until.height) == (b"", 48, 20)  # type: ignore[union-attr]
    assert "nowhere" in judged(client, came.wait_id, "no").verdict.detail
    desk.show(window, page((100, 60), 0x20C020))  # the same in green is another one
    desk.show(window, page((10, 60)))
    done = ended(client, came.wait_id)
    assert done.state is WaitState.RESOLVED
    assert "the image (48x20) is visible" in done.message
    assert done.evidence is not None
    assert done.evidence.name
    assert _place(done.verdict.detail) == (50, 90, 74, 100)

    gone = client.wait_create(ScreenImage(RED, gone=True), "window:icons", display=view.name, timeout_s=LONG_S).wait
    still = judged(client, gone.wait_id, "no").verdict
    assert _place(still.detail) == (50, 90, 74, 100)
    assert still.boxes == (Rect(50 - WINDOW.x, 90 - WINDOW.y, 48, 20),), "of the target's own picture"
    desk.show(window, page((200, 150)))
    until(lambda: "at 240,180" in shown(client, gone.wait_id).verdict.detail, "its new place")
    place = _place(shown(client, gone.wait_id).verdict.detail)
    act(client, Click(Point(place[2], place[3])), display=view.name)
    assert act(client, CursorPosition(), display=view.name).cursor == Point(264, 190)
    desk.show(window, page((200, 150), 0x20C020))
    done = ended(client, gone.wait_id)
    assert done.state is WaitState.RESOLVED
    assert "not there when" not in done.verdict.detail


def test_a_picture_is_a_stage_of_a_sequence_and_comes_and_goes(client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.window(WINDOW, title="icons")
    desk.show(window, page())
    wait = client.wait_create(appears_then_goes(ScreenImage(RED)), display=view.name, timeout_s=LONG_S).wait
    judged(client, wait.wait_id, "no")
    desk.show(window, page((10, 60)))
    reached = until(lambda: shown(client, wait.wait_id).stages, "its first stage")
    assert _place(reached[0].verdict.detail) == (50, 90, 74, 100)
    assert shown(client, wait.wait_id).state is WaitState.WATCHING
    desk.show(window, page((200, 150), 0x20C020))
    done = ended(client, wait.wait_id)
    assert done.state is WaitState.RESOLVED
    assert client.evidence(wait.wait_id, stage=1).image != client.evidence(wait.wait_id).image


def test_a_covered_windows_picture_has_its_place_on_the_display(client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.window(WINDOW, title="covered icons")
    desk.show(window, page((100, 60)))
    desk.window(Rect(0, 0, 400, 300), 0x804020)
    until(lambda: titled(client, view.name, "covered icons").visibility == "covered")
    wait = client.wait_create(ScreenImage(RED), "window:covered icons", display=view.name, timeout_s=LONG_S).wait
    assert _place(ended(client, wait.wait_id).verdict.detail) == (140, 90, 164, 100)


def test_all_any_and_not_of_pictures(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.show(desk.window(WINDOW), page((10, 10)))
    green = png.encode(button(0x20C020))
    both = AllOf((AnyOf((ScreenImage(green), ScreenImage(RED))), NotOf(ScreenImage(green))))
    assert ended(client, client.wait_create(both, display=view.name, timeout_s=LONG_S).wait.wait_id).state == "resolved"
    never = client.wait_create(NotOf(ScreenImage(green)), display=view.name, timeout_s=0).wait
    done = ended(client, never.wait_id)
    assert (done.state, done.verdict.detail.endswith("not there when the wait began to look")) == ("resolved", True)


def test_updates_and_expected_effects_take_pictures(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.show(desk.window(WINDOW), page((10, 10)))
    wait = client.wait_create(ScreenImage(png.encode(button(0x20C020))), display=view.name, timeout_s=LONG_S).wait
    judged(client, wait.wait_id, "no")
    client.wait_update(wait.wait_id, until=ScreenImage(RED))
    assert _place(ended(client, wait.wait_id).verdict.detail) == (50, 40, 74, 50)
    done = client.gui_do("click 70 100", display=view.name, expect=ScreenImage(RED), timeout_s=30)
    assert done.status == "verified"


def _useless_pictures() -> Iterator[bytes]:
    """Yield pictures whose opaque part is of one colour: nearly, large, by a palette."""
    near = np.full((20, 20, 4), 80, np.uint8)
    near[0, 0, 0] += 1
    yield png.encode(near)
    clear = Image.new("RGBA", (300, 200), (9, 90, 3, 0))
    clear.paste((200, 20, 20, 255), (40, 30, 200, 150))
    for picture in (clear, clear.quantize()):
        written = io.BytesIO()
        picture.save(written, "PNG")
        yield written.getvalue()


def test_what_cannot_be_looked_for_says_why(client: Client, view: DisplayInfo, desk: Desk) -> None:
    for broken, why in (
        (b"GIF89a", "no PNG"),
        (RED[: len(RED) // 2], "can't be decoded"),
        (RED.replace(b"IDAT", b"IDAX", 1), "can't be decoded"),
        (png.encode(np.zeros((7, 40, 4), np.uint8)), "at least 8"),
        (png.encode(np.zeros((600, 600, 4), np.uint8)), "at most 262144 pixels"),
    ):
        with pytest.raises(InvalidRequest, match=why):
            client.wait_create(ScreenImage(broken), display=view.name)
    with pytest.raises(InvalidRequest, match="no image with the digest"):
        client.wait_create(AnyOf((Text("x"), ScreenImage(digest="0" * 32))), display=view.name)
    for flat in _useless_pictures():
        for asked in (ScreenImage(flat), AnyOf((Text("x"), NotOf(ScreenImage(flat))))):
            with pytest.raises(InvalidRequest, match="of one colour"):
                client.wait_create(asked, display=view.name)
    large = client.wait_create(NotOf(ScreenImage(RED)), "region:0,0,40,40", display=view.name).wait
    judged(client, large.wait_id, "unknown", "image_too_large")


def test_a_picture_outlasts_its_daemon_and_is_in_no_list_and_no_event(image_daemon: Daemon, tmp_path: Path) -> None:
    acud, client = CommandLine(image_daemon.home), image_daemon.client
    made = client.display_create(400, 300).display
    with Desk(made.name, made.auth_file) as desk:
        window = desk.window(WINDOW)
        desk.show(window, page((100, 60)))
        acud.run("look", "-d", made.name, "-o", str(tmp_path / "look.png"))
        desk.show(window, page())
        part = f"{tmp_path / 'look.png'}#140,90,48,20"
        armed = acud.run("wait", "--image", part, "-d", made.name, "--detach").strip()
        assert judged(client, armed, "no").judged
        image_daemon.kill()
        image_daemon.start()
        listed = acud.json("wait", "list")
        (leaf,) = (one["spec"]["until"] for one in listed["waits"])
        assert (leaf["type"], leaf["width"], leaf["height"], leaf.get("png", "")) == ("image", 48, 20, "")
        assert len(json.dumps(listed)) < 3000
        desk.show(window, page((30, 100)))
        done = ended(client, armed)
        assert _place(done.verdict.detail) == (70, 130, 94, 140)
        again = client.wait_create(done.spec.until, display=made.name, timeout_s=LONG_S).wait
        assert ended(client, again.wait_id).state is WaitState.RESOLVED
        told = acud.run("events", "--since", "0", "--json")
        assert "the image (48x20) is visible" in told
        assert png_of(part)[40:60].hex() not in told
    refused = acud.run("wait", "--image", str(image_daemon.home / "acud.toml"), "-d", made.name, code=2)
    assert refused == ""
