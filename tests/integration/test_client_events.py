"""Events over a real PUB socket: nothing is missed, nothing comes twice, what is gone for good is told."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from acud.base.errors import DaemonDown, UsageError
from acud.base.paths import Paths
from acud.protocol import codec
from acud.protocol.envelope import RequestEnvelope
from acud.protocol.events import Beat, Event
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud_client import AsyncClient, Client, Trimmed
from acud_client import stream as stream_module
from tests.integration.client_stand_in import Sending, StandIn, paths_at, reply


class History:
    """The stored events of a daemon, and its answer to `events_since`; numbers below `first` are trimmed."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.first = 1
        self.asked: list[EventsSince] = []

    def add(self, topic: str = "wait.judged") -> Event:
        prev = max((event.n for event in self.events if event.topic == topic), default=0)
        event = Event(len(self.events) + 1, prev, topic, 1.0, "wait-1", {})
        self.events.append(event)
        return event

    def answer(self, request: RequestEnvelope, _times: int) -> list[Sending]:
        """Answer `events_since` as its documentation says."""
        ask = codec.convert(request.body, EventsSince)
        self.asked.append(ask)
        kept = [event for event in self.events if event.n >= self.first]
        found = [event for event in kept if event.n > ask.after and event.topic.startswith(ask.topic)]
        trimmed = self.first if ask.after + 1 < self.first else 0
        return [reply(request, EventsSinceReply(tuple(found[: ask.limit]), len(self.events), trimmed))]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return paths_at(tmp_path)


def test_what_happens_between_the_with_and_the_first_next_is_not_missed(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "SILENCE_S", 0.5)  # the socket may still be connecting when it is published
    history = History()
    history.add()
    with StandIn(paths, history.answer) as daemon, Client(paths) as client, client.events() as stream:
        new = history.add()
        daemon.publish(new)
        assert stream.next(30) == new

    async def heard() -> None:
        async with AsyncClient(paths) as own, own.events() as told:
            late = history.add()
            running.publish(late)
            assert await asyncio.wait_for(anext(told), 30) == late

    with StandIn(paths, history.answer) as running:
        asyncio.run(heard())


def test_a_lost_event_is_fetched_and_doubles_are_dropped(paths: Paths) -> None:
    history = History()
    with StandIn(paths, history.answer) as daemon, Client(paths) as client, client.events(after=0) as stream:
        events = [history.add() for _ in range(4)]
        for event in (events[0], events[0], events[3], events[2]):
            daemon.publish(event)
        daemon.publish(Beat(4, 1.0))
        assert [stream.next(30) for _ in range(4)] == events
        assert stream.next(0.2) is None


def test_a_topic_filters_and_other_topics_are_no_gap(paths: Paths) -> None:
    history = History()
    with (
        StandIn(paths, history.answer) as daemon,
        Client(paths) as client,
        client.events(topic="display.", after=0) as stream,
    ):
        assert stream.next(0.05) is None
        for topic in ("wait.judged", "display.up", "wait.judged", "display.down"):
            daemon.publish(history.add(topic))
        daemon.publish(Beat(4, 1.0))
        got = [stream.next(30), stream.next(30)]
        assert [item.topic for item in got if isinstance(item, Event)] == ["display.up", "display.down"]
        assert stream.next(0.2) is None
        assert stream.position == 4


def test_trimmed_history_is_told(paths: Paths) -> None:
    history = History()
    for _ in range(10):
        history.add()
    history.first = 6
    with StandIn(paths, history.answer), Client(paths) as client, client.events(after=2) as stream:
        assert stream.next(30) == Trimmed(2, 6)
        assert [stream.next(30) for _ in range(5)] == history.events[5:]


def test_long_history_is_read_in_pages(paths: Paths) -> None:
    history = History()
    for _ in range(2500):
        history.add()
    with StandIn(paths, history.answer), Client(paths) as client, client.events(after=0) as stream:
        assert [stream.next(30) for _ in range(2500)] == history.events
    assert [ask.after for ask in history.asked] == [0, 1000, 2000]


def test_garbage_on_the_events_socket_makes_us_ask(paths: Paths) -> None:
    history = History()
    with StandIn(paths, history.answer) as daemon, Client(paths) as client, client.events(after=0) as stream:
        event = history.add()
        assert stream.next(30) == event
        later = history.add()
        daemon.publish(b"\xc1garbage", "wait.judged")
        daemon.publish(Beat(2, 1.0))
        assert stream.next(30) == later


def test_a_stream_goes_on_with_the_next_daemon(paths: Paths) -> None:
    history = History()
    with Client(paths) as client, client.events(after=0) as stream:
        with StandIn(paths, history.answer):
            first = history.add()
            assert stream.next(30) == first
        missed = history.add()
        stream._inbox.behind = True  # as after SILENCE_S without a beat
        with pytest.raises(DaemonDown):
            stream.next(30)
        with StandIn(paths, history.answer):
            assert stream.next(30) == missed


@pytest.mark.asyncio
async def test_async_calls_run_side_by_side(paths: Paths) -> None:
    def echo(request: RequestEnvelope, _times: int) -> list[Sending]:
        return [reply(request, EventsSinceReply((), request.body["after"]))]

    with StandIn(paths, echo) as daemon:
        async with AsyncClient(paths, timeout_s=60) as client:
            daemon.hold()
            calls = asyncio.gather(*(client.events_since(after) for after in range(20)))
            async with asyncio.timeout(30):
                while len({request.id for request in tuple(daemon.seen)}) < 20:  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.01)
            daemon.let_go()
            assert [found.newest for found in await calls] == list(range(20))


@pytest.mark.asyncio
async def test_closing_the_async_client_cancels_its_calls(paths: Paths) -> None:
    asked = threading.Event()

    def never(_request: RequestEnvelope, _times: int) -> list[Sending]:
        asked.set()
        return []

    with StandIn(paths, never):
        client = AsyncClient(paths)
        call = asyncio.create_task(client.events_since())
        assert await asyncio.to_thread(asked.wait, 30)
        await client.close()
        with pytest.raises(asyncio.CancelledError):
            await call
        with pytest.raises(UsageError, match="closed"):
            await client.events_since()
