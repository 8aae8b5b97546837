"""Publishes events: stored ones after their commit, a beat every five seconds, and those of the daemon's parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from acud.base.clock import Clock
from acud.process.event_loop import EventLoop
from acud.protocol import codec, zmtp
from acud.protocol.evaluation import JudgeHealth
from acud.protocol.events import Beat, Event
from acud.supervisor.children import Child, ChildState
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Order
from acud.supervisor.socket_server.connection import ServerConnection
from acud.supervisor.socket_server.server import ServerLimits, SocketServer
from acud.types.scene import Scene

_BEAT_S = 5.0
_UNREAD_BYTES = 1 << 20  # the most unread bytes of a slow subscriber; it loses further messages
_MOST_PREFIXES = 256
_LONGEST_PREFIX = 200  # the longest topic has 30 bytes; a subscription begins with a byte of its own
_LIMITS = ServerLimits(zmtp.Bounds(_LONGEST_PREFIX + 1, 1), connections=512, of_client=256, large=1)
_TURN_SUBSCRIPTIONS = 512
_SUBSCRIBE, _CANCEL = b"\x01", b"\x00"


class Publisher:
    """Sends to subscribers; a slow one loses messages (as `prev` shows it), and never delays the supervisor. One that
    subscribes to too many or too long topics is closed.
    """

    def __init__(self, path: Path, loop: EventLoop, clock: Clock, journal: Journal) -> None:
        self.server = SocketServer(path, loop, "XPUB", frozenset({"SUB", "XSUB"}), _LIMITS, self._take_subscriptions)
        self._clock, self._journal = clock, journal
        journal.committed.add(self.publish, Order.CORE)
        loop.call_each(_BEAT_S, self._send_beat)

    def publish(self, event: Event) -> None:
        self._send_to_subscribers(event.topic.encode(), event)

    def _send_beat(self) -> None:
        self._send_to_subscribers(b"beat", Beat(self._journal.newest, self._clock.instant().utc_s))

    def _send_to_subscribers(self, topic: bytes, message: Event | Beat) -> None:
        data: bytes | None = None
        for connection in self.server.all:
            if connection.out_bytes < _UNREAD_BYTES and any(map(topic.startswith, connection.prefixes)):
                data = codec.encode(message) if data is None else data
                self.server.send(connection, [topic, data])

    def _take_subscriptions(self) -> None:
        for _ in range(_TURN_SUBSCRIPTIONS):
            found = self.server.next()
            if found is None:
                return
            self._change_prefixes(*found)

    def _change_prefixes(self, connection: ServerConnection, message: list[bytes]) -> None:
        # A subscriber may send anything else too, which is ignored.
        kind, prefix = message[0][:1], message[0][1:]
        if kind == _CANCEL:
            connection.prefixes.discard(prefix)
        elif kind == _SUBSCRIBE:
            connection.prefixes.add(prefix)
            if len(connection.prefixes) > _MOST_PREFIXES:
                self.server.close(connection, f"it asks for more than {_MOST_PREFIXES} topics")


class DaemonEvents:
    """Records events of displays, children and judges, droppable when the disk is full; publishes those of scenes."""

    def __init__(self, journal: Journal, publisher: Publisher, clock: Clock) -> None:
        self._journal, self._publisher, self._clock = journal, publisher, clock
        self._judges: Mapping[str, str] = {}

    def display_changed(self, topic: str, name: str, reason: str) -> None:
        """Record that a display is up or down, and why."""
        self._journal.keep(lambda: self._journal.event(topic, name, reason=reason), droppable=True)

    def scene_made(self, scene: Scene) -> None:
        """Publish a scene that differs. It is never stored: four a second would fill the store."""
        data = {"reason": scene.reason.value, "displays": [display.id for display in scene.displays]}
        event = Event(0, 0, "scene.updated", self._clock.instant().utc_s, str(scene.scene_id), data)
        self._journal.after_commit(lambda: self._publisher.publish(event))

    def child_ended(self, child: Child) -> None:
        """Record that a child died, and whether it was given up; not of one that was stopped."""
        topic = "child.failed" if child.state is ChildState.FAILED else "child.restarted"
        name, reason = f"{child.kind} {child.name}", child.reason
        if child.state is not ChildState.STOPPED:
            self._journal.keep(lambda: self._journal.event(topic, name, reason=reason), droppable=True)

    def judges_changed(self, judges: Iterable[JudgeHealth]) -> bool:
        """Record the states of judges if any changed; return whether one did."""
        states = {judge.name: judge.state for judge in judges}
        if states == self._judges:
            return False
        self._judges = states
        self._journal.keep(lambda: self._journal.event("judge.changed", "judges", **states), droppable=True)
        return True
