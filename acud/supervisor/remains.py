"""Rings that a killed supervisor left: they name the frame that last changed each tile, so what changed since any frame
of theirs is still known, exactly, though the frame itself was overwritten long ago.

One ring for each source is kept until that source says hello again and its first frame was compared with the ring's
last one; what nobody claims goes after `KEEP_S`, and at once where /dev/shm needs the room.
"""

from __future__ import annotations

from array import array
from pathlib import Path

from msgspec import Struct

from acud import log
from acud.errors import ProtocolError
from acud.frames.layout import Layout
from acud.frames.ring import FrameGone, Ring

KEEP_S = 20.0
"""A display's capture says hello within a second or two of the start; a covered window's source a little later."""

_LOG = log.logger("remains")


class Past(Struct, frozen=True):
    """What is known of a source from before. `epoch`: the highest there was.

    `path` None: no frame of it is left. `server`: the run of the X server within which its frame numbers count.
    `changed`: by frame number the tiles that this frame changed last, up to `frame`.
    """

    epoch: int
    path: Path | None = None
    server: str = ""
    layout: Layout = Layout(0, 0, 0)
    frame: int = 0
    changed: dict[int, int] = {}


class Remains:
    """The rings found in `folder`; all but the newest with a frame of each source are removed at once."""

    def __init__(self, folder: Path) -> None:
        self._past: dict[str, Past] = {}
        files = [file for file in folder.iterdir() if not file.is_dir()] if folder.is_dir() else []
        for file in sorted(files, key=_epoch):
            self._found(file)

    def _found(self, file: Path) -> None:
        """Keep `file` in place of an older ring of its source, where it has a frame."""
        name, older = _source(file), self._past.get(_source(file))
        past = _read(file)
        if past is None:
            file.unlink(missing_ok=True)
            self._past[name] = Past(_epoch(file)) if older is None else _renumbered(older, _epoch(file))
            return
        if older is not None and older.path is not None:
            older.path.unlink(missing_ok=True)
        self._past[name] = past

    def take(self, source: str) -> Past | None:
        """Return what is left of `source`; its ring is the caller's now. None when nothing is, or it was taken."""
        past = self._past.pop(source.lstrip(":"), None)
        # Read again: the writer that died with its supervisor may have got one frame further since.
        return past if past is None or past.path is None else _read(past.path) or Past(past.epoch)

    def clear(self) -> int:
        """Remove every ring that nobody took; return how many. Harmless when there are none."""
        rings = [past.path for past in self._past.values() if past.path is not None]
        self._past = {name: Past(past.epoch) for name, past in self._past.items()}
        for path in rings:
            path.unlink(missing_ok=True)
        if rings:
            _LOG.info("rings.unclaimed", files=len(rings))
        return len(rings)


def _source(file: Path) -> str:
    return file.name.rpartition(".")[0]


def _epoch(file: Path) -> int:
    number = file.name.rpartition(".")[2]
    return int(number) if number.isascii() and number.isdecimal() else 0


def _renumbered(past: Past, epoch: int) -> Past:
    return Past(epoch, past.path, past.server, past.layout, past.frame, past.changed)


def _read(file: Path) -> Past | None:
    """Return what a ring tells; None when it has no whole frame, or is no ring."""
    try:
        with Ring.open(file) as ring:
            slot = ring.newest()
            if slot is None:
                return None
            changed = _by_frame(ring.tile_changes(slot))
            return Past(_epoch(file), file, ring.server, ring.layout, slot.frame, changed)
    except (FrameGone, ProtocolError) as fault:
        _LOG.warning("ring.unreadable", path=file.name, fault=fault.message)
        return None


def _by_frame(numbers: array[int]) -> dict[int, int]:
    """Return per frame number the tiles that it stands at, as a bitmap (`acud.waits.grid`)."""
    size = -(-len(numbers) // 8)
    bits: dict[int, bytearray] = {}
    for tile, number in enumerate(numbers):
        bits.setdefault(number, bytearray(size))[tile // 8] |= 1 << tile % 8
    return {number: int.from_bytes(found, "little") for number, found in bits.items()}
