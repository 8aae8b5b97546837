"""A new supervisor after a crash: what it adopts, and what it sweeps."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from acud.store.displays import StoredDisplay
from acud.supervisor.displays import proc_files
from tests.fixtures.numbers import own_number
from tests.integration.displays_support import Host, row, traces, xdpyinfo

ROOT = Path(__file__).parents[2]

CRASHING = """
import os, sys
from pathlib import Path
import msgspec
from tests.integration.displays_support import Host, row
host = Host(Path(sys.argv[1]), first=int(sys.argv[2]))
print(msgspec.json.encode(row(host.create())).decode(), flush=True)
os.kill(os.getpid(), 9)
"""


def crashed(home: Path, first: int) -> StoredDisplay:
    """Start a display in another process, which is then killed; return the row it would have stored."""
    done = subprocess.run(
        [sys.executable, "-c", CRASHING, str(home), str(first)],
        cwd=ROOT, stdout=subprocess.PIPE, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    return msgspec.json.decode(done.stdout, type=StoredDisplay)


def pids(stored: StoredDisplay) -> dict[str, int]:
    return {process.role: process.pid for process in stored.processes}


def test_a_display_outlives_its_supervisor_and_is_adopted(tmp_path: Path) -> None:
    first = own_number()
    stored = crashed(tmp_path, first)
    with Host(tmp_path, first=first) as host:
        adoption = host.displays.adopt([stored])
        ((_, display),) = adoption.adopted
        assert (adoption.ended, display.notes) == ((), ())
        assert row(display) == stored
        assert host.sweep() == ()
        assert xdpyinfo(display.environment(os.environ)).returncode == 0
        assert host.create("none").name != stored.name
        os.kill(pids(stored)["window_manager"], signal.SIGKILL)
        host.until(lambda: len(host.changed) == 2)
        assert host.end(stored.name) == ()
        assert traces(host.paths.displays / str(first), first) == []


def test_what_died_meanwhile_is_reported_and_swept(tmp_path: Path) -> None:
    first = own_number()
    stored = crashed(tmp_path, first)
    os.kill(pids(stored)["x_server"], signal.SIGKILL)
    with Host(tmp_path, first=first) as host:
        host.until(lambda: proc_files.start_ticks(pids(stored)["x_server"]) is None)
        adoption = host.displays.adopt([stored])
        assert adoption.adopted == ()
        assert "Xvfb" in adoption.ended[0][1]
        assert host.sweep() == (stored.name,)
        assert traces(host.paths.displays / str(first), first) == []
        assert host.create("none").name == stored.name


@pytest.mark.parametrize("change", [{"start_ticks": 1}, {"comm": "other"}, {"boot_id": "another"}])
def test_a_pid_alone_proves_nothing(tmp_path: Path, change: dict[str, object]) -> None:
    stored = crashed(tmp_path, own_number())
    strange = tuple(msgspec.structs.replace(process, **change) for process in stored.processes)
    with Host(tmp_path) as host:
        adoption = host.displays.adopt([msgspec.structs.replace(stored, processes=strange)])
        assert len(adoption.ended) == 1
        assert host.sweep() == (stored.name,)


def test_an_unrecorded_display_is_swept(tmp_path: Path) -> None:
    first = own_number()
    crashed(tmp_path, first)
    with Host(tmp_path, first=first) as host:
        assert host.sweep() == (f":{first}",)
        assert traces(host.paths.displays / str(first), first) == []


def test_a_sweep_leaves_other_instances_alone(tmp_path: Path) -> None:
    with Host(tmp_path / "a") as one, Host(tmp_path / "b") as other:
        display = one.create()
        assert other.sweep() == ()
        assert xdpyinfo(display.environment(os.environ)).returncode == 0
