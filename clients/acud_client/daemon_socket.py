"""The control socket's file, looked at from outside: is a daemon listening, which run of it, and if not, why not."""

from __future__ import annotations

import errno
import os
import socket
import struct
from enum import StrEnum
from pathlib import Path

import msgspec

from acud.base.errors import DaemonDown

START_HINT = "start it with: acud daemon start"
FLEET_HINT = "start it with: acud fleet serve"
_BUSY_HINT = (
    "it is busy: ask again; `acud logs` tells what it does. Only one that stays silent for minutes hangs: then "
    "`acud daemon restart --force`"
)
_PEER_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: unix(7), SO_PEERCRED


class SocketState(StrEnum):
    """What a look at the socket's file showed."""

    OPEN = "open"
    ABSENT = "absent"
    REFUSED = "refused"
    FORBIDDEN = "forbidden"
    FOREIGN = "foreign"


class SocketStatus(msgspec.Struct, frozen=True):
    """One look. `serial` names this run's socket file (it changes when the daemon is restarted; "" without a file);
    `pid` is the listening process (0: unknown)."""

    state: SocketState
    serial: str = ""
    pid: int = 0


class DaemonSocket:
    """The control socket's file at `path`, of a daemon or of the endpoint of a `fleet`; looking at it leaves nothing
    open and never blocks.
    """

    def __init__(self, path: Path, fleet: bool = False) -> None:
        self.path = path
        self._who = "the endpoint of the fleet" if fleet else "the acud daemon"
        self._start = FLEET_HINT if fleet else START_HINT

    def serial(self) -> str:
        """Return the identity of this run's socket file, or "" when there is none. One stat call."""
        try:
            found = self.path.stat()
        except OSError:
            return ""
        return f"{found.st_dev}.{found.st_ino}.{found.st_ctime_ns}"

    def look(self) -> SocketStatus:
        """Connect and hang up at once, to learn whether a daemon listens."""
        serial = self.serial()
        if not serial:
            return SocketStatus(self._explain_absence())
        if not self._is_ours():
            return SocketStatus(SocketState.FOREIGN, serial)
        return self._probe_socket(serial)

    def _explain_absence(self) -> SocketState:
        try:
            self.path.parent.stat()
            readable = os.access(self.path.parent, os.X_OK)
        except PermissionError:
            readable = False
        except OSError:
            readable = True
        return SocketState.ABSENT if readable else SocketState.FORBIDDEN

    def _is_ours(self) -> bool:
        # A short socket directory lies under /tmp, where any user could have made it first. Root may look anywhere.
        return os.getuid() in (0, self.path.parent.stat().st_uid)

    def _probe_socket(self, serial: str) -> SocketStatus:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as knocking:
            code = knocking.connect_ex(os.fsencode(self.path))
            if code == 0:
                return SocketStatus(SocketState.OPEN, serial, _listener_pid(knocking))
        if code in (errno.EAGAIN, errno.EINPROGRESS):  # its queue is full: a daemon is there, and busy
            return SocketStatus(SocketState.OPEN, serial)
        return SocketStatus(
            SocketState.FORBIDDEN if code in (errno.EACCES, errno.EPERM) else SocketState.REFUSED, serial
        )

    def fault(self, state: SocketState) -> DaemonDown:
        """Return the error for a socket that is not open; fact `reason` is the name of `state`."""
        message, hint = {
            SocketState.ABSENT: (f"{self._who} is not running", self._start),
            SocketState.REFUSED: (f"{self._who} is not running; it left its socket behind", self._start),
            SocketState.FORBIDDEN: (f"no permission for {self.path}", "run as its owner, or set ACU_HOME"),
            SocketState.FOREIGN: (
                f"{self.path.parent} belongs to another user",
                "set ACU_HOME to a directory of yours",
            ),
            SocketState.OPEN: (f"{self._who} listens", ""),
        }[state]
        return DaemonDown(message, hint=hint, reason=state.value, socket=str(self.path))

    def silent(self, seconds: float, request: str, request_id: str, *, is_mutating: bool) -> DaemonDown:
        """Return the error for a daemon that listens and does not answer; fact `reason` is `busy`. A mutating request
        may still be done: a repeat with `request_id` gets the answer of the first.
        """
        facts = {"reason": "busy", "socket": str(self.path), "request": request, "request_id": request_id}
        text = f"{self._who} did not answer {request} within {seconds:g} s"
        if not is_mutating:
            return DaemonDown(text, hint=_BUSY_HINT, **facts)
        once = f"repeated with request_id {request_id}, or the same Idempotency-Key, it is done once"
        return DaemonDown(f"{text}, and may do it all the same", hint=f"{once}; {_BUSY_HINT}", **facts)


def _listener_pid(connection: socket.socket) -> int:
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
    pid: int = _PEER_CREDENTIALS.unpack(data)[0]
    return pid
