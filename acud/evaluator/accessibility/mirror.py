"""A live mirror of a display's widgets: walked once, then only what events, changed pixels, moved windows or age make
doubtful is read again, and only when somebody asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec

from acud.accessibility.nodes import Limits, Tree
from acud.errors import Unavailable
from acud.evaluator.accessibility.bus import AccessibilityBus, Connection, NoAnswer
from acud.evaluator.accessibility.listener import Listener
from acud.evaluator.accessibility.mirrored import Mirrored
from acud.evaluator.accessibility.reader import applications, tree_of
from acud.evaluator.accessibility.reading import AppReading
from acud.evaluator.accessibility.walk import Budget
from acud.types import Rect, WindowInfo

_NO_LIMITS = Limits()


class Mirror:
    """The widgets of one display. The bus is the mirror's own from then on: `close` ends it, and the next use of either
    connects anew. Asks are answered one after the other; one that waited is not read again for.
    """

    def __init__(self, bus: AccessibilityBus) -> None:
        self._bus = bus
        self._listener: Listener | None = None
        self._address = ""
        self._apps: dict[str, Mirrored] = {}
        self._turn = asyncio.Lock()
        self._tree = Tree()
        self._version = 1
        self._readings: list[AppReading] = []
        self.read = 0
        """How often an application was read, wholly or in part."""

    async def tree(
        self,
        max_age_s: float,
        limits: Limits = _NO_LIMITS,
        windows: Sequence[WindowInfo] = (),
        changed: Sequence[Rect] | None = None,
    ) -> Tree:
        """Return what the applications say, no widget older than `max_age_s` (0: everything is read now).

        `windows` are the display's, topmost first. `changed`: where its pixels changed since the last ask (the caller
        must leave nothing out); None: not known, and then applications whose toolkit doesn't tell everything are read
        anew. `version` of the tree grows when something in it became different, and only then.
        Raises: Unavailable when the bus can't be reached, dies meanwhile or does not answer; nothing is kept then.
        """
        asked_s = time.monotonic()
        async with self._turn:
            try:
                return await self._fresh(asked_s - max_age_s, limits, windows, changed)
            except Unavailable:
                await self._lose()
                raise

    @property
    def is_sure(self) -> bool:
        """Whether the last tree is as good as a fresh reading: nothing hangs, was cut off or makes a storm."""
        tree, listener = self._tree, self._listener
        if listener is None or tree.failed or tree.truncated:
            return False
        return not any(listener.is_muted(peer) for peer in self._apps)

    async def close(self) -> None:
        """End the connections and forget everything."""
        async with self._turn:
            await self._lose()

    # ---- one turn ----------------------------------------------------------------------------------------------------

    async def _fresh(
        self, since_s: float, limits: Limits, windows: Sequence[WindowInfo], changed: Sequence[Rect] | None
    ) -> Tree:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(limits.walk_s):
                listener, connection = await self._ready()
                await self._list(listener, connection)
                for peer, app in self._apps.items():
                    await self._doubt(listener, peer, app, since_s, limits, windows, changed)
        except TimeoutError as fault:
            raise Unavailable(f"the accessibility bus did not answer in {limits.walk_s:g} s") from fault
        await self._read(connection, windows, limits, begun + limits.walk_s)
        self._drop(listener)
        return self._told(listener, (time.monotonic() - begun) * 1000)

    async def _ready(self) -> tuple[Listener, Connection]:
        """Return the listener, caught up with what was said until now, and a connection to read over."""
        if self._listener is not None and (not self._listener.is_open or self._listener.registry_is_new):
            await self._lose()
        connection = await self._bus.connection()
        if self._listener is not None and self._bus.address != self._address:
            await self._lose()
            connection = await self._bus.connection()
        if self._listener is None:
            self._listener = await self._listening()
            self._address = self._bus.address
        await self._listener.settle()
        return self._listener, connection

    async def _listening(self) -> Listener:
        listener = Listener(await self._bus.another())
        try:
            await listener.start()
        except BaseException as fault:
            await listener.close()
            if isinstance(fault, NoAnswer):
                raise Unavailable(f"the registry of the accessibility bus does not answer: {fault}") from fault
            raise
        return listener

    async def _list(self, listener: Listener, connection: Connection) -> None:
        """Bring the list of applications up to date, in the order of the registry."""
        if not listener.roots_changed:
            return
        listener.roots_changed = False
        found = await applications(connection)
        self._apps = {root.peer: self._apps.get(root.peer) or Mirrored(root, pid) for root, pid in found}
        await asyncio.gather(*(listener.follow(peer) for peer in self._apps))

    async def _doubt(
        self,
        listener: Listener,
        peer: str,
        app: Mirrored,
        since_s: float,
        limits: Limits,
        windows: Sequence[WindowInfo],
        changed: Sequence[Rect] | None,
    ) -> None:
        if peer in listener.left:
            return
        app.doubt_limits(limits)
        app.doubt_windows(windows)
        app.doubt_older(since_s)
        if marks := await listener.taken(peer):
            app.doubt(marks)
            app.doubt_pixels(changed)

    async def _read(self, connection: Connection, windows: Sequence[WindowInfo], limits: Limits, until: float) -> None:
        due = [app for app in self._apps.values() if app.is_due()]
        if not due:
            return
        self.read += len(due)
        budget = Budget(limits)
        budget.nodes -= sum(app.widgets for app in self._apps.values() if app not in due)
        await asyncio.gather(*(app.read(connection, windows, limits, budget, until) for app in due))
        for app in due:
            app.cut = budget.cut
        if any(app.is_hung for app in due):
            # Calls that wait on the hung one would pile up in the connection.
            await self._bus.close()

    def _drop(self, listener: Listener) -> None:
        """Forget the applications that ended."""
        self._apps = {peer: app for peer, app in self._apps.items() if app.is_gone or peer not in listener.left}
        listener.left.clear()

    def _told(self, listener: Listener, ms: float) -> Tree:
        readings = [app.reading for app in self._apps.values()]
        if readings != self._readings:
            cut = next((app.cut for app in self._apps.values() if app.cut), "")
            tree, self._readings = tree_of(readings, cut, ms), readings
            is_new = _said(tree) != _said(self._tree)
            self._tree = tree if is_new else self._tree
            self._version += is_new
        for peer in [peer for peer, app in self._apps.items() if app.is_gone]:
            # It ended while it was read: named once.
            del self._apps[peer]
            listener.leave(peer)
        return msgspec.structs.replace(self._tree, version=self._version, ms=ms)

    async def _lose(self) -> None:
        self._apps.clear()
        if self._listener is not None:
            listener, self._listener = self._listener, None
            await listener.close()
        await self._bus.close()


def _said(tree: Tree) -> tuple[object, ...]:
    return tree.apps, tree.nodes, tree.failed, tree.truncated, tree.hidden
