"""One connection's replies, errors and events, in whatever pieces they arrive."""

import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from Xlib import X, error
from Xlib.protocol import event
from Xlib.support import lock

from acud.x11.wire import PackedQuery, PackedRequest, Wire

NUMBER = struct.Struct("=8xI")


class ScriptedWire(Wire):
    """A wire over a socket of the test, as it is once the connection was set up."""

    def __init__(self, ours: socket.socket) -> None:
        self.socket = ours
        self.socket_error, self.socket_error_lock = None, lock.allocate_lock()
        self.data_recv = bytearray()
        self.request_queue, self.sent_requests, self.event_queue = [], [], []
        self.request_serial = 65534  # serial numbers wrap among the requests of a test
        self.resource_classes = {}
        self.event_classes = event.event_class.copy()
        self.error_classes = error.xerror_class.copy()
        self.unasked: list[Exception] = []
        self.error_handler = lambda fault, _request: self.unasked.append(fault)


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def reply(query: PackedQuery, number: int, more: bytes = b"") -> bytes:
    head = struct.pack("=BxHII", 1, query._serial, len(more) // 4, number)
    return head.ljust(32, b"\0") + more


def fault(serial: int | None, code: int) -> bytes:
    return struct.pack("=BBHI", 0, code, serial, 7).ljust(32, b"\0")


def expose(serial: int | None, count: int) -> bytes:
    return struct.pack("=BxHIHHHHH", X.Expose, serial, 1, 0, 0, 1, 1, count).ljust(32, b"\0")


@given(st.lists(st.integers(1, 300), max_size=6))
def test_replies_errors_and_events_are_told_apart_wherever_a_read_ends(cuts: list[int]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire = ScriptedWire(ours)
        PackedRequest(wire, b"subtract").send()
        place = PackedQuery(wire, b"pointer.", NUMBER)
        refused = error.CatchError()
        PackedRequest(wire, b"attach..", refused).send()
        gone = PackedQuery(wire, b"nothing.", NUMBER)
        long = PackedQuery(wire, b"long....", NUMBER)
        numbers = [place._serial, gone._serial, long._serial]
        assert numbers == [65535, 1, 2]
        stream = b"".join(
            (
                expose(65533, 1), fault(65534, 3), expose(65534, 2), reply(place, 11), fault(0, 9),
                expose(0, 3), fault(gone._serial, 8), reply(long, 22, bytes(64)), expose(2, 4),
            )
        )  # fmt: skip
        wire.send_queued()
        assert theirs.recv(4096) == b"subtractpointer.attach..nothing.long...."
        at = 0
        for cut in (*cuts, len(stream)):
            theirs.sendall(stream[at : at + cut])
            at += cut
            wire.receive(wait=False)
        assert (place.answer(), long.answer()) == ((11,), (22,))
        with pytest.raises(error.BadMatch):
            gone.answer()
        assert isinstance(refused.get_error(), error.BadDrawable)
        assert [type(one) for one in wire.unasked] == [error.BadWindow]
        assert [told.count for told in wire.event_queue] == [1, 2, 3, 4]
        assert not wire.data_recv


def test_a_read_without_a_wait_takes_what_there_is(sockets: tuple[socket.socket, socket.socket]) -> None:
    wire = ScriptedWire(sockets[0])
    wire.receive(wait=False)
    sockets[1].sendall(expose(1, 1))
    wire.receive(wait=False)
    assert len(wire.event_queue) == 1


def test_a_reply_to_another_request_is_a_fault(sockets: tuple[socket.socket, socket.socket]) -> None:
    wire = ScriptedWire(sockets[0])
    asked = PackedQuery(wire, b"pointer.", NUMBER)
    sockets[1].sendall(struct.pack("=BxH", 1, 5).ljust(32, b"\0"))
    with pytest.raises(RuntimeError, match="request 5"):
        asked.answer()


@pytest.mark.parametrize("half", [b"", b"\1\0\1"])
def test_a_server_that_ends_while_it_is_waited_for_is_told(
    sockets: tuple[socket.socket, socket.socket], half: bytes
) -> None:
    wire = ScriptedWire(sockets[0])
    asked = PackedQuery(wire, b"pointer.", NUMBER)
    wire.send_queued()
    sockets[1].recv(64)
    sockets[1].sendall(half)
    sockets[1].close()
    with pytest.raises(error.ConnectionClosedError):
        asked.answer()
    with pytest.raises(error.ConnectionClosedError):
        PackedRequest(wire, b"subtract").send()


def test_a_server_that_ended_before_is_told_by_the_write(sockets: tuple[socket.socket, socket.socket]) -> None:
    wire = ScriptedWire(sockets[0])
    PackedRequest(wire, b"subtract").send()
    sockets[1].close()
    with pytest.raises(error.ConnectionClosedError):
        wire.send_queued()
