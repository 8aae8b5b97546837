"""The REQ sockets of one client: one per call in flight, kept for the next call while the same daemon listens."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import zmq

from acud.errors import UsageError
from acud.protocol import codec
from acud_client.daemon_socket import DaemonSocket, SocketState, SocketStatus

Link = TypeVar("Link", bound=zmq.Socket[Any])

_MAX_IDLE = 8


class ConnectionPool(Generic[Link]):
    """Owns the idle sockets. `take` and `open` lend one to a call, which ends with `keep` or `drop`. Any thread."""

    def __init__(self, context: zmq.Context[Link], endpoint: str) -> None:
        self._context = context
        self._endpoint = endpoint
        self._idle: list[tuple[str, Link]] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self, serial: str) -> Link | None:
        """Return an idle socket that is connected to the daemon run `serial`, or None; older ones are closed."""
        with self._lock:
            while self._idle:
                known, link = self._idle.pop()
                if known == serial and serial:
                    return link
                link.close(linger=0)
        return None

    def open(self) -> Link:
        """Return a new socket. Raises: UsageError when this client is closed."""
        with self._lock:
            if self._closed:
                raise closed()
            link = self._context.socket(zmq.REQ)
        link.setsockopt(zmq.LINGER, 0)
        link.setsockopt(zmq.MAXMSGSIZE, codec.MAX_REPLY_BYTES)
        link.connect(self._endpoint)
        return link

    def keep(self, link: Link, serial: str) -> None:
        """Take back a socket whose reply has come."""
        with self._lock:
            if not self._closed and serial and len(self._idle) < _MAX_IDLE:
                self._idle.append((serial, link))
                return
        link.close(linger=0)

    def drop(self, link: Link | None) -> None:
        """Close a socket that still owes a reply; it can't be used again (zmq_socket(3), ZMQ_REQ)."""
        if link is not None:
            link.close(linger=0)

    def close(self) -> None:
        """Close the idle sockets and lend no more; twice is harmless."""
        with self._lock:
            self._closed = True
            for _, link in self._idle:
                link.close(linger=0)
            self._idle.clear()


class PooledConnection(Generic[Link]):
    """What one call holds: at most one socket (`link`), and the last look at the door (`sight`). Use it in a `with`."""

    def __init__(self, links: ConnectionPool[Link], door: DaemonSocket) -> None:
        self._links = links
        self._door = door
        serial = door.serial()
        self.link: Link | None = links.take(serial)
        self._unused = self.link is not None
        # An idle socket answered before, and the file is the same: no need to knock.
        self.sight = SocketStatus(SocketState.OPEN, serial) if self._unused else door.look()

    def fresh(self) -> Link:
        """Return a socket on which nothing was sent since its last reply."""
        if self.link is None or not self._unused:
            self.drop()
            self.link = self._links.open()
        self._unused = False
        return self.link

    def look(self) -> None:
        """Look at the door again."""
        self.sight = self._door.look()

    def drop(self) -> None:
        """Close the socket: it owes a reply, or its daemon is gone."""
        self._links.drop(self.link)
        self.link = None

    def keep(self) -> None:
        """Give the socket back: its reply has come."""
        if self.link is not None:
            self._links.keep(self.link, self.sight.serial)
        self.link = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drop()


def closed() -> UsageError:
    """Return the error of a client that was closed."""
    return UsageError("this client is closed", hint="make a new one")
