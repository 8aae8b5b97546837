"""How long a child may be silent, and how it comes to be; on a clock of the test's own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import zmq

from acud.config import DaemonSettings
from acud.process.async_child import AsyncChild
from acud.process.child_process import next_beat_s
from acud.process.event_loop import EventLoop
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, CaptureOptions
from acud.protocol.capture import Demand
from acud.protocol.children import Heartbeat, Stop
from acud.supervisor import children
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message
from acud.supervisor.displays.proc_files import measure_queued_s, waits_for_machine

_MODULE = "tests.integration.wordless_child"
_SETTINGS = DaemonSettings(child_silent_s=10, child_start_s=45)


class _Owner:
    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.heard = lambda: None
        """Called with each message; nothing else is done with words."""

    def handle_message(self, child: Child, message: Message) -> None:
        self.heard()

    def child_ended(self, child: Child, reason: str) -> None:
        self.reasons.append(reason)


class _Rig:
    def __init__(self, folder: Path, *, forks: bool = False) -> None:
        self.now_s = 0.0
        self.loop = EventLoop(lambda: self.now_s)
        self.owner = _Owner()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.socket: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self.endpoint = endpoint = f"ipc://{folder}/children"
        self.socket.bind(endpoint)
        self._words = (folder / "log").open("ab")
        self.keeper = ChildKeeper(self.socket, self.loop, _SETTINGS, self._words, endpoint, forks=forks, known_pids=set)

    def child(self, display: str) -> Child:
        child = Child(display, "capture", _MODULE, self.owner)
        self.keeper.start(child, CaptureOptions(display, "", "", 4, 30.0, 30.0, "auto", managed=True))
        return child

    def later(self, seconds: float) -> None:
        """Let that time pass, a second at a time, as the keeper and its loop see it."""
        for _ in range(int(seconds)):
            self.now_s += 1.0
            self.loop.turn(0)
        self.now_s += seconds % 1
        self.loop.turn(0)

    def readable(self) -> bool:
        return bool(self.socket.poll(60_000))

    def until(self, holds: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline_s, (self.now_s, self.owner.reasons)
            self.loop.turn(0.05)

    def close(self) -> None:
        self.keeper.kill_all()
        self._words.close()
        self.socket.close(linger=0)  # what a child was still to be told is of no use, and would hold the context
        self._context.term()


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine serves every child: how busy it really is has no say in what the clock of the test decides."""
    monkeypatch.setattr(children, "measure_queued_s", lambda pid: 0.0)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[_Rig]:
    """A keeper of children whose time is the test's."""
    made = _Rig(tmp_path)
    yield made
    made.close()


@pytest.fixture
def forking_rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Rig]:
    monkeypatch.setattr(children, "_FORKED", {_MODULE: True})
    made = _Rig(tmp_path, forks=True)
    yield made
    made.close()


def test_a_child_that_only_starts_has_a_deadline_of_its_own(rig: _Rig) -> None:
    child = rig.child(":1")
    rig.later(_SETTINGS.child_start_s - 1)
    assert (child.state, child.ending) == (ChildState.STARTING, "")
    rig.later(2)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["it was silent for 46 s and was killed"]


def test_a_child_that_was_heard_is_hung_sooner(rig: _Rig) -> None:
    child = rig.child(":2")
    rig.until(lambda: child.state is ChildState.READY)
    rig.later(_SETTINGS.child_silent_s - 1)
    assert child.ending == ""
    rig.later(2)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["it was silent for 11 s and was killed"]


def test_a_child_that_the_machine_does_not_serve_is_not_silent(rig: _Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threads stand in the run queue while others have the processors: only time in which it could speak counts."""
    child, is_loaded = rig.child(":2"), True
    rig.until(lambda: child.state is ChildState.READY)
    monkeypatch.setattr(children, "measure_queued_s", lambda pid: rig.now_s if is_loaded else 0.0)
    rig.later(200)
    assert (child.ending, child.unserved_s) == ("", pytest.approx(200 - _SETTINGS.child_silent_s / 2, abs=2))
    is_loaded = False
    rig.later(_SETTINGS.child_silent_s)
    rig.until(lambda: bool(rig.owner.reasons))
    assert "was silent" in rig.owner.reasons[0]


def test_time_in_the_run_queue_is_read_from_the_kernel_and_children_stand_behind_the_supervisor(rig: _Rig) -> None:
    spinning = rig.child(":9")
    rig.until(lambda: spinning.state is ChildState.READY)
    assert os.getpriority(os.PRIO_PROCESS, spinning.pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 2)
    core = next(iter(os.sched_getaffinity(spinning.pid)))
    os.sched_setaffinity(spinning.pid, {core})
    before_s = measure_queued_s(spinning.pid)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as rival:
        os.sched_setaffinity(rival.pid, {core})
        rig.until(lambda: measure_queued_s(spinning.pid) > before_s + 0.02)
        rival.kill()
    assert measure_queued_s(rig.child(":2").pid) >= 0.0


def test_a_turn_hears_children_for_two_milliseconds_and_the_next_one_the_rest(rig: _Rig) -> None:
    child = rig.child(":2")
    rig.until(lambda: child.state is ChildState.READY)
    turns = [0]

    def heard() -> None:
        turns[-1] += 1
        rig.now_s += 0.001  # what an answer takes

    def all_heard() -> bool:
        turns.append(0)
        return sum(turns) == 20

    rig.owner.heard = heard
    with zmq.Context() as context, context.socket(zmq.DEALER) as line:
        line.setsockopt(zmq.ROUTING_ID, child.identity)
        line.connect(rig.endpoint)
        for _ in range(20):
            line.send(codec.encode(Heartbeat()))
        rig.until(all_heard)
    assert max(turns) <= 3


@pytest.mark.parametrize(
    ("display", "is_sent_work", "silent_s"), [(":2", False, 11), (":9", False, 15), (":9", True, 11)]
)
def test_a_child_that_rests_and_hangs_is_found_no_later_but_one_that_is_not_served_when_its_next_heartbeat_is_overdue(
    rig: _Rig, display: str, is_sent_work: bool, silent_s: int
) -> None:
    child = rig.child(display)
    rig.until(lambda: child.state is ChildState.READY)
    with zmq.Context() as context, context.socket(zmq.DEALER) as line:
        line.setsockopt(zmq.ROUTING_ID, child.identity)
        line.connect(rig.endpoint)
        line.send(codec.encode(Heartbeat(rests_s=4.0)))
        rig.until(lambda: child.beat is not None and child.beat.rests_s == 4.0)
        rig.until(lambda: waits_for_machine(child.pid) == (display == ":9"))
        if is_sent_work:
            assert rig.keeper.send(child, Demand(display, 1.0, 1))
        rig.later(silent_s - 1)
        assert child.ending == ""
        rig.later(1)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == [f"it was silent for {silent_s} s and was killed"]


def test_an_asyncio_child_beats_seldom_while_nothing_happens_and_at_once_when_it_is_sent_something(
    tmp_path: Path,
) -> None:
    endpoint = f"ipc://{tmp_path}/children"

    async def serve() -> None:
        options = CaptureOptions(":1", "", "", 4, 30.0, 30.0, "auto", managed=True)
        async with AsyncChild[Stop](Bootstrap(endpoint, "one", os.getpid(), 0.02, False, options, 60.0), Stop) as child:
            beating = asyncio.create_task(child.send_beats(Heartbeat))
            async for _ in child.messages():
                break
            await beating

    with zmq.Context() as context, context.socket(zmq.ROUTER) as supervisor:
        supervisor.bind(endpoint)
        supervisor.setsockopt(zmq.RCVTIMEO, 50_000)

        def beat() -> Heartbeat:
            return codec.decode(supervisor.recv_multipart()[1], Heartbeat)

        async def both() -> None:
            serving = asyncio.create_task(serve())
            while (await asyncio.to_thread(beat)).rests_s != 60.0:
                pass
            supervisor.send_multipart([b"one", codec.encode(Stop())])
            assert (await asyncio.to_thread(beat)).rests_s == 0.0
            assert (await asyncio.to_thread(beat)).rests_s == 60.0
            serving.cancel()

        asyncio.run(both())


def test_children_that_rest_send_their_heartbeats_at_the_same_moments_and_no_later_than_they_say() -> None:
    for began_s in (100.0, 101.3, 103.9, 104.2, 104.99):
        beats = [began_s]
        for _ in range(4):
            beats.append(next_beat_s(beats[-1] + 0.01, 1.0, 4.0))
        assert beats[-3:] == [beats[-3], beats[-3] + 5, beats[-3] + 10]
        assert beats[-1] % 5 == 0
        assert all(1.0 <= later - earlier <= 5.02 for earlier, later in pairwise(beats))


def test_children_to_which_something_happens_send_their_heartbeats_at_the_same_moments_about_once_a_second() -> None:
    for began_s in (100.0, 101.3, 103.49, 103.51, 104.99):
        beats = [began_s]
        for _ in range(4):
            beats.append(next_beat_s(beats[-1] + 0.01, 1.0, 0.0))
        assert beats[1:] == [beats[1], beats[1] + 1, beats[1] + 2, beats[1] + 3]
        assert beats[1] % 1 == 0
        assert 0.49 <= beats[1] - beats[0] <= 1.51


def test_a_supervisor_that_stood_still_calls_nobody_silent(rig: _Rig) -> None:
    starting, heard = rig.child(":1"), rig.child(":2")
    rig.until(lambda: heard.state is ChildState.READY)
    for _ in range(3):
        rig.now_s += 600.0  # one turn of its loop, or a machine that was suspended
        rig.loop.turn(0)
    assert (starting.ending, heard.ending, rig.owner.reasons) == ("", "", [])
    rig.later(_SETTINGS.child_silent_s + 1)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["it was silent for 11 s and was killed"]


def test_what_was_said_while_nobody_listened_is_heard_before_silence_is_judged(rig: _Rig) -> None:
    child = rig.child(":3")
    rig.until(lambda: child.state is ChildState.READY)
    assert child.process is not None
    rig.later(_SETTINGS.child_silent_s - 1)
    with zmq.Context() as context, context.socket(zmq.DEALER) as line:
        line.setsockopt(zmq.ROUTING_ID, child.identity)
        line.connect(rig.endpoint)
        line.send(codec.encode(Heartbeat()))
        assert rig.readable()
    # Whatever comes first in a turn: timers see what was readable.
    rig.now_s += 2.0
    rig.loop.unwatch(rig.socket)
    rig.loop.turn(0)
    assert child.ending == ""


@pytest.mark.parametrize("within_s", [3, 8])
def test_a_child_that_is_stopped_has_so_long_to_end(rig: _Rig, within_s: float) -> None:
    child = rig.child(":2")
    rig.until(lambda: child.state is ChildState.READY)
    rig.keeper.stop(child, within_s)
    rig.later(within_s - 0.5)
    assert child.process is not None
    assert child.process.poll() is None
    rig.later(1)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["killed by signal 9"]


def test_what_is_executed_after_a_fork_did_not_come_has_its_whole_time_to_start(
    forking_rig: _Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, forking = forking_rig, forking_rig.keeper.forking[_MODULE]
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\nexec sleep 600\n")
    deaf.chmod(0o755)
    with monkeypatch.context() as hanging:
        hanging.setattr(sys, "executable", str(deaf))
        child = rig.child(":1")
    rig.later(_SETTINGS.child_start_s + 1)
    assert (child.pid != 0, forking.fault) == (True, "it forked nothing for 45 s")
    rig.later(2)
    assert child.ending == ""


@pytest.mark.parametrize("name", ["rig", "forking_rig"])
def test_a_child_that_the_machine_refuses_is_started_again(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig: _Rig = request.getfixturevalue(name)
    with monkeypatch.context() as refusing:
        refusing.setattr(sys, "executable", "/nonexistent/python")
        child = rig.child(":2")
        assert rig.owner.reasons == []  # who starts it is not called back amid that
        rig.later(0)
    assert rig.owner.reasons == ["it could not be started: No such file or directory"]
    assert (child.state, child.pid) == (ChildState.BACKOFF, 0)
    rig.later(1)
    rig.until(lambda: child.state is ChildState.READY)


def test_of_two_children_of_one_name_neither_is_taken_for_an_orphan(rig: _Rig) -> None:
    first = rig.child(":2")
    rig.child(":2")

    def kill() -> None:
        os.kill(first.pid, signal.SIGKILL)
        os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)

    rig.loop.call_later(0.5, kill)
    rig.later(2)  # it dies in the turn in which orphans are looked for
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["killed by signal 9"]
