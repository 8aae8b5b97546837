"""Segments on disk, written by a thread of their own: a disk that stalls or is full costs frames, never time.

Every write ends on the boundary of a fragment and of a line; a partial write to a full disk is cut off again.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from acud.base.paths import free_bytes
from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX, file_name

_MAX_WAITING = 32
"""Writes that wait for the disk: some 16 s at two frames a second."""
_ROOM_BYTES = 1 << 20
_LOOK_S = 1.0
"""The interval of checks of a full disk."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class RecordingPart(Struct, frozen=True):
    """Data for the two files; `seconds` is the length of the video with it, `frames` the number it adds."""

    video: bytes
    rows: bytes
    seconds: float
    frames: int


class WrittenPart(Struct, frozen=True):
    """The part of a segment that is on disk. `closed`: nothing more comes; `fault` is the reason if that is a fault."""

    size_bytes: int = 0
    frames: int = 0
    seconds: float = 0.0
    closed: bool = False
    fault: str = ""


class _Work(Struct, frozen=True):
    number: int
    part: RecordingPart
    last: bool


class Disk:
    """The segments of one recording in `folder` (0700; files 0600). `write` does what os.write does.

    For one thread, which waits for the disk only in `close`.
    """

    def __init__(self, folder: Path, recording_id: str, write: Callable[[int, memoryview], int] = os.write) -> None:
        self._folder = folder
        self._recording_id = recording_id
        self._write = write
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._files: dict[int, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._waiting = 0
        self._written: dict[int, WrittenPart] = {}
        self._full = False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._thread = threading.Thread(target=self._write_queued, name="disk", daemon=True)
        self._thread.start()

    def next_number(self) -> int:
        """Return the first number without files; a killed predecessor left some."""
        names = (path.stem for path in self._folder.glob(f"{self._recording_id}-*"))
        return max((int(name.rpartition("-")[2]) for name in names), default=0) + 1

    @property
    def stalled(self) -> bool:
        """Whether so much waits to be written that a frame must be dropped."""
        with self._lock:
            return self._waiting >= _MAX_WAITING

    @property
    def full(self) -> bool:
        """Whether the disk took nothing when it was last tried, and has no room since."""
        with self._lock:
            return self._full

    def put(self, number: int, part: RecordingPart, *, last: bool = False) -> None:
        """Have `part` written to the segment; with `last` its files are closed then."""
        with self._lock:
            self._waiting += 1
        self._queue.put(_Work(number, part, last))

    def get_written(self, number: int) -> WrittenPart:
        with self._lock:
            return self._written.get(number, WrittenPart())

    def close(self, within_s: float) -> bool:
        """Write all that waits; return False when the disk did not take it in time."""
        self._queue.put(None)
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _write_queued(self) -> None:
        while True:
            try:
                work = self._queue.get(timeout=_LOOK_S if self._full else None)
            except queue.Empty:
                self._check_room()
                continue
            if work is None:
                break
            try:
                if not self.get_written(work.number).closed:
                    self._write_part(work)
            except OSError as fault:
                self._close_failed(work.number, f"{fault.strerror}: {self._folder}")
            with self._lock:
                self._waiting -= 1
        for number in list(self._files):
            self._close_files(number)

    def _check_room(self) -> None:
        try:
            room = free_bytes(self._folder)
        except OSError:
            return
        with self._lock:
            self._full = room < _ROOM_BYTES

    def _write_part(self, work: _Work) -> None:
        video, rows = self._files.get(work.number) or self._create_files(work.number)
        # The video first: no line may describe a frame that its video lacks.
        self._append_data(video, work.part.video)
        self._append_data(rows, work.part.rows)
        if work.last:
            self._close_files(work.number)
        part, before = work.part, self.get_written(work.number)
        size = before.size_bytes + len(part.video) + len(part.rows)
        with self._lock:
            self._written[work.number] = WrittenPart(size, before.frames + part.frames, part.seconds, work.last)

    def _create_files(self, number: int) -> tuple[int, int]:
        video = os.open(self._path_of(number, VIDEO_SUFFIX), _NEW, 0o600)
        try:
            rows = os.open(self._path_of(number, FRAMES_SUFFIX), _NEW, 0o600)
        except OSError:
            os.close(video)
            raise
        self._files[number] = (video, rows)
        return video, rows

    def _append_data(self, descriptor: int, data: bytes) -> None:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        left = memoryview(data)
        try:
            while left:
                left = left[self._write(descriptor, left) :]
        except OSError:
            os.ftruncate(descriptor, before)
            raise

    def _close_failed(self, number: int, reason: str) -> None:
        with self._lock:
            self._written[number] = replace(self._written.get(number, WrittenPart()), closed=True, fault=reason)
            self._full = True
        self._close_files(number)
        if self.get_written(number).size_bytes == 0:
            for suffix in (VIDEO_SUFFIX, FRAMES_SUFFIX):
                self._path_of(number, suffix).unlink(missing_ok=True)

    def _close_files(self, number: int) -> None:
        for descriptor in self._files.pop(number, ()):
            os.close(descriptor)

    def _path_of(self, number: int, suffix: str) -> Path:
        return self._folder / file_name(self._recording_id, number, suffix)
