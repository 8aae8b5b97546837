"""Sources of frames: their rings, their newest frames, the demand for them, and counts by display."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, ProtocolError, Refused, ShmFull
from acud.frames.layout import Layout
from acud.frames.ring import Ring, newest_frame
from acud.metrics.catalogue import QUICK_S
from acud.metrics.counters import Histogram
from acud.protocol.capture import Attach, Demand, LookAsk, Notice, SourceHello
from acud.supervisor.frame_rate_limits import compute_caps
from acud.supervisor.observers import Observers
from acud.supervisor.orphaned_rings import KEEP_S, OrphanedRings
from acud.types import Rect


class FrameTally:
    """Counts of a display's frames, those of its covered windows included."""

    def __init__(self) -> None:
        self.frames = 0
        self.missed = 0
        self.damage_to_frame_s = Histogram(QUICK_S)
        self.frame_to_notice_s = Histogram(QUICK_S)

    def count_notice(self, notice: Notice, missed: int, now_s: float) -> None:
        self.frames += 1 + missed
        self.missed += missed
        self.frame_to_notice_s.observe(now_s - notice.mono_ns / 1e9)
        if notice.damage_ns:
            self.damage_to_frame_s.observe((notice.mono_ns - notice.damage_ns) / 1e9)


_LOG = log.logger("sources")
_RATE_WINDOW_S = 2.0
_MOST_FPS = 1000  # no capture process publishes more: `[capture] max_fps` is at most 240, with one demanded grab a turn
_HEAD_START = 10_000  # frames that a ring may hold as soon as it is made
_AHEAD_S = 1.0
_MOST_LEFT = 4096  # forgotten sources that are remembered singly; a daemon sees any number of covered windows
_NO_TIMES: Mapping[str, int] = {}


class Link(Protocol):
    """Sends a message to the capture process of a source; returns whether it could be queued."""

    def __call__(self, message: Attach | Demand) -> bool: ...


class Watcher(Protocol):
    """A consumer of a source's frames."""

    def source_up(self, source: Source) -> None:
        """Handle a new ring (with a new epoch); its first notice follows."""

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Handle a new frame, or a demanded grab that found nothing new."""

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Handle the loss of the source's pixels; never report its last frame as present."""


class Source:
    """One source: its ring, its newest frame, its demand."""

    def __init__(self, name: str, display: str, window_id: int, link: Link) -> None:
        self.name, self.display, self.window_id, self.link = name, display, window_id, link
        self.path: Path | None = None
        self.previous: Path | None = None
        """The ring before; its last frame is compared with the first of the present ring."""
        self.unheard = 0  # the highest frame number without a notice, in a ring that is gone
        self.full_since_s: float | None = None  # when /dev/shm first had no room for its ring
        self.epoch = 0
        self.frame = 0
        self.first = 0  # the first number of its ring, made at `attached_s`
        self.attached_s = 0.0
        self.width = 0
        self.height = 0
        self.method = ""
        self.method_reason = ""
        self.x_server = ""
        self.run = ""  # names the run that its frame numbers belong to; kept when a former supervisor's ring is resumed
        self.taken_up = 0  # the last frame of the former supervisor's ring, 0 without one
        self.compared_mono_ns = 0  # when a grab was last known to equal or be the newest frame
        self.grab = 0
        self.grabbed = 0
        self.fps = 0.0
        self.wanted_since_s = 0.0  # since when consumers want frames; meaningless while `fps` is 0
        self.up = False
        self.lost_reason = ""
        self.wanted: dict[object, float] = {}
        self.quiet: dict[object, tuple[Rect, ...]] = {}  # by consumer: the boxes in which it waits for quiet
        self.looks: set[object] = set()  # the consumers that need the looks of changed tiles
        self.recent: deque[float] = deque(maxlen=256)

    @property
    def live(self) -> bool:
        """Whether its newest frame may be shown as present."""
        return self.up and self.frame > self.taken_up

    @property
    def server(self) -> str:
        """The run within which frame numbers never go back: of the X server and of the counting."""
        return f"{self.run}.{self.x_server}"


class Sources:
    """Every source of this instance; owns the rings under `folder`."""

    def __init__(
        self,
        folder: Path,
        slots: int,
        clock: Clock,
        total_fps: float = float("inf"),
        run: str = "",
        max_megapixels: float = float("inf"),
    ) -> None:
        """`total_fps`: the most for all sources together (`acud.supervisor.frame_rate_limits`). `max_megapixels`: the
        most for the sources of one display together, as an X server may claim any size. `run`: names the frame numbers
        of this supervisor.
        """
        self._folder, self._run = folder, run
        self.orphaned_rings = OrphanedRings(folder)
        self.slots, self._total_fps, self._max_megapixels = slots, total_fps, max_megapixels
        self._caps: dict[str, float] = {}
        self._grabs = 0
        """Grabs requested of all sources together: the capture process may know a window that has a new source here."""
        self._counted = 0
        self._counted_from_s = clock.monotonic_s()
        self._now = clock.monotonic_s
        self.by_name: dict[str, Source] = {}
        self.watchers = Observers[Watcher]()
        self.forgotten: list[Callable[[Source], None]] = []  # called with each source that is dropped, after its loss
        self.tallies: dict[str, FrameTally] = {}  # by display
        self._left: dict[str, tuple[int, int, str]] = {}
        """Epoch, frame and run of forgotten sources: one of the same name continues them, so that old jobs stay old."""
        self._left_floor = (0, 0)
        """Epoch and frame of a source with a new name: at least those of all that were dropped from `_left`."""
        self._held: Counter[Path] = Counter()
        self._dropped: set[Path] = set()  # held rings that their source does not need any more
        self._demanding: set[str] = set()
        self._grabbing: set[str] = set()
        self._shown: dict[str, set[LookAsk]] = {}

    # ---- messages of capture processes -----------------------------------------------------------------------------

    def hello(self, hello: SourceHello, link: Link) -> Source:
        """Create the ring for `hello`, and attach the capture process to it. Raises: ShmFull when /dev/shm cannot hold
        it; the source is then lost with that reason.
        """
        source = self.by_name.get(hello.source)
        if source is None:
            source = self.by_name[hello.source] = self._make_source(hello, link)
        source.link = link
        self._retire_ring(source)
        try:
            self._replace_ring(source, hello)
        except AcudError as fault:
            self.mark_lost(source, fault.code, fault.message)
            raise
        for watcher in self.watchers:
            watcher.source_up(source)
        return source

    def _retire_ring(self, source: Source) -> None:
        """Make the ring the one before. If no frame of it was noticed, drop it instead: changes are then measured from
        the one before that, also after a time in which /dev/shm had no room.
        """
        if source.previous is None:
            source.previous, source.path = source.path, None
            return
        source.unheard = max(source.unheard, self._newest_in(source.path, source))
        self._drop_ring(source, "path")

    def _make_source(self, hello: SourceHello, link: Link) -> Source:
        source = Source(hello.source, hello.display, hello.window_id, link)
        source.grab = self._grabs
        source.epoch, source.frame, source.run = self._left.pop(hello.source, (*self._left_floor, self._run))
        past = self.orphaned_rings.reread(hello.source)
        source.epoch = max(source.epoch, self.orphaned_rings.find_epoch(hello.source))
        if past is not None:
            # Continue a killed supervisor's numbers: the first frame is compared with the last one in its ring.
            source.frame = source.taken_up = past.frame
            source.run = past.server.partition(".")[0]
        source.first, source.attached_s = source.frame, self._now()
        return source

    def _check_size(self, source: Source, hello: SourceHello) -> None:
        """Raise Refused for a source with which its display would take too much of /dev/shm."""
        others = [
            one for one in self.by_name.values() if one.display == source.display and one is not source and one.up
        ]
        pixels = hello.width * hello.height
        if pixels + sum(one.width * one.height for one in others) <= self._max_megapixels * 1e6:
            return
        beside = f" beside {len(others)} more pictures of {source.display}" if others else ""
        raise Refused(
            f"{source.name} says it has {hello.width}x{hello.height} pixels{beside}: that is over "
            f"{self._max_megapixels:g} megapixels, the most that one display may take of /dev/shm",
            hint="make it smaller, or raise [capture] max_megapixels",
        )

    def _replace_ring(self, source: Source, hello: SourceHello) -> None:
        self._check_size(source, hello)
        source.epoch += 1
        path = self._folder / f"{hello.source.lstrip(':')}.{source.epoch}"
        source.x_server = hello.x_server
        self._create_ring(path, Layout(hello.width, hello.height, self.slots), source)
        source.path, source.up, source.lost_reason = path, True, ""
        source.width, source.height = hello.width, hello.height
        source.method, source.method_reason = hello.method, hello.reason
        # The ring before this one; until the first frame, that of a former supervisor.
        past = self.orphaned_rings.find(source.name) if source.frame == source.taken_up else None
        previous = past.path if past is not None else source.previous
        # A frame with a lost notice may have been read all the same: never reuse its number.
        first = max(source.frame, self._newest_in(previous, source), source.unheard) + 1
        source.first, source.attached_s = first, self._now()
        source.link(Attach(source.name, str(path), source.epoch, first, str(previous or "")))
        self.grab_now(source)

    def _create_ring(self, path: Path, layout: Layout, source: Source) -> None:
        """Make the ring. If there is no room, drop the rings of a former supervisor first, and after a while the ring
        before too: then everything counts as changed, but the display is visible.
        """
        ways = iter((self.orphaned_rings.drop_others, self.orphaned_rings.drop, lambda _: self._drop_late(source)))
        while True:
            try:
                Ring.create(path, layout, source.epoch, source.server).close()
                source.full_since_s = None
                return
            except ShmFull:
                if not any(way(source.name) for way in ways):
                    raise

    def _drop_late(self, source: Source) -> bool:
        """Remove the ring before this one if there has been no room for long; return False if that frees nothing."""
        if source.full_since_s is None:
            source.full_since_s = self._now()
        if self._now() - source.full_since_s < KEEP_S or source.previous is None:
            return False
        self._drop_ring(source, "previous")
        return True

    def can_have_frame(self, name: str, frame: int) -> bool:
        """Return whether the source `name` can have reached `frame` since its ring was made."""
        source = self.by_name.get(name)
        return source is None or frame <= self._max_frame(source)

    def is_damaged(self, source: Source) -> bool:
        """Return whether its ring holds a frame number that it cannot have reached."""
        return newest_frame(source.path) > self._max_frame(source)

    def _max_frame(self, source: Source) -> int:
        return source.first + _HEAD_START + int(_MOST_FPS * (self._now() - source.attached_s))

    def _newest_in(self, path: Path | None, source: Source) -> int:
        """Return the newest frame in the ring at `path`; 0 for an impossible number."""
        frame = newest_frame(path)
        if frame <= self._max_frame(source):
            return frame
        _LOG.warning("ring.damaged", source=source.name, frame=frame, seen=source.frame)
        return 0

    def _check_frame(self, source: Source, frame: int, mono_ns: int) -> None:
        if frame > self._max_frame(source):
            raise ProtocolError(f"{source.name} cannot have come from frame {source.first} to {frame} already")
        if mono_ns > (self._now() + _AHEAD_S) * 1e9:
            raise ProtocolError(f"frame {frame} of {source.name} is of a time that is still to come")

    def _check_notice(self, source: Source, notice: Notice) -> None:
        self._check_frame(source, notice.frame, notice.mono_ns)
        layout = Layout(source.width, source.height, self.slots)
        if len(notice.tiles) > -(-layout.tiles // 8) or int.from_bytes(notice.tiles, "little") >> layout.tiles:
            raise ProtocolError(f"tiles of {notice.source} changed that are not there: it has {layout.tiles}")
        if notice.looks and len(notice.looks) != 8 * int.from_bytes(notice.tiles, "little").bit_count():
            raise ProtocolError(f"{notice.source} tells looks that are not of the tiles that changed")
        if notice.box is not None and not Rect(0, 0, layout.width, layout.height).contains(notice.box):
            raise ProtocolError(f"{notice.box} of {notice.source} changed, which is {layout.width}x{layout.height}")
        if notice.grab > source.grab:
            raise ProtocolError(f"grab {notice.grab} of {notice.source} was made, and {source.grab} were asked for")

    def notice(self, notice: Notice) -> None:
        """Handle a published frame; ignore a notice of an older epoch. Raises: ProtocolError for an impossible notice,
        which is ignored.
        """
        source = self.by_name.get(notice.source)
        if source is None or notice.epoch != source.epoch:
            return
        self._check_notice(source, notice)
        if notice.frame > source.frame:
            self.find_tally(source).count_notice(notice, notice.frame - source.frame - 1, self._now())
        self._take_notice(source, notice)

    def find_tally(self, source: Source) -> FrameTally:
        return self.tallies.setdefault(source.display, FrameTally())

    def _take_notice(self, source: Source, notice: Notice) -> None:
        if notice.frame > source.frame + 1:
            notice = replace(notice, fresh=True)  # a notice before it was lost: any tile may have changed in between
        if notice.frame > source.frame:
            source.frame = notice.frame
            source.recent.append(self._now())
            self._count_frame()
        source.compared_mono_ns = notice.mono_ns
        source.grabbed = max(source.grabbed, notice.grab)
        self._drop_ring(source, "previous")
        for watcher in self.watchers:
            watcher.frame_seen(source, notice)
        self.orphaned_rings.mark_compared(source.name)

    def compare_heartbeat(self, newest: dict[str, tuple[int, int]], compared: Mapping[str, int] = _NO_TIMES) -> None:
        """Compare a heartbeat with the notices: a frame without one counts as a change of everything.

        `compared`: per source when a grab was last compared with its newest frame (CLOCK_MONOTONIC, ns).
        Raises: ProtocolError for impossible frames.
        """
        for name, (epoch, frame) in newest.items():
            source = self.by_name.get(name)
            if source is None or epoch != source.epoch:
                continue
            self._check_frame(source, frame, compared.get(name, 0))
            if frame > source.frame:
                _LOG.warning("notice.missed", source=name, frame=frame, seen=source.frame)
                self._count_missed(source, frame - source.frame)
                self._take_notice(source, Notice(name, epoch, frame, int(self._now() * 1e9), fresh=True))
            source.compared_mono_ns = max(source.compared_mono_ns, compared.get(name, 0))

    def _count_missed(self, source: Source, frames: int) -> None:
        tally = self.find_tally(source)
        tally.frames += frames
        tally.missed += frames

    def mark_lost(self, source: Source, code: str, reason: str) -> None:
        """Notify watchers that the source has no pixels for now."""
        source.up, source.lost_reason = False, reason
        for watcher in self.watchers:
            watcher.source_lost(source, code, reason)

    def forget(self, source: Source) -> None:
        """Unlink the rings of the source and drop it."""
        self._drop_ring(source, "previous")
        self._drop_ring(source, "path")
        self._left[source.name] = (source.epoch, source.frame, source.run)
        if len(self._left) > _MOST_LEFT:
            epoch, frame, _ = self._left.pop(next(iter(self._left)))  # the oldest
            self._left_floor = (max(epoch, self._left_floor[0]), max(frame, self._left_floor[1]))
        self.by_name.pop(source.name, None)
        if source.name == source.display:
            self.tallies.pop(source.display, None)
        for observer in self.forgotten:
            observer(source)

    def _drop_ring(self, source: Source, which: str) -> None:
        path: Path | None = getattr(source, which)
        if path is not None:
            setattr(source, which, None)
            if path in self._held:
                self._dropped.add(path)
            else:
                path.unlink(missing_ok=True)

    def hold_ring(self, path: Path) -> None:
        """Keep the ring at `path`, even without its source, until `release_ring` was called as often."""
        self._held[path] += 1

    def release_ring(self, path: Path) -> None:
        """Undo one `hold_ring`."""
        self._held[path] -= 1
        if not self._held[path]:
            del self._held[path]
            if path in self._dropped:
                self._dropped.discard(path)
                path.unlink(missing_ok=True)

    # ---- demand of consumers ---------------------------------------------------------------------------------------

    def want(
        self, source: Source, consumer: object, fps: float, quiet: tuple[Rect, ...] = (), *, looks: bool = False
    ) -> None:
        """Set the demand of `consumer` on `source` (0: none). The highest rate is sent to capture when it changes.
        `quiet`: boxes in which it waits for quiet. `looks`: whether it needs the looks of changed tiles.
        """
        if looks is not (consumer in source.looks):
            (source.looks.add if looks else source.looks.discard)(consumer)
            self._demanding.add(source.name)
        if source.quiet.get(consumer, ()) != quiet:
            source.quiet[consumer] = quiet
            self._demanding.add(source.name)
        if not quiet:
            source.quiet.pop(consumer, None)
        if fps > 0:
            source.wanted[consumer] = fps
        else:
            source.wanted.pop(consumer, None)
        highest = max(source.wanted.values(), default=0.0)
        if highest and not source.fps:
            source.wanted_since_s = self._now()
        if highest != source.fps:
            source.fps = highest
            self._demanding.add(source.name)

    def grab_now(self, source: Source, look: LookAsk | None = None) -> int:
        """Request one frame now; return the grab number that its notice will carry.

        All requests of one turn share a grab: the demand is sent at the end of the turn (`flush`). `look`: the tiles
        with their looks to put in the notice.
        """
        if look is not None:
            self._shown.setdefault(source.name, set()).add(look)
        if source.name not in self._grabbing:
            self._grabbing.add(source.name)
            source.grab = self._grabs = self._grabs + 1
            self._demanding.add(source.name)
        return source.grab

    def flush(self) -> None:
        demanding, self._demanding = self._demanding, set()
        shown, self._shown = self._shown, {}
        self._grabbing.clear()
        for name in demanding:
            source = self.by_name.get(name)
            if source is not None and source.up:
                cap = self._caps.get(name, source.fps)
                quiet = dict.fromkeys(box for boxes in source.quiet.values() for box in boxes)
                fps, looks = min(source.fps, cap), tuple(shown.get(name, ()))
                source.link(Demand(name, fps, source.grab, tuple(quiet), looks=bool(source.looks), shown=looks))

    def _count_frame(self) -> None:
        """Share out the rates again every two seconds with frames, without a timer, which would wake a quiet host."""
        self._counted += 1
        seconds = self._now() - self._counted_from_s
        if seconds < _RATE_WINDOW_S:
            return
        crowded = self._counted / seconds > self._total_fps
        self._counted, self._counted_from_s = 0, self._now()
        if crowded or self._caps:
            published = {name: self.measure_fps(source) for name, source in self.by_name.items() if source.up}
            demanded = {name: self.by_name[name].fps for name in published}
            before, self._caps = self._caps, compute_caps(published, demanded, self._caps, self._total_fps)
            self._demanding |= {name for name in published if self._caps.get(name) != before.get(name)}
            if bool(self._caps) != bool(before):
                _LOG.info("frames.rationed" if self._caps else "frames.enough", sources=len(self._caps))

    def wanted_for_s(self, source: Source) -> float | None:
        """Return for how long consumers have wanted its frames; None while none do."""
        return self._now() - source.wanted_since_s if source.fps else None

    def ring_bytes(self, source: Source) -> int:
        """Return the size of the source's ring; 0 without a ring."""
        return Layout(source.width, source.height, self.slots).file_bytes if source.path is not None else 0

    def measure_fps(self, source: Source) -> float:
        """Return the frames per second published over the last two seconds."""
        since = self._now() - _RATE_WINDOW_S
        return sum(1 for at in source.recent if at >= since) / _RATE_WINDOW_S

    def age_s(self, source: Source) -> float | None:
        """Return how long ago the newest frame last matched the screen; None before the first."""
        return self._now() - source.compared_mono_ns / 1e9 if source.compared_mono_ns else None
