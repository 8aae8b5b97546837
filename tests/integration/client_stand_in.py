"""The daemon's two sockets without a daemon: real ROUTER and PUB, the real protocol, and the faults a test asks for."""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import zmq

from acud.base.paths import Paths, make_private, resolve
from acud.protocol import codec
from acud.protocol.envelope import ErrorBody, ReplyEnvelope, RequestEnvelope
from acud.protocol.events import Beat, Event

Sending = tuple[float, bytes]
"""Seconds from now, and the raw bytes to answer with."""

_SUBSCRIPTIONS = 2
"""What one stream subscribes to: its topic and beats."""

Answer = Callable[[RequestEnvelope, int], Iterable[Sending]]
"""Takes a request and how often its id was seen (1: the first time); returns what to send back, and when."""


def reply(request: RequestEnvelope, body: msgspec.Struct, *, after_s: float = 0.0, n: int = 0) -> Sending:
    plain = msgspec.to_builtins(body, builtin_types=(bytes,))
    return after_s, codec.encode(ReplyEnvelope(request.id, n, body=plain))


def refusal(request: RequestEnvelope, code: str, message: str, hint: str = "", **facts: Any) -> Sending:
    return 0.0, codec.encode(ReplyEnvelope(request.id, 0, error=ErrorBody(code, message, hint, facts)))


class StandIn:
    """Owns a thread with both sockets under `paths`; `seen` lists every request, repeats too; `peers` the
    sockets they came from. What is published is kept until a stream listens to its topic and to beats."""

    def __init__(self, paths: Paths, answer: Answer) -> None:
        self.paths = paths
        self.answer = answer
        self.seen: list[RequestEnvelope] = []
        self.peers: set[bytes] = set()
        self._times: Counter[str] = Counter()
        self._due: list[tuple[float, int, bytes, bytes]] = []
        self._told: list[tuple[str, bytes]] = []
        self._topics: set[bytes] = set()
        self._holds = False
        self._ready = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stand-in")

    def publish(self, told: Event | Beat | bytes, topic: str = "") -> None:
        """Send one message on the events socket; bytes are sent as they are."""
        data = told if isinstance(told, bytes) else codec.encode(told)
        self._told.append((topic or (told.topic if isinstance(told, Event) else "beat"), data))

    def hold(self) -> None:
        self._holds = True

    def let_go(self) -> None:
        self._holds = False

    def __enter__(self) -> Self:
        make_private(self.paths.run)
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with zmq.Context() as context:
            control, events = context.socket(zmq.ROUTER), context.socket(zmq.XPUB)
            control.linger = events.linger = 0
            control.bind(self.paths.endpoint("control"))
            events.bind(self.paths.endpoint("events"))
            self._ready.set()
            while not self._stop.is_set():
                self._turn(control, events)
            control.close()
            events.close()
        for name in ("control", "events"):
            (self.paths.run / name).unlink(missing_ok=True)

    def _turn(self, control: zmq.Socket[bytes], events: zmq.Socket[bytes]) -> None:
        if control.poll(5):
            self._take(control.recv_multipart())
        while not self._holds and self._due and self._due[0][0] <= time.monotonic():
            _, _, who, data = heapq.heappop(self._due)
            control.send_multipart([who, b"", data])
        while events.poll(0):
            self._subscription(events.recv())
        while self._told and len(self._topics) == _SUBSCRIPTIONS:
            topic, data = self._told.pop(0)
            events.send_multipart([topic.encode(), data])

    def _subscription(self, told: bytes) -> None:
        change = self._topics.add if told[:1] == b"\x01" else self._topics.discard
        change(told[1:])

    def _take(self, parts: list[bytes]) -> None:
        who, empty, data = parts
        assert empty == b""
        request = codec.decode(data, RequestEnvelope)
        self.seen.append(request)
        self.peers.add(who)
        self._times[request.id] += 1
        for after_s, raw in self.answer(request, self._times[request.id]):
            heapq.heappush(self._due, (time.monotonic() + after_s, len(self.seen), who, raw))


def paths_at(home: Path) -> Paths:
    """Return the places of an instance at `home`."""
    return resolve({"ACU_HOME": str(home)})
