"""Reading the widgets of a whole display: every application at once, each with its own patience.

Nothing is kept between two readings but the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, cast

from acud.accessibility.nodes import App, FailedApp, Limits, Node, Tree
from acud.errors import Unavailable
from acud.evaluator.accessibility.bus import AccessibilityBus, Connection, NoAnswer
from acud.evaluator.accessibility.walk import AppWalk, Budget, in_document_order
from acud.evaluator.accessibility.widget import Asker, Ref
from acud.types import WindowInfo

_REGISTRY = Ref("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_NO_LIMITS = Limits()


class AppReading:
    """One application's part of a reading: what it said, and why there is no more of it (`failure`, "" for nothing)."""

    def __init__(self, root: Ref, pid: int) -> None:
        self.root = root
        self.app = App(_command(pid), pid)
        self.walk: AppWalk | None = None
        self.failure = ""
        self.is_hung = False


class TreeReader:
    """Reads trees over one display's accessibility bus. The bus is the caller's."""

    def __init__(self, bus: AccessibilityBus) -> None:
        self._bus = bus

    async def read(
        self, windows: Sequence[WindowInfo] = (), limits: Limits = _NO_LIMITS, pids: Collection[int] | None = None
    ) -> Tree:
        """Return what the applications say (only those of `pids`, when given). `windows` are the display's, topmost
        first: they say which X window a widget is in, and where, when its toolkit doesn't know.

        An application that does not answer in time is named in `failed`, and what it said before is kept.
        Raises: Unavailable when the bus can't be reached, or dies meanwhile.
        """
        begun = time.monotonic()
        connection = await self._bus.connection()
        readings = await self._applications(connection, limits, pids)
        budget = Budget(limits)
        until = begun + limits.walk_s
        await asyncio.gather(*(self._one(connection, reading, windows, limits, budget, until) for reading in readings))
        if any(reading.is_hung for reading in readings):
            # Calls that wait on the hung one would pile up in the connection.
            await self._bus.close()
        return _tree(readings, budget.cut, (time.monotonic() - begun) * 1000)

    async def _applications(
        self, connection: Connection, limits: Limits, pids: Collection[int] | None
    ) -> list[AppReading]:
        try:
            async with asyncio.timeout(limits.walk_s):
                roots = await Asker(connection).children(_REGISTRY)
                found = await asyncio.gather(*(_pid(connection, root) for root in roots))
        except TimeoutError as fault:
            await self._bus.close()
            raise Unavailable(f"the accessibility bus did not answer in {limits.walk_s:g} s") from fault
        except NoAnswer as fault:
            raise Unavailable(f"the registry of the accessibility bus does not answer: {fault}") from fault
        known = [AppReading(root, pid) for root, pid in zip(roots, found, strict=True) if pid is not None]
        return [reading for reading in known if pids is None or reading.app.pid in pids]

    async def _one(
        self,
        connection: Connection,
        reading: AppReading,
        windows: Sequence[WindowInfo],
        limits: Limits,
        budget: Budget,
        until: float,
    ) -> None:
        """Read one application, however it ends; only a dead bus raises."""
        work = asyncio.ensure_future(self._walked(connection, reading, windows, limits, budget))
        try:
            await _patiently(work, reading, limits.answer_s, until)
            if not work.done():
                budget.cut = budget.cut or ("" if reading.failure else "time")
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, NoAnswer, Unavailable):
                await work

    async def _walked(
        self,
        connection: Connection,
        reading: AppReading,
        windows: Sequence[WindowInfo],
        limits: Limits,
        budget: Budget,
    ) -> None:
        asker = Asker(connection)
        try:
            name, (toolkit, version) = await asyncio.gather(asker.name(reading.root), asker.toolkit(reading.root))
            reading.app = App(name or reading.app.name, reading.app.pid, toolkit, version)
            asker = Asker(connection, is_gtk_4=reading.app.is_gtk_4)
            reading.walk = AppWalk(asker, reading.root, reading.app, windows, limits, budget)
            await reading.walk.run()
        except NoAnswer as fault:
            reading.failure = "it ended while it was read" if fault.is_gone else f"it refuses to be read: {fault}"


async def _patiently(work: asyncio.Future[None], reading: AppReading, answer_s: float, until: float) -> None:
    """Wait for `work` as long as the application goes on answering, and not past `until`."""
    heard = -1
    while not work.done():
        answers = reading.walk.answers if reading.walk is not None else 0
        if answers == heard:
            reading.failure = f"it did not answer for {answer_s:g} s"
            reading.is_hung = True
            return
        heard = answers
        patience = min(answer_s, until - time.monotonic())
        if patience <= 0:
            return
        await asyncio.wait({work}, timeout=patience)
    work.result()


async def _pid(connection: Connection, root: Ref) -> int | None:
    """Return the process behind an application; None when it left meanwhile."""
    try:
        return await connection.pid_of(root.peer)
    except NoAnswer:
        return None


def _command(pid: int) -> str:
    """Return what the kernel calls a process: the name of an application that does not tell its own."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _tree(readings: Sequence[AppReading], cut: str, ms: float) -> Tree:
    nodes: list[Node] = []
    for index, reading in enumerate(readings):
        if reading.walk is not None:
            nodes.extend(in_document_order(reading.walk.found, index, len(nodes)))
    return Tree(
        apps=tuple(reading.app for reading in readings),
        nodes=tuple(nodes),
        failed=tuple(FailedApp(r.app.name, r.app.pid, r.failure) for r in readings if r.failure),
        truncated=cast(Literal["", "depth", "nodes", "time"], cut),
        hidden=sum(reading.walk.hidden for reading in readings if reading.walk is not None),
        ms=ms,
    )
