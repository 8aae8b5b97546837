"""Captures and evaluators come from a process that forks them; without it they are executed, and that is told."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.process.child_process import FORK_SERVER_NAME
from tests.e2e import faults
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer

_BARE = '[display]\nwindow_manager = "none"\nsession_bus = false\n[evaluator]\nworkers = 2\n'


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    """A daemon whose displays are X servers alone, and whose evaluators are all there."""
    with Daemon(settings=_BARE) as running:
        _evaluators(running)
        yield running


def _servers(daemon: Daemon) -> list[int]:
    return [pid for pid in faults.family(daemon.paths) if _comm(pid) == FORK_SERVER_NAME]


def _comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _is_forked(pid: int) -> bool:
    return b"--forks" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def _kb(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {line.partition(":")[0]: int(line.split()[1]) for line in lines}


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _evaluators(daemon: Daemon) -> dict[str, int]:
    """Return the evaluators by name once all run and what they were forked from has ended."""

    def there() -> dict[str, int] | None:
        found = [child for child in daemon.client.status().children if child.kind == "evaluator"]
        ready = all(child.state == "ready" for child in found) and not _servers(daemon)
        return {child.name: child.pid for child in found} if ready else None

    return faults.until(there, "evaluators run and their server has ended")


def _captures(daemon: Daemon) -> dict[str, int]:
    return {child.name: child.pid for child in daemon.client.status().children if child.kind == "capture"}


def test_evaluators_are_forked_and_share_what_they_imported(daemon: Daemon) -> None:
    """So are captures; both also after a kill, and they are the supervisor's own."""
    before = _evaluators(daemon)
    assert len(set(before.values())) == len(before) >= 2
    assert all(_is_forked(pid) and _parent(pid) == daemon.pid for pid in before.values())
    held = _kb(before["0"])
    assert held["Shared_Dirty"] > held["Private_Dirty"] / 2  # none where it was executed
    faults.kill(before["0"])
    faults.until(lambda: _evaluators(daemon)["0"] != before["0"], "another evaluator in its place")
    after = _evaluators(daemon)
    assert _is_forked(after["0"])
    assert after["1"] == before["1"]

    gone, shown = (daemon.client.display_create(320, 240).display.name for _ in range(2))
    captures = _captures(daemon)
    assert len(captures) == len(set(captures.values())) == 2
    assert all(_is_forked(pid) and _parent(pid) == daemon.pid for pid in captures.values())
    assert {_comm(pid) for pid in captures.values()}.isdisjoint({FORK_SERVER_NAME})
    assert len(_servers(daemon)) == 1
    assert daemon.client.look(display=shown).width == 320
    daemon.client.display_remove(gone)
    faults.until(lambda: captures[gone] not in faults.family(daemon.paths), "the removed display's capture ends")
    faults.until(lambda: [*_captures(daemon)] == [shown], "the daemon knows that it did")
    capture = faults.child(daemon, "capture")
    faults.kill(capture.pid)
    again = faults.running(daemon, "capture", not_pid=capture.pid)
    assert ("signal 9" in again.reason, _is_forked(again.pid)) == (True, True)
    assert daemon.client.look(display=shown).width == 320


def test_without_the_server_captures_are_executed(daemon: Daemon) -> None:
    first = daemon.client.display_create(320, 240).display
    before = _captures(daemon)[first.name]
    with XServer(320, 240) as shown:  # it is up already: the server of captures is started again after 10 s
        faults.kill(_servers(daemon)[0])
        second = daemon.client.display_add(shown.display, auth_file=shown.auth_file).display
        now = _captures(daemon)
        assert now[first.name] == before  # who was forked does not depend on it any more
        assert not _is_forked(now[second.name])
        (told,) = (one for one in daemon.client.doctor().findings if one.part == "forks")
        assert (told.level, "it ended" in told.text) == ("warning", True)


def test_a_hung_server_is_ended_and_its_orders_are_executed() -> None:
    with Daemon(settings=_BARE + "[daemon]\nchild_start_s = 20\n") as daemon:
        _evaluators(daemon)
        daemon.client.display_create(320, 240)
        (server,) = _servers(daemon)
        faults.kill(server, signal.SIGSTOP)
        second = daemon.client.display_create(320, 240).display
        assert not _is_forked(_captures(daemon)[second.name])
        assert server not in faults.family(daemon.paths)


@pytest.mark.parametrize("is_stopped", [False, True])
def test_nothing_is_left_when_the_supervisor_is_killed(daemon: Daemon, is_stopped: bool) -> None:
    daemon.client.display_create(320, 240)
    (server,) = _servers(daemon)
    children = {server, *_captures(daemon).values()}
    if is_stopped:
        faults.kill(server, signal.SIGSTOP)
    daemon.kill()
    faults.until(lambda: children.isdisjoint(faults.family(daemon.paths)), "server and capture end with the supervisor")
