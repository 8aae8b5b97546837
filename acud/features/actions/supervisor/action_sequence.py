"""Actions on one display, one after the other; the first that fails ends the rest."""

from __future__ import annotations

from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, NotFound
from acud.features.actions.action_words import action_text
from acud.features.actions.supervisor.action_wait import FollowedWait
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.misdirection import explain
from acud.features.actions.supervisor.places import element_ids, named_window, pressed_points, replace_places
from acud.protocol.capture import Acted
from acud.supervisor.coroutines import Callback, Resume, sleep
from acud.supervisor.ports import InstructionCaller
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WindowInfo
from acud.types.actions import (
    Action,
    Click,
    ClipboardGet,
    ClipboardSet,
    CursorPosition,
    Drag,
    Hold,
    InputAction,
    Key,
    Launch,
    Move,
    Point,
    Scroll,
    TypeText,
    WaitIdle,
    WindowDo,
    WindowList,
    parse_chords,
)
from acud.types.scene import handle_of
from acud.waits import baselines

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
    """One run of `actions`, whose points are pixels of `watched`.

    `lease`: of the client that has taken the display over. `caller` is touched before anything that must not be done
    twice. `window`: the X window that all input is for; 0: each step's is for the window that the step before was in.
    `wait`: the wait that looks at what a launch opens.
    """

    def __init__(
        self,
        steps: DisplaySteps,
        watched: WatchedDisplay,
        actions: tuple[Action, ...],
        lease: str,
        caller: InstructionCaller,
        window: int = 0,
        wait: FollowedWait | None = None,
    ) -> None:
        self.progress = Progress()
        self._aim = InputAim(window, is_named=bool(window))
        self._steps, self._core = steps, steps.core
        self._watched = watched
        self._actions = actions
        self._lease = lease
        self._touch = caller.touch
        self._wait = wait
        self._seen_frame = False

    async def run(self) -> Progress:
        """Do the actions. Raises: AcudError, with which of them failed and how many were done before it."""
        source = self._steps.pixels(self._watched)
        self._epoch = source.epoch
        self.progress.baseline = self._core.waits.targets.make_token(source, source.frame)
        try:
            if not isinstance(self._actions[0], InputAction):
                # What capture reports of an act holds the newest frame before it: the baseline of whatever comes first.
                await self._do_input(CursorPosition())
            for action in self._actions:
                self._core.takeovers.check(self._watched, self._lease)
                await self._do_action(action)
                self.progress.done += 1
        except AcudError as fault:
            raise name_failed(fault, self._actions, self.progress.done) from fault
        return self.progress

    async def _do_action(self, action: Action) -> None:
        match action:
            case WindowList():
                await self._know_windows()
                wanted = action.match.casefold()
                self.progress.windows = tuple(w for w in self._watched.windows if wanted in w.title.casefold())
            case Launch():
                await self._launch_program(action)
            case WaitIdle():
                self.progress.idle = await self._steps.idle(self._watched, action.stable_s, action.timeout_s)
                self._steps.pixels(self._watched)
            case Move() | Click() | Drag() | Scroll() if element_ids(action):
                await self._do_input(await self._locate_elements(action))
            case WindowDo():
                window = await self._find_window(action.window)
                await self._do_input(replace(action, window=str(window.window_id)))
            case _:
                await self._do_input(action)

    async def _launch_program(self, launch: Launch) -> None:
        self._touch()
        await Callback[None](partial(self._begin_launch, launch))
        self._core.displays.note_launch(self._watched, launch, self.progress.pid)
        self._aim = self._aim.aim_after(launch, 0)

    def _begin_launch(self, launch: Launch, resume: Resume[None]) -> None:
        self.progress.pid = self._core.program_launcher.launch(self._watched, launch, resume)
        note_launch = self._core.waits.note_launch if self._wait is None else self._wait.note_launch
        note_launch(self.progress.pid)

    async def _locate_elements(self, action: InputAction) -> InputAction:
        """Look for the elements of `action`, each in turn; what was done before may have moved them."""
        pixels: dict[str, Point] = {}
        for element_id in element_ids(action):
            handle = handle_of(element_id)
            assert handle is not None
            pixels[element_id] = (await self._core.ports.elements.locate(self._watched, handle)).point
        self._core.takeovers.check(self._watched, self._lease)
        return replace_places(action, pixels)

    async def _do_input(self, action: InputAction) -> None:
        if not isinstance(action, _HARMLESS):
            self._touch()
        typed = typed_by(action)
        if typed is not None:
            self._core.waits.targets.note_typed(self._watched.name, typed)
        aim = self._aim.aim_at(action)
        act = partial(
            self._core.input_dispatcher.act, self._watched, action, window=aim.window, with_program=aim.with_program
        )
        acted = await Callback[Acted](lambda resume: act(on_done=resume))
        if acted.misdirected is not None:
            is_known = acted.frame and acted.epoch == self._epoch
            before = baselines.move_token(self.progress.baseline, acted.frame) if is_known else ""
            raise await explain(self._steps, self._watched, action, acted.misdirected, before)
        if not self._seen_frame and acted.frame and acted.epoch == self._epoch:
            self.progress.baseline = baselines.move_token(self.progress.baseline, acted.frame)
        self._seen_frame = True
        self._aim = self._aim.aim_after(action, acted.window_id)
        self.progress.cursor = acted.cursor or self.progress.cursor
        self.progress.text = acted.text or self.progress.text
        self.progress.png = acted.png or self.progress.png
        self.progress.pressed += pressed_points(action, acted.cursor)

    async def _know_windows(self) -> None:
        await Callback[None](partial(self._core.window_list_ready.when_known, self._watched))

    async def _find_window(self, words: str) -> WindowInfo:
        """Return the window that `words` name, which may have come just now. Raises: NotFound."""
        left_s = _WINDOW_APPEARS_S
        while True:
            await self._know_windows()
            try:
                return named_window(self._watched, words)
            except NotFound:
                if left_s <= 0:
                    raise
            await sleep(self._core.loop, _RETRY_S)
            left_s -= _RETRY_S


def name_failed(fault: AcudError, actions: tuple[Action, ...], done: int) -> AcudError:
    """Return `fault` with which of `actions` failed and how many were done before it."""
    facts = {**fault.facts, "done": done, "failed": done + 1}
    if len(actions) == 1:
        return type(fault)(fault.message, hint=fault.hint, **facts)
    which = f"action {done + 1} of {len(actions)} ({action_text(actions[done])}) failed, {done} done"
    return type(fault)(f"{which}: {fault.message}", hint=fault.hint, **facts)


_LEADS_ANYWHERE = frozenset({"Alt_L", "Super_L", "Hyper_L"})
"""Modifiers of chords that window managers intercept."""
_ENTERS = frozenset({"Return", "KP_Enter"})
_MOVES_FOCUS = ("\n", "\r", "\t")


class InputAim(Struct, frozen=True):
    """Which window the next step of a list is for: one that the request names, for every step. Else text keeps the
    focus, so it is the same window; keys and clicks may move it within their program (`ctrl+s` opens its dialog), so it
    is any of its windows; after a step that can lead to any program, it is any window.

    `window`: the X id (0: any); `with_program`: other windows of its program too. `is_named`: by the request.
    """

    window: int = 0
    with_program: bool = False
    is_named: bool = False

    def aim_at(self, action: Action) -> InputAim:
        """Return the aim of `action`: a click or drag finds its window by its place."""
        if not self.is_named and isinstance(action, Click | Drag):
            return InputAim()
        return self

    def aim_after(self, action: Action, reached: int) -> InputAim:
        """Return the aim of the step after `action`, of which the input went to the window `reached` (0: none)."""
        if self.is_named:
            return self
        match action:
            case Launch() | WindowDo():
                return InputAim()
            case Key(chord=chord):
                keys = {key for one in parse_chords(chord) for key in one}
                return InputAim() if keys & _LEADS_ANYWHERE else InputAim(reached, with_program=True)
            case TypeText(text=text):
                return InputAim(reached, with_program=self.with_program or text.endswith(_MOVES_FOCUS))
            case Click() | Drag() | Hold():
                return InputAim(reached, with_program=True)
        return self


def typed_by(action: Action) -> str | None:
    """Return the text that `action` types or puts into the clipboard; "" if later text goes elsewhere; None for an
    action that has nothing to do with text.
    """
    match action:
        case TypeText(text=text) | ClipboardSet(text=text):
            return text.replace("\r", "\n")
        case Key(chord=chord) if _ENTERS & {key for one in parse_chords(chord) for key in one}:
            return "\n"
        case Click() | Drag() | Launch() | WindowDo():
            return ""
    return None
