"""The processes of a fleet's endpoint beside its first: started, watched and started again by the first."""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec

from acud.base import log
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap
from acud_fleet.message_socket import give_connection

_LOG = log.logger("fleet")
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_STEADY_S = 60.0
"""A process that lived so long is started again at once."""
_END_S = 5.0
_BEAT_S = 1.0
_MISSED_BEATS = 15
"""A process without a beat for so many of the first one's seconds hangs, and is killed. Time in which the first did not
run either (a suspended machine) does not count.
"""
_BEATS = 64
"""Where the beats begin in the page, behind the counters of connections."""
FIRST = "first"
"""The socket at which the first process takes what the others pass on."""
READY = b"ready\n"
"""What a process writes to its standard output when it takes connections."""
_MEND = "the endpoint's standard error tells why a process ended"


class _Serving(msgspec.Struct):
    """A process that takes connections over `channel`; it was `given` so many. `number`: from 1 on."""

    number: int
    pid: int
    channel: socket.socket
    given: int = 0


class SharedNumbers:
    """Numbers in a page of memory, by descriptor, that the endpoint's processes share: the newest event's, which the
    first writes, and of each other one how many of its connections have ended, and its beats, which that one writes.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._numbers = memoryview(mmap.mmap(descriptor, mmap.PAGESIZE)).cast("Q")

    @classmethod
    def new(cls) -> Self:
        """Return a page of zeros; the caller closes its descriptor."""
        descriptor = os.memfd_create("acud-endpoint")
        os.truncate(descriptor, mmap.PAGESIZE)
        return cls(descriptor)

    @property
    def newest(self) -> int:
        """The newest event's number."""
        return self._numbers[0]

    @newest.setter
    def newest(self, number: int) -> None:
        self._numbers[0] = number

    def read_ended(self, number: int) -> int:
        """Return how many connections of the process `number` have ended."""
        return self._numbers[number]

    def count_ended(self, number: int, more: int = 1) -> None:
        """Count ends of connections of the process `number`."""
        self._numbers[number] += more

    def beats(self, number: int) -> int:
        """Return how often the process `number` has beaten."""
        return self._numbers[_BEATS + number]

    async def beat(self, number: int) -> None:
        """Beat for the process `number` as long as its loop turns, until cancelled."""
        while True:
            self._numbers[_BEATS + number] += 1
            await asyncio.sleep(_BEAT_S)


class ProcessPool:
    """Keeps `count` processes and gives each connection to the one with the fewest. A process inherits `numbers` and a
    channel, and gets `bootstrap(number, channel)`. `control`: the file at which clients connect. `warn(about, text,
    fix)` reports a fault, and without a text its end.
    """

    def __init__(
        self,
        count: int,
        bootstrap: Callable[[int, int], Bootstrap],
        numbers: SharedNumbers,
        control: Path,
        warn: Callable[[str, str, str], None],
    ) -> None:
        self._count = count
        self._bootstrap = bootstrap
        self._shared = numbers
        self._control = control
        self._warn = warn
        self._serving: list[_Serving] = []
        self._is_short = False

    @property
    def pids(self) -> tuple[int, ...]:
        """Those that take connections now."""
        return tuple(one.pid for one in self._serving)

    def hand_on(self, connection: socket.socket, own: int) -> bool:
        """Give a connection to the process with fewest, unless this one has less, with `own`."""
        if not self._serving:
            return False
        least = min(self._serving, key=self._count_open)
        if own < self._count_open(least) or not give_connection(least.channel, connection):
            return False
        least.given += 1
        return True

    def _count_open(self, serving: _Serving) -> int:
        return serving.given - self._shared.read_ended(serving.number)

    async def run(self) -> None:
        """Keep them until cancelled; then end them, in good order if they do so soon."""
        async with asyncio.TaskGroup() as group:
            for number in range(1, self._count + 1):
                group.create_task(self._keep_running(number))

    async def _keep_running(self, number: int) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            began_s = time.monotonic()
            code = await self._run_one(number)
            if time.monotonic() - began_s > _STEADY_S:
                pause_s = _FIRST_PAUSE_S
            _LOG.warning("fleet.process_ended", code=code, again_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _run_one(self, number: int) -> int:
        """Run a process to its end, and return how it ended."""
        self._shared.count_ended(number, -self._shared.read_ended(number))
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        with own:
            with its:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "acud_fleet.endpoint_process"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    pass_fds=(its.fileno(), self._shared.descriptor),
                )
                bootstrap = codec.encode(self._bootstrap(number, its.fileno()))
            try:
                await self._watch_process(process, bootstrap, number, own)
            finally:
                self._serving = [one for one in self._serving if one.channel is not own]
                if process.returncode is None:
                    await _end_process(process)
                else:
                    self._on_process_lost()
        return process.returncode or 0

    async def _watch_process(
        self, process: asyncio.subprocess.Process, bootstrap: bytes, number: int, own: socket.socket
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(bootstrap)
        process.stdin.close()
        if await process.stdout.readline() == READY:
            self._serving.append(_Serving(number, process.pid, own))
            self._is_short = self._is_short and len(self._serving) < self._count
            self._send_numbers()
        watch = asyncio.create_task(self._kill_if_it_hangs(process, number))
        try:
            await process.wait()
        finally:
            watch.cancel()

    async def _kill_if_it_hangs(self, process: asyncio.subprocess.Process, number: int) -> None:
        beats, missed = self._shared.beats(number), 0
        while missed < _MISSED_BEATS:
            await asyncio.sleep(_BEAT_S)
            seen = self._shared.beats(number)
            beats, missed = seen, 0 if seen != beats else missed + 1
        _LOG.error("fleet.process_hung", pid=process.pid, missed_beats=missed)
        process.kill()

    def _on_process_lost(self) -> None:
        self._is_short = True
        self._send_numbers()
        with contextlib.suppress(FileNotFoundError):
            # Clients take a socket file that has changed for another run's (`DaemonSocket.serial`), and ask again.
            os.utime(self._control)

    def _send_numbers(self) -> None:
        there = f"{1 + len(self._serving)} of the endpoint's {1 + self._count} processes serve"
        self._warn("processes", there if self._is_short else "", _MEND)


async def _end_process(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
