"""The keyboard of one display: keys pressed by keysym in any layout, text typed, and the keymap restored afterwards.

python-xlib has no XKEYBOARD; the requests needed are packed here (X Keyboard Extension protocol, appendix D).
"""

from __future__ import annotations

import contextlib
import itertools
import math
import struct
import time
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct
from Xlib.protocol import request

from acud.base.errors import Unavailable
from acud.x11.connection import Connection
from acud.x11.damage import EXTENSION as DAMAGE
from acud.x11.damage import Damage
from acud.x11.fake_input import InputTrace, InputTraceProperty, XTest
from acud.x11.input_guard import InputGuard
from acud.x11.input_steps import Pause, pause_for
from acud.x11.keymap import LINGER_S, KeycodePlan, Keymap, SpareKeycodes, Stroke, keysym_of_character, keysym_of_name
from acud.x11.window_verbs import Ping
from acud.x11.wire import PackedQuery, PackedRequest

EXTENSION = "XKEYBOARD"
LOCK = 2  # the Lock modifier's bit
_CORE = 0x0100  # XkbUseCoreKbd
_NEW_KEYBOARD = 1  # XkbNewKeyboardNotifyMask
_SELECT = struct.Struct("=BBHHHHHHH")
_USE = struct.Struct("=BBHHH")
_GET_STATE = struct.Struct("=BBHHxx")
KEYBOARD_STATE = struct.Struct("=8xBBBBBB")
_LATCH_LOCK = struct.Struct("=BBHHBBBBBBxBH")
RESTORE_AFTER_S = 5.0
"""From the last key on a spare keycode to the keymap's restoration: typing on finds its characters still there."""
_CHUNK = 25
_CHUNK_S = 0.004
"""The pause after this many characters: between chunks frames are grabbed and orders read. The sum is `type_1000_ms` of
`scripts/bench actions`."""
_READ_CHUNKS = (1, 2, 4, 8)
"""Characters sent to a program that answers pings before it has read them, first to last: characters that are unread
when it opens a modal dialog go to that dialog, inside of the program."""
_LOOK_AHEAD = 400
_LEADS_ON = "\r\n\t"  # keys that are meant to move the focus
_PING_S = 3.0  # A program that answers pings reads on: it is busy, and gets more time than one that answers none
_ECHO_S = 0.5
"""A program that paints what it reads does so in this time, or is busy as in `_PING_S` where it did before."""
_SILENT_S = 0.05  # the same for a window that painted nothing in the act before
_FIRST_ECHO_LETTERS, _ECHO_LETTERS = 15, 64
"""So many letters are sent before the typist awaits their paint: at first, and from then on."""


class KeyboardState(Struct, frozen=True):
    """`group`: the active layout, from 0. `has_caps`: Caps Lock is on."""

    group: int = 0
    has_caps: bool = False


class Xkb:
    """XKB on one connection; without the extension the state is always the first group."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        asked = connection.xlib.query_extension(EXTENSION)
        self._opcode: int = asked.major_opcode if asked is not None else 0
        if self._opcode:  # the server refuses clients that never asked
            PackedQuery(self._wire, _USE.pack(self._opcode, 0, 2, 1, 0), struct.Struct("=xB")).answer()
            # Clients that use XKB get another layout by this event only, not by MappingNotify.
            packed = _SELECT.pack(self._opcode, 1, 4, _CORE, _NEW_KEYBOARD, 0, _NEW_KEYBOARD, 0, 0)
            PackedRequest(self._wire, packed).send()

    def state(self) -> KeyboardState:
        """Return the state now; one round trip."""
        if not self._opcode:
            return KeyboardState()
        said = PackedQuery(self._wire, _GET_STATE.pack(self._opcode, 4, 2, _CORE), KEYBOARD_STATE).answer()
        return KeyboardState(group=said[4], has_caps=bool(said[3] & LOCK))

    def lock_group(self, group: int) -> None:
        """Make `group` the active one; events that follow carry it."""
        self._latch_lock(0, 0, 1, group)

    def lock_caps(self, *, on: bool) -> None:
        self._latch_lock(LOCK, LOCK if on else 0, 0, 0)

    def _latch_lock(self, affect: int, mods: int, is_group: int, group: int) -> None:
        if self._opcode:
            packed = _LATCH_LOCK.pack(self._opcode, 5, 4, _CORE, affect, mods, is_group, group, 0, 0, 0, 0)
            PackedRequest(self._wire, packed).send()


class Keyboard:
    """Presses and releases keys; `down`: the keycodes held. `read_state` goes before an act, `restore_state` after."""

    def __init__(self, connection: Connection, xtest: XTest, trace: InputTraceProperty) -> None:
        self._connection, self._xtest, self._trace = connection, xtest, trace
        self._xkb = Xkb(connection)
        self._spares = SpareKeycodes()
        self._keymap: Keymap | None = None
        self._expected: Counter[int] = Counter()
        self._state = KeyboardState()
        self._group = 0
        self.down: set[int] = set()

    # ---- an action's frame ------------------------------------------------------------------------------------------

    def read_state(self) -> None:
        """Read the keyboard's state; one round trip, another one when the keymap changed."""
        self._state = self._xkb.state()
        self._group = self._state.group
        self.map()

    def restore_state(self) -> None:
        """Restore the layout group and Caps Lock as `read_state` found them."""
        if self._group != self._state.group:
            self._xkb.lock_group(self._state.group)
            self._group = self._state.group
        if self._trace.now.caps:
            self._xkb.lock_caps(on=True)
        self._trace.state(None, caps=False)

    def without_caps(self) -> None:
        """Turn Caps Lock off until `restore_state`: typed text must not change case."""
        if self._state.has_caps:
            self._trace.state(self._trace.now.group, caps=True)
            self._xkb.lock_caps(on=False)

    def map(self) -> Keymap:
        """Return the keymap; read it again if another program changed it."""
        if self._keymap is None:
            info = self._connection.wire.info
            first, count = info.min_keycode, info.max_keycode - info.min_keycode + 1
            rows = [list(row) for row in self._connection.xlib.get_keyboard_mapping(first, count)]
            modifiers = [list(row) for row in self._connection.xlib.get_modifier_mapping()]
            ours = self._spares.assigned
            self._spares.forget(k for k, pair in ours.items() if not _holds_only(rows[k - first], pair))
            for keycode in self._spares.assigned:
                rows[keycode - first] = []
            keymap = Keymap(first, rows, modifiers)
            kept = self._spares.assigned
            self._spares.forget(set(self._spares.keycodes) - set(keymap.spare))
            self._spares.note_changes({k: (0, 0) for k in keymap.spare if k not in kept})
            self._keymap = keymap
        return self._keymap

    def on_mapping_changed(self, first: int, count: int) -> None:
        """Note a MappingNotify of the server."""
        if count == 1 and self._expected[first] > 0:
            self._expected[first] -= 1
        else:
            self._keymap = None

    # ---- where a key is ---------------------------------------------------------------------------------------------

    def find(self, keysym: int) -> Stroke | None:
        """Return how to type `keysym` with the present keymap; None when it is on no key yet."""
        return self.map().find(keysym, self._group) or self._spares.find(keysym)

    def plan(self, keysyms: Iterable[int]) -> KeycodePlan:
        """Return how to put as many of `keysyms` as fit on spare keycodes. Raises: Unavailable when there are none."""
        group = self._group
        plan = self._spares.plan(k for k in keysyms if self.map().find(k, group) is None)
        if not plan.changes:
            raise Unavailable("the keymap has no free key to type this with", hint="paste it: clipboard_set, ctrl+v")
        return plan

    def apply_plan(self, plan: KeycodePlan) -> None:
        """Carry out `plan`; from now on `find` knows its keysyms."""
        self._spares.note_changes(plan.changes)
        self._trace.maps(tuple((keycode, *pair) for keycode, pair in sorted(self._spares.assigned.items())))
        for keycode, pair in plan.changes.items():
            self._change_keysyms(keycode, pair)

    def note_settled(self, until_s: float) -> None:
        """Note that the focused program has read every key pressed until then."""
        self._spares.note_settled(until_s)

    def _change_keysyms(self, keycode: int, keysyms: tuple[int, ...]) -> None:
        self._expected[keycode] += 1
        request.ChangeKeyboardMapping(display=self._connection.wire, first_keycode=keycode, keysyms=[keysyms])

    # ---- pressing ---------------------------------------------------------------------------------------------------

    def promise(self, strokes: Iterable[Stroke]) -> None:
        """Record, before it is done, that the keys of `strokes` (and Shift) may be pressed."""
        shift = self.map().shift
        self._trace.keys(frozenset(code for s in strokes for code in (s.keycode, shift if s.shift else s.keycode)))

    def activate_group(self, group: int | None) -> None:
        """Make the layout group `group` the active one, until `restore_state`; None is any."""
        if group is None or group == self._group:
            return
        self._trace.state(self._state.group, caps=self._trace.now.caps)
        self._xkb.lock_group(group)
        self._group = group

    def press(self, keycode: int) -> bool:
        """Press a key; return False when it is down already (then another program releases it)."""
        if keycode in self.down:
            return False
        self.down.add(keycode)
        self._xtest.key(keycode, down=True)
        return True

    def release(self, keycode: int) -> None:
        self.down.discard(keycode)
        self._xtest.key(keycode, down=False)

    def tap(self, stroke: Stroke) -> None:
        """Press and release a key, with Shift if the stroke needs it."""
        self.activate_group(stroke.group)
        shift = stroke.shift and self.press(self.map().shift)
        if self.press(stroke.keycode):
            self.release(stroke.keycode)
        else:  # held by another program: a repeat, as keyboards do
            self._xtest.key(stroke.keycode, down=False)
            self._xtest.key(stroke.keycode, down=True)
        if shift:
            self.release(self.map().shift)
        self._spares.use(stroke.keycode, time.monotonic())

    def strokes(self, names: Iterable[str]) -> list[Stroke]:
        """Return the keys of a chord (see `Typist.put_on_keyboard`). Raises: InvalidRequest, Unavailable."""
        found = [self.find(keysym_of_name(name)) for name in names]
        if None in found:
            raise Unavailable("the chord has more foreign keys than the keymap has free ones", hint="use fewer keys")
        return [stroke for stroke in found if stroke is not None]

    def press_all(self, strokes: list[Stroke]) -> list[int]:
        """Press the keys of a chord and leave them down; return those pressed, in that order."""
        self.promise(strokes)
        pressed: list[int] = []
        for stroke in strokes:
            self.activate_group(stroke.group)
            codes = (self.map().shift, stroke.keycode) if stroke.shift else (stroke.keycode,)
            pressed += [code for code in codes if self.press(code)]
            self._spares.use(stroke.keycode, time.monotonic())
        return pressed

    @contextlib.contextmanager
    def holding(self, names: Iterable[str]) -> Iterator[None]:
        """Hold a chord during the body."""
        pressed = self.press_all(self.strokes(names))
        try:
            yield
        finally:
            for keycode in reversed(pressed):
                self.release(keycode)

    def release_all(self) -> None:
        for keycode in sorted(self.down):
            self.release(keycode)

    # ---- afterwards -------------------------------------------------------------------------------------------------

    def restore_due_s(self) -> float | None:
        """Return when to empty the spare keycodes; None when they are empty."""
        if not self._spares.assigned:
            return None
        last_s = self._spares.last_used_s
        return last_s + RESTORE_AFTER_S if last_s > -math.inf else time.monotonic()

    def settle_s(self) -> float:
        """Return until when a program may still have to read a key that was on a spare keycode."""
        return self._spares.last_used_s + LINGER_S

    def restore(self) -> None:
        """Empty the spare keycodes. Not before `settle_s`."""
        empty = dict.fromkeys(self._spares.assigned, (0, 0))
        for keycode in empty:
            self._change_keysyms(keycode, (0,) * self.map().width)
        self._spares.note_changes(empty)
        self._trace.maps(())

    def undo_leftovers(self, left: InputTrace) -> None:
        """Undo what an earlier process left: keys up, its keysyms off where they still are, group and Caps Lock."""
        for keycode in sorted(left.keys):
            self._xtest.key(keycode, down=False)
        info = self._connection.wire.info
        rows = self._connection.xlib.get_keyboard_mapping(info.min_keycode, info.max_keycode - info.min_keycode + 1)
        for keycode, *pair in left.maps:
            if _holds_only(rows[keycode - info.min_keycode], tuple(pair)):
                self._change_keysyms(keycode, (0,) * len(rows[0]))
        if left.group is not None:
            self._xkb.lock_group(left.group)
        if left.caps:
            self._xkb.lock_caps(on=True)


class PaintWatch:
    """The paint of what a program has read. An answer to a ping does not prove that it read the letters, and those that
    it holds go to the window that it opens before it reads them.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._damage: Damage | None = None
        self._is_painted = False
        self._patience_s = _ECHO_S
        self._silent = 0  # the window that painted nothing in the last act (0: none)

    def watch_window(self, window: int) -> Iterator[Pause]:
        """Watch the paint of `window` (0: of none) until `end_watch`."""
        if window and self._connection.has(DAMAGE):
            self._damage = Damage(self._connection, self._connection.xlib.create_resource_object("window", window))
            self._patience_s = _SILENT_S if window == self._silent else _ECHO_S
            yield from self._forget_painted()

    def end_watch(self) -> None:
        if self._damage is not None:
            self._damage.close()
            self._damage = None

    def _forget_painted(self) -> Iterator[Pause]:
        """Forget what was painted until now, also what is on its way: a new damage reports all of its window."""
        assert self._damage is not None
        self._damage.subtract()
        self._connection.sync()
        yield Pause(time.monotonic())
        self._is_painted = False

    def on_painted(self, damage: int) -> None:
        if self._damage is not None and self._damage.id == damage:
            self._is_painted = True
            self._damage.subtract()  # the server reports no second paint of the same box

    def wait(self, guard: InputGuard) -> Iterator[Pause]:
        """Pause until the window is painted; a program that never paints what it reads is not waited for again.
        Raises: Misdirected where the program opens another window instead.
        """
        if self._damage is None:
            return
        for pause in pause_for(self._patience_s, lambda: self._is_painted):
            guard.check_held()
            yield pause
        if self._is_painted:
            self._patience_s, self._silent = _PING_S, 0
            yield from self._forget_painted()
        else:
            guard.check_held()
            self._silent = guard.target
            self.end_watch()


class Typist:
    """Types on one keyboard, for the window that `guard` lets input through to."""

    def __init__(self, keyboard: Keyboard, ping: Ping, guard: InputGuard, paint: PaintWatch) -> None:
        self._keyboard, self._ping, self._guard, self._paint = keyboard, ping, guard, paint

    def type(self, text: str) -> Iterator[Pause]:
        """Type `text`; the caller calls `Keyboard.read_state` and `restore_state`.

        Raises: InvalidRequest before the first key, Misdirected before a key that would reach another window, and where
        the program opened another window before it showed that it had read the letters.
        """
        keysyms = [keysym_of_character(c) for c in text.replace("\r\n", "\n").replace("\r", "\n")]
        self._keyboard.without_caps()
        sizes = self._choose_sizes()
        due = _FIRST_ECHO_LETTERS
        try:
            if len(keysyms) > 1:  # a single letter is what opened a window: there was none before it to be held
                yield from self._paint.watch_window(self._guard.target)
            while rest := keysyms[self._guard.done :]:
                strokes = self._find_strokes(rest[: next(sizes)])
                if not strokes:
                    yield from self._make_room(rest[:_LOOK_AHEAD])
                    continue
                yield from self._guard.await_opening()
                with self._guard.keys():
                    self._keyboard.promise(strokes)
                    for stroke in strokes:
                        self._keyboard.tap(stroke)
                self._guard.count_sent(len(strokes))
                yield from self.await_reading([Pause(time.monotonic() + _CHUNK_S)])
                is_last = self._guard.done == len(keysyms)
                if text[-1] not in _LEADS_ON if is_last else self._guard.done >= due:
                    yield from self._paint.wait(self._guard)
                    due = self._guard.done + _ECHO_LETTERS
        finally:
            self._paint.end_watch()

    def _choose_sizes(self) -> Iterator[int]:
        """Yield how many characters may be sent at once."""
        sizes = itertools.chain(_READ_CHUNKS, itertools.repeat(_READ_CHUNKS[-1]))
        while True:
            yield next(sizes) if self._ping.can_send(self._guard.target) else _CHUNK

    def await_reading(self, otherwise: Iterable[Pause]) -> Iterator[Pause]:
        """Pause until the program has read what was sent, or as `otherwise` where it answers no pings."""
        sent_s = time.monotonic()
        if not self._ping.send(self._guard.target):
            yield from otherwise
            return
        yield from pause_for(_PING_S, lambda: self._ping.is_answered)
        if self._ping.is_answered:
            self._keyboard.note_settled(sent_s)
        else:
            self._ping.give_up(self._guard.target)

    def put_on_keyboard(self, names: Iterable[str]) -> Iterator[Pause]:
        """Put the keys of a chord on the keyboard. Raises: InvalidRequest for an unknown key, Unavailable."""
        keysyms = [keysym_of_name(name) for name in names]
        missing = [k for k in keysyms if self._keyboard.find(k) is None]
        if missing:
            yield from self._make_room([*missing, *keysyms])

    def _find_strokes(self, keysyms: list[int]) -> list[Stroke]:
        """Return the keys of as many of `keysyms` as are on one now, none of them twice: SDL takes a key that is
        released and pressed again within 2 ms for a repeat, and loses the second letter.
        """
        strokes: dict[int, Stroke] = {}
        for keysym in keysyms:
            stroke = self._keyboard.find(keysym)
            if stroke is None or stroke.keycode in strokes:
                break
            strokes[stroke.keycode] = stroke
        return list(strokes.values())

    def _make_room(self, keysyms: list[int]) -> Iterator[Pause]:
        plan = self._keyboard.plan(keysyms)
        now_s = time.monotonic()
        if plan.ready_s > now_s:
            yield from self.await_reading(pause_for(plan.ready_s - now_s))
            plan = self._keyboard.plan(keysyms)  # the layout may have changed meanwhile
        self._keyboard.apply_plan(plan)


def _holds_only(row: Iterable[int], pair: tuple[int, ...]) -> bool:
    """Return whether a key has only these two keysyms (the server repeats a lone group in columns 2, 3)."""
    cells = list(row)
    return tuple(cells[:2]) == pair and all(cell in {0, *pair} for cell in cells)
