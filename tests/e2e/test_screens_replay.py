"""A recording in the browser: each step shows its own frame, and marks and clicks are where they belong."""

from __future__ import annotations

import itertools
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import av
import numpy as np
import pytest
from playwright.sync_api import expect

from acud.protocol.recordings import RecordingInfo
from acud.protocol.web import Scope
from acud.types import Change, DisplayInfo, Rect, WaitState, WindowTitle
from acud.types.actions import Click, Point
from tests.e2e.chromium import PATIENCE_MS, SETTINGS, Chromium, Pixels, Visit, is_there
from tests.e2e.desktop import Desk, until
from tests.e2e.recording import act
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.skipif(not is_there(), reason="there is no Chromium")

_BITS = 4
_STEPS = 7
STILL_S = 4.0


DAEMON_SETTINGS = SETTINGS + "[recording]\nfps = 10\n"


@pytest.fixture(scope="module")
def session(daemon: Daemon, chromium: Chromium) -> Iterator[Visit]:
    with chromium.visit(daemon, "usage") as one:
        yield one


@pytest.fixture
def visit(session: Visit) -> Visit:
    """A page without a past, of somebody who is logged in."""
    session.page.goto("about:blank")
    session.page.set_viewport_size({"width": 1280, "height": 900})
    session.page.emulate_media(color_scheme="light")
    session.go("usage")  # which shows no display
    return session


def found(daemon: Daemon, recording_id: str) -> RecordingInfo:
    return next(one for one in daemon.client.record_list().recordings if one.recording_id == recording_id)


def squares(number: int) -> Pixels:
    """Return `number` as white squares on grey: 100x320 BGRX."""
    pixels = np.full((100, 320, 4), 0x20, np.uint8)
    for bit in range(_BITS):
        pixels[32:64, 16 + 48 * bit : 48 + 48 * bit] = 0xFF if number >> bit & 1 else 0x20
    return pixels


def count_up(daemon: Daemon, desk: Desk, window: int, recording_id: str, numbers: range) -> None:
    """Show each number, and go on once the recording has it."""
    for number in numbers:
        with one_more(daemon, recording_id, f"the frame of {number}"):
            desk.show(window, squares(number))


@contextmanager
def one_more(daemon: Daemon, recording_id: str, what: str) -> Iterator[None]:
    """Leave once the recording has a frame that it had not before; nothing else may be under way."""
    before = found(daemon, recording_id).frames
    yield
    until(lambda: found(daemon, recording_id).frames > before, what)


def blackboard(daemon: Daemon, desk: Desk, recording_id: str) -> int:
    """Map the window of the numbers, and return it once the recording has it: its frame is not taken for a number's."""
    until(lambda: found(daemon, recording_id).frames, "the frame of the bare display")
    with one_more(daemon, recording_id, "the frame of the window"):
        return desk.window(Rect(0, 0, 320, 100), 0x202020)


_DECODED = """() => {
  const video = document.querySelector("video");
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  const drawn = canvas.getContext("2d", { willReadFrequently: true });
  drawn.drawImage(video, 0, 0);
  const bright = (bit) => drawn.getImageData(32 + 48 * bit, 48, 1, 1).data[0] > 128;
  return [...Array(BITS).keys()].reduce((sum, bit) => sum + (bright(bit) ? 1 << bit : 0), 0);
}""".replace("BITS", str(_BITS))


def number(visit: Visit) -> int:
    """Return the number of the frame that was asked for, once the page shows it: it is painted after it is decoded."""
    visit.until("() => { const v = document.querySelector('video'); return !v.seeking && v.readyState >= 2; }")
    decoded: int = visit.page.evaluate(_DECODED)
    until(lambda: painted_number(visit) == decoded, f"the number {decoded} on the page")
    return decoded


def painted_number(visit: Visit) -> int:
    """Return the number that the page shows now."""
    pixels = visit.pixels(".replay-video")
    return sum(1 << bit for bit in range(_BITS) if np.median(pixels[40:56, 24 + 48 * bit : 40 + 48 * bit]) > 128)


def mounted(visit: Visit, recording_id: str) -> None:
    """Show the replay of the recording."""
    visit.page.evaluate(
        "async (id) => { const [{ mountReplay }, { api }] = await Promise.all("
        "[import('/static/pages/replay.js'), import('/static/parts/api.js')]);"
        "await mountReplay(document.getElementById('main'), api, id); }",
        recording_id,
    )
    visit.page.get_by_role("slider", name="Time").focus()


def shown_numbers(visit: Visit, key: str) -> list[int]:
    """Press `key` until nothing moves, and return the numbers on the way, each once in a row."""
    said = visit.page.locator(".replay-where")
    numbers, before = [number(visit)], ""
    while said.inner_text() != before:
        before = said.inner_text()
        visit.page.keyboard.press(key)
        now = number(visit)
        numbers += [now] if now != numbers[-1] else []
    return numbers


def test_each_step_shows_its_frame(daemon: Daemon, visit: Visit) -> None:
    client = daemon.client
    task = client.task_register("Count to six", ("count",), display_width=320).view.task
    view = next(one for one in client.display_list().displays if one.name == task.display)
    recording_id = until(lambda: client.record_list(task_id=task.task_id).recordings, "its recording")[0].recording_id
    with Desk(view.name, view.auth_file) as desk:
        window = blackboard(daemon, desk, recording_id)
        count_up(daemon, desk, window, recording_id, range(1, 5))
        act(client, Click(Point(100, 50)), task_id=task.task_id)
        client.task_thread(task.task_id)
        count_up(daemon, desk, window, recording_id, range(5, _STEPS))
        client.record_stop(recording_id)  # what the display shows now is its last frame
    mounted(visit, recording_id)
    visit.page.keyboard.press("Home")
    numbers = shown_numbers(visit, "ArrowRight")
    assert numbers[numbers.index(1) :] == list(range(1, _STEPS))
    assert shown_numbers(visit, "ArrowLeft") == numbers[::-1]
    visit.page.evaluate("document.activeElement.blur()")  # as it is for who has just opened the recording
    assert shown_numbers(visit, "ArrowRight") == numbers
    last = visit.page.locator(".replay-where").inner_text()
    visit.page.keyboard.press("ArrowLeft")
    expect(visit.page.locator(".replay-where")).not_to_have_text(last)
    click_shows(visit)
    visit.shot("screens-replay")
    plays_elsewhere(visit, recording_id)


def plays_elsewhere(visit: Visit, recording_id: str) -> None:
    """Download the video: it has the task's name, its start, chapters, and begins with the first window, not black."""
    visit.go(f"recordings/{recording_id}")
    with visit.page.expect_download() as coming:
        visit.page.get_by_role("link", name="Download the MP4").click()
    assert re.fullmatch(r"acud-display-\d+-\d{4}-\d\d-\d\d-\d{6}\.mp4", coming.value.suggested_filename)
    with av.open(str(coming.value.path()), "r") as film:
        assert film.metadata["title"] == "Count to six"
        began = datetime.fromisoformat(film.metadata["creation_time"])
        titles = [chapter["metadata"]["title"] for chapter in film.chapters()]
        frames = [frame.to_ndarray(format="gray") for frame in film.decode(video=0)]
    assert abs(datetime.now(UTC) - began) < timedelta(minutes=5)
    assert any(title.startswith("click at 100,50") for title in titles), titles
    assert [int(np.ptp(frame)) > 20 for frame in frames] == [True] * len(frames), "a bare picture"
    shown = [sum(1 << bit for bit in range(_BITS) if frame[48, 32 + 48 * bit] > 128) for frame in frames]
    assert [one for one, _ in itertools.groupby(shown)] == list(range(_STEPS))


def click_shows(visit: Visit) -> None:
    """Jump to the mark of the click: 4 is shown, and where it was clicked; the step after it, 5 and no click."""
    row = visit.page.locator(".replay-marks li", has_text="click")
    row.get_by_role("button").click()
    assert number(visit) == 4
    assert row.get_attribute("aria-current") == "true"
    dot = visit.page.locator(".replay-clicks .dot")
    assert (dot.get_attribute("cx"), dot.get_attribute("cy")) == ("100.5", "50.5")
    visit.page.keyboard.press("Home")
    assert visit.page.locator(".replay-clicks .dot").count() == 0
    while row.get_attribute("aria-current") != "true":
        visit.page.keyboard.press("]")
    assert number(visit) == 4


def test_lanes_of_waits_and_links_with_the_moment(daemon: Daemon, visit: Visit) -> None:
    client = daemon.client
    view = client.display_create(320, 240).display
    recording_id = client.record_start(view.name).recording.recording_id
    with Desk(view.name, view.auth_file) as desk:
        window = blackboard(daemon, desk, recording_id)
        change = client.wait_create(Change(), target="screen", display=view.name, timeout_s=600).wait.wait_id
        count_up(daemon, desk, window, recording_id, range(1, 3))
        assert client.wait_end(change, timeout_s=60).wait.state is WaitState.RESOLVED
        never = client.wait_create(
            WindowTitle("Nowhere"), display=view.name, label="Nowhere", timeout_s=STILL_S
        ).wait.wait_id
        client.wait_end(never, timeout_s=60)  # nothing changes meanwhile
        count_up(daemon, desk, window, recording_id, range(3, 5))
        client.record_stop(recording_id)
    visit.go(f"recordings/{recording_id}")
    page, where = visit.page, visit.page.locator(".replay-where")
    lanes = page.get_by_role("list", name="Waits that ran meanwhile").get_by_role("listitem")
    assert ["resolved" in lanes.nth(0).inner_text(), "timed out" in lanes.nth(1).inner_text()] == [True, True]
    assert lanes.nth(0).locator(".replay-run[data-answer=yes]").count() == 1
    assert lanes.nth(1).get_by_role("link", name="Nowhere").get_attribute("href") == f"#/waits/{never}"
    page.keyboard.press("End")  # at once: nothing was clicked
    assert number(visit) == 4
    page.keyboard.press("Home")
    assert "frame 1 of" in where.inner_text()
    zooms(visit)
    previews(visit)
    page.get_by_role("button", name="Waits").click()
    assert page.locator(".replay-marks li:visible", has_text="Wait").count() == 0
    page.keyboard.press("Home")
    while number(visit) != 3:
        page.keyboard.press("ArrowRight")
    visit.until("() => /at=\\d+&hide=wait/.test(location.hash)")
    visit.shot("screens-replay-lanes")
    moment = where.inner_text()
    visit.go("waits")
    page.get_by_role("heading", name="Waits").wait_for()
    page.go_back()
    page.wait_for_function("(moment) => document.querySelector('.replay-where')?.textContent === moment", arg=moment)
    assert number(visit) == 3
    assert page.get_by_role("button", name="Waits").get_attribute("aria-pressed") == "false"
    stillness_is_skipped(visit)


def zooms(visit: Visit) -> None:
    """Zoom in with a key and with the wheel, and out again: the strip grows, and the moment stays in sight."""
    wide = "document.querySelector('.replay-strip').clientWidth / document.querySelector('.replay-scroll').clientWidth"
    assert visit.page.evaluate(wide) == pytest.approx(1, abs=0.01)
    visit.page.keyboard.press("+")
    assert visit.page.evaluate(wide) == pytest.approx(2, abs=0.02)
    visit.page.keyboard.press("End")
    assert visit.page.locator(".replay-head").evaluate(
        "(head) => { const box = head.getBoundingClientRect();"
        "const all = head.closest('.replay-scroll').getBoundingClientRect();"
        "return box.left >= all.left - 1 && box.right <= all.right + 1; }"
    )
    with visit.page.expect_download() as coming:
        visit.page.get_by_role("button", name="Download what the time line shows as an MP4").click()
    with av.open(str(coming.value.path()), "r") as film:
        cut_s = film.duration / av.time_base
    whole_s = visit.page.evaluate(
        "async () => (await (await fetch(location.hash.replace(/^#/, '/api').split('?')[0])).json()).recording.seconds"
    )
    assert cut_s == pytest.approx(whole_s / 2, rel=0.1)
    visit.page.locator(".replay-line").hover(position={"x": 40, "y": 10})
    visit.page.keyboard.down("Control")
    visit.page.mouse.wheel(0, 100)
    visit.page.keyboard.up("Control")
    visit.until(f"() => {wide} < 1.9")
    visit.page.keyboard.press("0")
    assert visit.page.evaluate(wide) == pytest.approx(1, abs=0.01)


def previews(visit: Visit) -> None:
    """Hold the pointer over the last frame: its picture shows above the line, and what is shown stays."""
    line = visit.page.locator(".replay-line")
    box = line.bounding_box()
    assert box is not None
    line.hover(position={"x": box["width"] - 2, "y": 10})
    visit.until(
        "() => { const v = document.querySelector('.replay-preview video'); return v.currentTime > 0 && !v.seeking; }"
    )
    until(
        lambda: visit.page.evaluate(_DECODED.replace('"video"', '".replay-preview video"')) == 4, "the 4 in the preview"
    )
    visit.page.mouse.move(5, 5)
    visit.page.locator(".replay-preview").wait_for(state="hidden")


def stillness_is_skipped(visit: Visit) -> None:
    """Play from the beginning: the time in which nothing changed is left out, and the end is reached."""
    visit.page.get_by_role("checkbox", name="Skip stillness").check()
    visit.page.get_by_role("slider", name="Time").focus()
    visit.page.keyboard.press("Home")
    number(visit)
    visit.page.evaluate(
        "() => { window.seen = []; const video = document.querySelector('.replay-video');"
        "const look = () => { window.seen.push(video.currentTime); requestAnimationFrame(look); }; look(); }"
    )
    visit.page.keyboard.press("Space")
    until(lambda: painted_number(visit) == 4, "the last number")
    seen = visit.page.evaluate("window.seen")
    jumps = [after - before for before, after in itertools.pairwise(seen)]
    assert max(jumps) > STILL_S / 4, "nothing was left out"


def test_a_condition_is_tried_on_a_recording(daemon: Daemon, chromium: Chromium, visit: Visit) -> None:
    """Its verdicts stand on the time line and in a list that goes there; nothing is armed; who only looks can't."""
    client = daemon.client
    view = client.display_create(640, 320).display
    recording_id = client.record_start(view.name).recording.recording_id
    with Desk(view.name, view.auth_file) as desk:
        until(lambda: found(daemon, recording_id).frames, "the frame of the bare display")
        with one_more(daemon, recording_id, "the first words"):
            window = desk.words(Rect(20, 20, 500, 60), "Downloading 40 %")
        with one_more(daemon, recording_id, "the second"):
            desk.rewrite(window, "Download complete")
        client.record_stop(recording_id)
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.go(f"recordings/{recording_id}")
    page = visit.page
    page.get_by_label("Text", exact=True).fill("Download complete")
    page.get_by_label("Text", exact=True).press("Enter")
    said = page.get_by_role("status", name="Tried on the recording")
    expect(said).to_contain_text("It would have resolved at", timeout=PATIENCE_MS)
    answers = page.locator(".trial-rows .badge")
    assert answers.last.inner_text().split() == ["✓", "yes"]
    assert answers.first.inner_text().split() == ["✕", "no"]
    assert page.locator(".replay-line .trial-tick").count() == answers.count() >= 2
    assert not client.wait_list(displays=(view.name,), ended=True).waits
    page.keyboard.press("Home")
    before = page.locator(".replay-where").inner_text()
    page.locator(".trial-rows button").last.press("Enter")
    expect(page.locator(".replay-where")).not_to_have_text(before)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.locator("select[name=target]").select_option("draw")
    page.locator(".region-layer").press("ArrowUp")
    for name, value in {"Left": "0", "Top": "160", "Width": "640", "Height": "160"}.items():
        page.get_by_label(name, exact=True).fill(value)
        page.get_by_label(name, exact=True).press("Tab")
    page.get_by_role("button", name="Try it on the recording").click()
    expect(said).to_contain_text("It would not have resolved by the end", timeout=PATIENCE_MS)
    page.emulate_media(color_scheme="dark")
    visit.shot("replay-trial")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    with chromium.visit(daemon, f"recordings/{recording_id}", Scope.READ) as reader:
        expect(reader.page.get_by_role("slider", name="Time")).to_be_visible()
        expect(reader.page.get_by_text("Try a condition")).to_have_count(0)


def test_a_gap_is_shown_as_one(daemon: Daemon, visit: Visit) -> None:
    client = daemon.client
    view = client.display_create(320, 240).display
    recording_id = client.record_start(view.name).recording.recording_id
    with Desk(view.name, view.auth_file) as desk:
        window = blackboard(daemon, desk, recording_id)
        count_up(daemon, desk, window, recording_id, range(1, 3))
        break_off(daemon, view)
        until(lambda: len(found(daemon, recording_id).segments) == 2, "the second segment")
        count_up(daemon, desk, window, recording_id, range(3, 5))
        client.record_stop(recording_id)  # what the display shows now is its last frame
    mounted(visit, recording_id)
    assert visit.page.locator(".replay-bar").count() == 2
    assert "no picture" in (visit.page.locator(".replay-gap").get_attribute("title") or "")
    visit.page.keyboard.press("End")
    assert number(visit) == 4


def break_off(daemon: Daemon, view: DisplayInfo) -> None:
    """Kill what captures the display: its pictures come anew."""

    captures = [child for child in daemon.client.status().children if child.kind == "capture"]
    os.kill(next(child for child in captures if view.name in child.name).pid, signal.SIGKILL)
