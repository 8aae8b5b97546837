"""Reading the widgets of a whole display: every application at once, each with its own patience.

Nothing is kept between two readings but the connection.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from typing import Literal, cast

from acud.accessibility.nodes import FailedApp, Limits, Node, Tree
from acud.errors import Unavailable
from acud.evaluator.accessibility.bus import AccessibilityBus, Connection, NoAnswer
from acud.evaluator.accessibility.reading import AppReading
from acud.evaluator.accessibility.walk import Budget, in_document_order
from acud.evaluator.accessibility.widget import Asker, Ref
from acud.types import WindowInfo

REGISTRY = Ref("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_NO_LIMITS = Limits()


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
        await asyncio.gather(*(reading.run(connection, windows, limits, budget, until) for reading in readings))
        if any(reading.is_hung for reading in readings):
            # Calls that wait on the hung one would pile up in the connection.
            await self._bus.close()
        return tree_of(readings, budget.cut, (time.monotonic() - begun) * 1000)

    async def _applications(
        self, connection: Connection, limits: Limits, pids: Collection[int] | None
    ) -> list[AppReading]:
        try:
            async with asyncio.timeout(limits.walk_s):
                known = [AppReading(root, pid) for root, pid in await applications(connection)]
        except TimeoutError as fault:
            await self._bus.close()
            raise Unavailable(f"the accessibility bus did not answer in {limits.walk_s:g} s") from fault
        return [reading for reading in known if pids is None or reading.app.pid in pids]


async def applications(connection: Connection) -> list[tuple[Ref, int]]:
    """Return the applications of a bus with their processes; waits without end. Raises: Unavailable."""
    try:
        roots = await Asker(connection).children(REGISTRY)
    except NoAnswer as fault:
        raise Unavailable(f"the registry of the accessibility bus does not answer: {fault}") from fault
    found = await asyncio.gather(*(_pid(connection, root) for root in roots))
    return [(root, pid) for root, pid in zip(roots, found, strict=True) if pid is not None]


async def _pid(connection: Connection, root: Ref) -> int | None:
    """Return the process behind an application; None when it left meanwhile."""
    try:
        return await connection.pid_of(root.peer)
    except NoAnswer:
        return None


def tree_of(readings: Sequence[AppReading], cut: str, ms: float) -> Tree:
    """Return what `readings` found as one tree, application by application."""
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
