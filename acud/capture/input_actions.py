"""The effects of each action on the display, step by step; `input_queue.py` runs the steps between frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from acud.base.errors import InvalidRequest, NotFound, ProtocolError
from acud.protocol.capture import Act
from acud.types import actions
from acud.types.actions import (
    Button,
    Click,
    ClipboardGet,
    ClipboardSet,
    CursorPosition,
    Drag,
    Hold,
    Key,
    Move,
    Place,
    Point,
    Release,
    Scroll,
    TypeText,
    WindowDo,
)
from acud.x11.clipboard import Clipboard
from acud.x11.connection import Connection
from acud.x11.events import FocusMoved, KeymapChanged, Ponged, SelectionEvent, Translator, WindowMade
from acud.x11.fake_input import InputTrace, InputTraceProperty, XTest
from acud.x11.input_guard import InputGuard
from acud.x11.input_steps import ActOutcome, Pause, Steps
from acud.x11.keyboard import Keyboard, PaintWatch, Typist
from acud.x11.keymap import keysym_of_name
from acud.x11.pointer import Pointer
from acud.x11.window_verbs import Ping, WindowVerbs
from acud.x11.windows import WindowReader

_Input = Move | Click | Drag | Scroll | Key | TypeText | Hold | Release
_CHORD_S = 0.01  # between chords: programs that poll the keyboard's state rather than read events see each


class _HeldInput:
    """The input held by one `hold`. `until_s`: when it is released automatically; None: on request."""

    def __init__(self, keycodes: list[int], button: Button | None, until_s: float | None) -> None:
        self.keycodes, self.button, self.until_s = keycodes, button, until_s


class InputActions:
    """The devices of one display. `size` gives the display's width and height."""

    def __init__(
        self,
        connection: Connection,
        windows: WindowReader,
        translator: Translator,
        size: Callable[[], tuple[int, int]],
        guard: InputGuard,
    ) -> None:
        self._x = connection
        self._size, self.guard = size, guard
        self._xtest = XTest(connection)
        self._trace = InputTraceProperty(connection)
        self.keyboard = Keyboard(connection, self._xtest, self._trace)
        self.pointer = Pointer(connection, self._xtest, self._trace)
        self._ping = Ping(connection)
        self._paint = PaintWatch(connection)
        self._typist = Typist(self.keyboard, self._ping, guard, self._paint)
        self._clipboard = Clipboard(connection, translator)
        self._verbs = WindowVerbs(connection, windows)
        self._grips: dict[str, _HeldInput] = {}

    def steps(self, act: Act) -> Steps:
        """Return the steps of `act`. They raise: InvalidRequest, NotFound, Refused, Unavailable."""
        action = act.action
        if isinstance(action, ClipboardGet):
            read = self._clipboard.get_picture if action.picture else self._clipboard.get
            return (yield from read(action.selection))
        if isinstance(action, ClipboardSet):
            return (yield from self._clipboard.set(action.selection, action.text))
        if isinstance(action, WindowDo):
            return (yield from self._verbs.steps(action))
        if isinstance(action, CursorPosition):
            return ActOutcome()
        self.guard.begin_act(act.window, with_program=act.with_program)
        yield from self._send_input(action)
        return ActOutcome(window_id=self.guard.target)

    def _send_input(self, action: _Input) -> Iterator[Pause]:
        self._xtest.require()
        if isinstance(action, Move | Click | Drag | Scroll):
            yield from self._do_pointer_action(action)
        elif isinstance(action, Release):
            self._release_held(action.what)
        else:
            yield from self._press_keys(action)

    def on_painted(self, damage: int) -> None:
        """Note that the window watched by `damage` was painted."""
        self._paint.on_painted(damage)

    def on_event(self, event: FocusMoved | WindowMade | KeymapChanged | Ponged | SelectionEvent) -> None:
        """Handle an event of the X server that concerns the devices."""
        if isinstance(event, FocusMoved):
            if event.is_grabbed is not None:
                self.guard.on_grabbed(is_grabbed=event.is_grabbed)
        elif isinstance(event, WindowMade):
            self.guard.on_window_made(event.window)
        elif isinstance(event, KeymapChanged):
            self.keyboard.on_mapping_changed(event.first, event.count)
        elif isinstance(event, Ponged):
            self._ping.on_answered(event.number)
        else:
            self._clipboard.on_event(event)

    def flush(self) -> None:
        self._x.flush()

    # ---- pointer ----------------------------------------------------------------------------------------------------

    def _do_pointer_action(self, action: Move | Click | Drag | Scroll) -> Iterator[Pause]:
        at = self._check_start(action)
        keys = "" if isinstance(action, Move) else action.keys
        if not keys:
            yield from self._make_gesture(action, at)
            return
        names = actions.parse_chord(keys)
        self.keyboard.read_state()
        yield from self._typist.put_on_keyboard(names)
        with self.keyboard.holding(names):
            yield from self._make_gesture(action, at)
        self.keyboard.restore_state()

    def _check_start(self, action: Move | Click | Drag | Scroll) -> Point | None:
        """Return the start of the gesture; None: at the pointer. Raises: InvalidRequest for a point outside."""
        if isinstance(action, Move | Drag):
            to = self._check_point(action.to)
        if isinstance(action, Move):
            return to
        at = action.start if isinstance(action, Drag) else action.at
        return None if at is None else self._check_point(at)

    def _check_point(self, point: Place) -> Point:
        if isinstance(point, str):
            raise ProtocolError(f"an act names the element {point}; the supervisor gives pixels")
        width, height = self._size()
        if not (0 <= point.x < width and 0 <= point.y < height):
            raise InvalidRequest(
                f"({point.x}, {point.y}) is outside the display, which is {width}x{height}",
                hint="look again, and give a point inside",
            )
        return point

    def _make_gesture(self, action: Move | Click | Drag | Scroll, at: Point | None) -> Iterator[Pause]:
        if isinstance(action, Drag):
            start, to = at or self.pointer.read_position(), self._check_point(action.to)
            yield from self.pointer.drag(start, to, action.button, self.guard)
            return
        if at is not None:
            self.pointer.move(at)
        if isinstance(action, Click):
            with self.guard.pointer():
                self.pointer.click(action.button, action.count)
        elif isinstance(action, Scroll):
            with self.guard.pointer():
                self.pointer.scroll(action.direction, action.amount)

    # ---- keyboard ---------------------------------------------------------------------------------------------------

    def _press_keys(self, action: Key | TypeText | Hold) -> Iterator[Pause]:
        yield from self.guard.await_focus()
        self._ping.begin()
        self.keyboard.read_state()
        if isinstance(action, Key):
            yield from self._press_chords(action.chord)
        elif isinstance(action, TypeText):
            yield from self._typist.type(action.text)
        else:
            yield from self._press_and_hold(action)
        self.keyboard.restore_state()

    def _press_chords(self, text: str) -> Iterator[Pause]:
        asked = actions.parse_chords(text)
        for name in {name for names in asked for name in names}:
            keysym_of_name(name)  # an unknown key is reported before the first is pressed
        for n, names in enumerate(asked):
            if n:
                yield from self._typist.await_reading([Pause(time.monotonic() + _CHORD_S)])
            yield from self._typist.put_on_keyboard(names)
            yield from self.guard.await_opening()
            with self.guard.keys(), self.keyboard.holding(names):
                pass
            self.guard.count_sent(1)

    def _press_and_hold(self, action: Hold) -> Iterator[Pause]:
        what = actions.parse_hold(action.what)
        until_s = time.monotonic() + action.for_s if action.for_s else None
        pressed: list[int] = []
        if what.button is not None:
            self.pointer.press(what.button)
        else:
            yield from self._typist.put_on_keyboard(what.keys)
            with self.guard.keys():
                pressed = self.keyboard.press_all(self.keyboard.strokes(what.keys))
        before = self._grips.get(action.what)
        self._grips[action.what] = _HeldInput([*(before.keycodes if before else []), *pressed], what.button, until_s)

    def _release_held(self, what: str) -> None:
        if not what:
            self.release_all()
        elif what in self._grips:
            self._let_go(self._grips.pop(what))
        else:
            held = ", ".join(sorted(self._grips)) or "nothing"
            raise NotFound(f"{what!r} is not held", hint=f"held: {held}")

    def _let_go(self, grip: _HeldInput) -> None:
        for keycode in reversed(grip.keycodes):
            self.keyboard.release(keycode)
        if grip.button is not None:
            self.pointer.release(grip.button)

    # ---- by itself --------------------------------------------------------------------------------------------------

    def due_s(self, *, is_idle: bool) -> float | None:
        """Return the monotonic time at which `tend` must be called next, or None. `is_idle`: no action is under way."""
        dues = [grip.until_s for grip in self._grips.values() if grip.until_s is not None]
        restore_s = self.keyboard.restore_due_s() if is_idle else None
        return min([*dues, *([] if restore_s is None else [restore_s])], default=None)

    def tend(self, now_s: float, *, is_idle: bool) -> bool:
        """Release held input that is due, restore the keymap after a while; return False when nothing was due."""
        over = [what for what, grip in self._grips.items() if grip.until_s is not None and grip.until_s <= now_s]
        for what in over:
            self._let_go(self._grips.pop(what))
        restore_s = self.keyboard.restore_due_s() if is_idle else None
        if restore_s is None or restore_s > now_s:
            return bool(over)
        self.keyboard.restore()
        if not self._grips:
            self._trace.write(InputTrace())
        return True

    def release_all(self) -> None:
        """Release every key and button that is down, and restore the keyboard's state."""
        self._grips.clear()
        self.keyboard.release_all()
        self.pointer.release_all()
        self.keyboard.restore_state()

    def undo_leftovers(self) -> None:
        """Undo what an earlier capture process left on the display when it was killed."""
        left = self._trace.read()
        if left is None:
            return
        self.pointer.undo_leftovers(left.buttons)
        self.keyboard.undo_leftovers(left)
        self._trace.now = left
        self._trace.write(InputTrace())
        self._x.sync()

    def restore_display(self) -> None:
        """Restore the display's former state; may wait `LINGER_S` for programs to read their last keys."""
        owed = self._trace.now != InputTrace()
        self.release_all()
        if self.keyboard.restore_due_s() is not None:
            time.sleep(max(0.0, self.keyboard.settle_s() - time.monotonic()))
            self.keyboard.restore()
        self._trace.write(InputTrace())
        if owed:
            # A local socket that is closed with events unread fails its peer's next read (ECONNRESET): a busy server
            # then drops the requests that it had not read yet.
            self._x.sync()
