"""Rings that a killed supervisor left. They hold the frame that last changed each tile, so what changed since any of
their frames is known exactly, even if that frame was overwritten long ago.

One ring for each source is kept until the source is back, its first frame was compared with the ring's last one, and
the ring is not being read. Remaining rings are removed after `KEEP_S`, and at once where /dev/shm needs the room.
"""

from __future__ import annotations

from array import array
from collections import Counter
from pathlib import Path

from msgspec import Struct

from acud.base import log
from acud.base.errors import ProtocolError
from acud.frames.layout import Layout
from acud.frames.ring import FrameGone, Ring, Slot
from acud.types import MAX_NUMBER
from acud.waits.tiles import bits

KEEP_S = 20.0
"""A display's source comes back within a second or two of the start; a covered window's a little later."""

_MOST_FRAME = MAX_NUMBER // 2
"""The largest credible frame number of a former ring, so that its successors do not run out of numbers."""
_EPOCH_DIGITS = 15
MAX_SEQUENCE_NUMBERS = 4096
"""The most frames that the change numbers of a ring's tiles distinguish."""

_LOG = log.logger("orphaned_rings")


class OrphanedRing(Struct, frozen=True):
    """A ring of a former supervisor. `server`: the run of the X server that its frame numbers belong to.

    `changed`: by frame number the tiles that this frame changed last, up to `frame`, the newest one.
    """

    path: Path
    epoch: int
    server: str
    layout: Layout
    frame: int
    changed: dict[int, int]


class OrphanedRings:
    """Owns the rings found in `folder`; all but the newest with a frame of each source are removed at once."""

    def __init__(self, folder: Path) -> None:
        self._past: dict[str, OrphanedRing] = {}
        self._epochs: dict[str, int] = {}
        self._compared: set[str] = set()
        self._read: Counter[str] = Counter()
        files = [file for file in folder.iterdir() if not file.is_dir()] if folder.is_dir() else []
        for file in sorted(files, key=_parse_epoch):
            self._keep_newest(file)

    def _keep_newest(self, file: Path) -> None:
        """Keep `file` in place of an older ring of its source, if it has a frame."""
        name, past = file.name.rpartition(".")[0], _read_ring(file)
        self._epochs[name] = _parse_epoch(file)
        if past is None:
            file.unlink(missing_ok=True)
            return
        self.drop(name)
        self._past[name] = past

    def find_epoch(self, source: str) -> int:
        """Return the highest epoch that `source` had; 0 for an unknown source."""
        return self._epochs.get(source.lstrip(":"), 0)

    @property
    def is_empty(self) -> bool:
        return not self._past

    def find(self, source: str) -> OrphanedRing | None:
        """Return the ring of `source`; None if it was removed."""
        return self._past.get(source.lstrip(":"))

    def reread(self, source: str) -> OrphanedRing | None:
        """Read the ring again and return it, as its writer may have added a frame before it died too. Return None once
        it was compared: the source has newer frames, and its numbers never go back.
        """
        name = source.lstrip(":")
        if name in self._compared:
            return None
        if name in self._past:
            found = _read_ring(self._past[name].path)
            if found is None:
                self.drop(name)
            else:
                self._past[name] = found
        return self.find(name)

    # ---- how long a ring stays -------------------------------------------------------------------------------------

    def hold_ring(self, source: str) -> None:
        """Keep the ring until `release_ring` was called as often."""
        self._read[source.lstrip(":")] += 1

    def release_ring(self, source: str) -> None:
        """Undo one `hold_ring`."""
        name = source.lstrip(":")
        self._read[name] -= 1
        self._let_go(name)

    def mark_compared(self, source: str) -> None:
        """Remove the ring unless it is held: the first frame of `source` was compared with it."""
        name = source.lstrip(":")
        if name in self._past:
            self._compared.add(name)
            self._let_go(name)

    def _let_go(self, name: str) -> None:
        if name in self._compared and not self._read[name]:
            self.drop(name)

    def drop(self, source: str) -> bool:
        """Remove the ring of `source`; return False without one."""
        past = self._past.pop(source.lstrip(":"), None)
        if past is not None:
            past.path.unlink(missing_ok=True)
        return past is not None

    def drop_others(self, source: str) -> bool:
        """Remove every ring but that of `source`; return False if no ring was left."""
        names = [name for name in self._past if name != source.lstrip(":")]
        for name in names:
            self.drop(name)
        return bool(names)

    def clear(self) -> None:
        if self._past:
            _LOG.info("rings.unclaimed", sources=sorted(self._past))
        for name in list(self._past):
            self.drop(name)


def find_same_frame(past: OrphanedRing, frame: int, tiles: int) -> int | None:
    """Return the newest frame in the ring, from `frame` on, in which none of `tiles` changed since `frame`; or None.
    Each frame holds its own change numbers, as those of the newest one hide all changes of a tile but the last.
    """
    try:
        with Ring.open(past.path) as ring:
            found = [slot.frame for slot in ring.valid() if slot.frame >= frame and _is_same(ring, slot, frame, tiles)]
    except (FrameGone, ProtocolError) as fault:
        _LOG.warning("ring.unreadable", path=past.path.name, fault=fault.message)
        return None
    return max(found, default=None)


def _is_same(ring: Ring, slot: Slot, frame: int, tiles: int) -> bool:
    """Return whether `tiles` in `slot` are as they were in `frame`; False if the slot was overwritten meanwhile."""
    try:
        numbers = ring.tile_changes(slot)
    except FrameGone:
        return False
    return all(numbers[tile] <= frame for tile in bits(tiles))


def _parse_epoch(file: Path) -> int:
    number = file.name.rpartition(".")[2]
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= _EPOCH_DIGITS else 0


def _read_ring(file: Path) -> OrphanedRing | None:
    """Return the ring in `file`; None when it has no complete frame, or is no ring."""
    try:
        with Ring.open(file) as ring:
            slot = ring.newest()
            if slot is None:
                return None
            numbers = _check_numbers(ring.tile_changes(slot), slot.frame)
            return OrphanedRing(file, ring.epoch, ring.server, ring.layout, slot.frame, count_by_frame(numbers))
    except (FrameGone, ProtocolError) as fault:
        _LOG.warning("ring.unreadable", path=file.name, fault=fault.message)
        return None


def _check_numbers(numbers: array[int], frame: int) -> array[int]:
    """Return `numbers`. Raises: ProtocolError when no writer can have reached `frame` with these change numbers."""
    if frame > _MOST_FRAME or max(numbers) > frame:
        raise ProtocolError(f"damaged frame ring: its frame {frame} has a tile of frame {max(numbers)}")
    return numbers


def count_by_frame(numbers: array[int]) -> dict[int, int]:
    """Return by frame number the tiles with that change number, as a bitmap (`acud.waits.tiles`).

    Each bitmap is as large as the screen. Beyond `MAX_SEQUENCE_NUMBERS` frames, older ones count as the oldest of
    those, so that a tile may seem to have changed later than it did, never earlier.
    """
    distinct = sorted(set(numbers))[-MAX_SEQUENCE_NUMBERS:]
    oldest = distinct[0]
    size = -(-len(numbers) // 8)
    bits: dict[int, bytearray] = {}
    for tile, number in enumerate(numbers):
        bits.setdefault(max(number, oldest), bytearray(size))[tile // 8] |= 1 << tile % 8
    return {number: int.from_bytes(found, "little") for number, found in bits.items()}
