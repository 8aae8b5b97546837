"""The daemon as conf/systemd runs it: its words to systemd, and a world as closed as acud-system.service makes it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from acud.types import DisplayState
from tests.e2e.conftest import SCRIPTED
from tests.e2e.desktop import until
from tests.e2e.notified_systemd import notified
from tests.fixtures.daemon import Daemon
from tests.fixtures.numbers import own_number

# What acud-system.service closes, done by hand as systemd.exec(5) describes it: ProtectSystem=strict but for the state
# directory $0, PrivateTmp=yes, BindPaths=/tmp/.X11-unix, NoNewPrivileges=yes. Each start has a /tmp of its own. A
# project that lies below /tmp is carried along.
_CLOSED = """
set -e
mkdir -p -m 1777 /tmp/.X11-unix
mkdir -p "$0/x11"
mount --bind "$0" "$0"
mount --bind /tmp/.X11-unix "$0/x11"
case "$PROJECT" in /tmp/*) mkdir -p "$0/project"; mount --bind "$PROJECT" "$0/project" ;; esac
mount -t tmpfs -o mode=1777 none /tmp
mkdir /tmp/.X11-unix
mount --move "$0/x11" /tmp/.X11-unix
case "$PROJECT" in /tmp/*) mkdir -p "$PROJECT"; mount --move "$0/project" "$PROJECT" ;; esac
mount -o remount,bind,ro /
exec setpriv --no-new-privs "$@"
"""


def test_systemd_is_told_of_readiness_life_and_end(tmp_path: Path) -> None:
    with notified(tmp_path) as systemd:
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "1000000"}
        with Daemon(settings=SCRIPTED, env=told) as daemon:
            assert systemd.next().startswith(b"READY=1\n")
            assert [systemd.next() for _ in range(3)] == [b"WATCHDOG=1"] * 3
            display = daemon.client.display_create(320, 240).display
            environment = Path(f"/proc/{_x_server(daemon, display.name)}/environ").read_bytes()
            assert b"NOTIFY_SOCKET" not in environment
        words = {systemd.next()}
        while b"STOPPING=1" not in words:
            words.add(systemd.next())
        assert words == {b"WATCHDOG=1", b"STOPPING=1"} or words == {b"STOPPING=1"}


def _x_server(daemon: Daemon, name: str) -> int:
    folder = daemon.paths.displays / name.lstrip(":")
    lock = Path(f"/tmp/.X{name.lstrip(':')}-lock")
    assert folder.is_dir()
    return int(lock.read_text())


def test_the_watchdog_of_another_process_is_not_fed(tmp_path: Path) -> None:
    with notified(tmp_path) as systemd:
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"}
        with Daemon(settings=SCRIPTED, env=told):
            assert systemd.next().startswith(b"READY=1\n")
        assert systemd.next() == b"STOPPING=1"


def _is_confined(daemon: Daemon, words: str) -> bool:
    (found,) = (one for one in daemon.client.doctor().findings if one.part == "confinement")
    return found.level == "ok" and found.text.startswith(words)


def test_the_doctor_says_how_closed_it_runs(shared: Daemon) -> None:
    if "NoNewPrivs:\t1" not in Path("/proc/self/status").read_text():
        assert _is_confined(shared, "programs may gain privileges (sudo), ")
    with Daemon(settings=SCRIPTED, prefix=("setpriv", "--no-new-privs")) as daemon:
        assert _is_confined(daemon, "no new privileges, ")


def test_it_leaves_no_core(shared: Daemon) -> None:
    limits = Path(f"/proc/{shared.pid}/limits").read_text()
    (line,) = (line for line in limits.splitlines() if line.startswith("Max core file size"))
    assert line.split()[4:6] == ["0", "0"]


@pytest.fixture
def state() -> Iterator[Path]:
    """A state directory outside of /tmp; skips where no mount namespace may be made."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a mount namespace is not permitted here")
    with TemporaryDirectory(prefix="acud-test-", dir="/var/tmp") as folder:
        yield Path(folder)


def test_a_closed_service_makes_displays_and_its_successor_takes_them_over(state: Path) -> None:
    prefix = ("unshare", "--mount", "sh", "-c", _CLOSED, str(state))
    project = {"PROJECT": str(Path(__file__).parents[2])}
    # Its X servers see no lock of another's in its own /tmp: it keeps away from the numbers of other tests' daemons.
    settings = SCRIPTED + f"[display]\nfirst_number = {own_number()}\n"
    with Daemon(settings=settings, home=state / "instance", prefix=prefix, env=project) as daemon:
        inside = ("nsenter", f"--mount=/proc/{daemon.pid}/ns/mnt", "--", "touch")
        for place, code in (("/usr/acud-test", 1), (state / "acud-test", 0)):
            assert subprocess.run([*inside, place], capture_output=True, check=False).returncode == code
        made = daemon.client.display_create(320, 240).display
        shot = daemon.client.look(f"display:{made.name}")
        assert (shot.width, shot.height) == (320, 240)
        first = Path(f"/proc/{daemon.pid}/ns/mnt").readlink()
        daemon.kill()
        daemon.start()
        assert Path(f"/proc/{daemon.pid}/ns/mnt").readlink() != first
        until(lambda: _state(daemon, made.name) is DisplayState.UP, "the display in the next daemon's hands")
        again = daemon.client.look(f"display:{made.name}")
        assert (again.width, again.height) == (320, 240)


def _state(daemon: Daemon, name: str) -> DisplayState | None:
    return next((one.state for one in daemon.client.display_list().displays if one.name == name), None)
