"""The requested acts on a display: one after another, in steps between frames, each answered by an `Acted`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from acud.base.errors import AcudError, Refused
from acud.capture.input_actions import InputActions
from acud.protocol.capture import Act, Acted, DropActs
from acud.x11.input_guard import Misdirected
from acud.x11.input_steps import ActOutcome, Pause, Steps


class _RunningAct:
    """An act under way. `at`: the (epoch, frame) before its first event."""

    def __init__(self, act: Act, steps: Steps, at: tuple[int, int]) -> None:
        self.act, self.steps, self.at = act, steps, at
        self.pause = Pause(0.0)


class InputQueue:
    """Runs acts. `baseline` grabs what was painted and not yet published, and returns the newest (epoch, frame).

    `send` takes the answers. Nothing here waits longer than a round trip.
    """

    def __init__(
        self, actions: InputActions, baseline: Callable[[], tuple[int, int]], send: Callable[[Acted], None]
    ) -> None:
        self._baseline, self._send = baseline, send
        self._queue: deque[Act] = deque()
        self._running: _RunningAct | None = None
        self.actions = actions

    def act(self, act: Act) -> None:
        """Run `act` after those requested before it."""
        self._queue.append(act)

    def drop_acts(self, order: DropActs) -> None:
        """End the running and queued acts as refused, and release everything."""
        fault = Refused(order.reason, hint="act again when the display is free")
        running, self._running = self._running, None
        waiting = list(self._queue)
        self._queue.clear()
        if running is not None:
            running.steps.close()
        self.actions.release_all()
        for act, at in [*([(running.act, running.at)] if running else []), *((act, (0, 0)) for act in waiting)]:
            self._send_outcome(act, at, ActOutcome(), fault)
        self.actions.flush()

    def due_s(self) -> float | None:
        """Return when `advance` is due by the clock; None when nothing waits."""
        tend_s = self.actions.due_s(is_idle=self._running is None)
        pause_s = self._running.pause.until_s if self._running else (0.0 if self._queue else None)
        return min((due for due in (tend_s, pause_s) if due is not None), default=None)

    def advance(self, now_s: float) -> bool:
        """Take one due step of the running act; return False if none was due. Events may stay queued unpolled."""
        if self.actions.tend(now_s, is_idle=self._running is None and not self._queue):
            return True
        if self._running is None and self._queue:
            act = self._queue.popleft()
            self._running = _RunningAct(act, self.actions.steps(act), self._baseline())
        running = self._running
        if running is None or not running.pause.is_due(now_s):
            return False
        self._run_next_step(running)
        return True

    def _run_next_step(self, running: _RunningAct) -> None:
        try:
            running.pause = next(running.steps)
        except StopIteration as end:
            self._end_act(running, end.value, None)
        except AcudError as fault:
            self.actions.keyboard.restore_state()
            self._end_act(running, ActOutcome(), fault)
        else:
            self.actions.flush()

    def _end_act(self, running: _RunningAct, outcome: ActOutcome, fault: AcudError | None) -> None:
        self._running = None
        self._send_outcome(running.act, running.at, outcome, fault)

    def _send_outcome(self, act: Act, at: tuple[int, int], outcome: ActOutcome, fault: AcudError | None) -> None:
        cursor = self.actions.pointer.read_position()  # its reply means that the server has done all earlier requests
        self._send(
            Acted(
                act.act_id,
                code=fault.code if fault else "",
                message=fault.message if fault else "",
                hint=fault.hint if fault else "",
                epoch=at[0],
                frame=at[1],
                cursor=cursor,
                text=outcome.text,
                png=outcome.png,
                window_id=outcome.window_id,
                misdirected=fault.how if isinstance(fault, Misdirected) else None,
            )
        )

    def close(self) -> None:
        """Release everything and restore the keymap."""
        running, self._running = self._running, None
        if running is not None:
            running.steps.close()
        self.actions.restore_display()
        self.actions.flush()
