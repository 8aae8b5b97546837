"""Segments on a disk that is well, full, or stands still."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from acud.features.recording.recorder.disk_thread import Disk, RecordingPart
from tests.fixtures.patience import until

REC = "rec-0123456789abcdefghjkmnp"
PART = RecordingPart(b"v" * 100, b"row\n", 1.0, 1)


def test_what_is_put_is_written_in_order(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "folder", REC)
    assert disk.next_number() == 1
    disk.put(1, PART)
    disk.put(1, RecordingPart(b"w", b"end\n", 2.0, 1), last=True)
    assert disk.close(60)
    written = disk.get_written(1)
    assert (written.size_bytes, written.frames, written.seconds, written.closed) == (109, 2, 2.0, True)
    assert (tmp_path / "folder" / f"{REC}-0001.mp4").read_bytes() == b"v" * 100 + b"w"
    assert (tmp_path / "folder" / f"{REC}-0001.jsonl").read_bytes() == b"row\nend\n"
    assert disk.next_number() == 2


def test_a_stalled_disk_is_told_and_blocks_nobody(tmp_path: Path) -> None:
    going = threading.Event()

    def write(descriptor: int, data: memoryview) -> int:
        assert going.wait(60)
        return os.write(descriptor, data)

    disk = Disk(tmp_path, REC, write)
    began_s = time.monotonic()
    count = 0
    while not disk.stalled:
        disk.put(1, PART)
        count += 1
    assert time.monotonic() - began_s < 30
    assert not disk.full
    assert disk.get_written(1).frames == 0
    going.set()
    until(lambda: disk.get_written(1).frames == count)
    assert not disk.stalled
    assert disk.close(60)


def test_a_full_disk_tears_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = 250

    def write(descriptor: int, data: memoryview) -> int:
        nonlocal room
        taken = os.write(descriptor, data[: min(room, 30)]) if room > 0 else 0
        room -= taken
        if taken == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return taken

    disk = Disk(tmp_path, REC, write)
    real = os.statvfs
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=0, f_frsize=4096))  # it is looked at, too
    for _ in range(3):
        disk.put(1, PART)
    until(lambda: bool(disk.get_written(1).fault))
    assert disk.full
    monkeypatch.setattr(os, "statvfs", real)
    assert (tmp_path / f"{REC}-0001.mp4").stat().st_size == 200
    assert (tmp_path / f"{REC}-0001.jsonl").read_bytes() == b"row\nrow\n"
    assert disk.get_written(1).frames == 2
    until(lambda: not disk.full)  # the disk itself has room: it is tried again
    room = 1000
    disk.put(1, PART)
    disk.put(2, PART, last=True)
    assert disk.close(60)
    assert (disk.get_written(1).frames, disk.get_written(2).frames) == (2, 1)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Disk(tmp_path / "file" / "folder", REC)
