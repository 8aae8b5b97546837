"""What a terminal says is searched for patterns in slices of the loop's time, and told whole."""

import itertools
from types import SimpleNamespace
from typing import Any

from acud.process.event_loop import EventLoop
from acud.supervisor.observers import Observers
from acud.supervisor.terminal_sessions.service import TerminalText
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.types import Target, Text
from acud.waits.events import TerminalSeen, WaitEvent


def test_a_long_history_is_searched_over_many_turns_and_nothing_of_it_is_lost() -> None:
    ticks = itertools.count()
    loop = EventLoop(lambda: next(ticks) / 1000)  # each look at the clock takes a millisecond
    texts = [TerminalText("$", "\n".join(f"{part} {n}" for n in range(400)), 0.0) for part in ("first", "second")]
    sessions: Any = SimpleNamespace(watchers=Observers(), read_text=lambda *_: left.pop(0))
    left = list(texts)
    nobody: Any = SimpleNamespace(watchers=Observers(), forgotten=[], by_name={})
    spec = SimpleNamespace(target=Target(pty="build"), task_id="")
    machine = SimpleNamespace(leaves=(Text("error [0-9]+", regex=True),), armed_at=0.0)
    active: Any = SimpleNamespace(wait_id="w", ended=False, spec=spec, machine=machine)
    seen: list[WaitEvent] = []

    def step(one: ActiveWait, event: WaitEvent) -> None:
        seen.append(event)

    waits: Any = {"w": active}
    tracker = TargetTracker(waits, nobody, nobody, step, sessions, nobody, nobody, nobody, loop)
    tracker.point = lambda active: None  # type: ignore[method-assign]
    for _ in texts:
        tracker.sessions_seen("build")
    turns = 0
    while len(seen) < 2:
        assert turns < 1000
        loop.turn(0)
        turns += 1
    assert turns > 50
    assert [(one.text, one.written) for one in seen if isinstance(one, TerminalSeen)] == [one[:2] for one in texts]
