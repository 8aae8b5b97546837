"""What the recording tests share: a recording's files, read as a player and as a replay would."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

import av
import msgspec
import numpy as np
import numpy.typing as npt

from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX, FrameRow, RecordingInfo, SegmentHead, file_name

Pixels = npt.NDArray[np.uint8]


class Shown(NamedTuple):
    """A decoded frame: when it shows, in seconds from the segment's start, and its RGB pixels."""

    at_s: float
    pixels: Pixels


class Tape(NamedTuple):
    """A segment's files."""

    head: SegmentHead
    rows: list[FrameRow]
    shown: list[Shown]
    duration_s: float
    size: tuple[int, int]


def tape(folder: Path, recording_id: str, number: int = 1) -> Tape:
    """Return a segment, wholly decoded."""
    lines = (folder / file_name(recording_id, number, FRAMES_SUFFIX)).read_bytes().splitlines()
    head = msgspec.json.decode(lines[0], type=SegmentHead)
    rows = [msgspec.json.decode(line, type=FrameRow) for line in lines[1:]]
    with av.open(str(folder / file_name(recording_id, number, VIDEO_SUFFIX))) as video:
        stream = video.streams.video[0]
        shown = [Shown(float(frame.time or 0.0), frame.to_ndarray(format="rgb24")) for frame in video.decode(stream)]
        duration_s = float((stream.duration or 0) * (stream.time_base or 0))
        return Tape(head, rows, shown, duration_s, (stream.width, stream.height))


def tapes(recording: RecordingInfo, root: Path) -> list[Tape]:
    """Return every segment that the recording says it has."""
    return [tape(root / recording.folder, recording.recording_id, one.number) for one in recording.segments]


def whole(one: Tape) -> None:
    """Check that a segment is what it says: each line has its frame at its time, in order, and few others show."""
    times_ms = [round(shown.at_s * 1000, 1) for shown in one.shown]
    assert times_ms == sorted(times_ms)
    assert one.rows
    for row in one.rows:
        assert min(abs(time - row.at_ms) for time in times_ms) <= 0.1, (row.at_ms, times_ms)
        assert len(zlib.decompress(row.tiles)) == -(-(-(-one.head.width // 16) * -(-one.head.height // 16)) // 8)
    assert [row.frame for row in one.rows] == sorted({row.frame for row in one.rows})
    assert one.size == (one.head.width + one.head.width % 2, one.head.height + one.head.height % 2)
