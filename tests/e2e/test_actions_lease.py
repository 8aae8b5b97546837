"""A person takes a display over: actions are refused and dropped, what is held is released; all else goes on."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import AcudError, Conflict, NotFound, Refused
from acud.types import Change, DisplayInfo, WaitState
from acud.types.actions import Click, Drag, Hold, Point, TypeText, WindowList
from acud.types.tasks import TaskStatus
from tests.e2e.conftest import BARE
from tests.e2e.desktop import Desk, ended, until
from tests.e2e.recording import Recording, act
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(settings=BARE) as running:
        yield running


@pytest.fixture
def view(daemon: Daemon) -> Iterator[DisplayInfo]:
    made = daemon.client.display_create(640, 480).display
    yield made
    daemon.client.display_remove(made.name, force=True)


def info(daemon: Daemon, name: str) -> DisplayInfo:
    return next(one for one in daemon.client.display_list().displays if one.name == name)


def test_agents_are_refused_and_all_else_goes_on(daemon: Daemon, view: DisplayInfo, tmp_path: Path) -> None:
    client = daemon.client
    recorder = Recording(client, view.name, tmp_path)
    wait = client.wait_create(Change(), f"display:{view.name}", timeout_s=120).wait
    taken = client.display_take(view.name, who="Kim", for_s=600, note="I pay by card")
    assert (taken.display.taken_by, taken.display.taken_until_utc_s) == ("Kim", taken.until_utc_s)
    with pytest.raises(Refused, match=r"taken over by Kim until .*Z \(I pay by card\)") as refused:
        act(client, Click(Point(5, 5)), display=view.name)
    assert refused.value.facts["who"] == "Kim"
    with pytest.raises(Refused):
        act(client, WindowList(), display=view.name, lease="lease-0123456789abcdef")
    assert client.look(display=view.name).width == 640
    act(client, Click(Point(7, 7)), display=view.name, lease=taken.lease)  # the person's own tools act
    assert [press[1] for press in recorder.presses(1)] == [7]
    assert ended(client, wait.wait_id).state is WaitState.RESOLVED
    assert (info(daemon, view.name).taken_by) == "Kim"
    client.display_release(view.name, lease=taken.lease)
    assert (info(daemon, view.name).taken_by) == ""
    act(client, Click(Point(8, 8)), display=view.name)
    assert [press[1] for press in recorder.presses(2)] == [7, 8]


def test_whose_it_is(daemon: Daemon, view: DisplayInfo) -> None:
    client = daemon.client
    with pytest.raises(Conflict, match="is not taken over"):
        client.display_release(view.name)
    taken = client.display_take(view.name, who="Kim", for_s=300)
    with pytest.raises(Refused, match="taken over by Kim"):
        client.display_take(view.name, who="Lee")
    with pytest.raises(Refused, match="taken over by Kim"):
        client.display_release(view.name)
    longer = client.display_take(view.name, for_s=900, lease=taken.lease)
    assert (longer.lease, longer.display.taken_by) == (taken.lease, "Kim")
    assert longer.until_utc_s > taken.until_utc_s + 500
    client.display_release(view.name, force=True)
    with pytest.raises(Conflict, match="has run out"):
        client.display_take(view.name, lease=taken.lease)
    with pytest.raises(NotFound):
        client.display_take(":59999")
    events = daemon.client.events_since(0, topic="display.", limit=1000).events
    told = [(event.topic, event.data) for event in events if event.topic in ("display.taken", "display.released")]
    assert [topic for topic, _ in told][-3:] == ["display.taken", "display.taken", "display.released"]
    assert told[-1][1] == {"who": "Kim", "reason": "forced"}
    assert taken.lease not in daemon.log()
    assert not any(taken.lease in str(data) for _, data in told)


def test_what_a_person_says_at_the_end_reaches_the_agents(daemon: Daemon) -> None:
    client = daemon.client
    task = client.task_register("Book", ("pay",)).view.task
    lease = client.display_take(task.display, who="Kim", for_s=600).lease
    client.display_release(task.display, lease=lease, note="I paid; the code is 12.")
    said = f"Kim gave {task.display} back at "
    thread = client.task_thread(task.task_id).messages
    assert [(one.role, one.content.startswith(said)) for one in thread] == [("user", True)]
    told = client.events_since(0, topic="display.released", limit=1000).events
    assert told[-1].data["note"] == "I paid; the code is 12."
    first = act(client, Click(Point(8, 8)), task_id=task.task_id, request_id="7f1f7a0e")
    assert first.note.startswith(said)
    assert first.note.endswith("I paid; the code is 12.")
    assert act(client, Click(Point(8, 8)), task_id=task.task_id, request_id="7f1f7a0e").note == first.note  # a repeat
    assert act(client, Click(Point(9, 9)), task_id=task.task_id).note == ""
    client.task_update(task.task_id, status=TaskStatus.CANCELLED)


def test_another_spelling_of_its_name_is_no_way_around_it(daemon: Daemon, view: DisplayInfo) -> None:
    client = daemon.client
    number = view.name[1:]
    for spelled in (f":0{number}", f":{number}.0", number, f"unix:{number}"):
        taken = client.display_take(spelled, who="Kim", for_s=600)
        assert taken.display.name == view.name
        for name in (spelled, view.name):
            with pytest.raises(Refused, match="taken over by Kim"):
                act(client, TypeText("x"), display=name)
        assert client.look(display=spelled).display == view.name
        assert client.wait_create(Change(), display=spelled, timeout_s=0.1).wait.display == view.name
        if spelled.startswith(":"):
            with pytest.raises(Conflict, match="is watched already"):
                client.display_add(spelled, auth_file=view.auth_file)
        assert [one.name for one in client.display_list().displays] == [view.name]
        client.display_release(spelled, lease=taken.lease)


def test_a_second_screen_of_the_same_server_is_taken_with_it(daemon: Daemon) -> None:
    client = daemon.client
    with XServer(extra=("-screen", "1", "320x200x24")) as server:
        first = client.display_add(server.display, auth_file=server.auth_file).display.name
        second = client.display_add(f"{server.display}.1", auth_file=server.auth_file).display.name
        taken = client.display_take(first, who="Kim", for_s=600)
        with pytest.raises(Refused, match=f"{first} is taken over by Kim"):
            act(client, TypeText("x"), display=second)  # one keyboard, one pointer
        with pytest.raises(Refused, match="taken over by Kim"):
            client.display_take(second, who="Lee")
        client.display_release(first, lease=taken.lease)
        act(client, Click(Point(5, 5)), display=second)
        for name in (first, second):
            client.display_remove(name)


def test_it_runs_out_by_itself(daemon: Daemon, view: DisplayInfo) -> None:
    taken = daemon.client.display_take(view.name, who="Kim", for_s=0.5)
    until(lambda: not info(daemon, view.name).taken_by, "the end of the lease")
    assert time.time() >= taken.until_utc_s - 0.1
    act(daemon.client, Click(Point(5, 5)), display=view.name)
    until(
        lambda: any(
            event.data == {"who": "Kim", "reason": "run out"} and event.subject == view.name
            for event in daemon.client.events_since(0, topic="display.released", limit=1000).events
        ),
        "the event of its end",
    )


def test_what_is_held_is_released_and_what_runs_is_dropped(daemon: Daemon, view: DisplayInfo, tmp_path: Path) -> None:
    client = daemon.client
    recorder = Recording(client, view.name, tmp_path)
    act(client, Click(Point(5, 5)), Hold("shift"), Hold("mouse:left"), display=view.name)
    recorder.until(lambda _: recorder.lines("key ") and len(recorder.lines("press")) == 2, "what is held")
    found: list[AcudError] = []
    texts = [TypeText("x" * 10_000)] * 40  # far longer than it takes to take the display over

    def type_and_drag() -> None:
        try:
            act(client, *texts, *([Drag(Point(9, 9), Point(300, 300))] * 20), display=view.name)
        except AcudError as fault:
            found.append(fault)

    typing = threading.Thread(target=type_and_drag)
    typing.start()
    recorder.until(lambda _: len(recorder.lines("key ")) > 20, "typing")
    taken = client.display_take(view.name, who="Kim", for_s=600)
    typing.join(60)
    assert isinstance(found[0], Refused)
    which = re.match(r"action (\d+) of 60 \(type 10000 characters\) failed, (\d+) done: display", found[0].message)
    assert which is not None, found[0].message
    assert int(which[1]) == int(which[2]) + 1
    assert "taken over by Kim" in found[0].message
    recorder.until(lambda _: len(recorder.lines("release 1")) == 2, "the button up")
    recorder.until(lambda _: len(recorder.lines("keyup")) == len(recorder.lines("key ")), "every key up")
    assert len(recorder.lines("key ")) < int(which[1]) * 10_000
    assert len(recorder.lines("press")) == 2
    client.display_release(view.name, lease=taken.lease)
    act(client, Click(Point(6, 6)), display=view.name)
    assert recorder.presses(3)[2] == (1, 6, 6, 0)  # no modifier, no button is down


def test_it_outlives_the_daemon(daemon: Daemon, view: DisplayInfo) -> None:
    client = daemon.client
    taken = client.display_take(view.name, who="Kim", for_s=600)
    short = client.display_create(64, 64).display
    client.display_take(short.name, who="Lee", for_s=0.5)
    daemon.kill()
    time.sleep(0.6)
    daemon.start()
    until(lambda: info(daemon, view.name).state.value == "up", "the display")
    assert (info(daemon, view.name).taken_by, info(daemon, short.name).taken_by) == ("Kim", "")
    with pytest.raises(Refused, match="taken over by Kim"):
        act(client, Click(Point(5, 5)), display=view.name)
    act(client, Click(Point(5, 5)), display=view.name, lease=taken.lease)
    client.display_remove(short.name, force=True)
    client.display_release(view.name, lease=taken.lease)


def test_it_ends_with_its_display(daemon: Daemon) -> None:
    client = daemon.client
    first = client.display_create(64, 64).display
    client.display_take(first.name, who="Kim", for_s=600)
    client.display_remove(first.name, force=True)
    again = client.display_create(64, 64).display
    with Desk(again.name, again.auth_file):
        act(client, Click(Point(5, 5)), display=again.name)
    assert again.taken_by == ""
    client.display_remove(again.name, force=True)
