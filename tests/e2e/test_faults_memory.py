"""/dev/shm too small for a ring: a clear error with the sizes, and a daemon that goes on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from acud.base.errors import ShmFull
from acud.types import Change, Rect, WaitState
from tests.e2e import faults
from tests.e2e.desktop import Desk
from tests.e2e.faults import Judge
from tests.e2e.mounts import Ballast, Mounts
from tests.fixtures.daemon import Daemon

_SHM = Path("/dev/shm")


def test_a_display_too_large_for_shared_memory_is_refused_with_the_sizes(tmp_path: Path) -> None:
    with (
        Mounts("6m", _SHM) as mounts,
        Daemon(settings=faults.settings(Judge(tmp_path)), prefix=mounts.prefix) as daemon,
    ):
        client = daemon.client
        with pytest.raises(ShmFull) as fault:
            client.display_create(1280, 720)
        assert "MB" in str(fault.value)
        assert "/dev/shm" in str(fault.value)
        assert client.status().displays == ()
        faults.until(lambda: not any(c.startswith("Xvfb") for c in faults.family(daemon.paths).values()), "no display")
        assert any(f.part == "shared memory" and f.level == "warning" for f in client.doctor().findings)
        # A smaller one has room.
        display = client.display_create(320, 240).display
        assert client.look(display=display.name).width == 320
        with pytest.raises(ShmFull):
            client.display_create(1280, 720)
        assert client.look(display=display.name).width == 320


def test_a_change_is_measured_over_a_time_without_room(tmp_path: Path) -> None:
    patient = {"child_silent_s": 600}  # with the evaluator that stands still
    with (
        Mounts("6m", _SHM) as mounts,
        Daemon(settings=faults.settings(Judge(tmp_path), daemon=patient), prefix=mounts.prefix) as daemon,
    ):
        client = daemon.client
        display = client.display_create(320, 240).display
        sentinel = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        faults.judged(daemon, sentinel, "no")
        # Nobody reads how the target looks before capture is killed: only the frame before can tell what changed.
        evaluator = faults.child(daemon, "evaluator").pid
        faults.kill(evaluator, signal.SIGSTOP)
        wait = client.wait_create(Change(), display=display.name, target="region:8,8,40,40").wait
        ballast = Ballast(mounts.outside(_SHM))
        ballast.fill()
        for _ in range(2):
            capture = faults.running(daemon, "capture")
            faults.kill(capture.pid)
            faults.judged(daemon, sentinel, "unknown", "shm_full")
            faults.running(daemon, "capture", not_pid=capture.pid)
        assert any("/dev/shm" in reason for reason in client.status().degraded)
        assert "/dev/shm" in str(faults.refused(lambda: client.look(display=display.name)))
        ballast.drop()
        faults.kill(evaluator, signal.SIGCONT)
        faults.judged(daemon, sentinel, "no")
        assert client.look(display=display.name).width == 320
        assert client.wait_show(wait.wait_id).wait.state is WaitState.WATCHING
        with Desk(display.name, display.auth_file) as desk:
            desk.fill(Rect(8, 8, 40, 40), 0xC02020)
            found = faults.ended(daemon, wait, "resolved")
        assert "could not be compared" not in found.message
