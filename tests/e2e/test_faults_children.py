"""Captures and evaluators killed, hung, crashing for ever: work goes on elsewhere, and the loss is visible."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from acud.base.errors import DisplayDown, Unavailable
from acud.frames.layout import S_FRAME
from acud.frames.ring import Ring
from acud.types import MAX_NUMBER
from tests.e2e import faults
from tests.e2e.faults import Judge
from tests.e2e.scribbler import Scribbler
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """The judge of the lamp, of every daemon here."""
    return Judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture
def judge(script: Judge) -> Judge:
    """The judge of the lamp as it is at first."""
    script.set()
    return script


def _make_daemon(judge: Judge, **daemon: int) -> Daemon:
    return Daemon(settings=faults.settings(judge, daemon={"restart_limit": 10_000, "child_silent_s": 600, **daemon}))


@pytest.fixture(scope="module")
def patient(script: Judge) -> Iterator[Daemon]:
    with _make_daemon(script) as running:
        yield running


@pytest.fixture
def daemon(patient: Daemon, judge: Judge) -> Iterator[Daemon]:
    """A daemon whose children may be killed as often as a test likes."""
    yield patient
    faults.tidy(patient)


@pytest.fixture(scope="module")
def impatient(script: Judge) -> Iterator[Daemon]:
    with _make_daemon(script, child_silent_s=12) as running:
        yield running


@pytest.fixture
def strict(impatient: Daemon, judge: Judge) -> Iterator[Daemon]:
    """The same, which calls a child hung after as many silent seconds as a loaded machine does not take."""
    yield impatient
    faults.tidy(impatient)


def _busy(daemon: Daemon) -> int:
    """Return the evaluator's pid once its heartbeat lists a job."""

    def found() -> int:
        evaluator = faults.child(daemon, "evaluator")
        return evaluator.pid if evaluator.busy_jobs else 0

    return faults.until(found, "a job is under way")


def test_a_capture_killed_while_it_grabs(daemon: Daemon) -> None:
    client = daemon.client
    display = client.display_create().display
    wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    with closing(Painter(display)) as painter, Scribbler(display.name, display.auth_file):
        faults.judged(daemon, wait, "no")
        before, newest = client.look(display=display.name), faults.newest(daemon)
        capture = faults.child(daemon, "capture")
        faults.kill(capture.pid)
        again = faults.running(daemon, "capture", not_pid=capture.pid)
        assert (again.restarts, "signal 9" in again.reason) == (1, True)
        told = faults.event(daemon, "child.restarted", f"capture {display.name}", newest)
        assert "signal 9" in told.data["reason"]
        after = client.look(display=display.name)
        assert after.frame > before.frame  # numbers go on
        assert after.epoch > before.epoch
        painter.lamp(on=True)
        faults.ended(daemon, wait, "resolved")
    faults.until(lambda: len(faults.rings(daemon.paths)) == 1, "one display, one ring")


def _scribble(path: Path, frame: int) -> None:
    """Have every slot of a ring say that it holds `frame`, as whoever shares the memory can."""
    with Ring.open(path, writable=True) as ring:
        for slot in range(ring.layout.slots):
            ring.words[ring.layout.slot_word(slot) + S_FRAME] = frame


def test_a_ring_that_says_an_impossible_frame_costs_its_capture_at_most(daemon: Daemon) -> None:
    client, pid = daemon.client, daemon.pid
    display = client.display_create().display
    before = client.look(display=display.name)
    (name,) = faults.rings(daemon.paths)
    _scribble(daemon.paths.shm / name, 2**64 - 1)
    capture = faults.child(daemon, "capture")
    faults.kill(capture.pid)
    faults.running(daemon, "capture", not_pid=capture.pid)
    after = client.look(display=display.name)
    assert (client.status().pid, after.frame) == (pid, before.frame + 1)


def test_a_capture_whose_ring_runs_ahead_of_the_clock_is_ended_and_numbers_go_on(daemon: Daemon) -> None:
    client = daemon.client
    display = client.display_create().display
    before = client.look(display=display.name)
    capture = faults.child(daemon, "capture")
    (name,) = faults.rings(daemon.paths)
    _scribble(daemon.paths.shm / name, MAX_NUMBER)
    assert "ring is damaged" in str(faults.refused(lambda: client.look(display=display.name)))
    again = faults.running(daemon, "capture", not_pid=capture.pid)
    assert "a frame that cannot be" in again.reason
    assert client.look(display=display.name).frame == before.frame + 1


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("capture", {"type": "notice", "frame": 2**64 - 1, "epoch": 0, "mono_ns": 1}, "frame must be at most"),
        ("capture", {"type": "heartbeat", "newest": {":9999": (1, 1)}}, "no source of display"),
        ("capture", {"type": "no such word"}, "type"),
        ("evaluator", {"type": "heartbeat", "rss_mb": math.nan}, "rss_mb must be a finite number"),
    ],
)
def test_a_child_that_says_what_cannot_be_is_ended_and_nobody_else(
    daemon: Daemon, kind: str, message: dict[str, Any], words: str
) -> None:
    client, pid = daemon.client, daemon.pid
    display = client.display_create().display
    before = client.look(display=display.name)
    liar = faults.running(daemon, kind)
    others = [child for child in client.status().children if child.kind != kind]
    if message["type"] == "notice":
        message = {**message, "source": display.name, "epoch": before.epoch}
    with zmq.Context() as context:
        for generation in range(99, 0, -1):  # one of these is the child's; its successor's is not told again
            with context.socket(zmq.DEALER) as socket:
                socket.setsockopt(zmq.ROUTING_ID, f"{kind}/{liar.name}/{generation}".encode())
                socket.connect(daemon.paths.endpoint("children"))
                socket.send(msgpack.packb(message))
    again = faults.running(daemon, kind, not_pid=liar.pid)
    assert "said what cannot be" in again.reason
    assert words in again.reason
    after = client.look(display=display.name)
    assert client.status().pid == pid
    assert before.frame <= after.frame <= before.frame + 1
    now = [child for child in client.status().children if child.kind != kind]
    assert [(child.pid, child.restarts) for child in now] == [(child.pid, child.restarts) for child in others]


def test_an_evaluator_killed_amid_a_job(daemon: Daemon, judge: Judge) -> None:
    client = daemon.client
    judge.set(delay_ms=600_000)
    display = client.display_create().display
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        victim, newest = _busy(daemon), faults.newest(daemon)
        before = faults.child(daemon, "evaluator").restarts
        judge.set()
        faults.kill(victim)
        faults.ended(daemon, wait, "resolved")
    again = faults.running(daemon, "evaluator", not_pid=victim)
    assert again.restarts == before + 1
    assert "signal 9" in faults.event(daemon, "child.restarted", "evaluator 0", newest).data["reason"]


def test_another_evaluator_takes_the_job_of_a_killed_one(judge: Judge) -> None:
    judge.set(delay_ms=600_000)
    with Daemon(settings=faults.settings(judge, evaluator={"workers": 2})) as daemon:
        client = daemon.client
        display = client.display_create().display
        with closing(Painter(display)) as painter:
            painter.lamp(on=True)
            wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait

            def busy() -> int:
                return next((c.pid for c in client.status().children if c.busy_jobs), 0)

            victim = faults.until(busy, "a job is under way")
            judge.set()
            faults.kill(victim)
            faults.ended(daemon, wait, "resolved")


def test_an_evaluator_that_hangs_is_replaced(strict: Daemon, judge: Judge) -> None:
    daemon, client = strict, strict.client
    judge.set(delay_ms=600_000)
    display = client.display_create().display
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        victim, newest = _busy(daemon), faults.newest(daemon)
        judge.set()
        faults.kill(victim, signal.SIGSTOP)
        faults.ended(daemon, wait, "resolved")
    assert "silent" in faults.event(daemon, "child.restarted", "evaluator 0", newest).data["reason"]
    assert faults.running(daemon, "evaluator", not_pid=victim).restarts == 1


def test_a_capture_that_hangs_is_replaced(strict: Daemon) -> None:
    daemon, client = strict, strict.client
    display = client.display_create().display
    wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    with closing(Painter(display)) as painter:
        faults.judged(daemon, wait, "no")
        capture, newest = faults.child(daemon, "capture"), faults.newest(daemon)
        faults.kill(capture.pid, signal.SIGSTOP)
        painter.lamp(on=True)
        faults.ended(daemon, wait, "resolved")
        assert "silent" in faults.event(daemon, "child.restarted", f"capture {display.name}", newest).data["reason"]


def test_a_child_that_crashes_for_ever_is_given_up_loudly(judge: Judge) -> None:
    """After its second death."""
    with _make_daemon(judge, restart_limit=1, restart_window_s=3600) as daemon:
        client = daemon.client
        lost, display = (client.display_create().display for _ in range(2))
        wait, unseen = (
            client.wait_create(faults.LAMP_IS_GREEN, display=one.name, timeout_s=600).wait for one in (display, lost)
        )
        faults.judged(daemon, wait, "no")
        faults.judged(daemon, unseen, "no")
        _kill_twice(daemon, "capture", lost.name)
        faults.judged(daemon, unseen, "unknown", "display_down")
        assert any("was given up" in reason for reason in client.status().degraded)
        with pytest.raises(DisplayDown):
            client.look(display=lost.name)
        client.display_remove(lost.name, force=True)
        faults.until(lambda: not client.status().degraded, "well again")
        with closing(Painter(display)) as painter:
            _kill_twice(daemon, "evaluator", "0")
            painter.lamp(on=True)
            told = faults.judged(daemon, wait, "unknown", "judge_down")
        assert "evaluator" in told.verdict.detail
        assert any("evaluator 0 was given up" in reason for reason in client.status().degraded)
        assert any(f.level == "fault" and "evaluator" in f.part for f in client.doctor().findings)
        with pytest.raises(Unavailable, match="evaluator"):
            client.look(display=display.name)
        client.wait_update(wait.wait_id, timeout_s=0.2)
        faults.ended(daemon, wait, "timeout")


def _kill_twice(daemon: Daemon, kind: str, name: str) -> None:
    """Kill a child and its successor; return once it is given up."""

    def pid(before: int = 0) -> int:
        children = [one for one in daemon.client.status().children if (one.kind, one.name) == (kind, name)]
        return next((one.pid for one in children if one.state == "ready" and one.pid != before), 0)

    first = pid()
    faults.kill(first)
    faults.kill(faults.until(lambda: pid(first), "its successor"))
    faults.event(daemon, "child.failed", f"{kind} {name}")
