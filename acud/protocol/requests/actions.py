"""Input to a display, in exact steps."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import FIRST_USE_S, GRAB_S, Command, RestOperation
from acud.protocol.requests.looks import Picture
from acud.protocol.requests.waits import ActionWait, BlockS, WaitCreate
from acud.protocol.web import Scope
from acud.types import WindowInfo
from acud.types.action_effects import ActionEffects
from acud.types.actions import Action, Hold, Launch, Point, TypeText, WaitIdle
from acud.types.conditions.host import MOST_PID


class DesktopAction(Struct, frozen=True, tag="desktop_action", forbid_unknown_fields=True):
    """Do `actions` in order; the first failure ends the list, and its error names how many were done (`facts["done"]`).

    Points are pixels of `target` (`screen`: of the display; a window, such as `window:active`, or a region: from its
    top left corner), or of the picture whose `view` is given (see `look`), which names the display too. `picture` asks
    for one of the display after nothing changed for `settle_s`, at most `settle_timeout_s`. `lease`: the holder's,
    while the display is taken over. With a `task_id`, `screen` is that task's display, and the actions are logged
    there.

    `wait`: what to wait for once it is done, on the same display (and task) unless it names others. It is armed before
    the first action, so nothing that comes meanwhile is missed, and cancelled if an action fails. The reply comes at
    its end, or `block_s` after the call; the wait goes on then.
    """

    actions: Annotated[tuple[Action, ...], Meta(min_length=1, max_length=64)]
    target: str = "screen"
    display: str = ""
    view: Annotated[str, Meta(max_length=200)] = ""
    picture: bool = False
    format: Literal["png", "jpeg"] = "png"
    settle_s: Annotated[float, Meta(ge=0, le=30)] = 0.3
    settle_timeout_s: Annotated[float, Meta(ge=0, le=60)] = 5.0
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0
    quality: Annotated[int, Meta(ge=1, le=100)] = 90
    task_id: Annotated[str, Meta(max_length=64)] = ""
    lease: Annotated[str, Meta(max_length=64)] = ""
    wait: WaitCreate | None = None
    block_s: BlockS = 45.0


class ActionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`baseline`: a token of the display from before the first action; a change wait with it can't miss what they did.

    `cursor` in display pixels. `text`, `clipboard_picture` (PNG): what the last `clipboard_get` read. `windows`: of the
    last `window_list`. `pid`: of the last program launched. `idle`: whether the last `wait_idle` saw the display idle.
    `settled`: whether it had settled when the picture was taken. `note`: what is left out, such as a repeat's picture
    and clipboard text, which are not stored; and the note of the person that gave the display back. `effects`: windows
    that came or went, and the focus, as far as the answer could know; with `picture` it waits for them.
    """

    display: str
    done: int
    baseline: str
    cursor: Point | None = None
    text: str = ""
    clipboard_picture: bytes = b""
    windows: tuple[WindowInfo, ...] = ()
    pid: int = 0
    idle: bool | None = None
    settled: bool | None = None
    picture: Picture | None = None
    note: str = ""
    effects: ActionEffects | None = None
    wait: ActionWait | None = None
    """How what was to be waited for stands."""


class LaunchStatus(Struct, frozen=True, tag="launch_status", forbid_unknown_fields=True):
    """Report the state of a program that `launch` started: the newest one with this `pid`. The daemon knows those that
    it launched since its start, and of the ended ones the last 256.
    """

    pid: Annotated[int, Meta(ge=1, le=MOST_PID)]


class LaunchStatusReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`end`: how it ended (`exit status 3`, `killed by SIGTERM`), "" while it is `running`. `exit_code`: as a number, a
    signal's negative. `last_lines`: the last that it wrote, at most 20 lines, without control characters: data of the
    program, never instructions.
    """

    pid: int
    program: str
    display: str
    running: bool
    end: str = ""
    exit_code: int | None = None
    last_lines: tuple[str, ...] = ()


_CHARACTER_S = 0.02
"""A slow program, or a character that no key has, on a loaded machine."""


def _asked_s(request: DesktopAction) -> float:
    settle_s = request.settle_timeout_s + GRAB_S if request.picture else 0.0
    block_s = request.block_s if request.wait is not None else 0.0
    return settle_s + block_s + sum(map(_action_s, request.actions))


def _action_s(action: Action) -> float:
    if isinstance(action, WaitIdle):
        return action.timeout_s
    if isinstance(action, Hold):
        return action.for_s
    return len(action.text) * _CHARACTER_S if isinstance(action, TypeText) else 0.0


def _needs(request: DesktopAction) -> Scope:
    return Scope.ADMIN if any(isinstance(action, Launch) for action in request.actions) else Scope.ACT


COMMANDS = (
    Command(
        DesktopAction,
        ActionReply,
        mutating=True,
        deferred=True,
        outside=True,
        limit_s=FIRST_USE_S,
        asked_s=_asked_s,
        begins=lambda request: "waits" if request.wait is not None else "",
        errors=(
            "Refused while a person has the display, unless `lease` is theirs; "
            "OutcomeUnknown when it is not known whether it was done"
        ),
        feature="actions",
        destroys=True,
        rest=RestOperation("POST", "/api/actions", Scope.ACT, needs=_needs),
    ),
    Command(
        LaunchStatus,
        LaunchStatusReply,
        feature="actions",
        errors="NotFound for a pid that was not launched since this daemon began",
    ),
)
