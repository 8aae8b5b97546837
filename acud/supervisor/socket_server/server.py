"""A socket of the daemon that clients connect to: accepts, reads, serves them in turn and writes, within bounds.

Clients (processes) share the service fairly by what their messages cost. A client that does not read its replies is not
read either, and is closed where it exceeds its bounds.
"""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from acud.base import log
from acud.process.event_loop import EventLoop, Timer
from acud.protocol import zmtp
from acud.supervisor.socket_server.connection import SMALL_BYTES, ServerConnection

_LOG = log.logger("socket_server")
_ACCEPTS = 64
_EVENTS = 256
_INTAKE_S = 0.005  # reading may take so much of a turn
_BACKLOG = 1024
_CHECK_S = 1.0
_NEGLIGIBLE_S = 1e-6
_FLUSH_S = 0.5  # the daemon's end waits so long for clients to read the last replies
_QUIET_S = 60.0  # the log names one client's closed connections no more often than this


class ServerLimits(Struct, frozen=True):
    """`connections`, `of_client`: connections, in all and of one process. `large`: messages beyond 16 KiB that may be
    under way at once; one without progress for `large_s` is dropped. `connection_bytes`: unread bytes beyond which a
    connection is closed when more is to be sent; `out_bytes`: the same of all together, beyond which those that have
    not read for `stuck_s` are closed, most first. `deaf_s`: one that has not read for so long is closed in any case.
    `message_s`: the time for a whole handshake or message.
    """

    message: zmtp.Bounds
    connections: int
    of_client: int
    large: int = 12
    large_s: float = 10.0
    connection_bytes: int = 8 << 20
    out_bytes: int = 24 << 20
    stuck_s: float = 1.0
    deaf_s: float = 60.0
    message_s: float = 60.0


class SocketServer:
    """Owns the Unix socket at `path` and every connection to it. `socket_type`, `peers`: as ZMTP names them.

    `on_messages` is called in each turn in which a message may be there; `next` returns one, of each client in turn.
    """

    def __init__(
        self,
        path: Path,
        loop: EventLoop,
        socket_type: str,
        peers: frozenset[str],
        limits: ServerLimits,
        on_messages: Callable[[], None],
    ) -> None:
        self._path, self._loop, self._limits, self._peers, self._on_messages = path, loop, limits, peers, on_messages
        self._hello = zmtp.ready(socket_type)
        self._epoll = select.epoll()
        self._connections: dict[int, ServerConnection] = {}
        self._of_client: Counter[str] = Counter()
        self._readable: OrderedDict[int, ServerConnection] = OrderedDict()
        self._ready: OrderedDict[str, OrderedDict[int, ServerConnection]] = OrderedDict()
        self._for_place: deque[ServerConnection] = deque()
        self._places = limits.large
        self._logged_s: dict[str, float] = {}
        self._spent_s: dict[str, float] = {}  # recent service time of each client; it halves each second
        self._fair_s = 0.0
        """The service time at which a newcomer starts: that of a client that shared evenly with those that wait."""
        self._again: Timer | None = None
        self.closed_for: Counter[str] = Counter()  # connections that the server closed, by reason
        self._listener = self._open_listener()
        loop.watch(self._epoll, self._run_turn)
        loop.call_each(_CHECK_S, self._close_overdue)

    def _open_listener(self) -> socket.socket:
        self._path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            listener.bind(str(self._path))
            self._path.chmod(0o600)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        self._epoll.register(listener, select.EPOLLIN)
        return listener

    @property
    def all(self) -> list[ServerConnection]:
        """Every connection with a complete handshake."""
        return [connection for connection in self._connections.values() if connection.peer]

    # ---- in --------------------------------------------------------------------------------------------------------

    def _run_turn(self) -> None:
        for fd, event in self._epoll.poll(0, _EVENTS):
            if fd == self._listener.fileno():
                self._accept_clients()
            elif (connection := self._connections.get(fd)) is not None:
                self._handle_event(connection, event)
        end_s = time.monotonic() + _INTAKE_S
        while self._readable and time.monotonic() < end_s:
            self._read_connection(self._readable.popitem(last=False)[1])
        self._on_messages()
        if self._readable or self._ready:
            self._go_on()

    def _go_on(self) -> None:
        """Schedule another turn at once, as messages are left."""
        if self._again is None or self._again.callback is None:
            self._again = self._loop.call_later(0.0, self._run_turn)

    def _accept_clients(self) -> None:
        for _ in range(_ACCEPTS):
            try:
                accepted, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as fault:
                if fault.errno in {errno.EMFILE, errno.ENFILE}:
                    self._pause_accepting()
                return
            self._add_connection(accepted)

    def _pause_accepting(self) -> None:
        """Stop accepting: no descriptor is left. New clients wait, and the loop does not spin."""
        _LOG.warning("descriptors.gone", lines=len(self._connections))
        self._epoll.modify(self._listener, 0)

    def _add_connection(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        connection = ServerConnection(accepted, self._limits.message, self._hello, self._loop.now_s())
        limits = self._limits
        if len(self._connections) >= limits.connections:
            # Make room, as clients that hold connections without use must not lock others out. libzmq connects again.
            idle = [one for one in self._connections.values() if one.is_idle]
            if idle:
                self.close(min(idle, key=lambda one: one.read_s), "it was idle for longest")
        if len(self._connections) >= limits.connections or self._of_client[connection.client] >= limits.of_client:
            self._log_closed(connection, "it has too many connections")
            connection.close()
            return
        self._of_client[connection.client] += 1
        self._connections[connection.fileno()] = connection
        connection.events = connection.wanted
        self._epoll.register(connection.fileno(), connection.events)
        self.flush(connection)

    def _handle_event(self, connection: ServerConnection, event: int) -> None:
        if event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP) and not event & select.EPOLLIN:
            self.drop(connection)
            return
        if event & select.EPOLLOUT:
            self.flush(connection)
        if event & select.EPOLLIN and connection.is_open:
            self._readable[connection.fileno()] = connection

    def _read_connection(self, connection: ServerConnection) -> None:
        if not connection.is_open:
            return
        try:
            if not connection.read(self._loop.now_s()):
                self.drop(connection)
                return
            self._decode_messages(connection)
        except zmtp.Malformed as fault:
            self.close(connection, str(fault))

    def _decode_messages(self, connection: ServerConnection) -> None:
        connection.decode()
        if connection.peer and connection.peer not in self._peers:
            raise zmtp.Malformed(f"a {connection.peer[:20]} socket")
        if connection.answer(self._loop.now_s()):
            self.flush(connection)
        else:
            self._update_connection(connection)

    def next(self) -> tuple[ServerConnection, list[bytes]] | None:
        """Return the next complete message with its connection, or None. The client with the least recent service time
        goes first, among equals the one that waits longest.
        """
        if self._ready:
            client = min(self._ready, key=lambda one: self._spent_s.get(one, 0.0))
            ready = self._ready[client]
            _, connection = ready.popitem(last=False)
            self._ready.move_to_end(client)
            if not ready:
                del self._ready[client]
            message = connection.take()
            try:
                self._decode_messages(connection)
            except zmtp.Malformed as fault:
                self.close(connection, str(fault))
            return connection, message
        return None

    def charge(self, connection: ServerConnection, seconds: float) -> None:
        """Add to the service time of the client, for fairness."""
        self._spent_s[connection.client] = self._spent_s.get(connection.client, 0.0) + seconds
        waiting = [self._spent_s.get(client, 0.0) for client in self._ready]
        # It grows with all work, so that new processes without end come behind those that wait already.
        self._fair_s = max(self._fair_s + seconds / (len(waiting) or 1), min(waiting, default=0.0))

    @property
    def waiting(self) -> bool:
        return bool(self._ready)

    # ---- out -------------------------------------------------------------------------------------------------------

    def send(self, connection: ServerConnection, parts: list[bytes]) -> bool:
        """Queue and write `parts` to a client; return False when it is gone."""
        if not connection.is_open:
            return False
        if connection.out_bytes > self._limits.connection_bytes:
            self.close(connection, "it does not read what it is sent")
            return False
        connection.unanswered = max(0, connection.unanswered - 1)
        connection.queue(zmtp.frame_message(parts), self._loop.now_s())
        self.flush(connection)
        return connection.is_open

    def flush(self, connection: ServerConnection) -> None:
        """Write what the client takes now."""
        if not connection.write(self._loop.now_s()):
            self.drop(connection)
        else:
            self._update_connection(connection)

    def _update_connection(self, connection: ServerConnection) -> None:
        """Queue the connection for service if it has a message and no unread replies; update its epoll(7) events, and
        assign or free its place for a large message.
        """
        if not connection.is_open:
            return
        if connection.message is not None and not connection.out_bytes:
            self._spent_s.setdefault(connection.client, self._fair_s if self._ready else 0.0)
            self._ready.setdefault(connection.client, OrderedDict())[connection.fileno()] = connection
        else:
            self._unqueue(connection, connection.fileno())
        if connection.has_place and connection.under_way < SMALL_BYTES and connection.message is None:
            self._free_place(connection)
        elif not connection.has_place and connection.under_way >= SMALL_BYTES and connection.message is None:
            self._assign_place(connection)
        if connection.wanted != connection.events:
            connection.events = connection.wanted
            self._epoll.modify(connection.fileno(), connection.events)

    def _assign_place(self, connection: ServerConnection) -> None:
        if self._places:
            self._places -= 1
            connection.has_place, connection.read_s = True, self._loop.now_s()
        elif connection not in self._for_place:
            self._for_place.append(connection)

    def _free_place(self, connection: ServerConnection) -> None:
        connection.has_place = False
        self._places += 1
        while self._for_place:
            other = self._for_place.popleft()
            if other.is_open:
                self._update_connection(other)
                return

    # ---- the end of a connection -----------------------------------------------------------------------------------

    def drop(self, connection: ServerConnection) -> None:
        """Forget a client that is gone, and its unbegun requests."""
        if not connection.is_open:
            return
        fd = connection.fileno()
        with contextlib.suppress(OSError):
            self._epoll.unregister(fd)
        del self._connections[fd]
        self._readable.pop(fd, None)
        self._unqueue(connection, fd)
        self._of_client[connection.client] -= 1
        if not self._of_client[connection.client]:
            del self._of_client[connection.client]
        held = connection.has_place
        connection.close()
        if held:
            self._free_place(connection)
        self._epoll.modify(self._listener, select.EPOLLIN)

    def _unqueue(self, connection: ServerConnection, fd: int) -> None:
        ready = self._ready.get(connection.client)
        if ready is not None:
            ready.pop(fd, None)
            if not ready:
                del self._ready[connection.client]

    def close(self, connection: ServerConnection, reason: str) -> None:
        """Close a connection that exceeded its bounds, and log why."""
        if connection.is_open:
            self._log_closed(connection, reason)
            self.drop(connection)

    def _log_closed(self, connection: ServerConnection, reason: str) -> None:
        self.closed_for[reason.split(" of ", 1)[0][:40]] += 1
        now_s = self._loop.now_s()
        if now_s - self._logged_s.get(connection.client, -_QUIET_S) >= _QUIET_S:
            self._logged_s[connection.client] = now_s
            _LOG.warning("client.closed", socket=self._path.name, pid=int(connection.client), reason=reason)

    def _close_overdue(self) -> None:
        now_s, limits = self._loop.now_s(), self._limits
        self._spent_s = {client: spent / 2 for client, spent in self._spent_s.items() if spent > _NEGLIGIBLE_S}
        self._fair_s /= 2
        self._logged_s = {client: at for client, at in self._logged_s.items() if now_s - at < _QUIET_S}
        for connection in list(self._connections.values()):
            is_partial = not connection.peer or (connection.under_way and connection.message is None)
            waits_for_us = connection.out_bytes or connection in self._for_place
            if is_partial and not waits_for_us and now_s - connection.began_s > limits.message_s:
                self.close(connection, "a message stands still" if connection.peer else "its handshake stands still")
        large = [one for one in self._connections.values() if one.has_place and one.message is None]
        for connection in large:
            if now_s - connection.read_s > limits.large_s:
                self.close(connection, "a large message stands still")
        stuck = [one for one in self._connections.values() if one.out_bytes and now_s - one.moved_s > limits.stuck_s]
        unread = sum(one.out_bytes for one in self._connections.values())
        for connection in sorted(stuck, key=lambda one: one.out_bytes, reverse=True):
            if unread > limits.out_bytes or now_s - connection.moved_s > limits.deaf_s:
                unread -= connection.out_bytes
                self.close(connection, "it does not read what it is sent")

    def shut(self) -> None:
        """Write the last replies, for half a second at most, then close everything."""
        self._loop.unwatch(self._epoll)
        end_s = time.monotonic() + _FLUSH_S
        while (left := [one for one in self._connections.values() if one.out_bytes]) and time.monotonic() < end_s:
            waiting = select.poll()
            for connection in left:
                waiting.register(connection.fileno(), select.POLLOUT)
            waiting.poll(1000 * max(0.0, end_s - time.monotonic()))
            for connection in left:
                self.flush(connection)
        for connection in list(self._connections.values()):
            self.drop(connection)
        self._listener.close()
        self._epoll.close()
        self._path.unlink(missing_ok=True)
