"""Fresh grabs: "one frame now", and the moment it was made."""

from __future__ import annotations

from collections.abc import Callable

from acud.errors import DisplayDown, Unavailable
from acud.event_loop import EventLoop, Timer
from acud.protocol.capture import Notice
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Order

_DEADLINE_S = 5.0

Grabbed = Callable[[Source | Unavailable], None]


class _Pending:
    """One consumer that waits for a grab."""

    def __init__(self, source: Source, grab: int, done: Grabbed) -> None:
        self.source = source
        self.grab = grab
        self.done = done
        self.timer: Timer | None = None


class FrameRequests:
    """Calls back when a demanded grab was made; a source that is lost or silent is an error, never a stale frame."""

    def __init__(self, sources: Sources, loop: EventLoop) -> None:
        self._sources = sources
        self._loop = loop
        self._pending: list[_Pending] = []
        sources.watchers.add(self, Order.CORE)

    def fresh(self, source: Source, done: Grabbed) -> None:
        """Grab `source` now; `done` gets the source once a frame made after this call is its newest, or the fault."""
        if not source.up:
            done(_down(source))
            return
        pending = _Pending(source, self._sources.grab_now(source), done)
        pending.timer = self._loop.call_later(_DEADLINE_S, lambda: self._expire(pending))
        self._pending.append(pending)

    def source_up(self, source: Source) -> None:
        """A new ring was attached; its own grab number goes on counting, so nothing is to do."""

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Serve those whose grab this notice satisfies."""
        served = [p for p in self._pending if p.source is source and source.grabbed >= p.grab]
        for pending in served:
            self._finish(pending, source)

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Fail those who wait for this source."""
        for pending in [p for p in self._pending if p.source is source]:
            self._finish(pending, _down(source))

    def _expire(self, pending: _Pending) -> None:
        self._finish(
            pending,
            Unavailable(
                f"no grab of {pending.source.name} in {_DEADLINE_S:.0f} s", hint="acud doctor; the X server may hang"
            ),
        )

    def _finish(self, pending: _Pending, outcome: Source | Unavailable) -> None:
        if pending in self._pending:
            self._pending.remove(pending)
            if pending.timer is not None:
                pending.timer.cancel()
            pending.done(outcome)


def _down(source: Source) -> DisplayDown:
    return DisplayDown(f"{source.name} has no pixels now: {source.lost_reason}", hint="acud display list")
