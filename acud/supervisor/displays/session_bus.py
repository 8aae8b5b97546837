"""A connection to a session bus (D-Bus Specification 0.43) on the supervisor's loop, with jeepney for the bytes."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

from jeepney import DBusAddress, HeaderFields, Message, MessageType, Parser, new_method_call
from jeepney.auth import Authenticator
from jeepney.bus import get_connectable_addresses

from acud.process.event_loop import EventLoop

BUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
_READ_BYTES = 262_144
_MAX_PENDING = 16_777_216
"""The most bytes of an incomplete message, or of unread answers. A picture of 1024x1024 pixels has 4 MiB."""
_AGAIN_S = 0.05

OnReply = Callable[[tuple[Any, ...] | None], None]


class BusOwner(Protocol):
    """The part of the supervisor that a connection works for."""

    def handle_message(self, message: Message) -> None:
        """Handle a call or a signal."""

    def bus_lost(self, reason: str) -> None:
        """Handle the end of the connection, once."""


class SessionBusClient:
    """Never blocks."""

    def __init__(self, loop: EventLoop, address: str, owner: BusOwner) -> None:
        """Connect. Raises: OSError; RuntimeError for an address that is no unix socket."""
        self._loop, self._owner = loop, owner
        self._parser = Parser()
        self._authenticator = Authenticator()
        self._replies: dict[int, OnReply] = {}
        self._serial = 0
        self._out = bytearray()
        self._queued: list[Message] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        with ExitStack() as undo:
            undo.callback(self._socket.close)
            self._socket.setblocking(False)
            self._socket.connect(os.fsencode(next(get_connectable_addresses(address))))
            undo.pop_all()
        loop.watch(self._socket, self._read_socket)
        self._is_open = True
        self._write_data(self._authenticator.data_to_send() or b"")
        self.call(BUS, "Hello")

    def call(
        self, place: DBusAddress, member: str, signature: str = "", *body: Any, on_done: OnReply | None = None
    ) -> None:
        """Call a method; `on_done` gets the body of the reply, None for an error."""
        message = new_method_call(place, member, signature or None, body)
        self.send(message)
        if on_done is not None:
            self._replies[message.header.serial] = on_done

    def send(self, message: Message) -> None:
        """Send a message of any kind, after authentication."""
        self._serial += 1
        message.header.serial = self._serial
        if self._authenticator.authenticated:
            self._write_data(message.serialise())
        else:
            self._queued.append(message)

    def close(self) -> None:
        """Close the connection without notifying its owner. Closing twice is harmless."""
        if self._is_open:
            self._is_open = False
            self._loop.unwatch(self._socket)
            self._socket.close()

    def _close_lost(self, reason: str) -> None:
        if self._is_open:
            self.close()
            self._owner.bus_lost(reason)

    def _read_socket(self) -> None:
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError as fault:
            self._close_lost(str(fault))
            return
        if not data:
            self._close_lost("the session bus closed the connection")
            return
        try:
            for message in self._parse_messages(data):
                self._dispatch_message(message)
        except (ValueError, KeyError, IndexError) as fault:  # what jeepney raises for bytes that are no message
            self._close_lost(f"the session bus sends what cannot be read: {fault}")

    def _parse_messages(self, data: bytes) -> Sequence[Message]:
        if not self._authenticator.authenticated:
            self._authenticator.feed(data)
            self._write_data(self._authenticator.data_to_send() or b"")
            if self._authenticator.authenticated:
                self._write_data(b"BEGIN\r\n")
                queued, self._queued = self._queued, []
                for message in queued:
                    self._write_data(message.serialise())
            return ()
        self._parser.add_data(data)
        if self._parser.bytes_desired() > _MAX_PENDING:
            raise ValueError("a message of more than 16 MiB")
        return tuple(iter(self._parser.get_next_message, None))

    def _dispatch_message(self, message: Message) -> None:
        kind, fields = message.header.message_type, message.header.fields
        if kind in (MessageType.method_return, MessageType.error):
            done = self._replies.pop(fields.get(HeaderFields.reply_serial, 0), None)
            if done is not None:
                done(message.body if kind is MessageType.method_return else None)
        elif self._is_open:
            self._owner.handle_message(message)

    def _write_data(self, data: bytes) -> None:
        self._out += data
        self._send_queued()

    def _send_queued(self) -> None:
        if not self._is_open or not self._out:
            return
        try:
            del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError as fault:
            reason = str(fault)
            self._loop.call_later(0, lambda: self._close_lost(reason))
            return
        if len(self._out) > _MAX_PENDING:
            self._close_lost("the session bus takes no answers")
        elif self._out:
            self._loop.call_later(_AGAIN_S, self._send_queued)
