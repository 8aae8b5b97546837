"""What the supervisor's side of forking tells when the process that forks is given up."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from acud.event_loop import EventLoop
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, CaptureOptions
from acud.supervisor.fork_server import ForkServer

_LATE_S = 45.0
_START_S = 100.0
"""What a process that forks may take to begin."""
_KILLED_IN_BETWEEN = """
import os, signal, socket, sys
from pathlib import Path
from acud import child_process

class Socket(socket.socket):
    def send(self, data, flags=0):
        os.kill(os.getpid(), signal.SIGKILL)

child_process.socket.socket = Socket
Path(sys.argv[1]).write_bytes(child_process.serve_forks())
"""


def _reaped(pid: int) -> int:
    """Return the page faults of the children that `pid` waited for; 0 while it waited for none (proc_pid_stat(5))."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[8])


def test_a_fork_that_was_answered_as_its_server_was_given_up_is_told(tmp_path: Path) -> None:
    now_s = 0.0
    loop = EventLoop(lambda: now_s)
    options = CaptureOptions(":1", "", "", 4, 30.0, 30.0, "auto", managed=True)
    order = Bootstrap(f"ipc://{tmp_path}/children", "capture/:1/1", os.getpid(), 1.0, False, options)
    born: list[int] = []
    with (tmp_path / "log").open("ab") as words:
        forking = ForkServer(loop, "tests.integration.wordless_child", words, dict(os.environ), _LATE_S, stays=True)
        try:
            assert forking.fork(codec.encode(order), born.append)
            server = forking.pid

            def answered() -> None:
                deadline_s = time.monotonic() + _START_S
                while not _reaped(server):
                    assert time.monotonic() < deadline_s, "nothing was forked"
                    time.sleep(0.01)

            os.kill(server, signal.SIGSTOP)
            loop.call_later(_LATE_S - 1, lambda: os.kill(server, signal.SIGCONT))
            loop.call_later(_LATE_S - 1, answered)
            now_s = _LATE_S + 1
            loop.turn(0)  # the answer comes after the poll, and the deadline of it is in the same turn
        finally:
            forking.close()
    assert len(born) == 1
    assert born[0] > 0


def test_a_fork_that_could_not_be_told_ends_and_so_does_the_server(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    lived = tmp_path / "lived"
    with ours:
        command = [sys.executable, "-c", _KILLED_IN_BETWEEN, str(lived)]
        with theirs:
            server = subprocess.Popen(command, stdin=theirs)
        try:
            ours.settimeout(_START_S)
            ours.send(b"order")
            assert ours.recv(32) == b""  # all that held it have ended, or let go of it
            assert server.wait(_START_S) == 1
        finally:
            server.kill()
            server.wait()
    assert not lived.exists()
