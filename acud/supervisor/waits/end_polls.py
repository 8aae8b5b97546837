"""Calls that block for the end of a wait, or for its first verdict."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from acud.base.clock import Clock
from acud.base.errors import AcudError
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.coroutines import Resume
from acud.supervisor.waits import records
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.wakes import Wakes
from acud.types import WaitInfo


class Polled(NamedTuple):
    """A wait whose end or first verdict was awaited; `has_ended`: else the time is over."""

    info: WaitInfo
    has_ended: bool


class _EndPoll:
    """A long-poll for the end of the wait `wait_id`. `fetched_s`: the wake is held back for so long after the end, as
    the reply counts as seen (0: it does not count).
    """

    def __init__(self, polls: EndPolls, wait_id: str, on_done: Resume[Polled], fetched_s: float) -> None:
        self._polls, self._wait_id, self.done, self.fetched_s = polls, wait_id, on_done, fetched_s
        self.timer: Timer | None = None

    def give_up(self) -> None:
        """Give the call up unanswered; harmless after its answer."""
        self._polls.drop_poll(self._wait_id, self)

    def expire(self) -> None:
        """Answer with the state so far, unless the call was answered."""
        if not self._polls.drop_poll(self._wait_id, self):
            return
        try:
            info = self._polls.waits.find(self._wait_id)
        except AcudError as fault:  # the turn that made the wait could not be stored
            self.done(fault)
        else:
            self.done(Polled(info, has_ended=False))


class WaitFinder(Protocol):
    """Finds waits."""

    def find(self, wait_id: str) -> WaitInfo:
        """Return the wait with this id. Raises: NotFound."""


class EndPolls:
    """Calls that block for the end of a wait. The end answers them, and begins the wake."""

    def __init__(self, waits: WaitFinder, loop: EventLoop, clock: Clock, wakes: Wakes) -> None:
        self.waits, self._loop, self._clock, self._wakes = waits, loop, clock, wakes
        self._polls: dict[str, list[_EndPoll]] = {}
        self._held_until_s: dict[str, float] = {}
        """By wait with a polling client: the time by which that client asks again."""

    def hold_wake(self, wait_id: str, for_s: float) -> None:
        """Hold back the wake of a live wait for a client that asks for its end again within `for_s`."""
        self._held_until_s[wait_id] = self._clock.monotonic_s() + for_s

    def add_poll(self, wait_id: str, block_s: float, on_done: Resume[Polled], fetched_s: float) -> _EndPoll:
        """Call `on_done` at the end of the wait, or after `block_s` with its state so far."""
        poll = _EndPoll(self, wait_id, on_done, fetched_s)
        self._polls.setdefault(wait_id, []).append(poll)
        poll.timer = self._loop.call_later(block_s, poll.expire)
        return poll

    def drop_poll(self, wait_id: str, poll: _EndPoll) -> bool:
        """Forget a poll; return whether its call was still unanswered."""
        if poll.timer is not None:
            poll.timer.cancel()
        polls = self._polls.get(wait_id, [])
        if poll not in polls:
            return False
        polls.remove(poll)
        return True

    def on_ended(self, active: ActiveWait) -> None:
        """Answer the calls that block for a wait, now that its end is stored, and begin its wake."""
        info = records.wait_info(active.to_row(), self._clock.instant())
        polls = self._polls.pop(active.wait_id, [])
        held_s = self._held_until_s.pop(active.wait_id, 0.0) - self._clock.monotonic_s()
        if active.wake is not None:
            self._wakes.begin(active.wake, max((held_s, 0.0, *(poll.fetched_s for poll in polls))))
        for poll in polls:
            if poll.timer is not None:
                poll.timer.cancel()
            poll.done(Polled(info, has_ended=True))
