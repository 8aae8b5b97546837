"""What a client may cost the daemon's sockets: turns, memory, connections. Clients are libzmq sockets, or bytes."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zmq

from acud.process.event_loop import EventLoop
from acud.protocol import zmtp
from acud.supervisor.socket_server.connection import ServerConnection
from acud.supervisor.socket_server.server import ServerLimits, SocketServer

_TURNS = 20_000
_LIMITS = ServerLimits(
    zmtp.Bounds(1 << 20, 8), connections=8, of_client=6, large=2, connection_bytes=1 << 20, out_bytes=2 << 20
)
_OTHER = """
import sys, zmq
with zmq.Context() as context, context.socket(zmq.REQ) as line:
    line.connect(sys.argv[1])
    line.send(b"from another process")
    line.recv()
"""


class _Rig:
    """A ROUTER of ours at `path`, on a clock that the test moves; `came` keeps what was served."""

    def __init__(self, folder: Path) -> None:
        self.now_s = 1000.0
        self.loop = EventLoop(lambda: self.now_s)
        self.path = folder / "control"
        self.came: list[tuple[ServerConnection, list[bytes]]] = []
        self.a_turn = 1
        self.answer: Callable[[ServerConnection, list[bytes]], list[bytes]] | None = None
        self.server = SocketServer(self.path, self.loop, "ROUTER", frozenset({"REQ", "DEALER"}), _LIMITS, self._serve)
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()

    def _serve(self) -> None:
        for _ in range(self.a_turn):
            found = self.server.next()
            if found is None:
                return
            self.came.append(found)
            if self.answer is not None:
                self.server.send(found[0], self.answer(*found))

    def until(self, holds: Callable[[], object]) -> None:
        for _ in range(_TURNS):
            if holds():
                return
            self.loop.turn(0.01)
        raise AssertionError("it did not come to that")

    def client(self, kind: int) -> zmq.Socket[bytes]:
        made = self.context.socket(kind)
        made.setsockopt(zmq.LINGER, 0)
        made.connect(f"ipc://{self.path}")
        return made

    def later(self, seconds: float) -> None:
        """Let that time pass; the check of each second is made."""
        for _ in range(int(seconds)):
            self.now_s += 1.0
            self.loop.turn(0)

    @property
    def held_bytes(self) -> int:
        return sum(
            line.under_way + line.out_bytes + sum(map(len, line.message or []))
            for line in self.server._connections.values()
        )


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[_Rig]:
    made = _Rig(tmp_path)
    yield made
    made.server.shut()
    made.context.destroy(linger=0)
    assert not made.path.exists()


def test_another_client_waits_for_one_message_of_a_flooder_not_for_all(rig: _Rig) -> None:
    hello = zmtp.GREETING + zmtp.ready("DEALER")
    with socket.socket(socket.AF_UNIX) as flooder, socket.socket(socket.AF_UNIX) as other:
        for raw in (flooder, other):
            raw.connect(str(rig.path))
        rig.until(lambda: len(rig.server._connections) == 2)
        theirs = list(rig.server._connections.values())[1]
        theirs.client = "other"
        rig.server._of_client["other"] += 1
        flooder.sendall(hello + b"".join(zmtp.frame_message([b"", b"flood"])) * 800)
        rig.until(lambda: len(rig.came) >= 10)
        other.sendall(hello + b"".join(zmtp.frame_message([b"", b"one"])))
        before = len(rig.came)
        rig.until(lambda: rig.came[-1][0] is theirs)
        assert len(rig.came) - before <= 3
        rig.until(lambda: len(rig.came) == 801)


def test_a_client_that_never_reads_is_not_served_on_and_is_closed(rig: _Rig) -> None:
    rig.answer = lambda line, parts: [b"", b"y" * 700_000]
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(rig.path))
        raw.sendall(zmtp.GREETING + zmtp.ready("DEALER") + b"".join(zmtp.frame_message([b"", b"ask"])) * 500)
        rig.until(lambda: rig.came)
        for _ in range(50):
            rig.loop.turn(0)
        assert len(rig.came) == 1
        assert rig.held_bytes < 1 << 20
        rig.later(59)
        assert rig.server._connections
        rig.later(3)
        assert rig.server.closed_for["it does not read what it is sent"] == 1
        assert (rig.server._connections, rig.held_bytes) == ({}, 0)


def test_of_replies_that_come_late_no_more_is_kept_than_the_bounds(rig: _Rig) -> None:
    lines = []
    raws = [socket.socket(socket.AF_UNIX) for _ in range(6)]
    for raw in raws:
        raw.connect(str(rig.path))
        raw.sendall(zmtp.GREETING + zmtp.ready("DEALER") + b"".join(zmtp.frame_message([b"", b"ask"])))
    rig.until(lambda: len(rig.came) == 6)
    lines = [line for line, _ in rig.came]
    for line in lines:
        assert rig.server.send(line, [b"", b"y" * 900_000])
    assert rig.server.send(lines[0], [b"", b"y" * 900_000])
    assert not rig.server.send(lines[0], [b"", b"y" * 900_000])
    rig.later(3)
    assert rig.held_bytes <= _LIMITS.out_bytes
    assert any(line.is_open for line in lines)
    for raw in raws:
        raw.close()


def test_large_messages_take_turns_and_one_that_stands_still_is_given_up(rig: _Rig) -> None:
    raws = [socket.socket(socket.AF_UNIX) for _ in range(6)]
    for raw in raws:
        raw.connect(str(rig.path))
        raw.setblocking(False)
        raw.send(zmtp.GREETING + zmtp.ready("DEALER"))
        raw.send(b"\x01\0\x02" + (1 << 19).to_bytes(8, "big") + bytes(100_000))
    rig.until(lambda: sum(line.has_place for line in rig.server._connections.values()) == 2)
    for _ in range(100):
        rig.loop.turn(0)
    assert rig.held_bytes < 2 * 110_000 + 6 * 2 * 16_384 + 4096
    rig.later(12)
    rig.until(lambda: len(rig.server._connections) <= 4)
    rig.later(24)
    assert rig.server.closed_for["a large message stands still"] >= 4
    for raw in raws:
        raw.close()


def test_connections_are_bounded_for_one_process_and_the_others_have_room(rig: _Rig) -> None:
    raws = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    for raw in raws:
        raw.connect(str(rig.path))
    rig.until(lambda: rig.server.closed_for["it has too many connections"] == 6)
    other = subprocess.Popen([sys.executable, "-c", _OTHER, f"ipc://{rig.path}"])
    rig.answer = lambda line, parts: [b"", b"answer"]
    rig.until(lambda: other.poll() is not None)
    assert other.returncode == 0
    for raw in raws:
        raw.close()


def test_new_processes_without_end_do_not_starve_a_client_that_waits(rig: _Rig) -> None:
    """Each brings one message of 10 ms, and the next is there before it is served: the old client is never alone."""
    with contextlib.ExitStack() as stack:

        def come() -> ServerConnection:
            raw = stack.enter_context(socket.socket(socket.AF_UNIX))
            before = len(rig.server._connections)
            raw.connect(str(rig.path))
            rig.until(lambda: len(rig.server._connections) > before)
            return list(rig.server._connections.values())[-1]

        def ask(connection: ServerConnection, client: str) -> None:
            connection.client, connection.message = client, [b"", b"asks"]
            rig.server._of_client[client] += 1
            rig.server._update_connection(connection)

        old, *others = (come() for _ in range(6))
        rig.server._spent_s["old"] = 0.05  # it was served before
        ask(others[0], "new")
        ask(old, "old")
        for number in range(20):
            found = rig.server.next()
            assert found is not None
            rig.server.charge(found[0], 0.01)
            if found[0] is old:
                break
            ask(found[0], f"new {number}")
        assert number <= 12
        while rig.server.next():
            pass


def test_idle_connections_make_room_and_what_never_comes_whole_is_closed(rig: _Rig) -> None:
    hello = zmtp.GREETING + zmtp.ready("DEALER")
    with contextlib.ExitStack() as stack:
        raws = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(9)]
        for number, raw in enumerate(raws[:8]):
            rig.now_s += 0.1
            raw.connect(str(rig.path))
            raw.sendall(hello + b"".join(zmtp.frame_message([b"", b"asks"])) * (number == 0))
            rig.until(lambda number=number: len(rig.server.all) == number + 1)
            connection = list(rig.server._connections.values())[-1]
            rig.server._of_client[connection.client] -= 1
            connection.client = str(number % 2)
            rig.server._of_client[connection.client] += 1
        rig.until(lambda: rig.came)
        first = rig.came[0][0]
        second = list(rig.server._connections.values())[1]
        raws[8].connect(str(rig.path))
        rig.until(lambda: not second.is_open)
        assert first.is_open  # longer silent, but its request is not answered yet
        assert rig.server.closed_for["it was idle for longest"] == 1
        raws[2].send(b"\x01")  # half of a frame's head; the ninth has sent nothing
        rig.until(lambda: any(one.peer and one.under_way for one in rig.server._connections.values()))
        rig.later(62)
        assert rig.server.closed_for["its handshake stands still"] == 1
        assert rig.server.closed_for["a message stands still"] == 1


@pytest.mark.parametrize("data", [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + bytes(64), b"\xff" + bytes(8) + b"\x7f\x01\x00" + bytes(60),
    zmtp.GREETING[:12] + b"CURVE".ljust(52, b"\0"), zmtp.GREETING + zmtp.ready("PUB") + b"\0\x01x",
    zmtp.GREETING + b"\0\x01x", zmtp.GREETING + b"\x04\x06\x05READZ", zmtp.GREETING + b"\x04\x06\x05READY",
    zmtp.GREETING + zmtp.ready("REQ") + b"\xf0\x01x", zmtp.GREETING + zmtp.ready("REQ") + b"\x01\0" * 9,
    zmtp.GREETING + zmtp.ready("REQ") + b"\x02" + (2**63).to_bytes(8, "big"),
    zmtp.GREETING + zmtp.ready("REQ") + b"\x03" + (1 << 20).to_bytes(8, "big") + bytes(1 << 20) + b"\0\x01x",
])  # fmt: skip
def test_what_is_no_message_closes_its_sender(rig: _Rig, data: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(rig.path))
        raw.setblocking(False)
        sent = 0

        def push() -> bool:
            nonlocal sent
            try:
                sent += raw.send(data[sent : sent + 60_000]) if sent < len(data) else 0
            except BlockingIOError:
                return False
            except (BrokenPipeError, ConnectionResetError):
                return True
            return bool(rig.server.closed_for) and not rig.server._connections

        rig.until(push)
        assert rig.came == []


def test_bytes_may_come_one_by_one(rig: _Rig) -> None:
    rig.answer = lambda line, parts: [b"", b"answer"]
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(rig.path))
        for byte in zmtp.GREETING + zmtp.ready("REQ") + b"".join(zmtp.frame_message([b"", b"ask"])):
            raw.send(bytes([byte]))
            rig.loop.turn(0)
        rig.until(lambda: rig.came)
        assert rig.came[0][1] == [b"", b"ask"]
        raw.settimeout(60)
        answer = b""
        while not answer.endswith(b"answer"):
            answer += raw.recv(4096)
        assert answer == zmtp.GREETING + zmtp.ready("ROUTER") + b"\x01\0\0\x06answer"


def test_a_ping_is_answered_with_its_context(rig: _Rig) -> None:
    """Clients with ZMQ_HEARTBEAT_IVL close a connection on which no PONG comes (rfc.zeromq.org/spec/37)."""
    ping = b"\x04PING\x00\x0acontext"
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(rig.path))
        raw.send(zmtp.GREETING + zmtp.ready("DEALER") + bytes([4, len(ping)]) + ping)
        raw.setblocking(False)
        answer = b""

        def ponged() -> bool:
            nonlocal answer
            with contextlib.suppress(BlockingIOError):
                answer += raw.recv(4096)
            return answer.endswith(b"context")

        rig.until(ponged)
    assert answer == zmtp.GREETING + zmtp.ready("ROUTER") + b"\x04\x0c\x04PONGcontext"
