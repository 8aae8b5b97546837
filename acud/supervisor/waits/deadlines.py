"""When the time of waits is over, also after a suspend; and the hold of those that the fleet may have ended."""

from __future__ import annotations

from functools import partial

from acud.base import log
from acud.base.clock import Clock
from acud.process.event_loop import EventLoop
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits, Step
from acud.supervisor.waits.judge_batches import JudgeBatches
from acud.waits import events as happened

_LOG = log.logger("waits")
_SUSPEND_CHECK_S = 1.0
_JUMP_S = 0.5
_FLEETS_WORD_S = 30.0
"""At a start, waits are held so long for the fleet's report of lost waits. The fleet process takes 2 s to bring it; if
no server of the fleet answers, they go on without it.
"""
_PASSES_HOLD = (happened.FleetEnded, happened.CancelRequested, happened.SpecUpdated)
_LAST_LOOK_S = 1.0  # so long before its deadline a wait takes the picture that it times out with


class Deadlines:
    """The timers of live waits; `step` passes what they bring to the machines."""

    def __init__(self, active: ActiveWaits, loop: EventLoop, clock: Clock, batches: JudgeBatches, step: Step) -> None:
        self._active, self._loop, self._clock, self._batches = active, loop, clock, batches
        self._step = step
        self._suspended_s = self._boot_offset_s()
        loop.call_each(_SUSPEND_CHECK_S, self._check_suspend)

    def set(self, active: ActiveWait) -> None:
        """Set the timer of the wait's deadline again; a held wait times out only after its release."""
        if active.held is not None:
            return
        for timer in (active.deadline_timer, active.last_look_timer):
            if timer is not None:
                timer.cancel()
        remaining_s = active.deadline.remaining_s(self._clock.instant())
        near_s = max(0.0, remaining_s - _LAST_LOOK_S)
        active.last_look_timer = self._loop.call_later(near_s, partial(self._on_near, active))
        active.deadline_timer = self._loop.call_later(max(0.0, remaining_s), partial(self._on_passed, active))

    def _on_near(self, active: ActiveWait) -> None:
        self._step(active, happened.DeadlineNear(self._clock.monotonic_s()))

    def _on_passed(self, active: ActiveWait) -> None:
        _LOG.debug("wait.deadline", wait=active.wait_id)
        queue = self._batches.describe_queue(active)
        self._step(active, happened.DeadlinePassed(self._clock.monotonic_s(), queue))

    def _boot_offset_s(self) -> float:
        return self._clock.instant().boot_s - self._clock.monotonic_s()

    def _check_suspend(self) -> None:
        # The loop's clock stands still in suspend, CLOCK_BOOTTIME does not (clock_gettime(2)); deadlines follow that.
        if abs(self._boot_offset_s() - self._suspended_s) > _JUMP_S:
            self._suspended_s = self._boot_offset_s()
            for active in list(self._active.values()):
                if not active.ended:
                    self.set(active)

    # ---- the hold for the fleet's report -----------------------------------------------------------------------------

    def hold_wait(self, active: ActiveWait) -> None:
        """Hold a wait that was armed before a restart until `release_all`, or some seconds."""
        active.held = []
        active.deadline_timer = self._loop.call_later(_FLEETS_WORD_S, partial(self._release_held, active))

    def keep_event(self, active: ActiveWait, event: happened.WaitEvent) -> bool:
        """Keep an event for a held wait until its release; return False for one that its machine gets now."""
        assert active.held is not None
        if not isinstance(event, _PASSES_HOLD):
            active.held.append(event)
            return True
        if isinstance(event, happened.SpecUpdated) and event.spec.until != active.spec.until:
            active.held = [one for one in active.held if isinstance(one, happened.WaitBroken)]
        return False

    def release_all(self) -> None:
        """Release the waits that were held until the fleet's report."""
        for active in list(self._active.values()):
            self._release_held(active)

    def _release_held(self, active: ActiveWait) -> None:
        """Pass the events before its deadline to a wait that was held, and let it go on."""
        held, active.held = active.held, None
        if held is None or active.ended:
            return
        remaining_s = active.deadline.remaining_s(self._clock.instant())
        ends_at = self._clock.monotonic_s() + remaining_s
        for event in held:
            if event.at < ends_at:
                self._step(active, event)
        if not active.ended:
            self.set(active)
