"""The processes of the ring's property test: `python -m tests.integration.ring_processes write|read PATH …`.

Frame n is whole when every byte of its pixels is `colour(n)`, and time, box and tile numbers say n too.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import numpy as np

from acud.frames.reader import FrameGone, FrameView, RingReader
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.types import Rect


def colour(frame: int) -> int:
    """The byte that frame `frame` is filled with."""
    return frame * 7 % 251


class MortalWords:
    """The words of a ring; the process kills itself instead of making the store number `last`."""

    def __init__(self, words: Any, last: int) -> None:
        self._words = words
        self._left = last

    def __getitem__(self, index: Any) -> Any:
        return self._words[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.step()
        self._words[index] = value

    def step(self) -> None:
        """Count one store; die when it is the last."""
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalChanges:
    """A slot's tile numbers; storing them is a step too."""

    def __init__(self, words: MortalWords, array: Any) -> None:
        self._words, self._array = words, array

    def __setitem__(self, index: Any, value: Any) -> None:
        self._words.step()
        self._array[index] = value


def write(path: str, stores: int) -> None:
    """Write frames until the store number `stores` kills us; 0: for ever."""
    with Ring.open(path, writable=True) as ring:
        writer = FrameWriter(ring)
        mortal = MortalWords(writer._words, stores)
        if stores:
            writer._words = mortal  # type: ignore[assignment]
            writer._changes = [MortalChanges(mortal, c) for c in writer._changes]  # type: ignore[misc]
        frame = 0
        while True:
            frame += 1
            _put(writer, frame, mortal if stores else None)


def _put(writer: FrameWriter, frame: int, mortal: MortalWords | None) -> None:
    slot = writer.begin()
    pixels = writer.arrays[slot]
    half = len(pixels) // 2
    for part in (pixels[:half], pixels[half:]):
        part[:] = colour(frame)
        if mortal is not None:
            mortal.step()
    changes = np.full(writer.ring.layout.tiles, frame, np.uint64)
    writer.publish(slot, frame, frame, Rect(frame % 5, 1, 1, 1), changes, (frame, -frame, frame))


def fault(view: FrameView) -> str:
    """Return what is torn about a frame that the ring called whole, "" for nothing. Raises: FrameGone."""
    frame = view.frame
    pixels, changes = view.copy(), view.tile_changes
    if not (pixels == colour(frame)).all():
        return f"frame {frame}: pixels of {np.unique(pixels)}"
    if not (changes == frame).all():
        return f"frame {frame}: tiles of {np.unique(changes)}"
    told = (view.mono_ns, view.box, view.cursor)
    return "" if told == (frame, Rect(frame % 5, 1, 1, 1), (frame, -frame, frame)) else f"frame {frame}: head {told}"


def read(path: str, wanted: int) -> None:
    """Read until `wanted` frames came whole; print what was torn. The newest frame never goes back."""
    whole, last = 0, 0
    with RingReader(path) as reader:
        while whole < wanted:
            try:
                with reader.newest() as view:
                    torn = fault(view)
                    whole += 1
            except FrameGone:
                continue
            if torn or view.frame < last:
                print(torn or f"frame {view.frame} after {last}", flush=True)
            last = view.frame


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
