"""The files of recordings: the state on disk counts, whichever process died meanwhile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from acud.base import log, private_files
from acud.base.errors import InvalidRequest
from acud.base.ids import is_id
from acud.base.typed_values import decode_json
from acud.protocol.recordings import (
    FRAMES_SUFFIX,
    VIDEO_SUFFIX,
    FrameRow,
    RecordingInfo,
    Segment,
    SegmentHead,
    file_name,
)

NOUN = "rec"
_TASK_NOUN = "task"
_BOX_HEAD_BYTES = 8
_LOG = log.logger("recordings")


class RecordingFiles:
    """The folders under `root`, named by ids alone."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def folder(self, name: str) -> Path:
        """Return the folder `name`. Raises: InvalidRequest unless it is the id of a task or a recording."""
        if not is_id(name, NOUN) and not is_id(name, _TASK_NOUN):
            raise InvalidRequest(f"not the folder of a recording: {name[:80]!r}")
        return self._root / name

    def measure(self, recording: RecordingInfo) -> tuple[Segment, ...]:
        """Return the segments on disk. Segments that `recording` has as closed are returned as they are; of the others
        torn ends are cut off, and a segment without a whole frame is removed.
        """
        closed = {segment.number: segment for segment in recording.segments if segment.reason}
        found = (closed.get(number) or self._read_segment(recording, number) for number in self._numbers(recording))
        return tuple(segment for segment in found if segment is not None)

    def _read_segment(self, recording: RecordingInfo, number: int) -> Segment | None:
        video, rows = self.files(recording, number)
        try:
            segment = describe_segment(rows, mend_video(video))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            _LOG.warning("recording.unreadable", path=str(video), reason=str(fault))  # it stays, for a person to see
            return None
        if segment is None:
            _remove_files(video, rows)
        return segment

    def _numbers(self, recording: RecordingInfo) -> list[int]:
        names = self.folder(recording.folder).glob(f"{recording.recording_id}-*{FRAMES_SUFFIX}")
        return sorted(int(path.stem.rpartition("-")[2]) for path in names)

    def files(self, recording: RecordingInfo, number: int) -> tuple[Path, Path]:
        """Return the video and the frames of a segment."""
        folder, name = self.folder(recording.folder), recording.recording_id
        return folder / file_name(name, number, VIDEO_SUFFIX), folder / file_name(name, number, FRAMES_SUFFIX)

    def remove(self, recording: RecordingInfo) -> None:
        """Remove the files of a recording, and its folder when that is empty."""
        folder = self.folder(recording.folder)
        _remove_files(*folder.glob(f"{recording.recording_id}-*"))
        with contextlib.suppress(OSError):
            folder.rmdir()

    def remove_unknown(self, known: frozenset[str]) -> int:
        """Remove the files of recordings that no row names; return how many."""
        strange = [path for path in self._list_files() if path.stem.rpartition("-")[0] not in known]
        _remove_files(*strange)
        for folder in {path.parent for path in strange}:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return len(strange)

    def _list_files(self) -> Iterator[Path]:
        for suffix in (VIDEO_SUFFIX, FRAMES_SUFFIX):
            yield from self._root.glob(f"*/{NOUN}-*{suffix}")


def describe_segment(rows: Path, video_bytes: int) -> Segment | None:
    """Return the segment of the lines in `rows`, cut to whole ones; None without a frame.

    Raises: OSError; msgspec.DecodeError, UnicodeDecodeError or RecursionError when they are no frames.
    """
    data = private_files.read_regular(rows)
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) != len(data):
        os.truncate(rows, len(whole))
    lines = whole.splitlines()
    if len(lines) < 2 or not video_bytes:
        return None
    head = decode_json(lines[0], SegmentHead)
    first, last = (decode_json(lines[at], FrameRow) for at in (1, -1))
    return Segment(
        head.number,
        head.width,
        head.height,
        first.utc_ms,
        first.mono_ns,
        last.at_ms / 1000,
        len(lines) - 1,
        video_bytes + len(whole),
        "its recorder ended before it could close it",
    )


def mend_video(path: Path) -> int:
    """Cut off all after the last whole fragment, and return the remaining size (ISO/IEC 14496-12, 4.2)."""
    with os.fdopen(private_files.open_regular(path, os.O_RDWR), "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        at = whole = 0
        while at + _BOX_HEAD_BYTES <= size:
            head = os.pread(file.fileno(), _BOX_HEAD_BYTES, at)
            length, kind = int.from_bytes(head[:4], "big"), head[4:]
            if length < _BOX_HEAD_BYTES or at + length > size:
                break
            at += length
            whole = at if kind != b"moof" else whole
        if whole != size:
            file.truncate(whole)
    return whole


def _remove_files(*paths: Path) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as fault:
            _LOG.warning("recording.left", path=str(path), reason=fault.strerror)
