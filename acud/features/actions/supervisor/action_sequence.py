"""Actions on one display, one after the other; the first that fails ends the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, NotFound
from acud.features.actions.action_words import action_text
from acud.features.actions.input_aim import InputAim, typed_by
from acud.features.actions.supervisor.action_wait import FollowedWait
from acud.features.actions.supervisor.misdirection import explain
from acud.features.actions.supervisor.places import element_ids, fill_element_points, named_window, pressed_points
from acud.protocol.capture import Acted
from acud.supervisor.ports import LocatedElement
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WindowInfo
from acud.types.actions import (
    Action,
    Click,
    ClipboardGet,
    CursorPosition,
    Drag,
    InputAction,
    Launch,
    Move,
    Point,
    Scroll,
    WaitIdle,
    WindowDo,
    WindowList,
)
from acud.types.scene import handle_of
from acud.waits import baselines

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature

_RETRY_S = 0.02
_WINDOW_APPEARS_S = 0.3
"""Capture sends the window list up to 50 ms after a window came: a window missing in it may be new."""

_HARMLESS = (CursorPosition, ClipboardGet, WindowList, WaitIdle)
"""What may be done twice."""


class Progress(Struct):
    """What a run brought so far; the fields are those of `ActionReply`."""

    done: int = 0
    baseline: str = ""
    cursor: Point | None = None
    text: str = ""
    png: bytes = b""
    windows: tuple[WindowInfo, ...] = ()
    pid: int = 0
    idle: bool | None = None
    pressed: list[Point] = []
    """Where it clicked, dragged and scrolled, in display pixels."""


class ActionSequence:
    """One run of `actions`, whose points are pixels of `watched`. `ended` is called once: with None, or the fault.

    `lease`: of whoever has taken the display over. `touch` is called before anything that must not be done twice.
    `window`: the X window that all input is for; 0: each step's is for the window that the step before was in. `wait`:
    what is to know of a launch. Make it, then `begin`, once.
    """

    def __init__(
        self,
        feature: ActionsFeature,
        watched: WatchedDisplay,
        actions: tuple[Action, ...],
        lease: str,
        touch: Callable[[], None],
        ended: Callable[[AcudError | None], None],
        window: int = 0,
        wait: FollowedWait | None = None,
    ) -> None:
        self.progress = Progress()
        self._aim = InputAim(window, is_named=bool(window))
        self._feature, self._core = feature, feature.core
        self._watched = watched
        self._actions = actions
        self._lease = lease
        self._touch = touch
        self._ended = ended
        self._wait = wait
        self._seen_frame = False

    def begin(self) -> None:
        try:
            source = self._feature.pixels(self._watched)
            self._epoch = source.epoch
            self.progress.baseline = self._core.waits.targets.token(source, source.frame)
        except AcudError as fault:
            self._ended(fault)
            return
        if isinstance(self._actions[0], InputAction):
            self._next()
        else:
            # What capture says of an act holds the newest frame before it: the baseline of whatever comes first.
            self._guarded(lambda: self._act(CursorPosition(), counts=0))

    def _next(self) -> None:
        if self.progress.done == len(self._actions):
            self._ended(None)
        else:
            self._guarded(lambda: self._do(self._actions[self.progress.done]))

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except AcudError as fault:
            self._fail(fault)

    def _fail(self, fault: AcudError) -> None:
        self._ended(told(fault, self._actions, self.progress.done))

    def _did(self) -> None:
        self.progress.done += 1
        self._next()

    # ---- one action ------------------------------------------------------------------------------------------------

    def _do(self, action: Action) -> None:
        self._core.takeovers.check(self._watched, self._lease)
        match action:
            case WindowList():
                self._core.window_list_ready.when_known(self._watched, lambda fault: self._list(action.match, fault))
            case Launch():
                self._touch()
                self.progress.pid = self._core.program_launcher.launch(self._watched, action, self._launched)
                note_launch = self._core.waits.note_launch if self._wait is None else self._wait.note_launch
                note_launch(self.progress.pid)
            case WaitIdle():
                self._feature.idle(self._watched, action.stable_s, action.timeout_s, self._idle)
            case Move() | Click() | Drag() | Scroll() if element_ids(action):
                self._when_located(action, element_ids(action), {})
            case WindowDo():
                self._when_found(action)
            case _:
                self._act(action)

    def _when_located(self, action: InputAction, ids: Sequence[str], pixels: dict[str, Point]) -> None:
        """Look for the first of `ids`, then for the rest; then act. What was done before may have moved them."""
        if not ids:
            self._core.takeovers.check(self._watched, self._lease)
            self._act(fill_element_points(action, pixels))
            return
        handle = handle_of(ids[0])
        assert handle is not None

        def located(outcome: LocatedElement | AcudError) -> None:
            if isinstance(outcome, AcudError):
                self._fail(outcome)
            else:
                pixels[ids[0]] = outcome.point
                self._guarded(lambda: self._when_located(action, ids[1:], pixels))

        self._core.ports.elements.locate(self._watched, handle, located)

    def _act(self, action: InputAction, counts: int = 1) -> None:
        if not isinstance(action, _HARMLESS):
            self._touch()
        typed = typed_by(action)
        if typed is not None:
            self._core.waits.targets.note_typed(self._watched.name, typed)
        aim = self._aim.next(action)
        self._core.input_dispatcher.act(
            self._watched,
            action,
            lambda outcome: self._on_acted(action, outcome, counts),
            window=aim.window,
            with_program=aim.with_program,
        )

    def _on_acted(self, action: InputAction, outcome: Acted | AcudError, counts: int) -> None:
        if isinstance(outcome, AcudError):
            self._fail(outcome)
            return
        if outcome.misdirected is not None:
            is_known = outcome.frame and outcome.epoch == self._epoch
            before = baselines.move_token(self.progress.baseline, outcome.frame) if is_known else ""
            explain(self._feature, self._watched, action, outcome.misdirected, self._fail, before)
            return
        self._take_frame(outcome)
        self._aim = self._aim.follow(action, outcome.window_id)
        self.progress.cursor = outcome.cursor or self.progress.cursor
        self.progress.text = outcome.text or self.progress.text
        self.progress.png = outcome.png or self.progress.png
        self.progress.pressed += pressed_points(action, outcome.cursor)
        self.progress.done += counts
        self._next()

    def _take_frame(self, acted: Acted) -> None:
        if not self._seen_frame and acted.frame and acted.epoch == self._epoch:
            self.progress.baseline = baselines.move_token(self.progress.baseline, acted.frame)
        self._seen_frame = True

    def _launched(self, fault: AcudError | None) -> None:
        if fault is not None:
            self._fail(fault)
            return
        launch = self._actions[self.progress.done]
        assert isinstance(launch, Launch)
        self._core.displays.note_launch(self._watched, launch, self.progress.pid)
        self._aim = self._aim.follow(launch, 0)
        self._did()

    def _idle(self, idle: bool) -> None:
        self.progress.idle = idle
        try:
            self._feature.pixels(self._watched)
        except AcudError as fault:
            self._fail(fault)
        else:
            self._did()

    # ---- windows ---------------------------------------------------------------------------------------------------

    def _list(self, match: str, fault: AcudError | None) -> None:
        if fault is not None:
            self._fail(fault)
            return
        wanted = match.casefold()
        self.progress.windows = tuple(w for w in self._watched.windows if wanted in w.title.casefold())
        self._did()

    def _when_found(self, action: WindowDo, left_s: float = _WINDOW_APPEARS_S) -> None:
        def listed(fault: AcudError | None) -> None:
            if fault is not None:
                self._fail(fault)
                return
            try:
                window = named_window(self._watched, action.window)
            except NotFound as missing:
                if left_s > 0:
                    self._core.loop.call_later(_RETRY_S, lambda: self._when_found(action, left_s - _RETRY_S))
                else:
                    self._fail(missing)
                return
            self._guarded(lambda: self._act(replace(action, window=str(window.window_id))))

        self._core.window_list_ready.when_known(self._watched, listed)


def told(fault: AcudError, actions: tuple[Action, ...], done: int) -> AcudError:
    """Return `fault` with which of `actions` failed and how many were done before it."""
    facts = {**fault.facts, "done": done, "failed": done + 1}
    if len(actions) == 1:
        return type(fault)(fault.message, hint=fault.hint, **facts)
    which = f"action {done + 1} of {len(actions)} ({action_text(actions[done])}) failed, {done} done"
    return type(fault)(f"{which}: {fault.message}", hint=fault.hint, **facts)
