"""Frames to fragmented MP4, in memory: what `encode` returns are whole fragments, so a file is never torn by a kill.

Each frame is a fragment of its own. The muxer lets go of a fragment when it knows how long its frame was shown, that is
with the next frame: see `Film.rest`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import Colorspace, VideoReformatter

Pixels = npt.NDArray[np.uint8]

TICKS_PER_S = 90_000
"""A frame may be shown for 13 hours before its duration overflows 32 bits; see `film.REST_S`."""

_BT709 = 1
_LIMITED = 1
_GROUP = 60
"""Frames from one key frame to the next: a player decodes up to so many to show one. A page of dense text is large as a
key frame and small as any other, so key frames are most of a video (`scripts/bench record`)."""


class _Sink:
    """What the muxer writes to; without `seek` it never goes back."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        self._data += data
        return len(data)

    def take(self) -> bytes:
        data, self._data = bytes(self._data), bytearray()
        return data


class Encoder:
    """One video of frames of one size: H.264 at a constant quality, variable frame rate. Closing twice is harmless.

    H.264 with 4:2:0 needs even sides: an odd last column or row is repeated.
    """

    def __init__(self, width: int, height: int, crf: int) -> None:
        self._size = (width, height)
        self._sink = _Sink()
        options = {"movflags": "frag_every_frame+empty_moov+default_base_moof", "flush_packets": "1"}
        self._container: Any = av.open(self._sink, "w", format="mp4", options=options)
        self._stream = self._video_stream(crf)
        self._reformatter = VideoReformatter()
        self._closed = False

    def _video_stream(self, crf: int) -> Any:
        width, height = self._size
        options = {
            "crf": str(crf),
            "preset": "veryfast",
            "tune": "zerolatency",
            "g": str(_GROUP),
            "bf": "0",
            "threads": "1",
        }
        stream = self._container.add_stream("libx264", options=options)
        stream.width, stream.height, stream.pix_fmt = width + width % 2, height + height % 2, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, TICKS_PER_S)
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = _BT709
        context.color_range = _LIMITED
        return stream

    def encode(self, pixels: Pixels, at_ticks: int) -> bytes:
        """Return what follows in the file once `pixels` (height x width x 4 uint8 BGRX, the encoder's size) show at
        `at_ticks`, which must be later than the frame before. About 8 ms of CPU for 1280x720.
        """
        frame = av.VideoFrame.from_ndarray(_even(pixels), format="bgra")
        frame = self._reformatter.reformat(frame, format="yuv420p", dst_colorspace=Colorspace.ITU709)
        frame.pts, frame.time_base = at_ticks, Fraction(1, TICKS_PER_S)
        self._mux(frame)
        return self._sink.take()

    def close(self) -> bytes:
        """Return the end of the file."""
        if not self._closed:
            self._closed = True
            self._mux(None)
            self._container.close()
        return self._sink.take()

    def _mux(self, frame: Any) -> None:
        for packet in self._stream.encode(frame):
            self._container.mux(packet)


def _even(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    if height % 2 == width % 2 == 0:
        return pixels
    return np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
