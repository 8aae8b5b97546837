"""Listens to the events of a display's applications, and collects which widgets must be read again.

It has a connection of its own: reading and events never wait for each other, and a storm is muted, application by
application.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Any

from dbus_fast import Message
from msgspec import Struct, field

from acud.base.errors import Unavailable
from acud.evaluator.accessibility.bus import BusConnection, NoAnswer

ROOT = "/org/a11y/atspi/accessible/root"
MOST_PATHS = 2000
"""Beyond this many, everything is read again: that costs less than tracking each."""

_OBJECT, _WINDOW = "org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window"

_ALONE = frozenset({"TextChanged", "SelectionChanged", "ActiveDescendantChanged"})
_LAYOUT_STATES = frozenset({"showing", "visible", "defunct", "expanded", "collapsed"})
_PLACING = frozenset({"activate", "deactivate"})
_LAYOUT_PROPERTIES = frozenset({"accessible-parent", "accessible-role"})
_REGISTRY = "org.a11y.atspi.Registry"

_EVENTS = (
    "object:children-changed", "object:state-changed", "object:bounds-changed", "object:text-changed",
    "object:property-change", "object:visible-data-changed", "object:selection-changed",
    "object:active-descendant-changed", "object:model-changed", "window:",
)  # fmt: skip

_DAEMON = "org.freedesktop.DBus"
_NAMES = f"type='signal',sender='{_DAEMON}',interface='{_DAEMON}',member='NameOwnerChanged'"
_ROOTS = f"type='signal',sender='{_REGISTRY}',path='{ROOT}',member='ChildrenChanged'"
STORM = 400
"""Events of one application within a second that are a storm: opening a page in Chromium makes some hundreds."""
MUTE_S = 2.0
"""How long a storming application is muted; it is read again as a whole afterwards."""


class DoubtfulWidgets(Struct):
    """Widgets whose remembered state may be wrong. `alone`: object paths of widgets that changed by themselves;
    `around`: of widgets whose whole window may be laid out anew; `all`: every widget; `tops`: top-level widgets came
    or went.
    """

    alone: set[str] = field(default_factory=set)
    around: set[str] = field(default_factory=set)
    all: bool = False
    tops: bool = False

    def add(self, interface: str, member: str, path: str, body: list[Any]) -> None:
        """Add the widgets that one event puts in doubt (`body` in AT-SPI: detail, two numbers, value, properties)."""
        if self.all:
            return
        if path == ROOT:
            self.tops = True
        elif _is_alone(interface, member, str(body[0]) if body else ""):
            self.alone.add(path)
        else:
            self.around.add(path)
        if len(self.alone) + len(self.around) > MOST_PATHS:
            self.doubt_all()

    def doubt_all(self) -> None:
        self.all = True
        self.alone.clear()
        self.around.clear()


def rules(peer: str) -> tuple[str, str]:
    """Return the match rules for the events of one application."""
    return (
        f"type='signal',sender='{peer}',interface='{_OBJECT}'",
        f"type='signal',sender='{peer}',interface='{_WINDOW}'",
    )


class _Peer(Struct):
    """An application that is listened to. `count`: its events within the second that began at `since`."""

    marks: DoubtfulWidgets = field(default_factory=DoubtfulWidgets)
    since: float = 0.0
    count: int = 0
    muted_until: float = 0.0


class AccessibilityListener:
    """Collects the events of the applications on one accessibility bus.

    Owns the connection: `close` ends it. `roots_changed`: applications came or went, or the registry was restarted.
    `left`: bus names that vanished since the mirror last cleared the set. `heard`: number of events so far.
    """

    def __init__(self, connection: BusConnection, callbacks: Collection[Callable[[], None]] = ()) -> None:
        """`callbacks`: run after each event and when the connection has ended; the collection may change."""
        self._connection, self._callbacks = connection, callbacks
        self._peers: dict[str, _Peer] = {}
        self._silencing: set[asyncio.Task[None]] = set()
        self.roots_changed = True
        self.registry_is_new = False
        self.left: set[str] = set()
        self.heard = 0

    @property
    def is_open(self) -> bool:
        return self._connection.is_open

    async def start(self) -> None:
        """Register for the toolkits' events. Raises: NoAnswer, Unavailable."""
        self._connection.listen(self._handle_signal)
        self._connection.when_ended(self._notify_waiters)
        await asyncio.gather(self._connection.match(_NAMES), self._connection.match(_ROOTS))
        place = (_REGISTRY, "/org/a11y/atspi/registry", (_REGISTRY, "RegisterEvent"), "s")
        await asyncio.gather(*(self._connection.call(*place, event) for event in _EVENTS))

    async def await_pending(self) -> None:
        """Wait until every event sent before this call is handled. Raises: Unavailable when the bus is gone."""
        await self._connection.await_pending()

    async def follow(self, peer: str) -> None:
        if peer not in self._peers:
            self._peers[peer] = _Peer()
            await self._set_match_rules(peer, is_subscribed=True)

    async def take_doubts(self, peer: str) -> DoubtfulWidgets | None:
        """Return the doubts about `peer` and reset them; None while it is muted."""
        one = self._peers[peer]
        if one.muted_until:
            if time.monotonic() < one.muted_until:
                return None
            one.muted_until = 0.0
            await self._set_match_rules(peer, is_subscribed=True)
            one.marks.doubt_all()
        marks, one.marks = one.marks, DoubtfulWidgets()
        return marks

    def is_muted(self, peer: str) -> bool:
        """Return whether an application is muted for sending too many events."""
        return peer in self._peers and self._peers[peer].muted_until > 0

    def muted_s(self) -> float | None:
        """Return the seconds until the first muted application is listened to again; None: none is muted."""
        ends = [peer.muted_until for peer in self._peers.values() if peer.muted_until]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def leave(self, peer: str) -> None:
        """Forget an application that is gone (the bus drops its match rules itself)."""
        self._peers.pop(peer, None)
        self.left.discard(peer)

    async def close(self) -> None:
        """End the connection; the registry then drops the registered events."""
        for task in self._silencing:
            task.cancel()
        await self._connection.close()

    async def _set_match_rules(self, peer: str, *, is_subscribed: bool) -> None:
        await asyncio.gather(*(self._connection.match(rule, wanted=is_subscribed) for rule in rules(peer)))

    # ---- called by the connection: it must not raise, and be quick ---------------------------------------------------

    def _handle_signal(self, message: Message) -> None:
        self.heard += 1
        if message.sender == _DAEMON:
            if message.member != "NameOwnerChanged" or not self._owner_changed(*message.body[:3]):
                return
        elif message.sender in self._peers:
            self._handle_event(str(message.sender), message)
        elif message.path == ROOT:
            self.roots_changed = True
        self._notify_waiters()

    def _notify_waiters(self) -> None:
        for callback in tuple(self._callbacks):
            callback()

    def _owner_changed(self, name: str, _: str, owner: str) -> bool:
        """Handle a bus name that changed its owner; return whether that matters here."""
        if name == _REGISTRY:
            self.registry_is_new = True
        elif not owner and name in self._peers:
            del self._peers[name]
            self.left.add(name)
            self.roots_changed = True
        else:
            return False
        return True

    def _handle_event(self, sender: str, message: Message) -> None:
        peer = self._peers[sender]
        if peer.muted_until or str(message.interface) not in (_OBJECT, _WINDOW):
            return
        peer.marks.add(str(message.interface), str(message.member), str(message.path), message.body)
        now = time.monotonic()
        if now - peer.since >= 1:
            peer.since, peer.count = now, 0
        peer.count += 1
        if peer.count > STORM:
            peer.muted_until = now + MUTE_S
            task = asyncio.ensure_future(self._stop_hearing(sender))
            self._silencing.add(task)
            task.add_done_callback(self._silencing.discard)

    async def _stop_hearing(self, sender: str) -> None:
        try:
            await self._set_match_rules(sender, is_subscribed=False)
        except (NoAnswer, Unavailable):
            # The application or the bus is gone meanwhile: no more events come.
            return


def _is_alone(interface: str, member: str, detail: str) -> bool:
    """Return whether an event is about one widget only, and moves no other. Scroll bars and counters both report
    `accessible-value`: each is taken for scrolling.
    """
    if interface == _WINDOW:
        return member.lower() in _PLACING
    if member == "StateChanged":
        return detail not in _LAYOUT_STATES
    if member == "PropertyChange":
        return detail not in _LAYOUT_PROPERTIES and detail != "accessible-value"
    return member in _ALONE
