"""How long each request may take in all, when its caller names no limit."""

from __future__ import annotations

import msgspec

from acud.protocol.requests.actions import DesktopAction
from acud.protocol.requests.agents import AgentResult, GuiAgent
from acud.protocol.requests.daemon import EvaluatorsRestart
from acud.protocol.requests.displays import DisplayAdd, DisplayCreate, DisplayRemove, DisplayTake
from acud.protocol.requests.gui import GuiDo, GuiFind
from acud.protocol.requests.looks import Baseline, Look
from acud.protocol.requests.notifications import NotifyTest
from acud.protocol.requests.scenes import SceneAnnotate, SceneGet
from acud.protocol.requests.tasks import TaskRegister
from acud.protocol.requests.waits import WaitCreate, WaitForChange, WaitResult
from acud.protocol.requests.wakes import WakeCarry, WakeTest
from acud.types.actions import (
    Action,
    Hold,
    TypeText,
    WaitIdle,
)

DEFAULT_S = 10.0
_DISPLAY_S = 60.0
"""An X server, a session bus and a window manager start or end: each has a deadline of its own in the daemon."""
_FIRST_USE_S = 30.0
"""`screen` may mean a managed display that is started now, with `[display] start_deadline_s`."""
_GRAB_S = 30.0
"""On top of the time asked for: a picture at the end of it has to be grabbed and encoded, which takes the daemon 5 and
20 s at most."""


_CHARACTER_S = 0.02
"""A slow program, or a character that no key has, on a loaded machine."""
_SEARCH_S = 120.0
"""A model may think for so long; text alone takes a second or two."""
_SEARCHES_S = 300.0
"""A drag searches twice, a scroll after each turn of the wheel (for a minute at most)."""
_READ_S = 90.0
"""A display is read in a second or two; eight at once by one engine take their turn."""
_ROUTE_S = 60.0
"""A command that brings a wake may take half a minute (`[wake] command_timeout_s`), after others of its kind."""


_RENEWAL_S = 600.0
"""Each evaluator in turn finishes what it has in hand (10 s at most) and starts anew."""


def total_s(request: msgspec.Struct, timeout_s: float) -> float:
    """Return the limit in seconds for `request`: the client's own, or more where the request itself asks for time."""
    if isinstance(request, WaitResult | AgentResult):
        return request.block_s + timeout_s
    if isinstance(request, WaitForChange):
        return request.timeout_s + request.settle_s + max(_GRAB_S, timeout_s)
    if isinstance(request, DisplayAdd | DisplayCreate | DisplayRemove | TaskRegister):
        return max(_DISPLAY_S, timeout_s)
    if isinstance(request, EvaluatorsRestart):
        return max(_RENEWAL_S, timeout_s)
    if isinstance(request, WakeTest | WakeCarry | NotifyTest):
        return max(_ROUTE_S, timeout_s)
    if isinstance(request, DesktopAction):
        settle_s = request.settle_timeout_s + _GRAB_S if request.picture else 0.0
        return max(_FIRST_USE_S, timeout_s) + settle_s + sum(map(_action_s, request.actions))
    if isinstance(request, GuiFind | SceneAnnotate):
        return max(_SEARCH_S, timeout_s)
    if isinstance(request, SceneGet):
        return max(_READ_S, timeout_s)
    if isinstance(request, GuiDo):
        return request.timeout_s + max(_SEARCHES_S, timeout_s)
    if isinstance(request, Baseline | DisplayTake | GuiAgent | Look | WaitCreate):
        return max(_FIRST_USE_S, timeout_s)
    return timeout_s


def _action_s(action: Action) -> float:
    if isinstance(action, WaitIdle):
        return action.timeout_s
    if isinstance(action, Hold):
        return action.for_s
    return len(action.text) * _CHARACTER_S if isinstance(action, TypeText) else 0.0


POLL_S = 20.0
"""The longest single long-poll of `wait_end`: short enough that a daemon's restart costs little."""


def poll_s(left_s: float) -> float:
    """Return how long the next long-poll may block when `left_s` are left in all."""
    return max(0.0, min(POLL_S, left_s))
