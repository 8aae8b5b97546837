"""The pictures of one segment's video, forwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import av
import numpy as np
from av.video.reformatter import Colorspace, VideoReformatter
from numpy.typing import NDArray

from acud.errors import Unavailable
from acud.replay.tape import TICKS_PER_S, Shown, Stretch

Pixels = NDArray[np.uint8]


class Reel:
    """Decodes `stretch`; close it. A picture once passed does not come again."""

    def __init__(self, stretch: Stretch) -> None:
        self._stretch = stretch
        self._reformatter = VideoReformatter()
        self._frames: Iterator[Any] | None = None
        self._container: Any = None
        self._last: tuple[int, Pixels] | None = None
        self.fault = ""
        """Why no picture can be had any more."""

    def picture(self, shown: Shown) -> Pixels:
        """Return the frame's picture, height x width x 4 uint8 BGRX, as far as the video kept it.

        Raises: Unavailable, naming file and frame, when it cannot be decoded.
        """
        if self._last is not None and self._last[0] == shown.row.frame:
            return self._last[1]
        if self.fault:
            raise Unavailable(self.fault)
        try:
            pixels = self._decoded(shown)
        except (av.error.FFmpegError, OSError, StopIteration) as fault:
            why = "it ends before" if isinstance(fault, StopIteration) else f"{fault}"
            place = f"{self._stretch.video.name}, frame {shown.row.frame} at {shown.row.at_ms / 1000:.3f} s"
            self.fault = f"{place} cannot be decoded: {why}"
            raise Unavailable(self.fault) from None
        self._last = shown.row.frame, pixels
        return pixels

    def _decoded(self, shown: Shown) -> Pixels:
        wanted = shown.row.at_ms * TICKS_PER_S / 1000 - 1.5
        while True:
            frame = next(self._stream())
            if frame.pts is not None and float(frame.pts * frame.time_base) * TICKS_PER_S >= wanted:
                return self._pixels(frame)

    def _stream(self) -> Iterator[Any]:
        if self._frames is None:
            self._container = av.open(str(self._stretch.video))
            stream = self._container.streams.video[0]
            # A damaged picture is a fault, not a guess.
            stream.codec_context.options = {"err_detect": "explode"}
            stream.codec_context.thread_count = 1
            self._frames = iter(self._container.decode(stream))
        return self._frames

    def _pixels(self, frame: Any) -> Pixels:
        shown = self._reformatter.reformat(frame, format="bgra", src_colorspace=Colorspace.ITU709)
        return np.ascontiguousarray(shown.to_ndarray()[: self._stretch.height, : self._stretch.width])

    def close(self) -> None:
        """Let go of the file; harmless twice."""
        if self._container is not None:
            self._container.close()
        self._container = self._frames = None
