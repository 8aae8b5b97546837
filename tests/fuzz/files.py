"""Files and shared memory: rings, settings, recordings, cookies, /proc."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from acud import config
from acud.base.errors import AcudError
from acud.base.ids import new_id
from acud.features.recording.replay import recording
from acud.features.recording.supervisor.files import describe_segment, mend_video
from acud.frames.layout import Layout
from acud.frames.reader import RingReader
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.protocol.recordings import FRAMES_SUFFIX, FrameRow, SegmentHead, file_name
from acud.supervisor.terminal_sessions import processes
from acud.types import Rect
from acud.x11 import auth
from tests.fuzz.decoder import Decoder
from tests.fuzz.samples import sample

_ROOT = Path(__file__).parents[2]
_PATCH = 10
"""Bytes of a change to a ring: its word's number, then the word."""


@cache
def _folder() -> Path:
    """Return a folder of this process's own, in memory where there is any."""
    shm = Path("/dev/shm")
    kept = tempfile.TemporaryDirectory(prefix="acud-fuzz-", dir=shm if shm.is_dir() else None)
    _KEPT.append(kept)
    return Path(kept.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when the process ends."""


@cache
def _real_ring() -> bytes:
    path = _folder() / "real"
    with Ring.create(path, Layout(40, 24, 2), 7) as ring:
        writer = FrameWriter(ring)
        for frame in (1, 2, 3):
            slot = writer.begin()
            writer.arrays[slot][:] = frame
            writer.publish(slot, frame, 1000 * frame, Rect(0, 0, 8, 8), np.full(ring.layout.tiles, frame, np.uint64))
        writer.close()
    return path.read_bytes()


def _ring(data: bytes) -> None:
    """Read a real ring with the words that `data` names put in, cut or made longer by its first two bytes."""
    ring = bytearray(_real_ring())
    for at in range(2, len(data) - _PATCH + 1, _PATCH):
        place = int.from_bytes(data[at : at + 2], "little") % (len(ring) // 8) * 8
        ring[place : place + 8] = data[at + 2 : at + _PATCH]
    size = int.from_bytes(data[:2], "little", signed=True)
    path = _folder() / "patched"
    path.write_bytes(bytes(ring[: len(ring) + min(0, size)]) + bytes(max(0, size)))
    with RingReader(path) as reader, reader.newest() as view:
        int(view.pixels[0, 0, 0])
        view.check()


def _ring_seeds() -> list[bytes]:
    """Return a patch for each word of the header and of a slot's head."""
    words = [*range(8), *range(512, 532)]
    values = [0, 1, 2, 2**15, 2**31, 2**63, 2**64 - 1]
    patches = [word.to_bytes(2, "little") + value.to_bytes(8, "little") for word in words for value in values]
    return [b"\0\0" + patch for patch in patches]


def into_file(read: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    def run(data: bytes) -> object:
        path = _folder() / name
        path.write_bytes(data)
        return read(path)

    return run


def _environment(data: bytes) -> None:
    """Read the settings with the variable that the first two bytes name set to the rest."""
    names = sorted(config.environment_names())
    words = data[2:].decode("utf-8", "replace").replace("\0", "")
    config.load(_folder() / "absent", {names[int.from_bytes(data[:2]) % len(names)]: words})


_RECORDING = new_id(recording.NOUN)


def _recording(data: bytes) -> None:
    """Read the lines of a segment as a replay does, and as the supervisor does after a recorder's death."""
    folder = _folder() / "recording"
    folder.mkdir(exist_ok=True)
    path = folder / file_name(_RECORDING, 1, FRAMES_SUFFIX)
    path.write_bytes(data)
    try:
        recording.load(folder, _RECORDING)
    except AcudError:
        describe_segment(path, 100)
    else:
        raise AssertionError("frames without a video")


def _environment_seeds() -> list[bytes]:
    words = (b"1", b"ollama, claude", b'["ocr"]', b"true")
    return [n.to_bytes(2, "big") + words[n % len(words)] for n in range(len(config.environment_names()))]


def _row_seeds() -> list[bytes]:
    lines = [msgspec.json.encode(sample(kind)) for kind in (SegmentHead, FrameRow)]
    return [b"\n".join([*lines, lines[1], b""])]


def _stat(data: bytes) -> None:
    folder = _folder() / "proc" / "42"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_bytes(data)
    (folder / "environ").write_bytes(data)
    processes.find_tty(42, folder.parent)
    processes.list_ancestors(42, folder.parent)


def _cookies(data: bytes) -> None:
    for entry in auth.xauthority_entries(data):
        auth.fits(entry, auth.FAMILY_LOCAL, b"here", 7)


_COOKIE = b"".join(len(part).to_bytes(2, "big") + part for part in (b"here", b"7", auth.COOKIE, bytes(16)))
_STAT = b"42 (a) b) S 41 42 42 34820 42 4194304 0\0WINDOWID=4194307\0"

FILES = (
    Decoder("rings", _ring, _ring_seeds),
    Decoder(
        "settings",
        into_file(lambda path: config.load(path, {}), "acud.toml"),
        lambda: [
            (_ROOT / "conf" / "acud.toml").read_bytes()[:1500],
            b'[vision]\nbackend = "ocr"\n',
            b"[wait]\nx = [1]\n",
        ],
    ),
    Decoder("environment", _environment, _environment_seeds),
    Decoder("recordings", _recording, _row_seeds, (AcudError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)),
    Decoder(
        "videos", into_file(mend_video, "rec.mp4"), lambda: [b"\0\0\0\x10ftypisom\0\0\2\0\0\0\0\x08moof\0\0\0\x08mdat"]
    ),
    Decoder("proc", _stat, lambda: [_STAT]),
    Decoder("xauth", _cookies, lambda: [b"\x01\x00" + _COOKIE, b"\xff\xff" + _COOKIE]),
)
