"""A live mirror of a display's widgets: walked once; a request then reads again only what is doubtful.

Events, changed pixels, moved windows and age make widgets doubtful.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from acud.accessibility.nodes import AccessibleApp, Limits, Tree
from acud.base.errors import Unavailable
from acud.evaluator.accessibility.bus import AccessibilityBus, BusConnection, NoAnswer
from acud.evaluator.accessibility.listener import AccessibilityListener, DoubtfulWidgets
from acud.evaluator.accessibility.reader import AppReading, applications, tree_of
from acud.evaluator.accessibility.walk import WalkBudget
from acud.evaluator.accessibility.widget import Ref, WidgetMemory
from acud.types import Rect, WindowInfo

_RETRY_S = (1.0, 30.0)
"""First and longest pause before asking a hung application again, doubled each time: each try costs `answer_s`."""
LATE_S = 1.0
"""Chromium updates its tree some 100 ms after its pixels, and sends no event for a disabled control."""
_NO_LIMITS = Limits()


class Mirrored:
    """One application. `reading` is the last one; `cut`: the limit that cut it off ("": none)."""

    def __init__(self, root: Ref, pid: int) -> None:
        self.root = root
        self.reading = AppReading(root, pid)
        self.cut = ""
        self._pid = pid
        self._memory = WidgetMemory()
        self._own: tuple[WindowInfo, ...] = ()
        self._is_due = True
        self._limits = Limits()
        self._retry_at = 0.0
        self._patience = _RETRY_S[0]
        self._late: list[tuple[float, tuple[Rect, ...]]] = []

    @property
    def is_gone(self) -> bool:
        return self.reading.is_gone

    @property
    def is_hung(self) -> bool:
        """Whether the application did not answer the last time."""
        return self.reading.is_hung

    @property
    def widgets(self) -> int:
        return len(self.reading.walk.found) if self.reading.walk is not None else 0

    def doubt(self, marks: DoubtfulWidgets) -> None:
        """Forget what events made doubtful. An application that sends events is alive and is asked again at once."""
        around = self._memory.forget_around(marks.around)
        alone = self._memory.forget(marks.alone)
        everything = marks.all and self._memory.forget_all()
        if around or alone or everything or marks.all or marks.tops:
            self._is_due = True
            self._retry_at = 0.0

    def doubt_older(self, than_s: float) -> None:
        """Forget what was read before `than_s` (monotonic)."""
        self._is_due |= self._memory.forget_older(than_s)

    def doubt_pixels(self, changed_boxes: Sequence[Rect] | None) -> None:
        """Forget what lies where the display's pixels changed. None (not known where): forget everything, unless the
        toolkit reports every change by an event.
        """
        if changed_boxes is None:
            self._is_due |= not _reports_every_change(self.reading.app)
            if not _reports_every_change(self.reading.app):
                self._memory.forget_all()
        elif doubtful := (*changed_boxes, *self._late_areas(changed_boxes)):
            self._memory.forget_in(doubtful)
            self._is_due = True  # a window may have come without an event

    def _late_areas(self, changed_boxes: Sequence[Rect]) -> list[Rect]:
        """Return where pixels changed, up to once after LATE_S: a toolkit may update its tree after it paints."""
        if _reports_every_change(self.reading.app):
            return []
        now = time.monotonic()
        areas = [area for _, some in self._late for area in some]
        self._late = [(at, some) for at, some in self._late if now - at < LATE_S]
        if changed_boxes:
            self._late.append((now, tuple(changed_boxes)))
        return areas

    def doubt_windows(self, windows: Sequence[WindowInfo]) -> None:
        """Forget what lies in the application's windows that came, went, moved or got another title."""
        own = tuple(window for window in windows if window.pid == self._pid)
        if other := _changed_windows(self._own, own):
            self._memory.forget_windows(other)
            self._is_due = True
        self._own = own

    def doubt_limits(self, limits: Limits) -> None:
        """Ask for more, or for less, than the last time."""
        self._is_due |= limits != self._limits or self.cut == "time"
        if (limits.details and not self._limits.details) or (limits.actions and not self._limits.actions):
            self._memory.forget_all()
        self._limits = limits

    def is_due(self) -> bool:
        """Return whether the application must be read: a part is in doubt, and no pause runs because it hung."""
        return (self._is_due or bool(self.reading.failure)) and time.monotonic() >= self._retry_at

    def due_s(self) -> float | None:
        """Return the seconds until it must be read again even without an event; None: it need not be."""
        now = time.monotonic()
        if self.reading.failure or self.cut == "time":
            return max(self._retry_at - now, _RETRY_S[0])
        return max(0.0, min(at for at, _ in self._late) + LATE_S - now) if self._late else None

    async def read_doubtful(self, connection: BusConnection, windows: Sequence[WindowInfo], budget: WalkBudget) -> None:
        """Read what is in doubt. Raises: Unavailable when the bus is gone. A hung application keeps its last reading;
        one that ended keeps nothing.
        """
        before = self.reading
        reading = AppReading(self.root, self._pid, before.app if before.walk is not None else None)
        await reading.read_app(connection, windows, budget, self._memory)
        self._is_due, self.reading = False, reading
        if self.reading.is_gone:
            self.reading.walk = None
        elif self.reading.is_hung:
            self._note_hang(before)
        else:
            self._patience = _RETRY_S[0]
            if self.reading.walk is not None:
                self._memory.keep(self.reading.walk.finished_widgets())

    def _note_hang(self, before: AppReading) -> None:
        self._retry_at = time.monotonic() + self._patience
        self.reading.failure += "; what it said before is shown" if before.walk is not None else ""
        self._patience = min(self._patience * 2, _RETRY_S[1])
        if before.walk is not None:
            self.reading.walk = before.walk
        elif self.reading.walk is not None:
            self._memory.keep(self.reading.walk.finished_widgets())


class Mirror:
    """The widgets of one display. Owns `bus`: `close` ends it, and the next use of either connects anew. Requests are
    answered one after the other, without a new reading for one that waited.
    """

    def __init__(self, bus: AccessibilityBus) -> None:
        self._bus = bus
        self._listener: AccessibilityListener | None = None
        self._address = ""
        self._apps: dict[str, Mirrored] = {}
        self._turn = asyncio.Lock()
        self._tree = Tree()
        self._version = 1
        self._readings: list[AppReading] = []
        self._processes: set[tuple[int, str]] = set()
        self.read = 0  # how often an application was read, wholly or in part
        self.event_callbacks: list[Callable[[], None]] = []
        """Callbacks run after each event of a program, and when the connection to the bus has ended."""

    async def tree(
        self,
        max_age_s: float,
        limits: Limits = _NO_LIMITS,
        windows: Sequence[WindowInfo] = (),
        changed_boxes: Sequence[Rect] | None = None,
    ) -> Tree:
        """Return the applications' widgets, none read longer ago than `max_age_s` (0: everything is read now).

        `windows` are the display's, topmost first. `changed_boxes`: all places where its pixels changed since the last
        call; None: not known, and then applications whose toolkit doesn't report every change are read anew. The
        tree's `version` grows exactly when its content changes.
        Raises: Unavailable when the bus can't be reached, dies meanwhile or does not answer; nothing is kept then.
        """
        asked_s = time.monotonic()
        async with self._turn:
            try:
                tree = await self._read_fresh(asked_s - max_age_s, limits, windows, changed_boxes)
            except Unavailable:
                await self._close_connections()
                raise
        return tree if limits.offscreen else tree.showing()  # another asker's are remembered

    @property
    def is_sure(self) -> bool:
        """Whether the last tree is as good as a fresh reading: nothing hangs, was cut off or makes a storm."""
        tree, listener = self._tree, self._listener
        if listener is None or tree.failed or tree.truncated:
            return False
        return not any(listener.is_muted(peer) for peer in self._apps)

    def ask_again_s(self) -> float | None:
        """Return the seconds until the tree may change without an event; None: only pixels or windows can change it."""
        times = [app.due_s() for app in self._apps.values()]
        times.append(self._listener.muted_s() if self._listener is not None else None)
        return min((one for one in times if one is not None), default=None)

    async def close(self) -> None:
        async with self._turn:
            await self._close_connections()

    # ---- one turn ----------------------------------------------------------------------------------------------------

    async def _read_fresh(
        self, since_s: float, limits: Limits, windows: Sequence[WindowInfo], changed_boxes: Sequence[Rect] | None
    ) -> Tree:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(limits.walk_s):
                listener, connection = await self._get_listener()
                await self._update_apps(listener, connection)
                for peer, app in self._apps.items():
                    await self._doubt_widgets(listener, peer, app, since_s, limits, windows, changed_boxes)
        except TimeoutError as fault:
            raise Unavailable(f"the accessibility bus did not answer in {limits.walk_s:g} s") from fault
        await self._read_due_apps(connection, windows, limits, begun + limits.walk_s)
        self._drop_ended_apps(listener)
        return self._build_tree(listener, windows, (time.monotonic() - begun) * 1000)

    async def _get_listener(self) -> tuple[AccessibilityListener, BusConnection]:
        """Return the listener, with every event so far handled, and a connection to read over."""
        if self._listener is not None and (not self._listener.is_open or self._listener.registry_is_new):
            await self._close_connections()
        connection = await self._bus.connection()
        if self._listener is not None and self._bus.address != self._address:
            await self._close_connections()
            connection = await self._bus.connection()
        if self._listener is None:
            self._listener = await self._start_listener()
            self._address = self._bus.address
        await self._listener.await_pending()
        return self._listener, connection

    async def _start_listener(self) -> AccessibilityListener:
        listener = AccessibilityListener(await self._bus.another(), callbacks=self.event_callbacks)
        try:
            await listener.start()
        except BaseException as fault:
            await listener.close()
            if isinstance(fault, NoAnswer):
                raise Unavailable(f"the registry of the accessibility bus does not answer: {fault}") from fault
            raise
        return listener

    async def _update_apps(self, listener: AccessibilityListener, connection: BusConnection) -> None:
        """Bring the list of applications up to date, in the order of the registry."""
        if not listener.roots_changed:
            return
        listener.roots_changed = False
        found = await applications(connection)
        self._apps = {root.peer: self._apps.get(root.peer) or Mirrored(root, pid) for root, pid in found}
        await asyncio.gather(*(listener.follow(peer) for peer in self._apps))

    async def _doubt_widgets(
        self,
        listener: AccessibilityListener,
        peer: str,
        app: Mirrored,
        since_s: float,
        limits: Limits,
        windows: Sequence[WindowInfo],
        changed_boxes: Sequence[Rect] | None,
    ) -> None:
        if peer in listener.left:
            return
        app.doubt_limits(limits)
        app.doubt_windows(windows)
        app.doubt_older(since_s)
        if marks := await listener.take_doubts(peer):
            app.doubt(marks)
            app.doubt_pixels(changed_boxes)

    async def _read_due_apps(
        self, connection: BusConnection, windows: Sequence[WindowInfo], limits: Limits, until: float
    ) -> None:
        due = [app for app in self._apps.values() if app.is_due()]
        if not due:
            return
        self.read += len(due)
        budget = WalkBudget(limits, until)
        budget.nodes -= sum(app.widgets for app in self._apps.values() if app not in due)
        await asyncio.gather(*(app.read_doubtful(connection, windows, budget) for app in due))
        for app in due:
            app.cut = budget.cut
        if any(app.is_hung for app in due):
            # Calls that wait on the hung one would pile up in the connection.
            await self._bus.close()

    def _drop_ended_apps(self, listener: AccessibilityListener) -> None:
        self._apps = {peer: app for peer, app in self._apps.items() if app.is_gone or peer not in listener.left}
        listener.left.clear()

    def _build_tree(self, listener: AccessibilityListener, windows: Sequence[WindowInfo], ms: float) -> Tree:
        readings = [app.reading for app in self._apps.values()]
        processes = {(window.pid, window.wm_class) for window in windows}
        if readings != self._readings or processes != self._processes:
            cut = next((app.cut for app in self._apps.values() if app.cut), "")
            tree, self._readings, self._processes = tree_of(readings, windows, cut, ms), readings, processes
            is_new = _comparable_content(tree) != _comparable_content(self._tree)
            self._tree = tree if is_new else self._tree
            self._version += is_new
        for peer in [peer for peer, app in self._apps.items() if app.is_gone]:
            # It ended while it was read: named once.
            del self._apps[peer]
            listener.leave(peer)
        return msgspec.structs.replace(self._tree, version=self._version, ms=ms)

    async def _close_connections(self) -> None:
        self._apps.clear()
        if self._listener is not None:
            listener, self._listener = self._listener, None
            await listener.close()
        await self._bus.close()


def _reports_every_change(app: AccessibleApp) -> bool:
    """Return whether an application's toolkit reports every visible change by an event.

    Only GTK 3 does (tests/integration/test_accessibility_mirror.py). Qt reports neither scrolling nor removed widgets,
    GTK 4 no added ones, Chromium no disabled ones.
    """
    return app.is_gtk_3 and not app.is_libreoffice


def _changed_windows(before: Sequence[WindowInfo], now: Sequence[WindowInfo]) -> set[int]:
    """Return the windows that came, went, moved or were renamed."""
    old, new = ({one.window_id: (one.bounds, one.title) for one in some} for some in (before, now))
    return {window for window in old.keys() | new.keys() if old.get(window) != new.get(window)}


def _comparable_content(tree: Tree) -> tuple[object, ...]:
    return tree.apps, tree.nodes, tree.failed, tree.silent, tree.truncated, tree.left_out, tree.hidden
