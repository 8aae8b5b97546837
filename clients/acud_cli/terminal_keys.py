"""Keys of a terminal, one by one and by name."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SEQUENCES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[5~": "pageup",
    "\x1b[6~": "pagedown",
    "\x1b[H": "home",
    "\x1b[1~": "home",
    "\x1b[F": "end",
    "\x1b[4~": "end",
    "\x1b[Z": "backtab",
    "\x1b": "escape",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
}


@contextmanager
def listen_to_keys() -> Iterator[Callable[[float], str]]:
    """Return, in a context, a function that waits so many seconds for a key and names it, "" for none.

    Keys are read one by one and not shown meanwhile; without a terminal to read from there are none.
    """
    if not sys.stdin.isatty():
        yield _no_key
        return
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    tty.setcbreak(source)
    try:
        yield lambda seconds: _name_key(source, seconds)
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def _no_key(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _name_key(source: int, seconds: float) -> str:
    if not select.select([source], [], [], seconds)[0]:
        return ""
    first = os.read(source, 1)
    if first == b"\x1b":
        while select.select([source], [], [], 0.02)[0] and len(first) < 8:
            first += os.read(source, 1)
            if first[-1:].isalpha() or first.endswith(b"~"):
                break
    elif first[0] >= 0xC0:  # the first byte of UTF-8 gives how many follow
        first += os.read(source, 3 if first[0] >= 0xF0 else 2 if first[0] >= 0xE0 else 1)
    text = first.decode(errors="ignore").replace("\x1bO", "\x1b[")
    return _SEQUENCES.get(text, text if text.isprintable() else "")
