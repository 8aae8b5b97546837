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

from acud.accessibility.nodes import AccessibleApp, FailedApp, Limits, Node, Tree
from acud.base.errors import Unavailable
from acud.evaluator.accessibility.browsers import silent_browsers
from acud.evaluator.accessibility.bus import AccessibilityBus, BusConnection, NoAnswer
from acud.evaluator.accessibility.walk import AppWalk, WalkBudget, in_document_order
from acud.evaluator.accessibility.widget import Ref, WidgetClient, WidgetMemory
from acud.types import WindowInfo

REGISTRY = Ref("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_NO_LIMITS = Limits()


class AppReading:
    """One application's part of a reading: its walk, and why that is incomplete (`failure`, "" for complete).

    `remembered`: its identity from an earlier reading, which is then not asked for again.
    """

    def __init__(self, root: Ref, pid: int, remembered: AccessibleApp | None = None) -> None:
        self.root = root
        self.app = remembered or AccessibleApp(_process_name(pid), pid)
        self.walk: AppWalk | None = None
        self.failure = ""
        self.is_hung = False
        self.is_gone = False
        self.is_cut_short = False
        self._is_known = remembered is not None

    async def read_app(
        self,
        connection: BusConnection,
        windows: Sequence[WindowInfo],
        budget: WalkBudget,
        memory: WidgetMemory | None = None,
    ) -> None:
        """Read it until the budget's end, however it ends; only a dead bus raises (Unavailable). Widgets that `memory`
        holds are not asked again.
        """
        work = asyncio.ensure_future(self._walk(connection, windows, budget, memory))
        try:
            await self._wait_while_answering(work, budget)
            self.is_cut_short = not work.done() and not self.failure
            if self.is_cut_short:
                budget.cut = budget.cut or "time"
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, NoAnswer, Unavailable):
                await work

    async def _walk(
        self, connection: BusConnection, windows: Sequence[WindowInfo], budget: WalkBudget, memory: WidgetMemory | None
    ) -> None:
        try:
            if not self._is_known:
                await self._ask_identity(WidgetClient(connection))
            asker = WidgetClient(connection, is_gtk_4=self.app.is_gtk_4)
            self.walk = AppWalk(asker, self.root, self.app, windows, budget, memory)
            await self.walk.ask_widgets()
        except NoAnswer as fault:
            self.is_gone = fault.is_gone
            self.failure = "it ended while it was read" if fault.is_gone else f"it refuses to be read: {fault}"

    async def _ask_identity(self, asker: WidgetClient) -> None:
        name, (toolkit, version) = await asyncio.gather(asker.name(self.root), asker.toolkit(self.root))
        self.app = AccessibleApp(name or self.app.name, self.app.pid, toolkit, version)

    async def _wait_while_answering(self, work: asyncio.Future[None], budget: WalkBudget) -> None:
        """Wait for `work` as long as the application goes on answering, and not past the budget's end."""
        answer_s = budget.limits.answer_s
        counted = -1
        while not work.done():
            answers = self.walk.answers if self.walk is not None else 0
            if answers == counted:
                self.failure = f"it did not answer for {answer_s:g} s"
                self.is_hung = True
                return
            counted = answers
            patience = min(answer_s, budget.until - time.monotonic())
            if patience <= 0:
                return
            await asyncio.wait({work}, timeout=patience)
        work.result()


class TreeReader:
    """Reads trees over one display's accessibility bus. The bus is the caller's."""

    def __init__(self, bus: AccessibilityBus) -> None:
        self._bus = bus

    async def read(
        self, windows: Sequence[WindowInfo] = (), limits: Limits = _NO_LIMITS, pids: Collection[int] | None = None
    ) -> Tree:
        """Return the applications' widgets (only those of `pids`, when given). `windows` are the display's, topmost
        first: they give the X window of each widget, and its place when its toolkit doesn't know it.

        An application that does not answer in time is named in `failed`; what it answered until then is kept.
        Raises: Unavailable when the bus can't be reached, or dies meanwhile.
        """
        begun = time.monotonic()
        connection = await self._bus.connection()
        readings = await self._applications(connection, limits, pids)
        budget = WalkBudget(limits, begun + limits.walk_s)
        await asyncio.gather(*(reading.read_app(connection, windows, budget) for reading in readings))
        if any(reading.is_hung for reading in readings):
            # Calls that wait on the hung one would pile up in the connection.
            await self._bus.close()
        return tree_of(readings, windows, budget.cut, (time.monotonic() - begun) * 1000)

    async def _applications(
        self, connection: BusConnection, limits: Limits, pids: Collection[int] | None
    ) -> list[AppReading]:
        try:
            async with asyncio.timeout(limits.walk_s):
                known = [AppReading(root, pid) for root, pid in await applications(connection)]
        except TimeoutError as fault:
            await self._bus.close()
            raise Unavailable(f"the accessibility bus did not answer in {limits.walk_s:g} s") from fault
        return [reading for reading in known if pids is None or reading.app.pid in pids]


async def applications(connection: BusConnection) -> list[tuple[Ref, int]]:
    """Return the applications of a bus with their processes; waits without end. Raises: Unavailable."""
    try:
        roots = await WidgetClient(connection).children(REGISTRY)
    except NoAnswer as fault:
        raise Unavailable(f"the registry of the accessibility bus does not answer: {fault}") from fault
    found = await asyncio.gather(*(_ask_pid(connection, root) for root in roots))
    return [(root, pid) for root, pid in zip(roots, found, strict=True) if pid is not None]


def tree_of(readings: Sequence[AppReading], windows: Sequence[WindowInfo], cut: str, ms: float) -> Tree:
    """Return what `readings` found as one tree, application by application. `windows` are the display's."""
    apps = tuple(reading.app for reading in readings)
    nodes: list[Node] = []
    walks = [reading.walk for reading in readings if reading.walk is not None]
    for index, reading in enumerate(readings):
        if reading.walk is not None:
            nodes.extend(in_document_order(reading.walk.found, index, len(nodes)))
    return Tree(
        apps=apps,
        nodes=tuple(nodes),
        failed=tuple(FailedApp(r.app.name, r.app.pid, r.failure) for r in readings if r.failure),
        truncated=cast(Literal["", "depth", "nodes", "time"], cut),
        hidden=sum(walk.hidden for walk in walks),
        ms=ms,
        left_out=sum(walk.left_out for walk in walks) if cut else 0,
        silent=silent_browsers(apps, nodes, windows),
    )


def _process_name(pid: int) -> str:
    """Return the kernel's name of a process, for an application that gives none."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


async def _ask_pid(connection: BusConnection, root: Ref) -> int | None:
    """Return the process behind an application; None when it left meanwhile."""
    try:
        return await connection.pid_of(root.peer)
    except NoAnswer:
        return None
