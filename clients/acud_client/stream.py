"""Events as they happen, none missed: SUB for speed, `events_since` for what SUB lost (architecture, section 4)."""

from __future__ import annotations

import math
import time
from collections import deque
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Self

import msgspec
import zmq

from acud.base.errors import AcudError, InvalidRequest
from acud.protocol import codec
from acud.protocol.events import Beat, Event, Told
from acud.protocol.requests.daemon import EventsSinceReply

if TYPE_CHECKING:
    from acud_client.request_methods import AsyncRequestMethods, RequestMethods

SILENCE_S = 12.0
"""Two beats and a bit: after such a silence the daemon is asked whether it is still there."""

PAGE = 1000


class Trimmed(msgspec.Struct, frozen=True, tag="trimmed"):
    """Events after `after` and before `first` are no longer kept by the daemon: they cannot be had any more."""

    after: int
    first: int


class Heard(Enum):
    """What a message means to the reader."""

    FRESH = "fresh"
    KNOWN = "known"
    GAP = "gap"
    """Something before it was missed: ask `events_since(floor)`."""


class EventCursor:
    """`floor`: every event up to it was handed out, or is known not to be for this reader.

    Events come in the order of their numbers. An event names the number before it on its topic; a beat names the newest
    of all. Either can show that something is missing between the floor and it. `is_whole`: every topic is read, so that
    a number that is left out shows it too, whatever its topic is.
    """

    def __init__(self, floor: int, *, is_whole: bool = False) -> None:
        self.floor = floor
        self._is_whole = is_whole
        self._handed: set[int] = set()
        self._by_topic: dict[str, int] = {}

    @property
    def seen(self) -> int:
        """The highest number handed out or skipped."""
        return max(self._handed, default=self.floor)

    def judge_message(self, message: Told) -> Heard:
        """Judge one message from the events socket; a fresh event counts as handed out."""
        return self._judge_beat(message) if isinstance(message, Beat) else self._judge_event(message)

    def _judge_beat(self, beat: Beat) -> Heard:
        # Numbers between the floor and the beat that were not handed out: lost, or of topics that are not ours.
        if sum(n <= beat.n for n in self._handed) < beat.n - self.floor:
            return Heard.GAP
        self.raise_floor(beat.n)
        return Heard.KNOWN

    def _judge_event(self, event: Event) -> Heard:
        if event.n == 0:
            return Heard.FRESH  # never stored, so nothing is missing before it
        if event.n <= self.floor or event.n in self._handed:
            return Heard.KNOWN
        if event.prev > max(self.floor, self._by_topic.get(event.topic, 0)):
            return Heard.GAP
        if self._is_whole and event.n > self.seen + 1:
            return Heard.GAP
        self._hand_out(event)
        return Heard.FRESH

    def recover(self, event: Event) -> bool:
        """Take an event from `events_since`; False when it was handed out before."""
        if event.n <= self.floor or event.n in self._handed:
            return False
        self._hand_out(event)
        return True

    def _hand_out(self, event: Event) -> None:
        self._handed.add(event.n)
        self._by_topic[event.topic] = event.n

    def raise_floor(self, n: int) -> None:
        """Move the floor up to `n`: nothing at or below it is missing any more."""
        self.floor = max(self.floor, n)
        self._handed = {number for number in self._handed if number > self.floor}


class Inbox:
    """What a stream holds between its socket and its reader: the cursor, and what is ready to be handed out."""

    def __init__(self, topic: str, after: int | None) -> None:
        self.topic = topic
        self.cursor = EventCursor(after or 0, is_whole=not topic)
        self.from_now = after is None
        self.behind = True
        self._ready: deque[Event | Trimmed] = deque()

    def pop(self) -> Event | Trimmed | None:
        """Return the next ready item, or None."""
        return self._ready.popleft() if self._ready else None

    def take_message(self, parts: list[bytes]) -> None:
        """Take one message from the socket; what is not one, or shows a gap, means that we are behind."""
        told = parse_message(parts)
        heard = Heard.GAP if told is None else self.cursor.judge_message(told)
        if heard is Heard.GAP:
            self.behind = True
        elif heard is Heard.FRESH and isinstance(told, Event):
            self._ready.append(told)

    def next_page(self) -> dict[str, Any]:
        """Return the arguments of the `events_since` that brings us nearer; a new reader only wants the number."""
        if self.from_now:
            return {"after": 0, "topic": self.topic, "limit": 1}
        return {"after": self.cursor.floor, "topic": self.topic, "limit": PAGE}

    def take_page(self, page: EventsSinceReply) -> None:
        """Take the answer to `next_page`; `behind` is False when it was the last one."""
        if self.from_now:
            self.from_now, self.behind = False, False
            self.cursor.raise_floor(page.newest)
            return
        if page.trimmed > self.cursor.floor + 1:
            self._ready.append(Trimmed(self.cursor.floor, page.trimmed))
        self._ready.extend(event for event in page.events if self.cursor.recover(event))
        self.behind = len(page.events) >= PAGE
        self.cursor.raise_floor(page.events[-1].n if self.behind else page.newest)


def parse_message(parts: list[bytes]) -> Told | None:
    try:
        return codec.decode(parts[-1], Told)  # type: ignore[arg-type]  # a union is a type to msgspec
    except InvalidRequest:
        return None


def _patience_ms(end_s: float | None) -> int:
    left_s = SILENCE_S if end_s is None else min(SILENCE_S, end_s - time.monotonic())
    return max(0, math.ceil(1000 * left_s))


def _open_subscription(context: Any, endpoint: str, topic: str) -> Any:
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_MESSAGE_BYTES)
    for prefix in {topic, "beat"}:
        socket.setsockopt(zmq.SUBSCRIBE, codec.encode_text(prefix))
    socket.connect(endpoint)
    return socket


class EventStream:
    """An iterator over events, for one thread; made by `Client.events`. Close it, or use it in a `with`.

    Yields `Event`, and `Trimmed` where the daemon no longer keeps what was asked for. Without `after` it begins where
    its `with` is entered, or at the first `next`; with a daemon that is down, when that answers again. After a
    DaemonDown it can be iterated on: it goes on where it stood, also with a restarted daemon.
    """

    def __init__(self, client: RequestMethods, endpoint: str, topic: str, after: int | None) -> None:
        self._client = client
        self._inbox = Inbox(topic, after)
        self._context: zmq.Context[Any] = zmq.Context()
        self._socket = _open_subscription(self._context, endpoint, topic)

    @property
    def position(self) -> int:
        """Every event up to this number was handed out or queued; pass it as `after` to go on later."""
        return self._inbox.cursor.seen

    def next(self, timeout_s: float | None = None) -> Event | Trimmed | None:
        """Return the next item, or None when none came for `timeout_s` (None: wait for ever).

        Raises: DaemonDown when the daemon is silent and does not answer either.
        """
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while (item := self._inbox.pop()) is None:
            if self._inbox.behind:
                self._catch_up()
            elif self._socket.poll(_patience_ms(end_s)):
                self._inbox.take_message(self._socket.recv_multipart())
            elif end_s is not None and time.monotonic() >= end_s:
                return None
            else:
                self._inbox.behind = True
        return item

    def _catch_up(self) -> None:
        self._inbox.take_page(self._client.events_since(**self._inbox.next_page()))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event | Trimmed:
        item = self.next()
        if item is None:
            raise StopIteration
        return item

    def close(self) -> None:
        """Close the socket; twice is harmless."""
        self._socket.close(linger=0)
        self._context.term()

    def __enter__(self) -> Self:
        try:
            if self._inbox.from_now:
                with suppress(AcudError):  # `next` asks again, and raises
                    self._catch_up()
        except BaseException:  # as KeyboardInterrupt
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncEventStream:
    """The same as `EventStream` for asyncio; made by `AsyncClient.events`."""

    def __init__(self, client: AsyncRequestMethods, endpoint: str, topic: str, after: int | None) -> None:
        self._client = client
        self._inbox = Inbox(topic, after)
        import zmq.asyncio  # with asyncio it is a quarter of what a command of the CLI loads, which never needs it

        self._context = zmq.asyncio.Context()
        self._socket = _open_subscription(self._context, endpoint, topic)

    @property
    def position(self) -> int:
        """Every event up to this number was handed out or queued; pass it as `after` to go on later."""
        return self._inbox.cursor.seen

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event | Trimmed:
        while (item := self._inbox.pop()) is None:
            if self._inbox.behind:
                await self._catch_up()
            elif await self._socket.poll(_patience_ms(None)):
                self._inbox.take_message(await self._socket.recv_multipart())
            else:
                self._inbox.behind = True
        return item

    async def _catch_up(self) -> None:
        self._inbox.take_page(await self._client.events_since(**self._inbox.next_page()))

    def close(self) -> None:
        """Close the socket; twice is harmless."""
        self._context.destroy(linger=0)

    async def __aenter__(self) -> Self:
        try:
            if self._inbox.from_now:
                with suppress(AcudError):  # `anext` asks again, and raises
                    await self._catch_up()
        except BaseException:  # as CancelledError
            self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
