"""A source of frames: a drawable, its damage, its grab schedule, and the epochs of the ring that its frames go to."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import ProtocolError
from acud.base.log import logger
from acud.capture.frame_rate import CaptureCounters, GrabSchedule, PaintEffect, QuietWatch
from acud.frames.ring import FrameGone, Ring
from acud.frames.writer import FrameWriter
from acud.pixels.tiles import Mask, TileCompare, bitmap, blackout, identity, tile_looks
from acud.protocol.capture import Attach, LookAsk, Notice, PartLook
from acud.types import TILE_PX, Rect
from acud.waits.tiles import Grid, bounding_box, to_bytes
from acud.x11.damage import Damage
from acud.x11.grab import Area, GrabMemory, GrabPath, PixelsGone
from acud.x11.pointer import Cursor

Pixels = npt.NDArray[np.uint8]
_MS_PER_NS = 1e-6
MOST_LOOKS = 64
"""Tiles of a frame whose looks are sent: a caret has 2 to 4, and a larger change is hardly a blinking light."""


class Before(Struct, frozen=True):
    """The last frame of the previous ring: copies of its pixels and of its tiles' change numbers."""

    pixels: Pixels
    changes: npt.NDArray[np.uint64]


class Epoch:
    """Owns `ring` and its writer; closing twice is harmless. `newest`: the frame last published, None before any."""

    def __init__(self, order: Attach, ring: Ring) -> None:
        layout = ring.layout
        self.number = order.epoch
        self.ring = ring
        self.writer = FrameWriter(ring)
        self.newest: int | None = None
        self._next_frame = order.first_frame
        self._before = _last_frame(order, ring)
        self._compare = TileCompare(layout.width, layout.height)
        self._changes = self._before.changes if self._before else np.zeros(layout.tiles, np.uint64)

    @property
    def is_fresh(self) -> bool:
        """Whether the next frame has nothing to be compared with."""
        return self._base() is None

    def _base(self) -> Pixels | None:
        if self.writer.newest is not None:
            return self.writer.arrays[self.writer.newest]
        return self._before.pixels if self._before else None

    def difference(self, slot: int, box: Rect | None) -> Mask:
        """Return which tiles of the frame in `slot` are new, searched in `box` (None: everywhere)."""
        base = self._base()
        if base is None:
            return self._compare.everything()
        return self._compare.find_changes(base, self.writer.arrays[slot], None if self.newest is None else box)

    def differs(self, slot: int, box: Rect) -> bool:
        """Return whether a pixel of `box` in the frame in `slot` is new."""
        base = self._base()
        if base is None:
            return True
        place = slice(max(0, box.y), box.bottom), slice(max(0, box.x), box.right), slice(0, 3)
        return not np.array_equal(base[place], self.writer.arrays[slot][place])

    def looks(self, slot: int, mask: Mask) -> bytes:
        """Return the looks of the tiles in `mask`; nothing for more than `MOST_LOOKS`."""
        return tile_looks(self.writer.arrays[slot], mask) if np.count_nonzero(mask) <= MOST_LOOKS else b""

    def look_at_part(self, slot: int, ask: LookAsk) -> PartLook:
        pixels = self.writer.arrays[slot]
        if ask.crop is not None:
            pixels = pixels[ask.crop.y : ask.crop.bottom, ask.crop.x : ask.crop.right]
        if not ask.tiles:
            return PartLook(ask, identity(pixels, ask.ignore))
        pixels = blackout(pixels, ask.ignore)
        every = TileCompare(pixels.shape[1], pixels.shape[0]).everything()
        return PartLook(ask, identity(pixels), tile_looks(pixels, every))

    def bounds(self, mask: Mask) -> Rect | None:
        """Return the box around the tiles in `mask`; None when nothing changed."""
        return self._compare.bounds(mask)

    def publish(self, slot: int, mono_ns: int, mask: Mask, box: Rect | None, cursor: tuple[int, int, int]) -> int:
        """Make the frame in `slot` the newest; return its number. `mask`, `box`: the changes."""
        frame, self._next_frame = self._next_frame, self._next_frame + 1
        if box is not None:
            self._changes[mask.ravel()] = frame
        self.writer.publish(slot, frame, mono_ns, box, self._changes, cursor)
        self.newest, self._before = frame, None
        return frame

    def close(self) -> None:
        self.writer.close()
        self.ring.close()


class CaptureSource:
    """One source. `area`: the pixels that make a frame. `damage`: None where the server reports none.

    Owns epoch, damage and path; closing twice is harmless. Until `attach_ring` nothing is grabbed.
    """

    def __init__(self, name: str, area: Area, damage: Damage | None, path: GrabPath, schedule: GrabSchedule) -> None:
        self.name, self.area, self.damage, self.schedule = name, area, damage, schedule
        self._path = path
        self._epoch: Epoch | None = None
        self._box: Rect | None = None
        self._damage_ns = 0
        self._quiet = QuietWatch()
        self.paints: Damage | None = None  # reports each painted box by itself, while a wait needs quiet
        self.sends_looks = False  # whether notices carry the looks of changed tiles
        self.shown: tuple[LookAsk, ...] = ()  # the looks that the next demanded grab is to report
        self.compared_ns = 0
        """CLOCK_MONOTONIC of the newest grab that was compared with the newest frame, or is it; 0: none was."""

    @property
    def newest(self) -> tuple[int, int] | None:
        """The (epoch, frame) last published; None before the first."""
        epoch = self._epoch
        return None if epoch is None or epoch.newest is None else (epoch.number, epoch.newest)

    def attach_ring(self, order: Attach) -> bool:
        """Write into the ring of `order` from now on; return False when it is gone, or has another geometry."""
        try:
            ring = Ring.open(order.path, writable=True)
        except FrameGone:
            return False
        if (ring.layout.width, ring.layout.height) != (self.area.width, self.area.height):
            ring.close()
            return False
        self.detach()
        self._path.attach(_get_grab_memory(ring))
        self._epoch = Epoch(order, ring)
        self.schedule.damaged = True
        return True

    def detach(self) -> None:
        """Close the ring, and have the server do so: unlinked but attached it would stay allocated."""
        if self._epoch is not None:
            self._epoch.close()
            self._epoch = None
        self._path.close()
        self.shown = ()

    def move(self, area: Area) -> None:
        """Take pixels from `area` from now on. Another size ends the epoch: a new ring must be requested."""
        resized = (area.width, area.height) != (self.area.width, self.area.height)
        self.area, self._box = area, None
        self.schedule.damaged = True
        if resized:
            self.detach()

    def close(self) -> None:
        self.detach()
        self.watch_boxes(())
        if self.damage is not None:
            self.damage.close()

    def note_painted(self, box: Rect, now_ns: int) -> None:
        """Note that `box` was painted; `now_ns`: CLOCK_MONOTONIC when that was read."""
        self._damage_ns = self._damage_ns or now_ns
        self._box = box if self._box is None else bounding_box((self._box, box))
        self.schedule.damaged = True

    def watch_boxes(self, boxes: tuple[Rect, ...]) -> bool:
        """Examine paint in these boxes; return True when that began, and the first reports are to be forgotten."""
        begins = bool(boxes) and self.paints is None and self.damage is not None
        self._quiet.watch_boxes(boxes)
        if begins and self.damage is not None:
            self.paints = self.damage.in_boxes()
            self.paints.subtract()  # a new damage reports all of its window as painted
        elif not boxes and self.paints is not None:
            self.paints.close()
            self.paints = None
            self._quiet.forget_paint()
        return begins

    def forget_paint(self) -> None:
        """Forget what `watch_boxes` reported at first."""
        self._quiet.forget_paint()

    def note_painted_at(self, box: Rect, at_ns: int) -> None:
        """Note that `box` was painted at `at_ns` (CLOCK_MONOTONIC)."""
        self.schedule.hurried |= self._quiet.note_painted(box, at_ns)

    @property
    def is_behind(self) -> bool:
        """Whether something may have been painted that no frame shows, and there is a ring for a frame."""
        return self._epoch is not None and (self.damage is None or self.schedule.damaged)

    def due_s(self) -> float | None:
        """Return when to grab next (see `GrabSchedule.due_s`); None without a ring."""
        return self.schedule.due_s() if self._epoch is not None else None

    def grab(self, cursor: Cursor, drain: Callable[[], None], counters: CaptureCounters) -> Notice | None:
        """Grab, compare, publish; return None when nothing changed and this grab was not requested.

        The order is DamageSubtract, the whole area, then `drain`, which dispatches every event read up to the reply (so
        that `note_painted` is called). Earlier and late paint make this frame's box; late paint counts for the next
        frame too. With the earlier paint alone, 2.7 to 5 % of frames missed changed pixels.

        Raises: PixelsGone.
        """
        epoch = self._epoch
        if epoch is None:
            raise ProtocolError(f"{self.name} has no ring")
        start, paints = self._begin_grab(), self._quiet.take_paints()
        slot = epoch.writer.begin()
        self._fetch_pixels(slot, cursor)
        drain()
        fetched_ns = time.monotonic_ns()
        mask = epoch.difference(slot, self._find_search_box(start))
        self._quiet.examine(lambda box: _find_effect(epoch, slot, mask, box), paints, fetched_ns)
        notice = replace(_publish(self.name, epoch, slot, mask, start, cursor), took_ns=fetched_ns - start.mono_ns)
        if self.sends_looks and notice.tiles:
            notice = replace(notice, looks=epoch.looks(slot, mask))
        if start.number and self.shown:
            notice = replace(notice, shown=tuple(epoch.look_at_part(slot, ask) for ask in self.shown))
            self.shown = ()
        compare_ns = time.monotonic_ns() - fetched_ns
        self.compared_ns = start.mono_ns
        counters.count_grab(
            (fetched_ns - start.mono_ns) * _MS_PER_NS, compare_ns * _MS_PER_NS, published=notice.frame > start.newest
        )
        return self._with_doubts(notice) if notice.frame > start.newest or start.number else None

    def _with_doubts(self, notice: Notice) -> Notice:
        grid, unsure = Grid(self.area.width, self.area.height), 0
        for box in self._quiet.doubts():
            unsure |= grid.find_touching(box)
        return replace(notice, unsure=to_bytes(unsure)) if unsure else notice

    def _begin_grab(self) -> Start:
        mono_ns = time.monotonic_ns()
        newest = self._epoch.newest if self._epoch is not None else None
        start = Start(mono_ns, self._box, self._damage_ns, self.schedule.begin_grab(mono_ns / 1e9), newest or 0)
        self._box, self._damage_ns = None, 0
        return start

    def _fetch_pixels(self, slot: int, cursor: Cursor) -> None:
        for damage in (self.damage, self.paints):
            if damage is not None:
                damage.subtract()
        cursor.queue_request()
        try:
            self._path.grab(self.area, slot)
        except PixelsGone:
            self.schedule.note_failed_grab()
            raise

    def _find_search_box(self, start: Start) -> Rect | None:
        """Return where to search for changes; None: everywhere, as floor and demanded grabs do."""
        # A compositor can swallow damage; a requested frame must show what is there.
        return None if start.number or start.box is None else bounding_box(filter(None, (start.box, self._box)))


class Start(Struct, frozen=True):
    """The beginning of a grab. `newest`: the frame last published, 0 before any; `number`: the demanded grab."""

    mono_ns: int
    box: Rect | None
    damage_ns: int
    number: int
    newest: int


def _last_frame(order: Attach, ring: Ring) -> Before | None:
    """Return the newest frame of the previous ring, if it has the same geometry as `ring`."""
    if not order.previous:
        return None
    try:
        with Ring.open(order.previous) as old:
            return _copy_frame(old, order.first_frame) if old.layout.same_frames(ring.layout) else None
    except (FrameGone, ProtocolError) as fault:
        logger("capture").warning("previous.unreadable", fault=fault.message)
        return None


def _copy_frame(old: Ring, first_frame: int) -> Before | None:
    slot = old.newest()  # its writer is dead or has closed it: nothing overwrites it now
    if slot is None:
        return None
    if slot.frame >= first_frame:  # the supervisor knows neither it nor its changes
        logger("capture").warning("previous.ahead", frame=slot.frame, first_frame=first_frame)
        return None
    layout = old.layout
    pixels = np.frombuffer(bytes(old.pixels(slot.index)), np.uint8).reshape(layout.height, layout.width, 4)
    return Before(pixels, np.array(old.tile_changes(slot), np.uint64))


def _get_grab_memory(ring: Ring) -> GrabMemory:
    slots = range(ring.layout.slots)
    return GrabMemory(ring.fileno(), [ring.layout.pixels_at(k) for k in slots], [ring.pixels(k) for k in slots])


def _publish(name: str, epoch: Epoch, slot: int, mask: Mask, start: Start, cursor: Cursor) -> Notice:
    """Publish the frame in `slot` unless it equals the newest, and return the notice."""
    place, box = cursor.read_answer(), epoch.bounds(mask)
    if epoch.newest is not None and box is None:
        return Notice(name, epoch.number, epoch.newest, start.mono_ns, damage_ns=start.damage_ns, grab=start.number)
    fresh = epoch.is_fresh
    frame = epoch.publish(slot, start.mono_ns, mask, box, place)
    tiles = b"" if box is None else bitmap(mask)
    return Notice(name, epoch.number, frame, start.mono_ns, tiles, box, start.damage_ns, start.number, fresh=fresh)


def _find_effect(epoch: Epoch, slot: int, mask: Mask, box: Rect) -> PaintEffect:
    """Return the effect on `box`: by tiles inside it, else by its pixels in the changed tiles."""
    left, top = max(0, box.x), max(0, box.y)
    whole = slice(-(-top // TILE_PX), box.bottom // TILE_PX), slice(-(-left // TILE_PX), box.right // TILE_PX)
    if mask[whole].any():
        return PaintEffect.TILES
    touched = np.zeros_like(mask)
    part = slice(top // TILE_PX, -(-box.bottom // TILE_PX)), slice(left // TILE_PX, -(-box.right // TILE_PX))
    touched[part] = mask[part]
    around = epoch.bounds(touched)
    inside = around.intersect(box) if around is not None else None
    return PaintEffect.PIXELS if inside is not None and epoch.differs(slot, inside) else PaintEffect.SAME
