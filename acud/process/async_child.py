"""The socket of an asyncio child; apart from `child_process`, as a capture process starts sooner without asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, Self, TypeVar

import msgspec
import zmq.asyncio

from acud.process.child_process import child_socket, decode_or_none, next_beat_s
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap
from acud.protocol.children import Heartbeat

Incoming = TypeVar("Incoming")


class AsyncChild(Generic[Incoming]):
    """The socket of an asyncio child; made and used inside a running loop. Closing twice is harmless."""

    def __init__(self, bootstrap: Bootstrap, incoming: Any) -> None:
        self._context = zmq.asyncio.Context()
        self._incoming = incoming
        self._heartbeat_s, self._rests_s = bootstrap.heartbeat_s, bootstrap.rests_s
        self._stirred = asyncio.Event()
        self.socket: zmq.asyncio.Socket = child_socket(self._context, bootstrap)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.socket.close()
        self._context.term()

    async def send(self, message: msgspec.Struct) -> None:
        """Queue `message`; waits only while the queue of 1,000 is full."""
        self._stirred.set()
        await self.socket.send(codec.encode(message))

    async def messages(self) -> AsyncIterator[Incoming]:
        """Yield messages for ever; log and skip a malformed one."""
        while True:
            message = decode_or_none(await self.socket.recv(), self._incoming)
            self._stirred.set()
            if message is not None:
                yield message

    async def send_beats(self, heartbeat: Callable[[], Heartbeat]) -> None:
        """Send a heartbeat now and then every `heartbeat_s`, for ever; run it as a task. The next one comes later while
        no messages, jobs or counts change.
        """
        counted: dict[str, float] | None = None
        while True:
            beat = heartbeat()
            rests = not self._stirred.is_set() and not beat.jobs and beat.counters == counted
            self._stirred.clear()
            counted = beat.counters
            sent = msgspec.structs.replace(beat, rests_s=self._rests_s) if rests else beat
            await self.socket.send(codec.encode(sent))
            now_s = asyncio.get_running_loop().time()
            await asyncio.sleep(self._heartbeat_s)
            if rests:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(next_beat_s(now_s, self._heartbeat_s, self._rests_s)):
                        await self._stirred.wait()
