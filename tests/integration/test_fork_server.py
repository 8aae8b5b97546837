"""What the supervisor's side of forking tells when the process that forks is given up."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acud.process.event_loop import EventLoop
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, CaptureOptions
from acud.supervisor.displays.watched_process import spawn
from acud.supervisor.fork_server import ForkServer, reap

_LATE_S = 45.0
_START_S = 100.0
"""What a process that forks may take to begin."""
_KILLED_IN_BETWEEN = """
import os, signal, socket, sys
from pathlib import Path
from acud.process import child_process

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


_TRACER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
print(libc.ptrace(0x4206, int(sys.argv[1]), None, None), flush=True)  # PTRACE_SEIZE
sys.stdin.read()
"""


def test_a_killed_child_is_reaped_without_a_descriptor() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    process = subprocess.Popen(["sleep", "600"])
    process.kill()
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        code = reap(process, _START_S)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert code == -signal.SIGKILL


def test_a_child_whose_status_a_tracer_holds_holds_nothing_up(tmp_path: Path) -> None:
    """As a browser that crashed, whose own crash handler hangs while it traces it."""
    loop, ended = EventLoop(time.monotonic), list[str]()
    command = ["sleep", "600"]
    process = spawn(loop, command, dict(os.environ), tmp_path / "log", lambda _, reason: ended.append(reason))
    with subprocess.Popen(
        [sys.executable, "-c", _TRACER, str(process.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tracer:
        assert tracer.stdout is not None
        if tracer.stdout.readline() != "0\n":
            pytest.skip("no process may trace another here")
        process.send(signal.SIGKILL)
        until_s = time.monotonic() + _START_S
        while not ended and time.monotonic() < until_s:
            loop.turn(1.0)
        assert len(ended) == 1
        assert "traced by another process" in ended[0]
        assert process.exit_code is None
        assert Path(f"/proc/{process.pid}").exists()
    while Path(f"/proc/{process.pid}").exists():
        assert time.monotonic() < until_s
        loop.turn(1.0)
