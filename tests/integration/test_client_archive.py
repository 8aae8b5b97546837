"""A ZIP file made in pieces: whole, true, and never much of it in memory."""

from __future__ import annotations

import hashlib
import os
import random
import zipfile
from io import BytesIO
from pathlib import Path

from acud_client.task_export import Archive, Packed


def test_what_is_packed_is_what_is_unpacked(tmp_path: Path) -> None:
    """The file grows while it is packed: what was there at the beginning is packed, whole."""
    data = random.Random(3).randbytes(5_000_000)
    path = tmp_path / "video.mp4"
    path.write_bytes(data)
    archive, pieces = Archive(), []
    pieces.append(archive.add("plan/one.json", b"[1]" * 1000))
    descriptor = os.open(path, os.O_RDONLY)
    for stored in (True, False):
        for piece in archive.pour(f"video-{stored}.mp4", descriptor, stored=stored):
            pieces.append(piece)
            with path.open("ab") as file:
                file.write(b"more")
            os.truncate(path, len(data)) if not stored else None
        os.truncate(path, len(data))
    os.close(descriptor)
    pieces.append(archive.close())
    assert max(map(len, pieces)) < 3_000_000
    with zipfile.ZipFile(BytesIO(b"".join(pieces))) as unpacked:
        assert unpacked.testzip() is None
        assert unpacked.namelist() == ["plan/one.json", "video-True.mp4", "video-False.mp4"]
        for packed in archive.packed:
            content = unpacked.read(packed.name)
            assert packed == Packed(packed.name, len(content), hashlib.sha256(content).hexdigest())
        assert unpacked.read("video-True.mp4") == unpacked.read("video-False.mp4") == data
