"""The REQ sockets of one client: one per call in flight, kept for the next call while the same daemon listens."""

from __future__ import annotations

import threading
from typing import Any, Generic, Self, TypeVar

import zmq

from acud.base.errors import UsageError
from acud.protocol import codec
from acud_client.daemon_socket import DaemonSocket, SocketState, SocketStatus

Socket = TypeVar("Socket", bound=zmq.Socket[Any])

_MAX_IDLE = 8


class ConnectionPool(Generic[Socket]):
    """Owns the idle sockets. `take` and `open` lend one to a call, which ends with `keep` or `drop`. Any thread."""

    def __init__(self, context: zmq.Context[Socket], endpoint: str) -> None:
        self._context = context
        self._endpoint = endpoint
        self._idle: list[tuple[str, Socket]] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self, serial: str) -> Socket | None:
        """Return an idle socket that is connected to the daemon run `serial`, or None; older ones are closed."""
        with self._lock:
            while self._idle:
                known, socket = self._idle.pop()
                if known == serial and serial:
                    return socket
                socket.close(linger=0)
        return None

    def open(self) -> Socket:
        """Return a new socket. Raises: UsageError when this client is closed."""
        with self._lock:
            if self._closed:
                raise closed_client_error()
            socket = self._context.socket(zmq.REQ)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_REPLY_BYTES)
        socket.connect(self._endpoint)
        return socket

    def keep(self, socket: Socket, serial: str) -> None:
        """Take back a socket after its reply has come."""
        with self._lock:
            if not self._closed and serial and len(self._idle) < _MAX_IDLE:
                self._idle.append((serial, socket))
                return
        socket.close(linger=0)

    def drop(self, socket: Socket | None) -> None:
        """Close a socket that still owes a reply; it can't be used again (zmq_socket(3), ZMQ_REQ)."""
        if socket is not None:
            socket.close(linger=0)

    def close(self) -> None:
        """Close the idle sockets and lend no more; twice is harmless."""
        with self._lock:
            self._closed = True
            for _, socket in self._idle:
                socket.close(linger=0)
            self._idle.clear()


class PooledConnection(Generic[Socket]):
    """What one call holds: at most one `socket`, and the `status` of the daemon's. Use it in a `with`."""

    def __init__(self, connections: ConnectionPool[Socket], daemon_socket: DaemonSocket) -> None:
        self._connections = connections
        self._daemon_socket = daemon_socket
        serial = daemon_socket.serial()
        self.socket: Socket | None = connections.take(serial)
        self._unused = self.socket is not None
        # An idle socket answered before, and the file is the same: no need to knock.
        self.status = SocketStatus(SocketState.OPEN, serial) if self._unused else daemon_socket.look()

    def take_fresh(self) -> Socket:
        """Return a socket on which nothing was sent since its last reply."""
        if self.socket is None or not self._unused:
            self.drop()
            self.socket = self._connections.open()
        self._unused = False
        return self.socket

    def look_at_socket(self) -> None:
        """Look at the daemon_socket again."""
        self.status = self._daemon_socket.look()

    def drop(self) -> None:
        """Close the socket: it owes a reply, or its daemon is gone."""
        self._connections.drop(self.socket)
        self.socket = None

    def keep(self) -> None:
        """Give the socket back: its reply has come."""
        if self.socket is not None:
            self._connections.keep(self.socket, self.status.serial)
        self.socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()


def closed_client_error() -> UsageError:
    """Return the error for a call on a closed client."""
    return UsageError("this client is closed", hint="make a new one")
