"""A recording read from its files: its frames, their times and pictures, and any damage."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import msgspec
import numpy as np
from av.video.reformatter import Colorspace, VideoReformatter
from msgspec import Struct
from numpy.typing import NDArray

from acud.base.errors import Conflict, NotFound, Unavailable
from acud.base.ids import FEWEST_OF_ENDING, is_id
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX, FrameRow, SegmentHead, file_name
from acud.waits.tiles import from_bytes

NOUN = "rec"
TICKS_PER_S = 90_000
_TICK_MS = 1000 / TICKS_PER_S

Pixels = NDArray[np.uint8]


class RecordedFrame(Struct, frozen=True):
    """A frame. `at_s`: in the recording. `tiles`: the changes since the frame before it."""

    at_s: float
    row: FrameRow
    tiles: int


class RecordedSegment(Struct, frozen=True):
    """A segment: frames without a gap, up to `end_s`. `server_run`: the X server's run that counts its frames."""

    number: int
    width: int
    height: int
    video: Path
    start_s: float
    end_s: float
    shown: tuple[RecordedFrame, ...]
    server_run: int


class RecordedFrames(Struct, frozen=True):
    """A recording. `faults`: its unreadable parts, each naming the place."""

    recording_id: str
    stretches: tuple[RecordedSegment, ...]
    faults: tuple[str, ...]

    @property
    def end_s(self) -> float:
        return self.stretches[-1].end_s

    def utc_ms(self, at_s: float) -> int:
        """Return the wall clock at a moment of the recording."""
        stretch = next((one for one in reversed(self.stretches) if one.start_s <= at_s), self.stretches[0])
        first = stretch.shown[0]
        return first.row.utc_ms + round((at_s - first.at_s) * 1000)


def find(name: str, root: Path) -> tuple[Path, str]:
    """Return the folder and the id of the recording that `name` names: an id below `root`, or a path.

    Raises: NotFound; Conflict when several match.
    """
    place = Path(name).expanduser()
    if "/" not in name and not place.exists():
        found = {(path.parent, _id_of(path)) for path in root.glob(f"*/{NOUN}-*{FRAMES_SUFFIX}")}
        begun = {one for one in found if one[1].startswith(name)}
        ended = {one for one in found if one[1].endswith(name)} if len(name) >= FEWEST_OF_ENDING else set()
        return _take_only(begun or ended, name, f"{root}; acud record list")
    if place.is_file():
        return _take_only({(place.parent, _id_of(place))}, name, "an .mp4 or .jsonl of acud")
    return _take_only(
        {(place, _id_of(path)) for path in place.glob(f"{NOUN}-*{FRAMES_SUFFIX}")}, name, "a recording's folder"
    )


def load(folder: Path, recording_id: str) -> RecordedFrames:
    """Return the recording in `folder`. Raises: NotFound when no frame of it can be read."""
    numbers = sorted(int(path.stem.rpartition("-")[2]) for path in folder.glob(f"{recording_id}-*{FRAMES_SUFFIX}"))
    reading = _RecordingReader(folder, recording_id)
    missing = sorted(set(range(1, max(numbers, default=0))) - set(numbers))
    reading.faults += [f"{file_name(recording_id, number, FRAMES_SUFFIX)} is missing" for number in missing]
    for number in numbers:
        reading.read_segment(number)
    if not reading.stretches:
        raise NotFound("; ".join(reading.faults) or f"recording {recording_id} has no frames in {folder}")
    return RecordedFrames(recording_id, tuple(reading.stretches), tuple(reading.faults))


class _RecordingReader:
    """Reads all segments of a recording, in order."""

    def __init__(self, folder: Path, recording_id: str) -> None:
        self._folder = folder
        self._id = recording_id
        self._began_utc_ms = 0
        self._last: FrameRow | None = None
        self._server_run = 0
        self.stretches: list[RecordedSegment] = []
        self.faults: list[str] = []

    def read_segment(self, number: int) -> None:
        """Read a segment as far as possible."""
        video = self._folder / file_name(self._id, number, VIDEO_SUFFIX)
        head, rows = self._read_lines(self._folder / file_name(self._id, number, FRAMES_SUFFIX))
        if head is None or not rows:
            return
        times = self._read_times(video)
        kept = [row for row in rows if times and row.at_ms <= times[-1] + _TICK_MS]
        if len(kept) < len(rows):
            row, end_ms = rows[len(kept)], times[-1] if times else 0.0
            where = f"it ends at {end_ms / 1000:.3f} s, before frame {row.frame} at {row.at_ms / 1000:.3f} s"
            self.faults.append(f"{video.name} is cut off or damaged: {where}")
        if kept:
            self._add_segment(number, head, video, kept, times[-1] / 1000)

    def _read_lines(self, path: Path) -> tuple[SegmentHead | None, list[FrameRow]]:
        rows: list[FrameRow] = []
        head: SegmentHead | None = None
        lines = path.read_bytes().split(b"\n")
        for count, line in enumerate(lines[:-1], 1):
            try:
                if head is None:
                    head = decode_json(line, SegmentHead)
                else:
                    rows.append(_check_row(decode_json(line, FrameRow)))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, zlib.error) as fault:
                kind = FrameRow if head is not None else SegmentHead
                words = str(fault) if isinstance(fault, zlib.error) else describe_decode_fault(fault, kind, "it")
                self.faults.append(f"{path.name}, line {count} is damaged: {words}")
                return head, rows
        if lines[-1]:
            self.faults.append(f"{path.name} is cut off in line {len(lines)}")
        return head, rows

    def _read_times(self, video: Path) -> list[float]:
        """Return when each frame of the video shows, in ms, as far as its fragments are whole."""
        times: list[float] = []
        try:
            with av.open(str(video)) as container:
                stream = container.streams.video[0]
                tick_ms = float(stream.time_base or 0) * 1000
                times.extend(packet.pts * tick_ms for packet in container.demux(stream) if packet.pts is not None)
        except (av.error.FFmpegError, OSError, IndexError) as fault:
            self.faults.append(f"{video.name} cannot be read after {times[-1] / 1000 if times else 0:.3f} s: {fault}")
        return sorted(times)

    def _add_segment(self, number: int, head: SegmentHead, video: Path, rows: list[FrameRow], length_s: float) -> None:
        before = self.stretches[-1] if self.stretches else None
        self._began_utc_ms = self._began_utc_ms or rows[0].utc_ms
        start_s = (rows[0].utc_ms - self._began_utc_ms) / 1000
        if before is not None:
            start_s = max(start_s, before.end_s)
            same_size = (before.width, before.height) == (head.width, head.height)
            self._server_run += not same_size or rows[0].frame < before.shown[-1].row.frame
        shown = tuple(
            RecordedFrame(start_s + row.at_ms / 1000, row, from_bytes(zlib.decompress(row.tiles))) for row in rows
        )
        if before is not None and rows[0].identity == before.shown[-1].row.identity:
            shown = (msgspec.structs.replace(shown[0], tiles=0), *shown[1:])
        end_s = max(start_s + length_s, shown[-1].at_s)
        self.stretches.append(
            RecordedSegment(number, head.width, head.height, video, start_s, end_s, shown, self._server_run)
        )


class VideoReader:
    """Decodes `stretch`; the caller closes it. Yields each picture once, in order."""

    def __init__(self, stretch: RecordedSegment) -> None:
        self._stretch = stretch
        self._reformatter = VideoReformatter()
        self._frames: Iterator[Any] | None = None
        self._container: Any = None
        self._last: tuple[int, Pixels] | None = None
        self.fault = ""
        """Why no further picture can be decoded."""

    def picture(self, shown: RecordedFrame) -> Pixels:
        """Return the frame's picture, height x width x 4 uint8 BGRX, as the video preserved it.

        Raises: Unavailable, naming file and frame, when it cannot be decoded.
        """
        if self._last is not None and self._last[0] == shown.row.frame:
            return self._last[1]
        if self.fault:
            raise Unavailable(self.fault)
        try:
            pixels = self._decode_frame(shown)
        except (av.error.FFmpegError, OSError, StopIteration) as fault:
            why = "it ends before" if isinstance(fault, StopIteration) else f"{fault}"
            place = f"{self._stretch.video.name}, frame {shown.row.frame} at {shown.row.at_ms / 1000:.3f} s"
            self.fault = f"{place} cannot be decoded: {why}"
            raise Unavailable(self.fault) from None
        self._last = shown.row.frame, pixels
        return pixels

    def _decode_frame(self, shown: RecordedFrame) -> Pixels:
        wanted = shown.row.at_ms * TICKS_PER_S / 1000 - 1.5
        while True:
            frame = next(self._open_stream())
            if frame.pts is not None and float(frame.pts * frame.time_base) * TICKS_PER_S >= wanted:
                return self._decode_pixels(frame)

    def _open_stream(self) -> Iterator[Any]:
        if self._frames is None:
            self._container = av.open(str(self._stretch.video))
            stream = self._container.streams.video[0]
            # A damaged picture is a fault, not a guess.
            stream.codec_context.options = {"err_detect": "explode"}
            stream.codec_context.thread_count = 1
            self._frames = iter(self._container.decode(stream))
        return self._frames

    def _decode_pixels(self, frame: Any) -> Pixels:
        shown = self._reformatter.reformat(frame, format="bgra", src_colorspace=Colorspace.ITU709)
        return np.ascontiguousarray(shown.to_ndarray()[: self._stretch.height, : self._stretch.width])

    def close(self) -> None:
        """Close the file; harmless twice."""
        if self._container is not None:
            self._container.close()
        self._container = self._frames = None


def _id_of(path: Path) -> str:
    return path.stem.rpartition("-")[0]


def _take_only(found: set[tuple[Path, str]], name: str, hint: str) -> tuple[Path, str]:
    named = sorted(one for one in found if is_id(one[1], NOUN))
    if not named:
        raise NotFound(f"no recording {name!r}", hint=f"looked for in {hint}")
    if len(named) > 1:
        raise Conflict(f"{name!r} names {len(named)} recordings", hint=", ".join(one[1] for one in named[:4]))
    return named[0]


def _check_row(row: FrameRow) -> FrameRow:
    zlib.decompress(row.tiles)
    return row
