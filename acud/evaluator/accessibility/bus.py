"""The connection to a display's accessibility bus: found through its session bus, or named by the display itself.

AT-SPI: `org.a11y.Bus.GetAddress` on the session bus starts the accessibility bus and returns its address;
`org.a11y.Status.IsEnabled` there has toolkits expose their widgets.

One connection for each display; the longest unused ones are closed. The messages of one turn of the event loop go in
one write, since a walk makes thousands of small calls: dbus-fast writes each message by itself. Each write wakes the
bus daemon and that wakes the application, so that a walk of 300 widgets was mostly changes of context
(`scripts/bench scene`: `ax_300_ms`).
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.errors import AuthError, InvalidAddressError, InvalidBusNameError, InvalidObjectPathError

from acud.base.errors import Unavailable

_FULL_S = 0.002  # A bus daemon that does not read is tried again after so long
_PROPERTIES = "org.freedesktop.DBus.Properties"
_HINT = "programs need the display's DBUS_SESSION_BUS_ADDRESS and at-spi2-core: see docs/accessibility.md"
_GONE = frozenset(f"org.freedesktop.DBus.Error.{name}" for name in ("ServiceUnknown", "NameHasNoOwner", "NoReply"))

_RETURNS = {
    "Get": "v",
    "GetState": "au",
    "GetRole": "u",
    "GetExtents": "(iiii)",
    "GetChildren": "a(so)",
    "GetSelectedChild": "(so)",
    "GetText": "s",
    "GetAttributes": "a{ss}",
    "GetRelationSet": "a(ua(so))",
    "GetActions": "a(sss)",
    "GetConnectionUnixProcessID": "u",
    **dict.fromkeys(("GetAccessibleAtPoint", "GetAccessibleAt", "GetChildAtIndex"), "(so)"),
    **dict.fromkeys(("GetColumnHeader", "GetRowHeader"), "(so)"),
    **dict.fromkeys(("GetIndexInParent", "GetRowAtIndex", "GetColumnAtIndex"), "i"),
}
"""What each call returns (AT-SPI's interface files, D-Bus specification)."""

_PROPERTY_KINDS = {
    **dict.fromkeys(("Name", "Description", "ToolkitName", "Version"), "s"),
    **dict.fromkeys(("ChildCount", "CharacterCount", "CaretOffset", "NRows", "NColumns"), "i"),
    **dict.fromkeys(("CurrentValue", "MinimumValue", "MaximumValue"), "d"),
    "Position": "(ii)",
}
MOST_BUSES = 16


class BatchingSocket:
    """Stands where the writer of a bus connection expects its socket. The socket stays the connection's."""

    def __init__(self, sock: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._sock, self._loop = sock, loop
        self._waiting = bytearray()
        self._scheduled = False

    def send(self, data: memoryview) -> int:
        """Take `data`, to be written at the end of this turn: all of it, callers have few calls under way at a time."""
        self._waiting += data
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._send_waiting)
        return len(data)

    def _send_waiting(self) -> None:
        self._scheduled = False
        if not self._waiting or self._sock.fileno() < 0:
            return
        try:
            sent = self._sock.send(self._waiting)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # the connection's reader sees the end of it too, and ends every call
        del self._waiting[:sent]
        if self._waiting:
            self._scheduled = True
            self._loop.call_later(_FULL_S, self._send_waiting)


class NoAnswer(Exception):
    """A peer on the bus refused a call (`name`: the D-Bus error) or is gone; the bus itself lives."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    @property
    def is_gone(self) -> bool:
        """Whether the bus name has no owner any more."""
        return self.name in _GONE

    def raise_if_gone(self) -> None:
        """Raise it when the peer is gone; a refusal of one call is passed over."""
        if self.is_gone:
            raise self


def is_local(address: str) -> bool:
    """Return whether every transport of a D-Bus address is a unix socket; nothing else is ever connected to."""
    parts = [part for part in address.split(";") if part]
    return bool(parts) and all(part.startswith("unix:") for part in parts)


class BusConnection:
    """One open bus connection. `close` may be called twice."""

    def __init__(self, bus: MessageBus, what: str) -> None:
        self._bus, self._what = bus, what
        # The reason of its end must be read, also when it dies without a call in flight.
        self._end = asyncio.ensure_future(bus.wait_for_disconnect())  # type: ignore[no-untyped-call]
        self._end.add_done_callback(_retrieve_exception)

    @property
    def is_open(self) -> bool:
        """Whether calls can be made."""
        return self._bus.connected

    async def call(self, peer: str, path: str, member: tuple[str, str], signature: str = "", *body: Any) -> list[Any]:
        """Call `member` (interface, name) and return what it returns; waits without end. Raises: NoAnswer when the peer
        refuses or is gone, Unavailable when the bus is.
        """
        if not self._bus.connected:
            raise self._build_gone_error("it closed the connection")
        try:
            message = Message(peer, path, member[0], member[1], signature=signature, body=list(body))
        except (InvalidBusNameError, InvalidObjectPathError) as fault:
            # Applications choose the handles of their widgets: one may be malformed.
            raise NoAnswer(f"no such handle: {fault}") from fault
        try:
            reply: Message | None = await self._bus.call(message)
        except (OSError, EOFError) as fault:
            raise self._build_gone_error(str(fault)) from fault
        if reply is None:
            raise self._build_gone_error("it closed the connection")
        if reply.message_type is not MessageType.METHOD_RETURN:
            raise NoAnswer(str(reply.error_name))
        due = _RETURNS.get(member[1])
        if due is not None and reply.signature != due:
            # An application may answer anything; only the interface's type can be read.
            raise NoAnswer(f"{member[1]} answered {reply.signature!r} where {due!r} is due")
        return list(reply.body)

    async def get(self, peer: str, path: str, prop: tuple[str, str]) -> Any:
        """Return a property's value. Never `GetAll`: it crashes Qt 5 and Qt 6.4 applications."""
        (value,) = await self.call(peer, path, (_PROPERTIES, "Get"), "ss", *prop)
        due = _PROPERTY_KINDS.get(prop[1])
        if due is not None and value.signature != due:
            raise NoAnswer(f"{prop[1]} is {value.signature!r} where {due!r} is due")
        return value.value

    async def set(self, peer: str, path: str, prop: tuple[str, str], value: Variant) -> None:
        await self.call(peer, path, (_PROPERTIES, "Set"), "ssv", *prop, value)

    async def pid_of(self, peer: str) -> int:
        """Return the process behind a bus name, as the bus knows it from its socket."""
        daemon = "org.freedesktop.DBus"
        (pid,) = await self.call(daemon, "/org/freedesktop/DBus", (daemon, "GetConnectionUnixProcessID"), "s", peer)
        return int(pid)

    def listen(self, on_message: Callable[[Message], None]) -> None:
        """Call `on_message` with every signal that comes, in the order of the bus; it must not raise."""

        def handler(message: Message) -> None:
            if message.message_type is MessageType.SIGNAL:
                on_message(message)

        self._bus.add_message_handler(handler)

    def when_ended(self, on_end: Callable[[], None]) -> None:
        self._end.add_done_callback(lambda _: on_end())

    async def match(self, rule: str, *, wanted: bool = True) -> None:
        """Have signals that fit `rule` (D-Bus specification, match rules) sent here, or no more."""
        daemon, member = "org.freedesktop.DBus", "AddMatch" if wanted else "RemoveMatch"
        await self.call(daemon, "/org/freedesktop/DBus", (daemon, member), "s", rule)

    async def await_pending(self) -> None:
        """Wait until every signal that the bus had accepted before this call was handled."""
        daemon = "org.freedesktop.DBus"
        await self.call(daemon, "/org/freedesktop/DBus", (f"{daemon}.Peer", "Ping"))

    async def close(self) -> None:
        """End the connection; calls that still wait on it fail."""
        if self._bus.connected:
            self._bus.disconnect()
        await asyncio.wait({self._end})

    def _build_gone_error(self, reason: str) -> Unavailable:
        return Unavailable(f"{self._what} is gone: {reason or 'no reason given'}", hint=_HINT)


async def connect(address: str, what: str) -> BusConnection:
    """Connect to the bus at `address`, which must be a unix socket. Raises: Unavailable."""
    if not is_local(address):
        raise Unavailable(f"{what} is not on a unix socket: {address[:200]!r}", hint=_HINT)
    try:
        bus = await MessageBus(address).connect()
        # Have `bus`, which is connected, write what one turn sends at once.
        writer: Any = bus._writer  # dbus-fast offers no other way to hold writes back
        writer.sock = BatchingSocket(writer.sock, asyncio.get_running_loop())
        return BusConnection(bus, what)
    except (OSError, EOFError, AuthError, InvalidAddressError) as fault:
        raise Unavailable(f"{what} does not answer: {fault}", hint=_HINT) from fault


async def ask_address(session: BusConnection) -> str:
    """Return the accessibility bus's address from the session bus (which starts it when it must), and switch
    accessibility on for the programs of that session. Raises: Unavailable.
    """
    bus, path = "org.a11y.Bus", "/org/a11y/bus"
    try:
        (address,) = await session.call(bus, path, (bus, "GetAddress"))
        await session.set(bus, path, ("org.a11y.Status", "IsEnabled"), Variant("b", value=True))
    except NoAnswer as fault:
        raise Unavailable(f"there is no accessibility bus: {fault}", hint="apt-get install at-spi2-core") from fault
    return str(address)


class AccessibilityBus:
    """The accessibility bus of one display, connected when first needed and again after it died.

    `session_address`: the display's session bus, asked first; `own_address`: what the display's root window names in
    AT_SPI_BUS, used when there is no session bus, or none that leads to an accessibility bus. At least one of them must
    be known.
    """

    def __init__(self, session_address: str, own_address: str = "", connect_s: float = 3.0) -> None:
        self._session_address, self._own_address, self._connect_s = session_address, own_address, connect_s
        self._connection: BusConnection | None = None
        self._session: BusConnection | None = None
        self._turn = asyncio.Lock()
        self.address = ""  # where the accessibility bus was found last

    async def connection(self) -> BusConnection:
        """Return an open connection, the one of before when it lives and so does the session that led to it (another
        session has another accessibility bus). Raises: Unavailable.
        """
        async with self._turn:
            session_lives = self._session is None or self._session.is_open
            if self._connection is None or not self._connection.is_open or not session_lives:
                await self.close()
                self._connection = await self._find_and_connect()
            return self._connection

    async def another(self) -> BusConnection:
        """Return one more connection to where the last one led, the caller's to close. Raises: Unavailable."""
        async with asyncio.timeout(self._connect_s):
            return await connect(self.address, "the accessibility bus")

    async def _find_and_connect(self) -> BusConnection:
        """Connect by way of the session bus, else to the address that the display names. The error names both."""
        faults = []
        for is_session, address in ((True, self._session_address), (False, self._own_address)):
            if not address:
                continue
            try:
                async with asyncio.timeout(self._connect_s):
                    self.address = await self._ask_session_bus() if is_session else address
                    return await connect(self.address, "the accessibility bus")
            except TimeoutError:
                faults.append(f"no accessibility bus answered in {self._connect_s:g} s")
            except Unavailable as fault:
                faults.append(fault.message)
            await self._close_session()
        raise Unavailable(
            "; ".join(faults) or "the display has no session bus and names no accessibility bus", hint=_HINT
        )

    async def _ask_session_bus(self) -> str:
        self._session = await connect(self._session_address, "the session bus")
        return await ask_address(self._session)

    async def _close_session(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def close(self) -> None:
        """Drop the connection, with every call that still waits on it; the next use connects again."""
        await self._close_session()
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()


class AccessibilityBuses:
    """Owns the connections; `close` ends them, and a second `close` is harmless."""

    def __init__(self) -> None:
        self._buses: OrderedDict[tuple[str, str], AccessibilityBus] = OrderedDict()

    async def of(self, bus_address: str, a11y_address: str) -> AccessibilityBus:
        """Return the bus behind a display's session bus, or the one the display itself names; not connected yet."""
        key = (bus_address, a11y_address)
        bus = self._buses.pop(key, None) or AccessibilityBus(*key)
        self._buses[key] = bus
        while len(self._buses) > MOST_BUSES:
            _, unused = self._buses.popitem(last=False)
            await unused.close()
        return bus

    async def close(self) -> None:
        while self._buses:
            _, bus = self._buses.popitem()
            await bus.close()


def _retrieve_exception(end: asyncio.Future[None]) -> None:
    if not end.cancelled():
        end.exception()
