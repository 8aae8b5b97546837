"""One segment in the making: frames in; fragmented MP4 and a line about each frame out.

`Encoder.encode` returns whole fragments, so a kill never leaves a torn file. Each frame is a fragment of its own. The
muxer releases a fragment once it knows how long its frame was shown, that is with the next frame: see
`SegmentWriter.repeat_newest`.
"""

from __future__ import annotations

import time
import zlib
from fractions import Fraction
from typing import Any

import av
import msgspec
from msgspec import Struct

from acud.features.recording.recorder.disk_thread import RecordingPart
from acud.features.recording.recorder.frame_copy import PIXEL_FORMAT, PLANE_STEPS, Band, CopiedFrame, frame_planes
from acud.pixels.tiles import bitmap
from acud.protocol.recordings import FrameRow, Segment, SegmentHead

TICKS_PER_S = 90_000
"""A frame may be shown for 13 hours before its duration overflows 32 bits; see `REST_S`."""
_BT709 = 1
_LIMITED = 1
_GROUP = 60
"""Frames from one key frame to the next: a player decodes up to so many to show one. A page of dense text is large as a
key frame and small as any other, so key frames are most of a video (`scripts/bench record`)."""
REST_S = (1.0, 60.0)
"""The newest frame is shown again after this long without another, then at this interval.

The first repeat has the muxer release the frame, so that a kill a second later loses nothing; the others keep the video
as long as the time it shows, and a frame's duration within its 32 bits.
"""


_X264 = "subme=0:scenecut=0:weightp=0:cabac=0:no-deblock=1"
"""At a constant quantiser x264 looks at a frame before it encodes it only to find cuts or fades. Text scrolls by whole
pixels, so no halves are searched. Smoothing edges (deblocking) costs time and blurs letters. Without CABAC a key frame
takes 2/5 of the CPU, and a file is 11 % larger: 1.5 ms a frame of typing in all, 3.2 at a constant rate factor with
deblocking and CABAC (measured)."""


class _Sink:
    """The muxer's output; without `seek` it never goes back."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        self._data += data
        return len(data)

    def take(self) -> bytes:
        data, self._data = bytes(self._data), bytearray()
        return data


def video_stream(container: Any, width: int, height: int, crf: int) -> Any:
    """Add a stream to `container` with the encoding of recordings. `width` and `height` are even."""
    options = {
        "qp": str(crf),
        "preset": "superfast",
        "x264-params": _X264,
        "tune": "zerolatency",
        "g": str(_GROUP),
        "bf": "0",
        "threads": "1",
    }
    stream = container.add_stream("libx264", options=options)
    stream.width, stream.height, stream.pix_fmt = width, height, PIXEL_FORMAT
    stream.time_base = stream.codec_context.time_base = Fraction(1, TICKS_PER_S)
    context = stream.codec_context
    context.colorspace = context.color_primaries = context.color_trc = _BT709
    context.color_range = _LIMITED
    return stream


class Encoder:
    """One video of frames of one size: H.264 at a constant quality, variable frame rate. Closing twice is harmless.

    H.264 with 4:2:0 needs even sides: an odd last column or row is repeated.
    """

    def __init__(self, width: int, height: int, crf: int) -> None:
        self._size = (width, height)
        self._sink = _Sink()
        options = {"movflags": "frag_every_frame+empty_moov+default_base_moof", "flush_packets": "1"}
        self._container: Any = av.open(self._sink, "w", format="mp4", options=options)
        self._stream = video_stream(self._container, width + width % 2, height + height % 2, crf)
        self._frame = av.VideoFrame(width + width % 2, height + height % 2, PIXEL_FORMAT)
        self._planes = frame_planes(self._frame)
        self._closed = False

    def draw(self, band: Band) -> None:
        """Change a part of the picture from the next `encode` on."""
        for plane, new, step in zip(self._planes, band.planes, PLANE_STEPS, strict=True):
            plane[band.top // step : band.bottom // step] = new

    def encode(self, at_ticks: int) -> bytes:
        """Return the next bytes of the file, with the drawn picture shown at `at_ticks`, which must be later than the
        frame before. About 1.3 ms of CPU for 1280x720 with few changes, 6 more for a key frame of dense text.
        """
        self._frame.pts, self._frame.time_base = at_ticks, Fraction(1, TICKS_PER_S)
        self._mux_packets(self._frame)
        return self._sink.take()

    def close(self) -> bytes:
        if not self._closed:
            self._closed = True
            self._mux_packets(None)
            self._container.close()
        return self._sink.take()

    def _mux_packets(self, frame: Any) -> None:
        for packet in self._stream.encode(frame):
            self._container.mux(packet)


class SegmentWriter:
    """A segment with the size and start time of `first`. Not for several threads."""

    def __init__(
        self, recording_id: str, number: int, first: CopiedFrame, fps: float, crf: int, *, redacted: bool = False
    ) -> None:
        width, height = first.width, first.height
        self._encoder = Encoder(width, height, crf)
        self._start_ns = self._shown_ns = first.mono_ns
        self._ticks = -2
        self._rests = 0
        self._rows = _encode_row(SegmentHead(recording_id, number, width, height, fps, crf, redacted))
        self._frames = 0
        self.segment = Segment(number, width, height, _utc_ms(first.mono_ns), first.mono_ns)

    def add(self, copy: CopiedFrame) -> RecordingPart:
        """Show `copy` from its own time on, or after the current frame; return the data to write now."""
        self._rests = 0
        for band in copy.bands:
            self._encoder.draw(band)
        part = self._take_part(self._encode_frame(copy.mono_ns))
        # The frame itself leaves the muxer with the next one, and its line with it.
        self._rows, self._frames = _encode_row(self._make_row(copy)), 1
        return part

    def rest_due_s(self) -> float:
        """Return when to show the newest frame again, unless another comes (CLOCK_MONOTONIC)."""
        return self._shown_ns / 1e9 + REST_S[min(self._rests, 1)]

    def repeat_newest(self, now_ns: int) -> RecordingPart:
        """Show the newest frame on; return the data to write now."""
        self._rests += 1
        return self._take_part(self._encode_frame(now_ns))

    def end(self, now_ns: int) -> RecordingPart:
        """Show the newest frame up to now, and end; return the ends of the files."""
        return self._take_part(self._encode_frame(now_ns) + self._encoder.close())

    def _encode_frame(self, mono_ns: int) -> bytes:
        # A frame may have been grabbed before the newest repeat. A replay takes the first frame that shows no more than
        # one and a half ticks before the time in its line.
        self._ticks = max(self._ticks + 2, (mono_ns - self._start_ns) * TICKS_PER_S // 1_000_000_000)
        self._shown_ns = mono_ns
        return self._encoder.encode(self._ticks)

    def _take_part(self, video: bytes) -> RecordingPart:
        # A file that holds no whole frame yet counts for nothing.
        part = RecordingPart(video, self._rows, self._ticks / TICKS_PER_S, self._frames)
        self._rows, self._frames = b"", 0
        return part

    def _make_row(self, copy: CopiedFrame) -> FrameRow:
        return FrameRow(
            copy.frame,
            copy.epoch,
            copy.mono_ns,
            _utc_ms(copy.mono_ns),
            round(self._ticks * 1000 / TICKS_PER_S, 3),
            zlib.compress(bitmap(copy.changed)),
            copy.identity,
        )


def _encode_row(row: Struct) -> bytes:
    return msgspec.json.encode(row) + b"\n"


def _utc_ms(mono_ns: int) -> int:
    return (time.time_ns() - (time.monotonic_ns() - mono_ns)) // 1_000_000
