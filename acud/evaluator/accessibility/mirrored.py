"""One application as a mirror holds it: its widgets, what is doubtful about them, and when it may be asked again."""

from __future__ import annotations

import time
from collections.abc import Sequence

from acud.accessibility.nodes import App, Limits
from acud.evaluator.accessibility.bus import Connection
from acud.evaluator.accessibility.marks import Marks
from acud.evaluator.accessibility.memory import Memory
from acud.evaluator.accessibility.reading import AppReading
from acud.evaluator.accessibility.walk import Budget
from acud.evaluator.accessibility.widget import Ref
from acud.types import Rect, WindowInfo

_RETRY_S = (1.0, 30.0)
"""A hung application is asked again after so long, doubled each time up to the second: each try costs `answer_s`."""


LATE_S = 1.0
"""Chromium brings its tree up to date some 100 ms after its pixels, and tells of a disabled control by no event."""


class Mirrored:
    """One application. `reading` is the last one; `cut`: the limit that cut it off ("": none)."""

    def __init__(self, root: Ref, pid: int) -> None:
        self.root = root
        self.reading = AppReading(root, pid)
        self.cut = ""
        self._pid = pid
        self._memory = Memory()
        self._own: tuple[WindowInfo, ...] = ()
        self._is_due = True
        self._limits = Limits()
        self._retry_at = 0.0
        self._patience = _RETRY_S[0]
        self._late: list[tuple[float, tuple[Rect, ...]]] = []

    @property
    def is_gone(self) -> bool:
        """Whether it ended."""
        return self.reading.is_gone

    @property
    def is_hung(self) -> bool:
        """Whether it did not answer when it was asked last."""
        return self.reading.is_hung

    @property
    def widgets(self) -> int:
        """How many widgets it has that show."""
        return len(self.reading.walk.found) if self.reading.walk is not None else 0

    def doubt(self, marks: Marks) -> None:
        """Forget what events made doubtful. One that says anything lives, and is asked again at once."""
        around = self._memory.forget_around(marks.around)
        alone = self._memory.forget(marks.alone)
        everything = marks.all and self._memory.forget_all()
        if around or alone or everything or marks.all or marks.tops:
            self._is_due = True
            self._retry_at = 0.0

    def doubt_older(self, than_s: float) -> None:
        """Forget what was read before `than_s` (monotonic)."""
        self._is_due |= self._memory.forget_older(than_s)

    def doubt_pixels(self, changed: Sequence[Rect] | None) -> None:
        """Forget what lies where the display's pixels changed; None: nobody knows where, so believe only what is sure
        to be told by events.
        """
        if changed is None:
            self._is_due |= not _tells_all(self.reading.app)
            if not _tells_all(self.reading.app):
                self._memory.forget_all()
        elif doubtful := (*changed, *self._late_areas(changed)):
            self._memory.forget_in(doubtful)
            self._is_due = True  # a window that no event told of may have come

    def _late_areas(self, changed: Sequence[Rect]) -> list[Rect]:
        """Return where pixels changed lately, until once after LATE_S: a toolkit may tell later than it paints."""
        if _tells_all(self.reading.app):
            return []
        now = time.monotonic()
        areas = [area for _, some in self._late for area in some]
        self._late = [(at, some) for at, some in self._late if now - at < LATE_S]
        if changed:
            self._late.append((now, tuple(changed)))
        return areas

    def doubt_windows(self, windows: Sequence[WindowInfo]) -> None:
        """Forget what lies in windows of its that came, went, moved or got another title."""
        own = tuple(window for window in windows if window.pid == self._pid)
        if other := _different(self._own, own):
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
        """Tell whether it must be read: something is in doubt, and it isn't left alone for being hung."""
        return (self._is_due or bool(self.reading.failure)) and time.monotonic() >= self._retry_at

    async def read(
        self, connection: Connection, windows: Sequence[WindowInfo], limits: Limits, budget: Budget, until: float
    ) -> None:
        """Read what is in doubt. Raises: Unavailable when the bus is gone.

        One that hangs keeps what it said before; one that ended keeps nothing.
        """
        before = self.reading
        reading = AppReading(self.root, self._pid, before.app if before.walk is not None else None)
        await reading.run(connection, windows, limits, budget, until, self._memory)
        self._is_due, self.reading = False, reading
        if self.reading.is_gone:
            self.reading.walk = None
        elif self.reading.is_hung:
            self._hung(before)
        else:
            self._patience = _RETRY_S[0]
            if self.reading.walk is not None:
                self._memory.keep(self.reading.walk.remembered())

    def _hung(self, before: AppReading) -> None:
        self._retry_at = time.monotonic() + self._patience
        self.reading.failure += "; what it said before is shown" if before.walk is not None else ""
        self._patience = min(self._patience * 2, _RETRY_S[1])
        if before.walk is not None:
            self.reading.walk = before.walk
        elif self.reading.walk is not None:
            self._memory.keep(self.reading.walk.remembered())


def _tells_all(app: App) -> bool:
    """Tell whether events of an application's toolkit can be trusted for everything that a reader sees.

    Only GTK 3 tells of each widget that moved (tests/integration/test_accessibility_mirror.py). Qt tells neither of
    scrolling nor of a widget that was taken away, GTK 4 not of one that came, Chromium not of one that was disabled.
    """
    return app.toolkit == "gtk" and app.version.startswith("3")


def _different(before: Sequence[WindowInfo], now: Sequence[WindowInfo]) -> set[int]:
    """Return the windows that came, went, moved or were named anew."""
    old, new = ({one.window_id: (one.bounds, one.title) for one in some} for some in (before, now))
    return {window for window in old.keys() | new.keys() if old.get(window) != new.get(window)}
