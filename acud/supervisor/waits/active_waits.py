"""The active waits of this supervisor: each with its machine's state, and what the supervisor holds for it."""

from __future__ import annotations

from collections import Counter, UserDict
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from acud.process.event_loop import Timer
from acud.protocol.evaluation import Answered
from acud.store.waits import StoredWait
from acud.types import Evidence, Rect, WaitSpec, WaitState, WakeInfo
from acud.waits.events import FrameSeen, WaitEvent
from acud.waits.frame_coalescing import ChangeBuffer
from acud.waits.machine import StoredBaseline, Wait

OnWaitEnd = Callable[["ActiveWait"], None]
Step = Callable[["ActiveWait", WaitEvent], None]
"""Passes an event to the machine of a wait."""


class ActiveWait:
    """One watching wait.

    `transient`: called with it at its end; set for a blocking change call, which is never stored.
    """

    def __init__(self, stored: StoredWait, machine: Wait) -> None:
        self._stored = stored
        self.wait_id = stored.wait_id
        self.display = stored.display
        self.deadline = stored.deadline
        self.machine = machine
        self.cost_usd = stored.cost_usd
        self.spent = stored.spent
        self.state = WaitState.WATCHING
        self.ended_utc_s = 0.0
        self.message = ""
        self.evidence: Evidence | None = None
        self.wake: WakeInfo | None = None  # what its end sends; None for an end without a wake
        self.changed_to_resolved_ms: float | None = None
        self.baselines: dict[int, StoredBaseline] = dict(stored.baselines)
        self.stages = stored.stages
        self.rearmed = stored.rearmed
        self.source = ""
        self.crop: Rect | None = None
        self.ignore: tuple[Rect, ...] = ()
        self.window_id = 0
        self.stood: frozenset[int] | None = None
        """The windows that existed when its program was launched; None: not known, as after a restart."""
        self._frames = 0
        self._buffer: ChangeBuffer | None = None
        self._seen = 0
        self.grab = 0  # the grab its machine waits for; 0: none. Other waits do not get a grab that found nothing new.
        self.fps = 0.0  # the frame rate that its machine wants of its source
        self.answers: dict[str, Answered] = {}
        self.tick: Timer | None = None
        self.deadline_timer: Timer | None = None
        self.last_look_timer: Timer | None = None
        self.held: list[WaitEvent] | None = None
        """Events held back since the daemon began, until the fleet reports whether it ended this wait. None: its
        machine got all.
        """
        self.transient: OnWaitEnd | None = None
        self.payer = stored.spec.task_id  # the task that its judging is charged to
        self.reads_back = False  # whether text that acud itself typed counts, which is no evidence for other waits

    @property
    def spec(self) -> WaitSpec:
        return self.machine.spec

    @property
    def ended(self) -> bool:
        """Whether its machine has ended; the commit may still be pending."""
        return self.state is not WaitState.WATCHING

    @property
    def frames(self) -> int:
        """New frames of its source, those that do not touch its target included."""
        return self._frames + self.frames_held

    @property
    def holds_frames(self) -> bool:
        """Whether its machine gets frames later."""
        return self._buffer is not None

    @property
    def frames_held(self) -> int:
        """How many frames its machine has not got yet."""
        return self._buffer.count - self._seen if self._buffer is not None else 0

    def hold_frames(self, buffer: ChangeBuffer) -> None:
        """Hold back the frames that `buffer` will record from now on."""
        self._buffer, self._seen = buffer, buffer.count

    def take_frames(self) -> tuple[FrameSeen, ...]:
        """Return the held-back frames, and hold back no more."""
        found = self._buffer.since(self._seen) if self._buffer is not None else ()
        self._frames, self._buffer = self.frames, None
        return found

    def count_frame(self) -> None:
        """Count a frame while awake."""
        self._frames += 1

    def to_row(self) -> StoredWait:
        """Return its present state as a row; counts continue from before a restart."""
        stored = self._stored
        return replace(
            stored,
            state=self.state,
            spec=self.spec,
            deadline=self.deadline,
            verdict=self.machine.verdict,
            judged=stored.judged + self.machine.judged,
            judge_calls=stored.judge_calls + self.machine.judge_calls,
            frames_seen=stored.frames_seen + self.frames,
            cost_usd=self.cost_usd,
            spent=self.spent,
            note=self.machine.note,
            ended_utc_s=self.ended_utc_s,
            message=self.message,
            evidence=self.evidence,
            changed_to_resolved_ms=self.changed_to_resolved_ms,
            baselines=self.baselines,
            stages=self.stages,
            places=tuple(self.machine.places.items()),
        )

    def stop_timers(self) -> None:
        """Cancel the timers; harmless without timers."""
        for timer in (self.tick, self.deadline_timer, self.last_look_timer):
            if timer is not None:
                timer.cancel()
        self.tick = self.deadline_timer = self.last_look_timer = None


class ActiveWaits(UserDict[str, ActiveWait]):
    """Live waits by id, and by their display, so that a frame costs nothing for waits on other displays."""

    def __init__(self) -> None:
        self._by_display: dict[str, dict[str, ActiveWait]] = {}
        self._by_task: Counter[str] = Counter()
        super().__init__()

    def __setitem__(self, wait_id: str, active: ActiveWait) -> None:
        super().__setitem__(wait_id, active)
        self._by_display.setdefault(active.display, {})[wait_id] = active
        self._by_task[active.spec.task_id] += 1

    def __delitem__(self, wait_id: str) -> None:
        display, task_id = self.data[wait_id].display, self.data[wait_id].spec.task_id
        super().__delitem__(wait_id)
        self._by_task[task_id] -= 1
        if not self._by_task[task_id]:
            del self._by_task[task_id]
        del self._by_display[display][wait_id]
        if not self._by_display[display]:
            del self._by_display[display]

    def on_display(self, name: str) -> list[ActiveWait]:
        return list(self._by_display.get(name, {}).values())

    def name_displays(self) -> set[str]:
        """Return the names of the displays that live waits look at, also of displays that are gone."""
        return {active.display for active in self.values() if not active.ended}

    def count_on(self, display: str) -> int:
        return len(self._by_display.get(display, {}))

    def count_of(self, task_id: str) -> int:
        return self._by_task[task_id]


class ChangedShare(Struct, frozen=True):
    """`changed`: whether the condition came true. `share`: the part of the target covered by changed 16 px tiles.
    `box`: around them, in the target's pixels.
    """

    changed: bool
    share: float
    box: Rect | None


def measure_change(active: ActiveWait) -> ChangedShare:
    """Return how much of the target of `active` changed; its condition is one `change`."""
    view_state = active.machine.view_state
    if view_state is None:
        return ChangedShare(False, 0.0, None)
    view = view_state.view
    box = view.grid.box(view_state.changes[0].touched, view.box)
    moved = box.shift(-view.box.x, -view.box.y) if box is not None else None
    return ChangedShare(active.state is WaitState.RESOLVED, view_state.share(0), moved)
