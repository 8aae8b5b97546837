"""Sends acts on displays to their capture processes, and matches the outcomes. Nothing is ever sent twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from acud.base.errors import AcudError, DisplayDown, OutcomeUnknown, Unavailable, from_wire
from acud.base.ids import new_id
from acud.process.event_loop import EventLoop
from acud.protocol.capture import Act, Acted, DropActs
from acud.supervisor.observers import Order, ParkedCalls
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import DisplayState
from acud.types.actions import InputAction

_DEADLINE_S = 300.0
"""Far beyond the longest act (10,000 characters typed into a slow program): only a lost answer takes so long."""

ActedDone = Callable[[Acted | AcudError], None]


class _PendingAction(NamedTuple):
    """An act without an outcome yet."""

    watched: WatchedDisplay
    act_id: str


class InputDispatcher:
    """Sends acts. An act ends with its `Acted`, with the error in it, or as `OutcomeUnknown`."""

    def __init__(self, watched_displays: WatchedDisplays, loop: EventLoop) -> None:
        self._watched_displays = watched_displays
        self._pending = ParkedCalls[_PendingAction, Acted | AcudError](loop)
        watched_displays.actors.add(self, Order.CORE)

    def act(
        self,
        watched: WatchedDisplay,
        action: InputAction,
        on_done: ActedDone,
        *,
        window: int = 0,
        with_program: bool = False,
    ) -> None:
        """Have `action` done on `watched`, for `window` (see `Act`), after earlier acts; `on_done` gets its outcome. An
        action that another window would have got is an `Acted` that is `misdirected`.

        Raises: DisplayDown or Unavailable when it surely has not begun.
        """
        if watched.state is not DisplayState.UP:
            raise DisplayDown(f"display {watched.name} is {watched.state}: {watched.reason}", hint="acud display list")
        act_id = new_id("act")
        if not self._watched_displays.order(watched, Act(act_id, action, window, with_program)):
            raise Unavailable(f"the capture process of {watched.name} takes no acts now", hint="try again; acud status")
        late = partial(_outcome_unknown, f"no word of it came in {_DEADLINE_S:.0f} s")
        self._pending.park(_PendingAction(watched, act_id), on_done, _DEADLINE_S, late)

    def drop(self, watched: WatchedDisplay, reason: str) -> None:
        """End the acts under way or queued on `watched` with `refused` and `reason`; release held keys and buttons."""
        self._watched_displays.order(watched, DropActs(reason))

    # ---- events of displays ----------------------------------------------------------------------------------------

    def on_acted(self, watched: WatchedDisplay, message: Acted) -> None:
        is_fault = message.code and message.misdirected is None
        fault = from_wire(message.code, message.message, message.hint, {}) if is_fault else None
        self._pending.answer_fitting(lambda pending: pending.act_id == message.act_id, fault or message)

    def input_lost(self, watched: WatchedDisplay, reason: str) -> None:
        """End the display's acts as unknown: its capture process died before, during or after them."""
        outcome = _outcome_unknown(f"display {watched.name} was lost during it: {reason}")
        self._pending.answer_fitting(lambda pending: pending.watched is watched, outcome)


def _outcome_unknown(reason: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"nobody knows what came of the action: {reason}", hint="look before you go on; it is not repeated"
    )
