"""A socket of the daemon that clients connect to: accepted, read, served in turn and written to, within bounds.

What one client (a process) does costs that client: its messages are served in turn with those of the others, by what
they cost; it is not read while it reads nothing itself, and it is closed where it goes beyond its bounds.
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

from acud import log
from acud.event_loop import EventLoop, Timer
from acud.supervisor.lines import zmtp
from acud.supervisor.lines.line import SMALL_BYTES, Line

_LOG = log.logger("lines")
_ACCEPTS = 64
_EVENTS = 256
_INTAKE_S = 0.005
"""What reading may take of a turn."""
_BACKLOG = 1024
_CHECK_S = 1.0
_NEGLIGIBLE_S = 1e-6
_FLUSH_S = 0.5
"""What the end of the daemon waits for the last replies to be read."""
_QUIET_S = 60.0
"""How long `closed` of one client is not told again."""


class LineLimits(Struct, frozen=True):
    """`lines`, `of_client`: connections, in all and of one process. `large`: messages beyond 16 KiB that may be under
    way at once; one that stands still is given up after `large_s`. `line_bytes`: what one may leave unread when more is
    to be sent to it; `out_bytes`: what all together may, beyond it whoever has not read for `stuck_s` is closed, most
    first, and everybody after `deaf_s`.
    """

    message: zmtp.Bounds
    lines: int
    of_client: int
    large: int = 12
    large_s: float = 10.0
    line_bytes: int = 8 << 20
    out_bytes: int = 24 << 20
    stuck_s: float = 1.0
    deaf_s: float = 60.0


class Lines:
    """Owns the Unix socket at `path` and every connection to it. `socket_type`, `peers`: as ZMTP names them.

    `came` is called in each turn in which a message may be there; `next` gives one, of each client in turn.
    """

    def __init__(
        self,
        path: Path,
        loop: EventLoop,
        socket_type: str,
        peers: frozenset[str],
        limits: LineLimits,
        came: Callable[[], None],
    ) -> None:
        self._path, self._loop, self._limits, self._peers, self._came = path, loop, limits, peers, came
        self._hello = zmtp.ready(socket_type)
        self._epoll = select.epoll()
        self._lines: dict[int, Line] = {}
        self._of_client: Counter[str] = Counter()
        self._readable: OrderedDict[int, Line] = OrderedDict()
        self._ready: OrderedDict[str, OrderedDict[int, Line]] = OrderedDict()
        self._for_place: deque[Line] = deque()
        self._places = limits.large
        self._told_s: dict[str, float] = {}
        self._spent_s: dict[str, float] = {}
        """What was worked for each client of late; it halves each second."""
        self._again: Timer | None = None
        self.closed_for: Counter[str] = Counter()
        """Connections that were closed by us, by reason."""
        self._listener = self._listen()
        loop.watch(self._epoll, self._turn)
        loop.call_later(_CHECK_S, self._check)

    def _listen(self) -> socket.socket:
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
    def all(self) -> list[Line]:
        """Every connection whose handshake is whole."""
        return [line for line in self._lines.values() if line.peer]

    # ---- in --------------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        for fd, event in self._epoll.poll(0, _EVENTS):
            if fd == self._listener.fileno():
                self._accept()
            elif (line := self._lines.get(fd)) is not None:
                self._happened(line, event)
        end_s = time.monotonic() + _INTAKE_S
        while self._readable and time.monotonic() < end_s:
            self._read(self._readable.popitem(last=False)[1])
        self._came()
        if self._readable or self._ready:
            self._go_on()

    def _go_on(self) -> None:
        """Have another turn at once: what came is not served yet."""
        if self._again is None or self._again.callback is None:
            self._again = self._loop.call_later(0.0, self._turn)

    def _accept(self) -> None:
        for _ in range(_ACCEPTS):
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as fault:
                if fault.errno in {errno.EMFILE, errno.ENFILE}:
                    self._pause()
                return
            self._welcome(connection)

    def _pause(self) -> None:
        """No descriptor is left: whoever comes waits, and the loop does not spin meanwhile."""
        _LOG.warning("descriptors.gone", lines=len(self._lines))
        self._epoll.modify(self._listener, 0)

    def _welcome(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        line = Line(connection, self._limits.message, self._hello, self._loop.now_s())
        if len(self._lines) >= self._limits.lines or self._of_client[line.client] >= self._limits.of_client:
            self._tell(line, "it has too many connections")
            line.close()
            return
        self._of_client[line.client] += 1
        self._lines[line.fileno()] = line
        line.events = line.wanted
        self._epoll.register(line.fileno(), line.events)
        self.flush(line)

    def _happened(self, line: Line, event: int) -> None:
        if event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP) and not event & select.EPOLLIN:
            self.drop(line)
            return
        if event & select.EPOLLOUT:
            self.flush(line)
        if event & select.EPOLLIN and line.is_open:
            self._readable[line.fileno()] = line

    def _read(self, line: Line) -> None:
        if not line.is_open:
            return
        try:
            if not line.read(self._loop.now_s()):
                self.drop(line)
                return
            self._decode(line)
        except zmtp.Malformed as fault:
            self.close(line, str(fault))

    def _decode(self, line: Line) -> None:
        line.decode()
        if line.peer and line.peer not in self._peers:
            raise zmtp.Malformed(f"a {line.peer[:20]} socket")
        if line.answer(self._loop.now_s()):
            self.flush(line)
        else:
            self._settle(line)

    def next(self) -> tuple[Line, list[bytes]] | None:
        """Return the next message and whose it is; None when none is whole. The client that was worked for least of
        late goes first, and of those that are equal the one that waits longest.
        """
        if self._ready:
            client = min(self._ready, key=lambda one: self._spent_s.get(one, 0.0))
            lines = self._ready[client]
            _, line = lines.popitem(last=False)
            self._ready.move_to_end(client)
            if not lines:
                del self._ready[client]
            message = line.take()
            self._after(line)
            return line, message
        return None

    def _after(self, line: Line) -> None:
        try:
            self._decode(line)
        except zmtp.Malformed as fault:
            self.close(line, str(fault))

    def charge(self, line: Line, seconds: float) -> None:
        """Note how long was worked for whoever sent the last message."""
        self._spent_s[line.client] = self._spent_s.get(line.client, 0.0) + seconds

    @property
    def waiting(self) -> bool:
        """Whether a message waits to be served."""
        return bool(self._ready)

    # ---- out -------------------------------------------------------------------------------------------------------

    def send(self, line: Line, parts: list[bytes]) -> bool:
        """Have `parts` written to a client; False when it is gone."""
        if not line.is_open:
            return False
        if line.out_bytes > self._limits.line_bytes:
            self.close(line, "it does not read what it is sent")
            return False
        line.queue(zmtp.framed(parts), self._loop.now_s())
        self.flush(line)
        return line.is_open

    def flush(self, line: Line) -> None:
        """Write what it takes now."""
        if not line.write(self._loop.now_s()):
            self.drop(line)
        else:
            self._settle(line)

    def _settle(self, line: Line) -> None:
        """Have it served when a message of it waits and it reads what it is sent; have epoll(7) tell what else is
        wanted of it now, and give a large message its place.
        """
        if not line.is_open:
            return
        if line.message is not None and not line.out_bytes:
            self._ready.setdefault(line.client, OrderedDict())[line.fileno()] = line
        else:
            self._forget(line, line.fileno())
        if line.has_place and line.under_way < SMALL_BYTES and line.message is None:
            self._vacate(line)
        elif not line.has_place and line.under_way >= SMALL_BYTES and line.message is None:
            self._place(line)
        if line.wanted != line.events:
            line.events = line.wanted
            self._epoll.modify(line.fileno(), line.events)

    def _place(self, line: Line) -> None:
        if self._places:
            self._places -= 1
            line.has_place, line.read_s = True, self._loop.now_s()
        elif line not in self._for_place:
            self._for_place.append(line)

    def _vacate(self, line: Line) -> None:
        line.has_place = False
        self._places += 1
        while self._for_place:
            other = self._for_place.popleft()
            if other.is_open:
                self._settle(other)
                return

    # ---- the end of a connection -----------------------------------------------------------------------------------

    def drop(self, line: Line) -> None:
        """The client is gone: nothing of what it asked and was not begun is done."""
        if not line.is_open:
            return
        fd = line.fileno()
        with contextlib.suppress(OSError):
            self._epoll.unregister(fd)
        del self._lines[fd]
        self._readable.pop(fd, None)
        self._forget(line, fd)
        self._of_client[line.client] -= 1
        if not self._of_client[line.client]:
            del self._of_client[line.client]
        held = line.has_place
        line.close()
        if held:
            self._vacate(line)
        self._epoll.modify(self._listener, select.EPOLLIN)

    def _forget(self, line: Line, fd: int) -> None:
        lines = self._ready.get(line.client)
        if lines is not None:
            lines.pop(fd, None)
            if not lines:
                del self._ready[line.client]

    def close(self, line: Line, reason: str) -> None:
        """End a connection that went beyond its bounds; its client is told by that, and the log why."""
        if line.is_open:
            self._tell(line, reason)
            self.drop(line)

    def _tell(self, line: Line, reason: str) -> None:
        self.closed_for[reason.split(" of ", 1)[0][:40]] += 1
        now_s = self._loop.now_s()
        if now_s - self._told_s.get(line.client, -_QUIET_S) >= _QUIET_S:
            self._told_s[line.client] = now_s
            _LOG.warning("client.closed", socket=self._path.name, pid=int(line.client), reason=reason)

    def _check(self) -> None:
        self._loop.call_later(_CHECK_S, self._check)
        now_s, limits = self._loop.now_s(), self._limits
        self._spent_s = {client: spent / 2 for client, spent in self._spent_s.items() if spent > _NEGLIGIBLE_S}
        self._told_s = {client: at for client, at in self._told_s.items() if now_s - at < _QUIET_S}
        for line in [line for line in self._lines.values() if line.has_place and line.message is None]:
            if now_s - line.read_s > limits.large_s:
                self.close(line, "a large message stands still")
        stuck = [line for line in self._lines.values() if line.out_bytes and now_s - line.moved_s > limits.stuck_s]
        unread = sum(line.out_bytes for line in self._lines.values())
        for line in sorted(stuck, key=lambda one: one.out_bytes, reverse=True):
            if unread > limits.out_bytes or now_s - line.moved_s > limits.deaf_s:
                unread -= line.out_bytes
                self.close(line, "it does not read what it is sent")

    def shut(self) -> None:
        """Let the last replies be read, for half a second, then close everything."""
        self._loop.unwatch(self._epoll)
        end_s = time.monotonic() + _FLUSH_S
        while (left := [line for line in self._lines.values() if line.out_bytes]) and time.monotonic() < end_s:
            waiting = select.poll()
            for line in left:
                waiting.register(line.fileno(), select.POLLOUT)
            waiting.poll(1000 * max(0.0, end_s - time.monotonic()))
            for line in left:
                self.flush(line)
        for line in list(self._lines.values()):
            self.drop(line)
        self._listener.close()
        self._epoll.close()
        self._path.unlink(missing_ok=True)
