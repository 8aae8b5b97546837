"""Actions on real programs through the control socket: input, views, baselines, pictures, errors, the diary."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import InvalidRequest, NotFound
from acud.protocol.requests.actions import ActionReply
from acud.types import DisplayInfo, Rect, picture_views
from acud.types.actions import (
    Action,
    Button,
    Click,
    CursorPosition,
    Drag,
    Key,
    Launch,
    Move,
    Point,
    Scroll,
    TypeText,
    WaitIdle,
    WindowDo,
    WindowList,
    WindowVerb,
)
from acud.types.actions import Direction as To
from acud.types.tasks import ItemStatus
from acud_client import Client
from tests.e2e.desktop import Desk, decoded, titled, until
from tests.e2e.recording import Recording, act
from tests.fixtures.daemon import Daemon

Do = Callable[..., ActionReply]


@pytest.fixture
def do(client: Client, view: DisplayInfo) -> Do:

    def on_display(*actions: Action, **given: Any) -> ActionReply:
        return act(client, *actions, **({"display": view.name} | given))

    return on_display


@pytest.fixture
def record(client: Client, view: DisplayInfo, tmp_path: Path) -> Iterator[Callable[..., Recording]]:
    running: list[Recording] = []

    def start(*given: object, **named: object) -> Recording:
        running.append(Recording(client, view.name, tmp_path, *given, **named))  # type: ignore[arg-type]
        return running[-1]

    yield start
    for one in running:
        with suppress(ProcessLookupError):
            os.kill(one.pid, 15)
    until(lambda: not act(client, WindowList("ecorder"), display=view.name).windows, "the end of recorders")


@contextmanager
def ticking(desk: Desk, window: int) -> Iterator[None]:
    """Have some pixels of a window change every 0.3 s, as those of a clock or a caret do."""
    over = threading.Event()

    def tick() -> None:
        for number in itertools.count():
            desk.fill(Rect(10, 10, 12, 14), number % 2 * 0xFFFFFF, window)
            if over.wait(0.3):
                return

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_what_others_paint_is_no_effect_of_a_click_on_the_root_or_beside_a_clock(
    client: Client, view: DisplayInfo, desk: Desk
) -> None:
    clock = desk.window(Rect(300, 40, 200, 100), 0x808080, "Clock")
    titled(client, view.name, "Clock")
    with ticking(desk, clock):
        root = client.gui_do("click(40, 440)", display=view.name)
        assert root.status == "unverified", root.message
        beside = client.gui_do("click(480, 130)", display=view.name)
        assert beside.status == "unverified", beside.message
    moved = client.gui_do("hover(480, 130)", display=view.name, timeout_s=0)
    assert moved.effects.windows == ()


def test_an_action_says_which_windows_came_and_went(do: Do, client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.window(Rect(10, 10, 60, 60), title="Brief")
    titled(client, view.name, "Brief")
    reply = do(WindowDo("Brief", WindowVerb.FOCUS), picture=True)
    assert reply.effects.windows == ()
    assert (reply.effects.focus.window, reply.effects.focus.moved) == ("Brief", True)
    do(Move(Point(600, 400)))
    replies: list[ActionReply] = []
    acting = threading.Thread(target=lambda: replies.append(do(Move(Point(620, 440)), WaitIdle(5, 60), picture=True)))
    acting.start()
    until(lambda: desk.pointer() == (620, 440), "its beginning")
    desk.close(window)
    acting.join()
    (gone,) = replies
    assert [(one.change, one.title) for one in gone.effects.windows] == [("closed", "Brief")]


# ---- input ---------------------------------------------------------------------------------------------------------


def test_clicks_drags_and_scrolls_reach_the_pixel(do: Do, record: Callable[..., Recording]) -> None:
    recorder = record()
    reply = do(
        Click(Point(100, 120)),
        Click(Point(7, 479), Button.RIGHT),
        Click(Point(639, 0), count=2, keys="ctrl"),
        Drag(Point(300, 310), Point(20, 30)),
        Scroll(To.DOWN, 2, Point(50, 60)),
    )
    assert (reply.done, reply.display) == (5, recorder.reply.display)
    found = recorder.presses(7)
    assert [press[:3] for press in found] == [
        (1, 100, 120), (3, 7, 479), (1, 639, 0), (1, 639, 0), (1, 20, 30), (5, 50, 60), (5, 50, 60),
    ]  # fmt: skip
    assert [press[3] & 4 for press in found] == [0, 0, 4, 4, 0, 0, 0]  # ControlMask
    recorder.until(lambda lines: "release 1 300 310" in lines, "the drop")
    assert reply.cursor == Point(50, 60)


def test_points_of_windows_and_regions(
    do: Do, client: Client, view: DisplayInfo, record: Callable[..., Recording]
) -> None:
    below = record("Recorder", Rect(100, 80, 200, 150))
    above = record("Top recorder", Rect(150, 120, 200, 150))
    do(Click(Point(5, 6)), target="window:top REC")
    assert above.presses(1) == [(1, 155, 126, 0)]
    do(Click(Point(5, 6)), target="window:recorder")  # both fit: the topmost is meant
    assert above.presses(2)[1] == (1, 155, 126, 0)
    do(Click(Point(5, 6)), target=f"window:{below.window.window_id}")
    assert below.presses(1) == [(1, 105, 86, 0)]
    do(Click(Point(1, 2)), target="region:110,90,50,50")
    assert below.presses(2)[1] == (1, 111, 92, 0)
    with pytest.raises(NotFound, match="no window matches 'gone'") as gone:
        do(Click(Point(1, 2)), target="window:gone")
    assert "'Top recorder', 'Recorder'" in gone.value.hint


# ---- views ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "side"), [("screen", 0), ("screen", 200), ("region:101,53,301,207", 97), ("window:Recorder", 64)]
)
def test_a_picture_s_point_hits_its_pixel(
    do: Do, client: Client, view: DisplayInfo, record: Callable[..., Recording], target: str, side: int
) -> None:
    recorder = record()
    picture = client.look(target, display=view.name, max_side_px=side)
    corners = [
        Point(0, 0),
        Point(picture.width - 1, picture.height - 1),
        Point(picture.width // 3, picture.height // 2),
    ]
    reply = act(client, *(Click(point) for point in corners), view=picture.view)  # the view names the display
    assert reply.display == view.name
    wanted = [picture_views.parse(picture.view).spot(point) for point in corners]
    assert [Point(x, y) for _, x, y, _ in recorder.presses(3)] == wanted
    c = picture.crop
    for point, pixel in zip(corners, wanted, strict=True):
        assert abs((pixel.x + 0.5 - c.x) * picture.width / c.w - (point.x + 0.5)) <= 0.5
        assert abs((pixel.y + 0.5 - c.y) * picture.height / c.h - (point.y + 0.5)) <= 0.5


def test_a_covered_window_s_view_follows_it(do: Do, client: Client, view: DisplayInfo, desk: Desk) -> None:
    under = desk.window(Rect(50, 60, 200, 100), 0x0000FF, title="Under")
    over = desk.window(Rect(0, 0, 640, 480), 0xAA0000, title="Over")
    until(lambda: titled(client, view.name, "Under").visibility == "covered")
    token = client.look("window:Under", display=view.name, max_side_px=100).view
    assert do(Move(Point(10, 10)), view=token).cursor == Point(71, 81)
    desk.place(under, Rect(150, 160, 200, 100))
    until(lambda: titled(client, view.name, "Under").bounds.x == 150)
    assert do(Move(Point(10, 10)), view=token).cursor == Point(171, 181)
    desk.place(under, Rect(150, 160, 210, 100))
    until(lambda: titled(client, view.name, "Under").bounds.w == 210)
    with pytest.raises(InvalidRequest, match="200x100; it is 210x100 now"):
        do(Move(Point(10, 10)), view=token)
    desk.close(over)
    desk.close(under)
    until(lambda: not do(WindowList("Under")).windows)
    with pytest.raises(NotFound, match="no window matches"):
        do(Move(Point(10, 10)), view=token)


def test_views_that_do_not_fit(do: Do, client: Client, view: DisplayInfo) -> None:
    token = client.look(display=view.name, max_side_px=320).view
    with pytest.raises(InvalidRequest, match="outside the picture, which is 320x240"):
        do(Click(Point(321, 5)), view=token)
    with pytest.raises(InvalidRequest, match="at 800x480; it is 640x480 now"):
        do(Click(Point(1, 5)), view=token.replace("640x480", "800x480", 1))
    with pytest.raises(InvalidRequest, match="not of both"):
        do(Click(Point(1, 5)), view=token, target="region:0,0,10,10")
    with pytest.raises(InvalidRequest, match="not a token"):
        do(Click(Point(1, 5)), view="the left half")


# ---- baselines and pictures ----------------------------------------------------------------------------------------


def test_the_baseline_misses_nothing(
    do: Do, client: Client, view: DisplayInfo, record: Callable[..., Recording]
) -> None:
    recorder = record()
    for count in range(1, 11):
        reply = do(Click(Point(5, 5)))
        recorder.until(lambda _: len(recorder.lines("painted")) == count, "its paint")  # noqa: B023 - called here
        changed = client.wait_for_change(display=view.name, baseline=reply.baseline, timeout_s=30)
        assert changed.changed
        colour = int(recorder.lines("painted")[-1].split()[1], 16) & 0xFF
        assert decoded(changed.picture.image)[200, 200, 0] == colour


def test_the_baseline_counts_nothing_painted_before(do: Do, client: Client, view: DisplayInfo, desk: Desk) -> None:
    for shade in (0x40, 0x80, 0xC0):
        desk.fill(Rect(10, 10, 300, 300), shade)
        reply = do(CursorPosition())
        assert not client.wait_for_change(display=view.name, baseline=reply.baseline, timeout_s=0.5).changed


def test_the_picture_shows_what_it_settled_to(do: Do, record: Callable[..., Recording]) -> None:
    recorder = record(repaints=8)
    # Far longer than from one paint to the next: a recorder that stands still in between has not settled.
    reply = do(Click(Point(5, 5)), picture=True, settle_s=5.0, settle_timeout_s=60)
    assert reply.settled is True
    assert decoded(reply.picture.image)[200, 200, 0] == 0x10 + 8 * 5
    assert reply.picture.view.endswith("/640x480/0,0,640,480@640x480")
    recorder.until(lambda lines: "painted 383838" in lines, "its last paint")


def test_idle_is_an_answer(do: Do, desk: Desk) -> None:
    assert do(WaitIdle(0.2, 60)).idle is True
    with ticking(desk, desk.window(Rect(300, 40, 200, 100), 0x808080)):
        assert do(WaitIdle(5.0, 6.0)).idle is False  # no clock stands still for so long


# ---- errors --------------------------------------------------------------------------------------------------------


def test_the_first_that_fails_ends_the_rest(do: Do, record: Callable[..., Recording]) -> None:
    recorder = record()
    with pytest.raises(InvalidRequest, match=r"action 2 of 3 \(key nokey\) failed, 1 done") as failed:
        do(Click(Point(5, 5)), Key("nokey"), Click(Point(6, 6)))
    assert failed.value.facts == {"done": 1, "failed": 2}
    do(Click(Point(7, 7)))
    assert [press[1] for press in recorder.presses(2)] == [5, 7]


def test_nothing_is_done_when_a_point_is_off_the_display(do: Do, record: Callable[..., Recording]) -> None:
    recorder = record()
    with pytest.raises(InvalidRequest, match="640,5 is off the display, which is 640x480"):
        do(Click(Point(5, 5)), Click(Point(640, 5)))
    with pytest.raises(InvalidRequest, match=r"700,90 \(from 600,10\) is off"):
        do(Click(Point(5, 5)), Move(Point(600, 10)), target="region:100,80,5,5")
    do(Click(Point(7, 7)))
    assert [press[1] for press in recorder.presses(1)] == [7]


def test_programs_that_are_not_there(do: Do, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no program 'no-such-program' can be run"):
        do(Launch(("no-such-program", "-x")))
    with pytest.raises(NotFound, match="no directory"):
        do(Launch(("true",), cwd=str(tmp_path / "gone")))
    with pytest.raises(InvalidRequest, match="not an absolute path"):
        do(Launch(("true",), cwd="relative"))


# ---- repeats and the diary -----------------------------------------------------------------------------------------


def test_a_repeat_answers_and_does_nothing(do: Do, record: Callable[..., Recording]) -> None:
    recorder = record()
    first = do(Click(Point(5, 5)), picture=True, request_id="repeat-one")
    again = do(Click(Point(5, 5)), picture=True, request_id="repeat-one")
    assert first.picture is not None
    assert (again.done, again.baseline, again.picture) == (first.done, first.baseline, None)
    assert again.note == "an answer given again: without its picture"
    for _ in range(2):
        with pytest.raises(InvalidRequest, match="1 done"):
            do(Click(Point(6, 6)), Key("nokey"), request_id="repeat-two")
    do(Click(Point(7, 7)))
    assert [press[1] for press in recorder.presses(3)] == [5, 6, 7]


def test_the_diary_counts_what_was_typed_and_quotes_nothing(client: Client, shared: Daemon, view: DisplayInfo) -> None:
    task = client.task_register("Log in", ("type",), isolated_display=False).view.task
    client.task_item_update(task.task_id, 1, ItemStatus.ACTIVE)
    act(client, TypeText("s3cret-word"), Key("Tab"), display=view.name, task_id=task.task_id)
    act(client, Click(Point(30, 40)), Click(), Drag(Point(9, 8)), display=view.name, task_id=task.task_id)
    item = client.task_drill_down(task.task_id, 1)
    action, clicked = (one.action for one in item.actions)
    assert clicked.output_data == {"display": view.name, "done": 3, "points": [[30, 40], [30, 40], [9, 8]]}
    assert (action.action_type, action.summary) == ("gui", "type 11 characters; key Tab")
    assert action.output_data == {"display": view.name, "done": 2}
    with closing(sqlite3.connect(f"file:{shared.home / 'data.db'}?mode=ro", uri=True)) as database:
        assert not any("s3cret-word" in line for line in database.iterdump())
    assert "s3cret-word" not in shared.log()
    assert json.dumps(action.input_data) == "null"
