"""The changes of one loop turn: one transaction with a savepoint for each, and effects that follow the commit.

When a commit fails, requests are answered with the fault. The supervisor's own mutations (a verdict, a display that
died) are kept and written again until a commit holds them, so that a full disk loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, StoreUnavailable
from acud.metrics.catalogue import QUICK_S
from acud.metrics.counters import Histogram, Tally
from acud.process.event_loop import EventLoop
from acud.protocol.events import Event
from acud.store.store import Store
from acud.supervisor.observers import Observers
from acud.types.metrics import Sample

_LOG = log.logger("journal")
_RETRY_S = 1.0

_MAX_KEPT = 10_000

Effect = Callable[[], None]


class _Kept(Struct, frozen=True):
    mutation: Effect
    then: Effect | None


class Journal:
    """Owns the turn's transaction."""

    def __init__(self, store: Store, loop: EventLoop, clock: Clock) -> None:
        self.store, self._loop, self._clock = store, loop, clock
        self.committed = Observers[Callable[[Event], None]]()  # called with each event after its commit
        self._effects: list[Effect] = []
        self._events: list[Event] = []
        self._kept: list[_Kept] = []
        self._retrying = False
        self.newest = store.events.newest()  # the newest committed event number
        self.dropped = 0  # records given up because too many waited for a full or broken disk
        self.fault: StoreUnavailable | None = None  # why the last commit failed; None if it did not
        self._commit_s = Histogram(QUICK_S)
        self._faults = Tally()  # commits that failed, by fault

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo the store's changes, the effects and the events of the block if it raises."""
        effects, events = len(self._effects), len(self._events)
        try:
            with self.store.savepoint():
                yield
        except BaseException:
            del self._effects[effects:], self._events[events:]
            raise

    def samples(self) -> Iterator[tuple[str, Sample]]:
        """Yield the metrics of its commits."""
        yield "acud_store_commit_seconds", self._commit_s.sample()
        yield from (("acud_store_faults_total", sample) for sample in self._faults.samples())
        yield "acud_store_waiting_writes", Sample((), self.waiting)
        yield "acud_store_dropped_records_total", Sample((), self.dropped)

    def after_commit(self, effect: Effect) -> None:
        """Call `effect` after this turn's commit; never if that fails."""
        self._effects.append(effect)

    def event(self, topic: str, subject: str, **data: Any) -> None:
        """Store an event in this turn; the publisher sends it after the commit."""
        self._events.append(self.store.events.append(topic, subject, data, self._clock.instant().utc_s))

    def keep(self, mutation: Effect, then: Effect | None = None, *, droppable: bool = False) -> None:
        """Write `mutation` in this turn, or in the first later one with a successful commit; then call `then` once. A
        `droppable` one (a record of an evaluation) is given up, and counted, when too many wait for the disk.
        """
        if droppable and len(self._kept) >= _MAX_KEPT:
            self.dropped += 1
            return
        self._kept.append(_Kept(mutation, then))

    @property
    def dirty(self) -> bool:
        """Whether `end_turn` has mutations to write."""
        return bool(self._kept and not self._retrying) or self.store.in_turn

    def end_turn(self) -> StoreUnavailable | None:
        """Commit and run the effects; or return why it failed, for the requests; kept mutations are retried."""
        if not self.dirty and not self._effects:
            return None
        kept = list(self._kept)
        try:
            for entry in kept:
                self._write_entry(entry)
            self._commit()
        except StoreUnavailable as fault:
            self._handle_failure(fault)
            return fault
        self._finish_commit(kept)
        return None

    def _commit(self) -> None:
        if not self.store.in_turn:
            return
        began_s = self._loop.now_s()
        self.store.commit_turn()
        self._commit_s.observe(self._loop.now_s() - began_s)

    @property
    def waiting(self) -> int:
        """Number of kept mutations that no commit holds yet."""
        return len(self._kept)

    def _write_entry(self, entry: _Kept) -> None:
        try:
            with self.savepoint():
                entry.mutation()
        except StoreUnavailable:
            raise
        except AcudError as fault:
            # The store contradicts the mutation: writing it again would fail for ever.
            _LOG.error("journal.refused", fault=fault.message)

    def _handle_failure(self, fault: StoreUnavailable) -> None:
        self.store.rollback_turn()
        self._faults.add(str(fault.facts.get("fault", "unknown")))
        self._effects.clear()
        self._events.clear()
        if self.fault is None:
            _LOG.error("store.unavailable", fault=fault.message, kept=len(self._kept))
        self.fault = fault
        if self._kept and not self._retrying:
            self._retrying = True
            self._loop.call_later(_RETRY_S, self._end_retry)

    def _end_retry(self) -> None:
        self._retrying = False  # the end of this very turn writes the kept again

    def _finish_commit(self, entries: list[_Kept]) -> None:
        if self.fault is not None:
            _LOG.info("store.well_again", written=len(entries))
            self.fault = None
        del self._kept[: len(entries)]
        effects, self._effects = self._effects, []
        events, self._events = self._events, []
        for event in events:
            self.newest = event.n
            _LOG.debug("event.stored", n=event.n, topic=event.topic, subject=event.subject)
            for observer in self.committed:
                observer(event)
        for entry in entries:
            if entry.then is not None:
                entry.then()
        for effect in effects:
            effect()
