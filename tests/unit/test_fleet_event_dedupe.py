"""A listener hears a repeated event once, and a repeated event has one id."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import nats.js.errors
import pytest

from acud.base.errors import Unavailable
from acud.features.fleet.names import FleetNames
from acud.protocol.events import Event
from acud_fleet.events import ID, EventDedupe, EventForwarder, is_gap


def test_a_repeat_is_no_news() -> None:
    hearing = EventDedupe()
    assert [hearing.is_news("h1", f"h1:a:{n}") for n in (5, 6, 6, 5, 7)] == [True, True, False, False, True]
    assert hearing.is_news("h2", "h2:x:5")
    assert hearing.is_news("h1", "h1:b:1")  # another store counts anew
    assert not hearing.is_news("h1", "h1:b:1")


def test_what_is_not_stored_is_always_news() -> None:
    hearing = EventDedupe()
    assert hearing.is_news("h1", "")
    assert hearing.is_news("h1", "")


def test_a_gap_is_told_by_its_subject() -> None:
    assert is_gap("acud.event.h1.trimmed")
    assert not is_gap("acud.event.h1.wait.resolved")


class _Servers:
    """Servers whose first acknowledgement is lost, and which show nothing yet of what they took."""

    names = FleetNames("acud")
    signatures = SimpleNamespace(header=lambda *_: {})

    def __init__(self, count: int) -> None:
        self.ids: list[str] = []
        self.all_came = asyncio.Event()
        self._count = count
        self.streams = self

    @contextlib.contextmanager
    def translate_faults(self, what: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError as fault:
            raise Unavailable(what) from fault

    async def find_stream(self, wanted: Any) -> str:
        return str(wanted.name)

    async def stream_info(self, name: str) -> Any:
        return SimpleNamespace(config=SimpleNamespace(allow_direct=True))

    async def get_last_msg(self, stream: str, subject: str, direct: bool) -> Any:
        raise nats.js.errors.NotFoundError

    async def publish(self, subject: str, body: bytes, *, stream: str, headers: dict[str, str], timeout: float) -> None:
        self.ids.append(headers[ID])
        if len(self.ids) == self._count:
            self.all_came.set()
        if len(self.ids) == 1:
            raise TimeoutError


class _Daemon:
    @contextlib.asynccontextmanager
    async def events(self, after: int) -> AsyncIterator[AsyncIterator[Event]]:
        yield self._each(after)

    async def _each(self, after: int) -> AsyncIterator[Event]:
        for n in range(after + 1, 3):
            yield Event(n, 0, "wait.created", 1.0, "wait-1", {})
        await asyncio.Event().wait()


@pytest.mark.asyncio
async def test_an_event_whose_acknowledgement_was_lost_comes_again_under_its_id() -> None:
    servers: Any = _Servers(3)
    daemon: Any = _Daemon()
    forwarding = asyncio.create_task(EventForwarder("h1", servers, daemon).run())
    async with asyncio.timeout(30):
        await servers.all_came.wait()
    forwarding.cancel()
    await asyncio.gather(forwarding, return_exceptions=True)
    first, again, second = servers.ids
    assert again == first
    assert (first.split(":")[1], second.split(":")[2]) == (second.split(":")[1], "2")
    hearing = EventDedupe()
    assert [hearing.is_news("h1", one) for one in servers.ids] == [True, False, True]
