"""A live wait in this process: its machine's state and the supervisor's handles on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from acud.loop import Timer
from acud.protocol.children import Answered
from acud.store import StoredWait
from acud.types import Evidence, Rect, WaitSpec, WaitState, WakeInfo
from acud.waits.machine import Kept, Wait


class Live:
    """One watching wait.

    `passing`: called with it at its end; set for a blocking change call, which is never stored.
    """

    def __init__(self, stored: StoredWait, machine: Wait) -> None:
        self.wait_id = stored.wait_id
        self.display = stored.display
        self.created = stored.created
        self.deadline = stored.deadline
        self.machine = machine
        self.cost_usd = stored.cost_usd
        self.spent = stored.spent
        self.before = (stored.judged, stored.judge_calls, stored.frames_seen)
        self.state = WaitState.WATCHING
        self.ended_utc_s = 0.0
        self.message = ""
        self.evidence: Evidence | None = None
        self.wake: WakeInfo | None = None
        """What its end sends; None for an end that wakes nobody."""
        self.changed_to_resolved_ms: float | None = None
        self.baselines: dict[int, Kept] = dict(stored.baselines)
        self.source = ""
        self.crop: Rect | None = None
        self.ignore: tuple[Rect, ...] = ()
        self.window_id = 0
        self.frames = 0
        """New frames of its source, those that do not touch its target included."""
        self.grab = 0
        """The grab its machine waits for; 0: none. A grab that found nothing new is told to nobody else."""
        self.fps = 0.0
        """The frame rate its machine wants of whatever source it is aimed at."""
        self.answers: dict[str, Answered] = {}
        self.tick: Timer | None = None
        self.deadline_timer: Timer | None = None
        self.passing: Callable[[Live], None] | None = None
        self.payer = stored.spec.task_id
        """The task whose usage its judging is entered under."""

    @property
    def spec(self) -> WaitSpec:
        """What was asked for, as updated."""
        return self.machine.spec

    @property
    def ended(self) -> bool:
        """Whether its machine has ended; the commit of that may still be to come."""
        return self.state is not WaitState.WATCHING

    def stored(self) -> StoredWait:
        """Return the row that says what is known now; counts go on from before a restart."""
        judged, judge_calls, frames_seen = self.before
        return StoredWait(
            wait_id=self.wait_id,
            state=self.state,
            spec=self.spec,
            display=self.display,
            created=self.created,
            deadline=self.deadline,
            verdict=self.machine.verdict,
            judged=judged + self.machine.judged,
            judge_calls=judge_calls + self.machine.judge_calls,
            frames_seen=frames_seen + self.frames,
            cost_usd=self.cost_usd,
            spent=self.spent,
            note=self.machine.note,
            ended_utc_s=self.ended_utc_s,
            message=self.message,
            evidence=self.evidence,
            changed_to_resolved_ms=self.changed_to_resolved_ms,
            baselines=self.baselines,
        )

    def stop_timers(self) -> None:
        """Cancel both timers; harmless when they are not set."""
        for timer in (self.tick, self.deadline_timer):
            if timer is not None:
                timer.cancel()
        self.tick = self.deadline_timer = None


Lives = Mapping[str, Live]
