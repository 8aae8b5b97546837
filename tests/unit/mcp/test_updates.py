"""Where the reader of events begins, and goes on; the daemon is a stand-in."""

import asyncio
from types import SimpleNamespace
from typing import Any, Self

import pytest

from acud.base.errors import AcudError, DaemonDown
from acud.protocol.events import Event
from acud_mcp import resources
from acud_mcp.resources import Updates


class Stream:
    """Tells two events, with an outage between them; iterated on, it goes on where it stood."""

    def __init__(self) -> None:
        self.items: list[Event | AcudError] = [make_end(8, "wait-a"), DaemonDown("away"), make_end(9, "wait-b")]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Hold nothing."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self.items:
            await asyncio.sleep(3600)
        item = self.items.pop(0)
        if isinstance(item, AcudError):
            raise item
        return item


class Client:
    """A daemon's client: `newest` is its newest event, or why it does not say."""

    def __init__(self, newest: int | AcudError) -> None:
        self.newest = newest
        self.opened: list[int | None] = []

    async def events_since(self, limit: int) -> Any:
        if isinstance(self.newest, AcudError):
            raise self.newest
        return SimpleNamespace(newest=self.newest)

    def events(self, *, after: int | None) -> Stream:
        self.opened.append(after)
        return Stream()


def make_end(number: int, wait_id: str) -> Event:
    return Event(number, 0, "wait.resolved", 0.0, wait_id, {})


async def _collect_updates(reader: Updates) -> list[str]:
    """Subscribe, and return what was told once two were."""
    told: list[str] = []
    both = asyncio.Event()

    def hear(uri: str) -> None:
        told.append(uri)
        if len(told) == 2:
            both.set()

    await reader.begin()
    end = reader.subscribe(hear)
    async with asyncio.timeout(30):
        await both.wait()
    end()
    return told


def _reader(client: Client) -> Updates:
    return Updates(SimpleNamespace(client=client))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_RETRY_S", 0.0)


def test_it_begins_at_the_subscription_and_goes_on_over_an_outage() -> None:
    client = Client(7)
    assert asyncio.run(_collect_updates(_reader(client))) == ["acud://wait/wait-a", "acud://wait/wait-b"]
    assert client.opened == [7]


def test_a_number_of_before_is_not_gone_back_to() -> None:
    client = Client(7)
    reader = _reader(client)

    async def twice() -> None:
        await _collect_updates(reader)
        await reader.begin()  # whose subscription was refused
        client.newest = DaemonDown("away")
        await _collect_updates(reader)

    asyncio.run(twice())
    assert client.opened == [7, None]
