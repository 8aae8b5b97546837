"""One segment in the making: frames in, the ends of its two files out."""

from __future__ import annotations

import time
import zlib

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from acud.pixels.identity import identity
from acud.pixels.tiles import bitmap
from acud.protocol.recordings import FrameRow, Segment, SegmentHead
from acud.recorder.disk import Part
from acud.recorder.encoder import TICKS_PER_S, Encoder

Pixels = npt.NDArray[np.uint8]

REST_S = (1.0, 60.0)
"""The newest frame is shown again after so long without another, then every so long.

The first repeat has the muxer let go of the frame, so that a kill a second later loses nothing; the others keep the
video as long as what it shows, and a frame's duration within its 32 bits.
"""


class Taken(Struct, frozen=True):
    """A frame copied out of its ring. `changes`: per tile, the number of the frame that last changed it."""

    frame: int
    epoch: int
    mono_ns: int
    pixels: Pixels
    changes: npt.NDArray[np.uint64]


class Film:
    """A segment, whose first frame is like `first` in size and time. Not for several threads."""

    def __init__(self, recording_id: str, number: int, first: Taken, fps: float, crf: int) -> None:
        height, width = first.pixels.shape[:2]
        self._encoder = Encoder(width, height, crf)
        self._start_ns = self._shown_ns = first.mono_ns
        self._ticks = -1
        self._pixels = first.pixels
        self._frame = 0
        self._rests = 0
        self._rows = _line(SegmentHead(recording_id, number, width, height, fps, crf))
        self._frames = 0
        self.segment = Segment(number, width, height, _utc_ms(first.mono_ns), first.mono_ns)

    def add(self, taken: Taken) -> Part:
        """Show `taken` from its own time on; return what can be written now."""
        row = self._row(taken)
        self._frame, self._pixels, self._rests = taken.frame, taken.pixels, 0
        part = self._part(self._encode(taken.mono_ns))
        # The frame itself leaves the muxer with the next one, and its line with it.
        self._rows, self._frames = _line(row), 1
        return part

    def rest_due_s(self) -> float:
        """Return when to show the newest frame again, unless another comes (CLOCK_MONOTONIC)."""
        return self._shown_ns / 1e9 + REST_S[min(self._rests, 1)]

    def rest(self, now_ns: int) -> Part:
        """Show the newest frame on; return what can be written now."""
        self._rests += 1
        return self._part(self._encode(now_ns))

    def end(self, now_ns: int) -> Part:
        """Show the newest frame up to now, and end; return the ends of the files."""
        return self._part(self._encode(now_ns) + self._encoder.close())

    def _encode(self, mono_ns: int) -> bytes:
        # Two frames never share a tick, whatever the clock says.
        self._ticks = max(self._ticks + 1, (mono_ns - self._start_ns) * TICKS_PER_S // 1_000_000_000)
        self._shown_ns = mono_ns
        return self._encoder.encode(self._pixels, self._ticks)

    def _part(self, video: bytes) -> Part:
        # A file that holds no whole frame yet counts for nothing.
        part = Part(video, self._rows, self._ticks / TICKS_PER_S, self._frames)
        self._rows, self._frames = b"", 0
        return part

    def _row(self, taken: Taken) -> FrameRow:
        changed = taken.changes > self._frame if self._frame else np.ones(len(taken.changes), np.bool_)
        return FrameRow(
            taken.frame,
            taken.epoch,
            taken.mono_ns,
            _utc_ms(taken.mono_ns),
            round((taken.mono_ns - self._start_ns) / 1e6, 3),
            zlib.compress(bitmap(changed)),
            identity(taken.pixels),
        )


def _line(row: Struct) -> bytes:
    return msgspec.json.encode(row) + b"\n"


def _utc_ms(mono_ns: int) -> int:
    """Return the wall clock of a moment that was not long ago."""
    return (time.time_ns() - (time.monotonic_ns() - mono_ns)) // 1_000_000
