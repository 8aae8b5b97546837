"""A ring's file: created, opened, mapped, validated, unlinked. Needs no numpy: the supervisor uses it.

Only the supervisor creates and unlinks rings. A ring holds its mapping until `close`; its memory (`pixels`, arrays made
from it) stays valid until its last holder frees it.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Self

from msgspec import Struct

from acud.base.errors import AcudError, Conflict, ProtocolError, ShmFull
from acud.base.paths import free_bytes
from acud.frames import layout as place
from acud.frames.layout import Layout
from acud.types import MAX_NUMBER, Rect

_MAX_NS = 2**63 - 1
_SCANS = 16  # how often `newest` repeats a scan in which every slot changed; at 240 fps one scan is 1/800 of a frame


class FrameGone(AcudError):
    """The frame was overwritten, or none is new enough; an expected answer: take the newest."""

    code: ClassVar[str] = "frame_gone"


class Slot(Struct, frozen=True):
    """The content of a slot's head while its sequence was `sequence`.

    `mono_ns`: CLOCK_MONOTONIC at the start of the grab. `box`: around the changed tiles (None: nothing changed).
    `cursor`: the pointer's (x, y, shape serial).
    """

    index: int
    sequence: int
    frame: int
    mono_ns: int
    box: Rect | None
    cursor: tuple[int, int, int]


class Ring:
    """A mapped ring. A context manager; closing twice is harmless.

    `words` is the file as 8-byte words, `map` the bytes; both writable only when opened so.
    """

    def __init__(self, path: Path, fd: int, layout: Layout, epoch: int, *, writable: bool) -> None:
        self.path, self.layout, self.epoch, self._fd = path, layout, epoch, fd
        access = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self.map = mmap.mmap(fd, layout.file_bytes, flags=mmap.MAP_SHARED, prot=access)
        self.words = memoryview(self.map).cast("Q")
        self._bounds = Rect(0, 0, layout.width, layout.height)
        self._slot_words = [layout.slot_word(k) for k in range(layout.slots)]

    @classmethod
    def create(cls, path: str | Path, layout: Layout, epoch: int, server: str = "") -> Self:
        """Make the file `path` (which must not exist, mode 0600) with every byte allocated, and map it for writing.

        `server`: the run of the X server within which the frame numbers count.

        Raises: ShmFull naming the sizes; Conflict when the path exists; Refused on an untested machine.
        """
        place.check_machine()
        place.check_sizes(layout)
        path = Path(path)
        fd = _create_file(path, layout)
        with _closed_on_error(fd):
            ring = cls(path, fd, layout, epoch, writable=True)
        place.write_header(ring.words, layout, epoch, server)
        return ring

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Self:
        """Map the ring at `path`. Raises: FrameGone when there is no such file; ProtocolError when it is no ring, or a
        damaged one.
        """
        place.check_machine()
        path = Path(path)
        fd = _open_file(path, writable=writable)
        with _closed_on_error(fd):
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise ProtocolError(f"{path.name} is not a frame ring but something else than a file")
            head = os.pread(fd, place.HEADER_BYTES, 0)
            if len(head) < place.HEADER_BYTES:
                raise ProtocolError(f"{path.name} is not a frame ring: {len(head)} bytes")
            layout, epoch = place.read_header(memoryview(head).cast("Q"), found.st_size)
            return cls(path, fd, layout, epoch, writable=writable)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Return the file's descriptor, as MIT-SHM's AttachFd takes it; the ring still owns it."""
        return self._fd

    def close(self) -> None:
        """Close mapping and descriptor; the file stays."""
        if self._fd < 0:
            return
        os.close(self._fd)
        self._fd = -1
        # A caller may still hold an array over the mapping: the memory is freed with that array.
        with contextlib.suppress(BufferError):
            self.words.release()
            self.map.close()

    def unlink(self) -> None:
        """Remove the file's name; mappings stay valid. Removing it twice is harmless."""
        self.path.unlink(missing_ok=True)

    @property
    def server(self) -> str:
        """The run of the X server within which its frame numbers count. Raises: ProtocolError when that is damaged."""
        return place.read_server(self.words)

    def pixels(self, slot: int) -> memoryview:
        """Return the bytes of the pixels in `slot`: mapped, not copied, valid until the slot is overwritten."""
        start = self.layout.pixels_at(slot)
        return memoryview(self.map)[start : start + self.layout.pixel_bytes]

    def sequence(self, slot: int) -> int:
        """Return the present sequence of `slot`; 0 on a closed ring."""
        return self.words[self._slot_words[slot]] if self._fd >= 0 else 0

    def newest(self, min_frame: int = 0, max_frame: int | None = None) -> Slot | None:
        """Return the valid slot with the highest frame number, from `min_frame` up to `max_frame`, or None."""
        for _ in range(_SCANS):
            slots = [slot for slot in self.valid() if max_frame is None or slot.frame <= max_frame]
            if slots:
                best = max(slots, key=lambda s: s.frame)
                return best if best.frame >= min_frame else None
        return None

    def valid(self) -> list[Slot]:
        """Return every slot with a whole frame, in the order of the file. A head with an impossible number, time or box
        is not a frame: another holder of the memory may have written it.
        """
        found = map(self._read_slot, range(self.layout.slots))
        return [slot for slot in found if slot is not None]

    def holds(self, slot: Slot) -> bool:
        """Return whether the slot still has the whole frame read as `slot`."""
        return self.sequence(slot.index) == slot.sequence

    def tile_changes(self, slot: Slot) -> array[int]:
        """Return per tile the number of the frame that last changed it (row by row); a copy. Raises: FrameGone when the
        slot was overwritten meanwhile.
        """
        start = self._slot_words[slot.index] + place.S_TILES
        numbers = array("Q", self.words[start : start + self.layout.tiles].tobytes())
        if not self.holds(slot):
            raise FrameGone(f"frame {slot.frame} was overwritten")
        return numbers

    def _read_slot(self, index: int) -> Slot | None:
        start = self._slot_words[index]
        sequence = self.words[start]
        if sequence == 0 or sequence & 1:
            return None
        head = self.words[start : start + place.S_TILES]
        box = (
            Rect(head[place.S_BOX_X], head[place.S_BOX_Y], head[place.S_BOX_W], head[place.S_BOX_H])
            if head[place.S_BOX_W]
            else None
        )
        cursor = (_to_signed(head[place.S_CURSOR_X]), _to_signed(head[place.S_CURSOR_Y]), head[place.S_CURSOR_SERIAL])
        slot = Slot(index, sequence, head[place.S_FRAME], head[place.S_MONO_NS], box, cursor)
        return slot if self.words[start] == sequence and self._can_be(slot) else None

    def _can_be(self, slot: Slot) -> bool:
        numbers = 1 <= slot.frame <= MAX_NUMBER and slot.mono_ns <= _MAX_NS
        pointer = all(-(2**31) <= place < 2**31 for place in slot.cursor[:2])
        return numbers and pointer and (slot.box is None or self._bounds.contains(slot.box))


def newest_frame(path: Path | None) -> int:
    """Return the number of the newest frame in the ring at `path`; 0 when there is none, or no readable ring."""
    if path is None:
        return 0
    try:
        with Ring.open(path) as ring:
            slot = ring.newest()
    except (FrameGone, ProtocolError):
        return 0
    return slot.frame if slot is not None else 0


def _to_signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _create_file(path: Path, layout: Layout) -> int:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError as fault:
        raise Conflict(f"a frame ring is already at {path}") from fault
    except OSError as fault:
        if fault.errno == errno.ENOSPC:  # tmpfs has no inode left
            raise _build_shm_full(path, layout) from fault
        raise
    try:
        os.posix_fallocate(fd, 0, layout.file_bytes)
    except OSError as fault:
        os.close(fd)
        path.unlink()
        if fault.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise _build_shm_full(path, layout) from fault
        raise
    return fd


def _build_shm_full(path: Path, layout: Layout) -> ShmFull:
    free = free_bytes(path.parent)
    return ShmFull(
        f"a ring of {layout.slots} frames of {layout.width}x{layout.height} needs {layout.file_bytes / 1e6:.1f} MB, "
        f"and {path.parent} has {free / 1e6:.1f} MB free",
        hint="mount /dev/shm larger (docker: --shm-size), or set [capture] slots or the display's size lower",
        needed_bytes=layout.file_bytes,
        free_bytes=free,
    )


def _open_file(path: Path, *, writable: bool) -> int:
    try:
        # Not blocking: a FIFO in the ring's place is refused below instead of being waited for.
        return os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError as fault:
        raise FrameGone(f"the frame ring {path.name} is gone") from fault
    except OSError as fault:
        raise ProtocolError(f"{path.name} is not a readable frame ring: {fault.strerror}") from fault


@contextlib.contextmanager
def _closed_on_error(fd: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(fd)
        raise
