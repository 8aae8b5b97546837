"""Starting and ending the daemon's process from outside."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from acud.base import private_files
from acud.base.errors import AcudError, DaemonDown, Unavailable
from acud.base.paths import Paths, make_private
from acud.config.http_listeners import receive_sockets
from acud.protocol.requests.daemon import StatusReply
from acud_cli.logs import tail
from acud_client.daemon_socket import SocketState
from acud_client.sync import Client

START_DEADLINE_S = 300.0
"""A large database is looked through at the start; a daemon that ends is not waited for."""
_OTHER_S = 30.0
"""How long the answer of another start's daemon is waited for."""
STOP_DEADLINE_S = 60.0
"""Longer than a daemon takes that has to kill its displays."""
_KILL_DEADLINE_S = 5.0
_CHILDREN_S = 20.0
_COMING = ("starting", "backoff")
"""States of processes and displays that are to be ready by themselves."""
_FORCED_S = 2.0
_LOOK_S = 0.05
_HANDOVER_S = 2.0
_DRAIN_LOOK_S = 1.0
_OUTRUN = "a supervisor already runs"
"""In the last words of a supervisor that did not get the instance's lock."""


def daemon_command(*, debug: bool, sockets: Mapping[str, socket.socket] | None = None) -> list[str]:
    """Return the command line of the daemon, run by the interpreter of this installation."""
    given = ",".join(f"{name}={one.fileno()}" for name, one in (sockets or {}).items())
    options = [*(["--debug"] if debug else []), *([f"--sockets={given}"] if given else [])]
    return [sys.executable, "-m", "acud.supervisor", *options]


@contextlib.contextmanager
def hold_listeners(paths: Paths) -> Iterator[dict[str, socket.socket]]:
    """Hold, in the block, the sockets that the running daemon's HTTP listeners accept on: {} without one.

    While they are held no other process can take their ports.
    """
    held: dict[str, socket.socket] = {}
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.settimeout(_HANDOVER_S)
        connected.connect(str(paths.handover))
        held = receive_sockets(connected)
    try:
        yield held
    finally:
        for one in held.values():
            one.close()


def start(
    paths: Paths,
    *,
    debug: bool,
    sockets: Mapping[str, socket.socket] | None = None,
    deadline_s: float = START_DEADLINE_S,
) -> StatusReply:
    """Start the daemon in a session of its own and return its status once it answers. `sockets`: those that a former
    one listened on.

    Raises: Unavailable with the last words of a daemon that ended or did not get ready; Refused for directories that
    others could write to.
    """
    private_files.check_instance(
        paths
    )  # before anything is made private here: what others could write to, they may have
    make_private(paths.home)
    make_private(paths.debug_log.parent)
    words = LastWords(paths)
    return _wait_until_ready(
        paths, lambda: start_process(paths, words, sockets or {}, debug=debug), words, time.monotonic() + deadline_s
    )


def start_process(
    paths: Paths, words: LastWords, sockets: Mapping[str, socket.socket], *, debug: bool
) -> subprocess.Popen[bytes]:
    """Start the process of a daemon; its first words go into a file that only this user can read."""
    opened = private_files.open_regular(words.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(opened, "wb") as log:
        os.fchmod(opened, 0o600)  # one that an older acud left
        return subprocess.Popen(
            daemon_command(debug=debug, sockets=sockets),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            env=os.environ | {"ACU_HOME": str(paths.home)},
            pass_fds=[one.fileno() for one in sockets.values()],
        )


class LastWords:
    """The last words of a daemon before it ended: first on its standard error, then, once it is open, in its log."""

    def __init__(self, paths: Paths) -> None:
        self.path = paths.debug_log.parent / "start.log"
        self._log = paths.debug_log
        self._log_size = self._log.stat().st_size if self._log.exists() else 0

    def read_last(self) -> str:
        """Return the daemon's error line ("acud: …") without its prefix, else its last line; "" for none."""
        lines = tail(self.path, 50) + tail(self._log, 50, after=self._log_size)
        faults = [line.removeprefix("acud: ") for line in lines if line.startswith("acud: ")]
        return (faults or lines or [""])[-1]


def _wait_until_ready(
    paths: Paths, begin: Callable[[], subprocess.Popen[bytes]], words: LastWords, end_s: float
) -> StatusReply:
    process, is_first = begin(), True
    other_end_s = end_s
    with Client(paths, timeout_s=2.0) as client:
        while time.monotonic() < end_s:
            # Looked at first. One that lost a race against another start ends; then the other's answer is waited for.
            if process.poll() is None:
                other_end_s = min(end_s, time.monotonic() + _OTHER_S)
            hopeless = process.poll() is not None and not (
                _is_supervisor_named_in_lock(paths) and time.monotonic() < other_end_s
            )
            with contextlib.suppress(DaemonDown):
                status = client.status()
                process.returncode = 0  # it goes on without us: no warning about a child still running
                return status
            if hopeless and is_first and _OUTRUN in words.read_last():
                process, is_first = begin(), False  # the holder of the lock was ending: it listened no more
            elif hopeless:
                break
            time.sleep(_LOOK_S)
    raise _make_start_fault(process, words.read_last())


def await_children(client: Client, status: StatusReply, within_s: float = _CHILDREN_S) -> StatusReply:
    """Return the status of the daemon once every process and display that it starts is there, or after `within_s`."""
    end_s = time.monotonic() + within_s
    while list_unready(status) and time.monotonic() < end_s:
        time.sleep(_LOOK_S)
        status = client.status()
    return status


def list_unready(status: StatusReply) -> list[str]:
    """Return in words which processes and displays of the daemon are not ready yet."""
    late = [(f"{one.kind} {one.name}", one.state, one.reason) for one in status.children if one.state in _COMING]
    late += [(f"display {one.name}", one.state, one.reason) for one in status.displays if one.state in _COMING]
    return [f"{name} ({': '.join(filter(None, (state, reason)))})" for name, state, reason in late]


def _is_supervisor_named_in_lock(paths: Paths) -> bool:
    """Return whether the process named in the instance's lock is a supervisor; looking leaves the lock alone."""
    try:
        pid = int(paths.lock.read_text(encoding="ascii"))
        return b"acud.supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False


def _make_start_fault(process: subprocess.Popen[bytes], output: str) -> AcudError:
    code = process.poll()
    if code is None:
        process.returncode = 0
        return Unavailable("the daemon started and does not answer yet", hint="acud logs; acud status")
    how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
    return Unavailable(f"the daemon did not start: {output or how}", hint="" if output else "see: acud logs")


class Running:
    """A process that is watched to its end through a pidfd, so that its number can't be taken for another's."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def wait_end(self, within_s: float) -> bool:
        return bool(select.select([self._fd], [], [], within_s)[0])

    def send(self, what: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, what)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)


def stop(client: Client, *, keep_displays: bool, force: bool) -> int:
    """End the daemon and return its pid once the process is gone; 0 when none ran.

    `force` ends by signals one that does not answer. Raises: Unavailable when it is still there.
    """
    status = client.daemon_socket.look()
    if status.state in (SocketState.ABSENT, SocketState.REFUSED):
        return 0
    if status.state is not SocketState.OPEN or not status.pid:
        raise client.daemon_socket.fault(status.state)
    client.timeout_s = _FORCED_S if force else client.timeout_s
    with contextlib.closing(Running(status.pid)) as daemon:
        answered = _ask_to_stop(client, daemon, keep_displays=keep_displays, force=force)
        _await_end(daemon, STOP_DEADLINE_S if answered else _KILL_DEADLINE_S, force=force)
    return status.pid


def wait_until_ended(client: Client, pid: int) -> bool:
    """Return True once the process `pid` of a draining daemon is gone, False when it drains no longer."""
    try:
        running = Running(pid)
    except ProcessLookupError:
        return True
    with contextlib.closing(running) as daemon:
        while not daemon.wait_end(_DRAIN_LOOK_S):
            with contextlib.suppress(DaemonDown):
                if not any("draining" in reason for reason in client.status().degraded):
                    return daemon.wait_end(
                        STOP_DEADLINE_S if client.daemon_socket.look().state is not SocketState.OPEN else 0
                    )
    return True


def _ask_to_stop(client: Client, daemon: Running, *, keep_displays: bool, force: bool) -> bool:
    """Have the daemon end; return False for one that stands still."""
    try:
        client.shutdown(keep_displays=keep_displays)
        return True
    except DaemonDown as fault:
        if fault.facts.get("reason") == "busy" and not force:
            raise DaemonDown(
                f"the daemon (pid {daemon.pid}) has not answered yet",
                hint="it is busy: ask again; one that stays silent for minutes hangs: acud daemon stop --force",
            ) from fault
        daemon.send(signal.SIGTERM)
        return fault.facts.get("reason") != "busy"  # one that answers no more is ending already


def _await_end(daemon: Running, within_s: float, *, force: bool) -> None:
    if daemon.wait_end(within_s):
        return
    if force:
        daemon.send(signal.SIGKILL)
        if daemon.wait_end(_KILL_DEADLINE_S):
            return
    raise Unavailable(f"the daemon (pid {daemon.pid}) is still ending", hint="acud logs; acud daemon stop --force")
