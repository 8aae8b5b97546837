"""Typing any text through a keyboard layout that may know none of it.

What the layout has is typed on its own keys. The rest is put on spare keycodes as Unicode keysyms, as many as fit at
once (about 38 on a PC keymap), because each change makes every program read the keymap again. A program reads the
*current* mapping when it handles an event, not the one that held when the key was pressed: so a keycode is given
another meaning only after the program that has the focus answered a ping (_NET_WM_PING, in order behind its key
events), or, when it answers none (xterm), `LINGER_S` after the keycode was last used; and spare keycodes are emptied
seconds after the last key, not at the end of the text. Events that follow a change need no pause: the server tells of
the change before it sends them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from acud.x11.keyboard import Keyboard
from acud.x11.keymap import Stroke
from acud.x11.keysyms import of_character, of_name
from acud.x11.ping import Ping
from acud.x11.steps import Rest, waited

_CHUNK = 25
_CHUNK_S = 0.004
"""A pause of so long after so many characters: between chunks frames are grabbed and orders read. What that comes to is
`type_1000_ms` of `scripts/bench actions`."""
_LOOK_AHEAD = 400
_PING_S = 3.0
"""A program that answers pings is known to read on: it is busy, and gets more time than one that answers none."""


class Typist:
    """Types on one keyboard."""

    def __init__(self, keyboard: Keyboard, ping: Ping) -> None:
        self._keyboard = keyboard
        self._ping = ping

    def type(self, text: str) -> Iterator[Rest]:
        """Type `text`; `Keyboard.begin` and `end` are the caller's. Raises: InvalidRequest before the first key."""
        keysyms = [of_character(c) for c in text.replace("\r\n", "\n").replace("\r", "\n")]
        self._keyboard.without_caps()
        at = 0
        while at < len(keysyms):
            strokes = self._ready(keysyms[at : at + _CHUNK])
            if not strokes:
                yield from self._make_room(keysyms[at : at + _LOOK_AHEAD])
                continue
            self._keyboard.promise(strokes)
            for stroke in strokes:
                self._keyboard.tap(stroke)
            at += len(strokes)
            yield Rest(time.monotonic() + _CHUNK_S)

    def prepare(self, names: Iterable[str]) -> Iterator[Rest]:
        """Have the keys of a chord on the keyboard. Raises: InvalidRequest for an unknown key, Unavailable."""
        keysyms = [of_name(name) for name in names]
        missing = [k for k in keysyms if self._keyboard.find(k) is None]
        if missing:
            yield from self._make_room([*missing, *keysyms])

    def _ready(self, keysyms: list[int]) -> list[Stroke]:
        """Return the keys of as many of `keysyms` as are on one now."""
        strokes: list[Stroke] = []
        for keysym in keysyms:
            stroke = self._keyboard.find(keysym)
            if stroke is None:
                break
            strokes.append(stroke)
        return strokes

    def _make_room(self, keysyms: list[int]) -> Iterator[Rest]:
        plan = self._keyboard.plan(keysyms)
        now_s = time.monotonic()
        if plan.ready_s > now_s:
            yield from self._settle(now_s, plan.ready_s)
            plan = self._keyboard.plan(keysyms)  # the layout may have changed meanwhile
        self._keyboard.put(plan)

    def _settle(self, sent_s: float, ready_s: float) -> Iterator[Rest]:
        """Wait until what was typed has been read."""
        if not self._ping.send():
            yield from waited(ready_s - sent_s)
            return
        yield from waited(_PING_S, lambda: self._ping.is_answered)
        if self._ping.is_answered:
            self._keyboard.settled(sent_s)
