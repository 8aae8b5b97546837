"""Readers of events: in turn, in time, and cut when they do not read."""

import asyncio

import pytest

from acud.protocol.events import Event
from acud_web.api.events import frame_event
from acud_web.api.hub import QUEUED, Cut, Down, Reader, make_told


def event(n: int) -> Event:
    return Event(n, 0, "task.updated", 1.5, "task-1", {"a": 1})


def test_a_reader_gets_everything_in_turn() -> None:
    async def read() -> list[object]:
        reader = Reader()
        for n in (1, 2):
            reader.put(make_told(event(n)))
        found = [await reader.next(60), await reader.next(60)]
        return [one.item for one in found if one is not None]

    assert asyncio.run(read()) == [event(1), event(2)]


def test_a_reader_waits_for_what_comes() -> None:
    async def read() -> object:
        reader = Reader()
        waiting = asyncio.ensure_future(reader.next(60))
        await asyncio.sleep(0)
        reader.put(make_told(event(1)))
        found = await waiting
        return found and found.item

    assert asyncio.run(read()) == event(1)


def test_nothing_in_time_is_an_answer() -> None:
    assert asyncio.run(Reader().next(0)) is None


def test_a_reader_that_is_too_far_behind_is_cut_and_holds_nothing() -> None:
    async def overrun() -> None:
        reader = Reader()
        for n in range(QUEUED + 1):
            reader.put(make_told(event(n + 1)))
        await reader.until_cut()
        reader.put(make_told(event(QUEUED + 2)))
        with pytest.raises(Cut):
            await reader.next(60)

    asyncio.run(overrun())


def test_what_a_browser_reads() -> None:
    text = '{"type":"event","n":7,"prev":0,"topic":"task.updated","utc_s":1.5,"subject":"task-1","data":{"a":1}}'
    assert frame_event(make_told(event(7)), 7) == f"id: 7\ndata: {text}\n\n"
    assert frame_event(make_told(event(0)), 7).startswith("data: ")
    assert frame_event(make_told(Down("gone", "daemon_busy")), 7) == (
        'event: down\ndata: {"type":"down","reason":"gone","code":"daemon_busy"}\n\n'
    )
    assert frame_event(None, 7) == ": alive\nid: 7\n\n"
