"""The daemon's events, followed while the process lives: each end of a wait, a wake and a judge's call is a span."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from acud import log
from acud.errors import AcudError, NotFound
from acud.protocol.events import Event
from acud.types import WaitState
from acud_client.aio import AsyncClient
from acud_client.cursor import Trimmed
from acud_web.traces import spans
from acud_web.traces.spans import Span

_LOG = log.logger("traces")
_AGAIN_S = 1.0
_ENDS = frozenset(f"wait.{state.value}" for state in WaitState if state is not WaitState.WATCHING)


class Sink(Protocol):
    """Where spans go."""

    def send(self, span: Span) -> None:
        """Queue `span`; never blocks."""
        ...


async def follow(client: AsyncClient, sink: Sink) -> None:
    """Make spans of what happens from now on, until cancelled; a daemon that is away is waited for."""
    async with aclosing(_events(client)) as events:
        async for event in events:
            try:
                for span in await made(client, event):
                    sink.send(span)
            except NotFound:
                continue  # retention or a deletion was quicker
            except AcudError as fault:
                _LOG.warning("trace.lost", topic=event.topic, fault=fault.message)


async def made(client: AsyncClient, event: Event) -> list[Span]:
    """Return the spans that `event` completes. Raises: AcudError where the daemon cannot say more about it."""
    if event.topic == "wait.judged":
        return [spans.judged(event)]
    if event.topic in _ENDS:
        return spans.ended((await client.wait_show(event.subject)).wait)
    if event.topic in ("wake.sent", "wake.undelivered"):
        found = await client.wake_list(seen=True, wait_id=str(event.data["wait_id"])) if event.data["wait_id"] else None
        return [spans.woken(wake) for wake in found.wakes if wake.wake_id == event.subject] if found else []
    return []


async def _newest(client: AsyncClient) -> int:
    while True:
        try:
            return (await client.events_since(limit=1)).newest
        except AcudError:
            await asyncio.sleep(_AGAIN_S)


async def _events(client: AsyncClient) -> AsyncGenerator[Event, None]:
    newest = await _newest(client)
    stream = client.events(topic="wa", after=newest)  # wait. and wake.
    _LOG.info("traces.following", after=newest)
    try:
        while True:
            try:
                told = await anext(stream)
            except AcudError:
                await asyncio.sleep(_AGAIN_S)
                continue
            if isinstance(told, Trimmed):
                _LOG.warning("trace.gap", after=told.after, first=told.first)
            else:
                yield told
    finally:
        stream.close()
