"""One writer, one reader, no process boundary: what a ring answers."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from acud.base.errors import Conflict, InvalidRequest, ProtocolError, ShmFull
from acud.frames import layout as place
from acud.frames.layout import HEADER_BYTES, S_SEQUENCE, Layout
from acud.frames.reader import FrameGone, RingReader
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.types import Rect

LAYOUT = Layout(40, 20, 3)


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[Ring]:
    with Ring.create(tmp_path / "ring", LAYOUT, epoch=7) as ring:
        yield ring


@pytest.fixture
def writer(ring: Ring) -> Iterator[FrameWriter]:
    writer = FrameWriter(ring)
    yield writer
    writer.close()


def put(writer: FrameWriter, frame: int, box: Rect | None = None) -> int:
    slot = writer.begin()
    writer.arrays[slot][:] = frame % 251
    writer.publish(slot, frame, frame * 10, box, np.full(LAYOUT.tiles, frame, np.uint64), (-3, 5, 2))
    return slot


def test_an_empty_ring_has_no_frame(ring: Ring) -> None:
    with RingReader(ring.path) as reader, pytest.raises(FrameGone):
        reader.newest()


def test_the_newest_frame_comes_back_whole(ring: Ring, writer: FrameWriter) -> None:
    for frame in range(1, 9):
        put(writer, frame, Rect(1, 2, 3, 4))
    with RingReader(ring.path) as reader, reader.newest() as view:
        assert (view.frame, view.epoch, view.mono_ns, view.box, view.cursor) == (8, 7, 80, Rect(1, 2, 3, 4), (-3, 5, 2))
        assert view.pixels.shape == (20, 40, 4)
        assert not view.pixels.flags.writeable
        assert (view.copy() == 8).all()
        assert list(view.tile_changes) == [8] * LAYOUT.tiles
        view.check()


def test_a_crop_is_a_contiguous_copy_and_has_to_lie_inside(ring: Ring, writer: FrameWriter) -> None:
    put(writer, 1)
    with RingReader(ring.path) as reader, reader.newest() as view:
        part = view.copy(Rect(10, 5, 30, 15))
        assert part.shape == (15, 30, 4)
        assert part.flags.c_contiguous
        for outside in (Rect(11, 5, 30, 15), Rect(-1, 0, 5, 5), Rect(0, 0, 0, 5)):
            with pytest.raises(InvalidRequest, match="not inside"):
                view.copy(outside)


def test_a_frame_older_than_asked_is_gone(ring: Ring, writer: FrameWriter) -> None:
    put(writer, 4)
    with RingReader(ring.path) as reader:
        assert reader.newest(4).frame == 4
        with pytest.raises(FrameGone):
            reader.newest(5)


def test_an_overwritten_frame_is_gone(ring: Ring, writer: FrameWriter) -> None:
    put(writer, 1)
    with RingReader(ring.path) as reader, reader.newest() as view:
        for frame in range(2, 2 + LAYOUT.slots):
            put(writer, frame)
        for use in (view.check, view.copy, lambda: view.tile_changes):
            with pytest.raises(FrameGone):
                use()


def test_a_slot_that_is_begun_is_gone_at_once_and_stays_so_when_given_up(ring: Ring, writer: FrameWriter) -> None:
    for frame in (1, 2, 3):
        put(writer, frame)
    with RingReader(ring.path) as reader:
        assert writer.begin() == writer.begin() == 0
        assert sorted(s.frame for s in map(ring._read_slot, range(3)) if s) == [2, 3]
        assert reader.newest().frame == 3
        put(writer, 4)
        assert reader.newest().frame == 4


def test_the_slot_being_written_is_never_the_newest(ring: Ring, writer: FrameWriter) -> None:
    newest = {put(writer, frame): frame for frame in range(1, 20)}
    assert writer.begin() != max(newest, key=lambda slot: newest[slot])


def test_arrays_outlive_a_closed_reader(ring: Ring, writer: FrameWriter) -> None:
    put(writer, 9)
    reader = RingReader(ring.path)
    pixels = reader.newest().pixels
    reader.close()
    reader.close()
    assert (pixels == 9).all()


def test_the_supervisors_view_needs_no_numpy(ring: Ring, writer: FrameWriter) -> None:
    put(writer, 5)
    with Ring.open(ring.path) as other:
        slot = other.newest()
        assert slot is not None
        assert list(other.tile_changes(slot)) == [5] * LAYOUT.tiles
        for frame in range(6, 6 + LAYOUT.slots):
            put(writer, frame)
        assert not other.holds(slot)
        with pytest.raises(FrameGone):
            other.tile_changes(slot)


# ---- files that are no rings ---------------------------------------------------------------------------------------


def test_no_file_is_a_frame_gone(tmp_path: Path) -> None:
    with pytest.raises(FrameGone):
        RingReader(tmp_path / "none")


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * HEADER_BYTES, b"ACUDRING" + b"\xff" * HEADER_BYTES])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ProtocolError):
        RingReader(path)


def test_a_short_ring_is_refused(ring: Ring) -> None:
    raw = ring.path.read_bytes()
    ring.path.with_name("short").write_bytes(raw[:-1])
    with pytest.raises(ProtocolError, match="damaged"):
        RingReader(ring.path.with_name("short"))


def test_directories_and_links_are_refused(ring: Ring, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(ring.path)
    for path in (tmp_path, tmp_path / "link"):
        with pytest.raises(ProtocolError):
            RingReader(path)


# ---- making and removing -------------------------------------------------------------------------------------------


def test_a_ring_is_private_and_wholly_allocated(ring: Ring) -> None:
    found = ring.path.stat()
    assert found.st_mode & 0o777 == 0o600
    assert found.st_size == LAYOUT.file_bytes
    assert found.st_blocks * 512 >= LAYOUT.file_bytes


def test_a_ring_is_never_made_over_another(ring: Ring) -> None:
    before = ring.path.read_bytes()
    with pytest.raises(Conflict):
        Ring.create(ring.path, LAYOUT, 8)
    assert ring.path.read_bytes() == before


def test_unlinking_twice_is_harmless(ring: Ring) -> None:
    ring.unlink()
    ring.unlink()
    assert ring.words[S_SEQUENCE] != 0  # the mapping stays


def test_full_shared_memory_names_the_sizes_and_leaves_nothing() -> None:
    path = Path("/dev/shm/acud-test-too-large")
    with pytest.raises(ShmFull, match=r"32767x32767 needs [0-9.]+ MB, and /dev/shm has") as caught:
        Ring.create(path, Layout(32767, 32767, 64), 1)
    assert caught.value.facts["needed_bytes"] > caught.value.facts["free_bytes"]
    assert "--shm-size" in caught.value.hint
    assert not path.exists()


def test_no_descriptor_leaks(tmp_path: Path) -> None:
    count = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(20):
        with Ring.create(tmp_path / f"r{number}", LAYOUT, 1), RingReader(tmp_path / f"r{number}"):
            pass
        (tmp_path / "bad").write_bytes(b"bad")
        with pytest.raises(ProtocolError):
            RingReader(tmp_path / "bad")
    assert len(list(Path("/proc/self/fd").iterdir())) == count


@pytest.mark.parametrize(("word", "value"), [
    (place.S_FRAME, 2**64 - 1), (place.S_FRAME, 2**53), (place.S_FRAME, 0), (place.S_MONO_NS, 2**63),
    (place.S_BOX_X, 2**64 - 1), (place.S_BOX_W, 2**63), (place.S_BOX_H, 21), (place.S_CURSOR_X, 2**40),
])  # fmt: skip
def test_a_head_that_cannot_be_is_no_frame(ring: Ring, writer: FrameWriter, word: int, value: int) -> None:
    put(writer, 4, Rect(1, 2, 3, 4))
    slot = put(writer, 5, Rect(1, 2, 3, 4))
    ring.words[LAYOUT.slot_word(slot) + word] = value
    with RingReader(ring.path) as reader, reader.newest() as view:
        assert view.frame == 4


def test_a_fifo_in_a_rings_place_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ring")
    with pytest.raises(ProtocolError, match="not a frame ring"):
        Ring.open(tmp_path / "ring")
