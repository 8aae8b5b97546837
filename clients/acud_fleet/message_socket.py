"""ZeroMQ's messages on Unix sockets in an asyncio loop, which reads and writes them itself.

libzmq hands each message to a thread of its own and back. A process that does little more than pass messages on spends
most of its time on that (docs/scaling.md, "More than one host").
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acud.base import log
from acud.protocol import codec, zmtp

_LOG = log.logger("fleet")
_ACCEPTS = 64
_BACKLOG = 1024
"""Connections that wait to be accepted."""
_AGAIN_S = 1.0
_PARTS = 4
_UNREAD_BYTES = 2 * codec.MAX_REPLY_BYTES
"""A peer that leaves so much unread is given up."""


HandOn = Callable[[socket.socket, int], bool]
"""Takes a connection that was accepted, and how many this process has. Returns whether another process got it."""


class MessageConnection(asyncio.Protocol):
    """A connection of a socket of type `own` to one of the types `peers`, as ZMTP names them. `came` is called with
    each message (the part after an empty one), `on_lost` at the end. A message of more than `most` bytes ends it.
    """

    def __init__(
        self,
        own: str,
        peers: frozenset[str],
        most: int,
        came: Callable[[MessageConnection, bytes], None],
        on_lost: Callable[[MessageConnection], None],
    ) -> None:
        self._own = own
        self._peers = peers
        self._came = came
        self._on_lost = on_lost
        self._decoder = zmtp.Decoder(zmtp.Bounds(most, _PARTS))
        self._transport: Any = None

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send our greeting; messages may follow at once."""
        self._transport = transport
        self._transport.write(zmtp.GREETING + zmtp.ready(self._own))

    def connection_lost(self, _: Exception | None) -> None:
        """Report the loss."""
        self._on_lost(self)

    def data_received(self, data: bytes) -> None:
        """Pass on each whole message."""
        self._decoder.feed(data)
        try:
            while (message := self._decoder.next()) is not None:
                self._pass_on(message)
        except zmtp.Malformed as fault:
            self._give_up(str(fault))
        if self._decoder.answers:
            answers, self._decoder.answers = self._decoder.answers, []
            self._transport.write(b"".join(answers))

    def _pass_on(self, message: list[bytes]) -> None:
        if self._decoder.peer not in self._peers:
            raise zmtp.Malformed(f"a {self._decoder.peer[:20]} socket")
        if len(message) == 2 and message[0] == b"":
            self._came(self, message[1])

    def _give_up(self, fault: str) -> None:
        _LOG.warning("connection.closed", fault=fault)
        self._transport.abort()

    def send(self, data: bytes) -> None:
        """Send a message, unless the other side is gone, or is given up now as it does not read."""
        if not self.is_open:
            return
        if self._transport.get_write_buffer_size() > _UNREAD_BYTES:
            self._give_up("it does not read what it is sent")
            return
        self._transport.write(b"".join(zmtp.frame_message([b"", data])))

    def close(self) -> None:
        """End the connection after its queue is written; a second call is harmless."""
        if self._transport is not None:
            self._transport.close()


class MessageServer:
    """Holds connections in the running loop until `stop`; `came` is called with each message and its connection,
    `on_end` at the end of a connection.
    """

    def __init__(
        self, came: Callable[[MessageConnection, bytes], None], on_end: Callable[[], None] = lambda: None
    ) -> None:
        self._came = came
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._sources: list[socket.socket] = []
        self._connections: set[MessageConnection] = set()
        self._welcomes: set[asyncio.Task[Any]] = set()

    def accept_at(self, listener: socket.socket, hand_on: HandOn = lambda *_: False) -> None:
        """Accept connections at a listening socket, but for those that `hand_on` gives to other processes."""
        self._sources.append(listener)
        self._loop.add_reader(listener, self._accept_client, listener, hand_on)

    def take_from(self, channel: socket.socket) -> None:
        """Take connections that another process accepted, and sends here."""
        self._sources.append(channel)
        self._loop.add_reader(channel, self._take_descriptors, channel)

    def stop(self) -> None:
        """Take and read no more; what was sent is written."""
        for source in self._sources:
            self._loop.remove_reader(source)
        for task in self._welcomes:
            task.cancel()
        for connection in tuple(self._connections):
            connection.close()

    def _accept_client(self, listener: socket.socket, hand_on: HandOn) -> None:
        for _ in range(_ACCEPTS):
            try:
                accepted, _address = listener.accept()
            except BlockingIOError:
                return
            except OSError as fault:  # no descriptor is left: new clients wait, and the loop does not spin meanwhile
                _LOG.warning("connection.refused", fault=fault.strerror)
                self._loop.remove_reader(listener)
                self._loop.call_later(_AGAIN_S, self._loop.add_reader, listener, self._accept_client, listener, hand_on)
                return
            own = len(self._connections) + len(self._welcomes)
            # A client that only looked whether a process listens has hung up already, and would count as a connection.
            if _has_hung_up(accepted) or hand_on(accepted, own):
                accepted.close()
            else:
                self._serve_client(accepted)

    def _take_descriptors(self, channel: socket.socket) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(channel, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        if not data:  # the other process is gone
            self._loop.remove_reader(channel)
        for descriptor in descriptors:
            self._serve_client(socket.socket(fileno=descriptor))

    def _serve_client(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        task = self._loop.create_task(self._loop.connect_accepted_socket(self._make_connection, connection))
        self._welcomes.add(task)
        task.add_done_callback(self._welcomes.discard)

    def _make_connection(self) -> MessageConnection:
        made = MessageConnection(
            "ROUTER", frozenset({"REQ", "DEALER"}), codec.MAX_MESSAGE_BYTES, self._came, self._on_lost
        )
        self._connections.add(made)
        return made

    def _on_lost(self, connection: MessageConnection) -> None:
        self._connections.discard(connection)
        self._on_end()


def _has_hung_up(connection: socket.socket) -> bool:
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def listen_at(path: Path) -> socket.socket:
    """Return a socket that listens at `path`, for a `MessageServer`."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    listener.bind(os.fsencode(path))
    path.chmod(0o600)
    listener.listen(_BACKLOG)
    return listener


def give_connection(channel: socket.socket, connection: socket.socket) -> bool:
    """Give a connection to the process that takes from the other end of `channel`; False when it can't take it now."""
    try:
        socket.send_fds(channel, [b"c"], [connection.fileno()])
    except OSError:  # it is gone, or has many to take already
        return False
    return True


async def connect(
    path: Path, came: Callable[[MessageConnection, bytes], None], on_lost: Callable[[MessageConnection], None]
) -> MessageConnection:
    """Return a connection to the ROUTER at `path`. Raises: OSError."""
    _, made = await asyncio.get_running_loop().create_unix_connection(
        lambda: MessageConnection("DEALER", frozenset({"ROUTER"}), codec.MAX_REPLY_BYTES, came, on_lost),
        os.fspath(path),
    )
    return made
