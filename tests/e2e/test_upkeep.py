"""Drain, rolling restart and reload of a running daemon: nothing under way is lost, whatever is killed meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from acud.base.errors import ConfigError, Refused
from acud.config import StoreSettings
from acud.protocol.requests.daemon import EvaluatorsRestartReply
from acud.protocol.requests.waits import WaitCreate
from acud.store.store import Store
from acud.types import Criteria, DisplayInfo
from acud.types.actions import CursorPosition
from acud_client import Client
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine
from tests.e2e.faults import Judge
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter


@pytest.fixture(scope="module")
def lamp_judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """The judge of the lamp."""
    return Judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture
def judge(lamp_judge: Judge) -> Iterator[Judge]:
    """The same; what a test makes of it ends with the test."""
    yield lamp_judge
    lamp_judge.set()


@pytest.fixture(scope="module")
def shared_daemon(lamp_judge: Judge) -> Iterator[Daemon]:
    """A daemon with the judge of the lamp and two evaluators."""
    with Daemon(settings=faults.settings(lamp_judge, evaluator={"workers": 2})) as running:
        yield running


@pytest.fixture
def daemon(shared_daemon: Daemon) -> Daemon:
    """The same, running: a test may have ended it."""
    if shared_daemon.process is None:
        shared_daemon.start()
    return shared_daemon


@pytest.fixture
def display(daemon: Daemon) -> Iterator[DisplayInfo]:
    """A display of its own, which goes with its waits."""
    made = daemon.client.display_create().display
    yield made
    for wait in daemon.client.wait_list().waits:
        daemon.client.wait_cancel(wait.wait_id)
    daemon.client.display_remove(made.name, force=True)


# ---- drain -----------------------------------------------------------------------------------------------------------


def test_a_drain_refuses_what_is_new_and_ends_when_what_runs_has_finished(daemon: Daemon, display: DisplayInfo) -> None:
    client = daemon.client
    with closing(Painter(display)) as painter:
        lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        told = client.daemon_drain(600, keep_displays=True)  # the painter is still connected
        assert (told.draining, told.waits, told.pid) == (True, 1, daemon.pid)
        with pytest.raises(Refused, match=r"no new waits: the daemon is draining since .* UTC and ends by .* UTC"):
            client.wait_create(Criteria("never"), display=display.name)
        for begin in (
            lambda: client.task_register("new"),
            client.display_create,
            lambda: client.wait_for_change(timeout_s=1),
            lambda: client.desktop_action(CursorPosition(), wait=WaitCreate(Criteria("never"))),
        ):
            with pytest.raises(Refused, match="draining"):
                begin()
        assert any("draining" in reason for reason in client.status().degraded)
        painter.lamp(on=True)
        ends(daemon)
        daemon.start()  # who asks may come too late for the one that drained
        faults.ended(daemon, lamp, "resolved")


def ends(daemon: Daemon) -> None:
    """The daemon ends by itself, in good order."""
    assert daemon.process is not None
    assert daemon.process.wait(faults.PATIENCE_S) == 0
    daemon.process = None


def test_a_drain_that_takes_too_long_leaves_waits_armed(daemon: Daemon, display: DisplayInfo) -> None:
    late = daemon.client.wait_create(Criteria("never"), display=display.name, timeout_s=600).wait
    before = daemon.client.events_since().newest
    daemon.client.daemon_drain(0.5, keep_displays=True)
    ends(daemon)
    daemon.start()
    assert daemon.client.wait_show(late.wait_id).wait.state.value == "watching"
    assert [one.name for one in daemon.client.status().displays] == [display.name]
    (told,) = faults.events(daemon, "daemon.drained", after=before)
    assert told.data["waits"] == 1


def test_a_drain_is_taken_back(daemon: Daemon, display: DisplayInfo) -> None:
    client = daemon.client
    client.wait_create(Criteria("never"), display=display.name)
    client.daemon_drain(600)
    assert client.daemon_drain(cancel=True).draining is False
    client.wait_create(Criteria("never"), display=display.name)
    assert not client.status().degraded


def test_a_kill_in_the_middle_of_a_drain_loses_nothing(daemon: Daemon, display: DisplayInfo) -> None:
    client = daemon.client
    with closing(Painter(display)) as painter:
        lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        client.daemon_drain(600)
        daemon.kill()
        daemon.start()
        client.wait_create(Criteria("never"), display=display.name)  # it drains no longer
        painter.lamp(on=True)
        faults.ended(daemon, lamp, "resolved")


def test_the_command_line_waits_for_the_end(daemon: Daemon) -> None:
    acud = CommandLine(daemon.home)
    assert acud.run("daemon", "reload") == "nothing differs\n"
    assert acud.run("daemon", "restart", "--evaluators").count(" -> ") == 2
    assert acud.run("daemon", "drain", "--no-wait", "--timeout", "1h").startswith("draining: 0 waits, 0 tasks, 0 runs")
    faults.until(lambda: daemon.process is not None and daemon.process.poll() == 0, "its end")
    assert "daemon" in acud.json("daemon", "drain", code=6)["error"]["message"]
    daemon.process = None
    daemon.start()
    assert acud.json("daemon", "drain") == {"stopped": True, "pid": daemon.pid}
    ends(daemon)


# ---- retention -------------------------------------------------------------------------------------------------------


def test_a_month_of_rows_goes_while_requests_are_answered(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "evidence").mkdir(parents=True)
    with Store(home / "data.db", home / "evidence", StoreSettings(), 0) as store, store.turn():
        for number in range(30_000):
            store.events.append("old", str(number), {}, 0)
    with Daemon(settings=faults.settings(store={"keep_events": 1000}), home=home) as daemon:
        seen = set()
        while (oldest := daemon.client.events_since(0, limit=1).events[0].n) <= 29_000:
            seen.add(oldest)
            daemon.client.status()
            time.sleep(0.02)
        assert len(seen) >= 3  # it went in steps (5 s of them), and somebody was answered between them
        assert not daemon.client.status().degraded


# ---- evaluators ------------------------------------------------------------------------------------------------------


def evaluators(daemon: Daemon) -> dict[str, int]:
    return {one.name: one.pid for one in daemon.client.status().children if one.kind == "evaluator"}


def test_evaluators_are_renewed_one_at_a_time_and_no_wait_notices(
    daemon: Daemon, display: DisplayInfo, judge: Judge
) -> None:
    judge.set(delay_ms=300)
    client = daemon.client
    with closing(Painter(display)) as painter:
        waits = [client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait for _ in range(4)]
        for wait in waits:
            faults.judged(daemon, wait, "no")
        before, newest = evaluators(daemon), client.events_since().newest
        painter.lamp(on=True)
        reply = client.evaluators_restart()
        assert {one.name: one.old_pid for one in reply.restarted} == before
        assert {one.name: one.pid for one in reply.restarted} == evaluators(daemon)
        assert not set(before.values()) & set(evaluators(daemon).values())
        for wait in waits:
            faults.ended(daemon, wait, "resolved")
    codes = {one.verdict.code for wait in waits for one in client.wait_show(wait.wait_id, evaluations=100).evaluations}
    assert codes == {""}  # none was ever unknown
    assert not faults.events(daemon, "child.", after=newest)


@pytest.mark.long
def test_a_job_that_takes_too_long_is_handed_over(daemon: Daemon, display: DisplayInfo, judge: Judge) -> None:
    judge.set(delay_ms=600_000)
    client = daemon.client
    with closing(Painter(display)) as painter:
        lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        faults.until(lambda: sum(one.busy_jobs for one in client.status().children), "a job in hand")
        painter.lamp(on=True)
        judge.set()  # from now on it answers at once
        reply = client.evaluators_restart()
        assert sum(one.handed_over for one in reply.restarted) >= 1
        faults.ended(daemon, lamp, "resolved")


def renewing(daemon: Daemon) -> threading.Thread:
    """A restart of the evaluators under way, whose reply may never come."""
    got: list[EvaluatorsRestartReply] = []

    def ask() -> None:
        with Client(daemon.paths, timeout_s=faults.PATIENCE_S, patience_s=faults.PATIENCE_S) as client:
            got.append(client.evaluators_restart())

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


@pytest.mark.long
@pytest.mark.parametrize("who", ["supervisor", "evaluator"])
def test_a_kill_in_the_middle_of_a_renewal_loses_no_job(
    daemon: Daemon, display: DisplayInfo, judge: Judge, who: str
) -> None:
    judge.set(delay_ms=2000)
    client = daemon.client
    with closing(Painter(display)) as painter:
        lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        faults.until(lambda: sum(one.busy_jobs for one in client.status().children), "a job in hand")
        before = evaluators(daemon)
        thread = renewing(daemon)
        painter.lamp(on=True)
        if who == "supervisor":
            daemon.kill()
            daemon.start()
        else:
            faults.until(lambda: evaluators(daemon) != before, "the first was renewed")
            for pid in set(before.values()) & set(evaluators(daemon).values()):
                os.kill(pid, signal.SIGKILL)
        faults.ended(daemon, lamp, "resolved")
        thread.join(faults.PATIENCE_S)
        assert not thread.is_alive()
    faults.until(lambda: all(one.state == "ready" for one in client.status().children), "every child")


# ---- settings --------------------------------------------------------------------------------------------------------


def test_settings_are_taken_where_that_is_safe_and_named_where_not(daemon: Daemon, display: DisplayInfo) -> None:
    client, path = daemon.client, daemon.paths.config
    bare = path.read_text()
    path.write_text(bare + '[store]\nkeep_days = 3\n[ollama]\napi_key = "a secret"\n[wait]\ntimeout_s = 77\n')
    reply = client.daemon_reload()
    assert (set(reply.taken), reply.restart) == ({"store.keep_days", "wait.timeout_s"}, ("backends.ollama.api_key",))
    assert "a secret" not in daemon.log()
    assert client.daemon_reload().taken == ()
    assert 60 < client.wait_create(Criteria("never"), display=display.name).wait.remaining_s <= 77
    path.write_text(bare + "[store]\nkeep_days = -3\n")
    with pytest.raises(ConfigError, match="keep_days"):
        client.daemon_reload()
    os.kill(daemon.pid, signal.SIGHUP)
    faults.until(lambda: "settings.refused" in daemon.log(), "the fault in the log")
    assert client.status().pid == daemon.pid
    before = client.events_since().newest
    path.write_text(bare)
    os.kill(daemon.pid, signal.SIGHUP)
    told = faults.event(daemon, "daemon.reloaded", after=before).data
    assert (set(told["taken"]), told["restart"]) == ({"store.keep_days", "wait.timeout_s"}, [])
