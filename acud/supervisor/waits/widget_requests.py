"""Widget conditions of waits: sends them to the evaluator that reads each display, and passes its answers on.

One evaluator reads the widgets of a display for all of its waits: the one that reads its text and its scenes. If it
ends, another is asked.
"""

from __future__ import annotations

from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.capture import Notice
from acud.protocol.widgets import (
    DisplayWidgets,
    WidgetAnswer,
    WidgetAsk,
    WidgetAskOver,
    WidgetLook,
    WidgetQuestion,
    WidgetsPainted,
)
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import Worker
from acud.supervisor.observers import Order
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits, Step
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import Rect, Until, Widget
from acud.waits import events as happened
from acud.waits.targets import TargetLocation
from acud.waits.tiles import Grid, from_bytes
from acud.waits.widgets import WidgetPlace

_LOG = log.logger("widgets")
_PAINTED_EACH_S = 0.2  # changed places are sent no more often than this: widgets are read again there
_MOST_SPOTS = 32
_MOST_TILES = 1024  # beyond so many places, or tiles of 16 px, the whole frame counts as changed


class _WidgetRequest(Struct):
    """A wait's request. `until`: its condition at that time."""

    until: Until
    display: str
    place: WidgetPlace
    number: int


class _WatchedWidgets:
    """A display with requests: the evaluator that reads it, and changed places that were not sent to it yet."""

    def __init__(self) -> None:
        self.waits: set[str] = set()
        self.worker: Worker | None = None
        self.latest: DisplayWidgets | None = None
        self.painted: list[Rect] | None = []
        self.timer: Timer | None = None


class WidgetRequests:
    """Asks evaluators for the widgets that the waits in `active` need, and passes the answers to their machines."""

    def __init__(
        self,
        active: ActiveWaits,
        pool: EvaluatorPool,
        watched_displays: WatchedDisplays,
        sources: Sources,
        loop: EventLoop,
        step: Step,
    ) -> None:
        self._active, self._pool, self._watched_displays, self._loop = active, pool, watched_displays, loop
        self._now = loop.now_s
        self._step = step
        self._asked: dict[str, _WidgetRequest] = {}
        self._displays: dict[str, _WatchedWidgets] = {}
        sources.watchers.add(self, Order.WAITS)
        watched_displays.watchers.add(self, Order.WAITS)
        pool.widget_askers.add(self, Order.WAITS)

    # ---- asked by the target tracker -------------------------------------------------------------------------------

    def watch(self, active: ActiveWait, location: TargetLocation) -> None:
        """Ask for the widgets of a wait with its target at `location` from now on; nothing for a wait without any."""
        if not any(isinstance(leaf, Widget) for leaf in active.machine.leaves):
            self.unwatch(active.wait_id)
            return
        before, place = self._asked.get(active.wait_id), self._find_place(active, location)
        asks = (active.machine.until, active.display, place)
        if before is not None and (before.until, before.display, before.place) == asks:
            return
        number = before.number + 1 if before is not None else 1
        if before is not None:
            self._step(active, happened.WidgetsRead(self._now(), {}))
        if before is not None and before.display != active.display:
            self.unwatch(active.wait_id)
        self._asked[active.wait_id] = _WidgetRequest(*asks, number)
        display = self._displays.setdefault(active.display, _WatchedWidgets())
        display.waits.add(active.wait_id)
        if self._send_display(active.display, display):
            self._send_ask(display, active)

    def next_stage(self, active: ActiveWait) -> None:
        """Ask for the widgets of a wait's present stage, in place of the stage before."""
        before = self._asked.get(active.wait_id)
        if before is None:
            return
        if not any(isinstance(leaf, Widget) for leaf in active.machine.leaves):
            self.unwatch(active.wait_id)
            return
        until, number = active.machine.until, before.number + 1
        self._asked[active.wait_id] = _WidgetRequest(until, before.display, before.place, number)
        display = self._displays[before.display]
        if self._send_display(before.display, display):
            self._send_ask(display, active)

    def unwatch(self, wait_id: str) -> None:
        """Withdraw the wait's request; harmless for a wait without one."""
        asked = self._asked.pop(wait_id, None)
        if asked is None:
            return
        display = self._displays[asked.display]
        display.waits.discard(wait_id)
        if display.worker is not None:
            self._pool.send_message(display.worker, WidgetAskOver(wait_id))
        if not display.waits:
            if display.timer is not None:
                display.timer.cancel()
            del self._displays[asked.display]

    def read_widgets(self, active: ActiveWait) -> None:
        asked = self._asked.get(active.wait_id)
        worker = self._displays[asked.display].worker if asked is not None else None
        if worker is not None:
            self._pool.send_message(worker, WidgetLook(active.wait_id))

    def _find_place(self, active: ActiveWait, location: TargetLocation) -> WidgetPlace:
        at = self._find_corner(active.display, location.source, location.crop, location.window_id)
        ignore = tuple(box.shift(*at) for box in location.ignore)
        return WidgetPlace(location.window_id, None if location.window_id else location.crop, ignore)

    def _find_corner(self, display: str, source: str, crop: Rect | None, window_id: int) -> tuple[int, int]:
        """Return the top left corner of a target's picture on its display."""
        watched = self._watched_displays.by_name.get(display)
        windows = watched.windows if watched is not None else ()
        window = next((one for one in windows if one.window_id == window_id), None)
        if source != display and window is not None:
            return window.bounds.x, window.bounds.y
        return (crop.x, crop.y) if crop is not None else (0, 0)

    # ---- to evaluators ---------------------------------------------------------------------------------------------

    def _send_display(self, name: str, display: _WatchedWidgets) -> bool:
        """Send the display's windows to its evaluator, if they are new; return whether it has them now."""
        watched = self._watched_displays.by_name.get(name)
        if watched is None or not watched.windows_known:
            return False  # without the window list, missing widgets cannot be told from unread ones
        if display.worker is None:
            display.worker, display.latest = self._pool.reader_of(name), None
        if display.worker is None:
            return False
        now = DisplayWidgets(name, watched.windows, watched.bus_address, watched.a11y_address)
        if now != display.latest:
            if not self._pool.send_message(display.worker, now):
                display.worker = None
                return False
            display.latest = now
        return True

    def _send_ask(self, display: _WatchedWidgets, active: ActiveWait) -> None:
        asked, seen = self._asked[active.wait_id], active.machine.leaves_seen
        questions = tuple(
            WidgetQuestion(index, leaf, index in seen)
            for index, leaf in enumerate(active.machine.leaves)
            if isinstance(leaf, Widget)
        )
        ask = WidgetAsk(active.wait_id, asked.number, asked.display, asked.place, questions)
        if display.worker is None or not self._pool.send_message(display.worker, ask):
            display.worker = None
            self._loop.call_later(_PAINTED_EACH_S, lambda: self._ask_again(asked.display))

    def _ask_again(self, name: str) -> None:
        """Send a display and all its requests to another evaluator."""
        display = self._displays.get(name)
        if display is None or display.worker is not None or not self._send_display(name, display):
            return
        _LOG.debug("widgets.asked_again", display=name, waits=len(display.waits))
        for wait_id in list(display.waits):
            active = self._active.get(wait_id)
            if active is not None and not active.ended:
                self._send_ask(display, active)

    # ---- events of displays, frames and evaluators -----------------------------------------------------------------

    def windows_seen(self, watched: WatchedDisplay) -> None:
        display = self._displays.get(watched.name)
        if display is None:
            return
        if display.worker is None:
            self._ask_again(watched.name)
        else:
            self._send_display(watched.name, display)

    def source_up(self, source: Source) -> None:
        """Note that anything may have changed: the source has a new ring."""
        self._note_painted(source.display, None)

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Note where pixels changed, and send that soon."""
        if source.display in self._displays:
            tiles = None if notice.fresh else from_bytes(notice.tiles)
            if tiles != 0:
                self._note_painted(source.display, None if tiles is None else self._find_boxes(source, tiles))

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Do nothing: the target tracker withdraws the requests."""

    def _find_boxes(self, source: Source, tiles: int) -> list[Rect]:
        """Return boxes around the tiles, in display pixels."""
        whole = Rect(0, 0, source.width, source.height)
        grid = Grid(source.width, source.height)
        spots = list(islice(grid.spots(tiles), _MOST_SPOTS + 1)) if tiles.bit_count() <= _MOST_TILES else []
        is_few = 0 < len(spots) <= _MOST_SPOTS
        boxes = [box for spot in spots if (box := grid.box(spot, whole)) is not None] if is_few else [whole]
        if not source.window_id:
            return boxes
        watched = self._watched_displays.by_name.get(source.display)
        windows = watched.windows if watched is not None else ()
        at = next((one.bounds for one in windows if one.window_id == source.window_id), None)
        return [box.shift(at.x, at.y) for box in boxes] if at is not None else []

    def _note_painted(self, name: str, boxes: list[Rect] | None) -> None:
        display = self._displays.get(name)
        if display is None:
            return
        display.painted = None if boxes is None or display.painted is None else [*display.painted, *boxes]
        if display.timer is None:
            self._send_painted(name, display)

    def _send_painted(self, name: str, display: _WatchedWidgets) -> None:
        """Send what was painted, and nothing more for a while."""
        display.timer = None
        if display.painted == []:
            return
        many = display.painted is None or len(display.painted) > 2 * _MOST_SPOTS
        changed = None if many else tuple(display.painted or ())
        if display.worker is not None and self._pool.send_message(display.worker, WidgetsPainted(name, changed)):
            display.painted = []
        display.timer = self._loop.call_later(_PAINTED_EACH_S, lambda: self._send_painted(name, display))

    def evaluator_ready(self, worker: Worker) -> None:
        """Send the requests that no evaluator has to one that just started."""
        for name, display in list(self._displays.items()):
            if display.worker is None:
                self._ask_again(name)

    def evaluator_ended(self, worker: Worker) -> None:
        """Forget the answers of an ended evaluator, and ask another evaluator."""
        for name, display in list(self._displays.items()):
            if display.worker is not worker:
                continue
            display.worker, display.painted = None, None
            for wait_id in list(display.waits):
                active = self._active.get(wait_id)
                if active is not None and not active.ended:
                    self._step(active, happened.WidgetsRead(self._now(), {}))
            self._ask_again(name)

    def widgets_answered(self, worker: Worker, answer: WidgetAnswer) -> None:
        """Pass an answer to the wait that asked, unless its request changed meanwhile."""
        asked, active = self._asked.get(answer.wait_id), self._active.get(answer.wait_id)
        if asked is None or active is None or active.ended or answer.number != asked.number:
            return
        if self._displays[asked.display].worker is not worker:
            return
        indexes = [index for index, leaf in enumerate(active.machine.leaves) if isinstance(leaf, Widget)]
        x, y = self._find_corner(active.display, active.source, active.crop, active.window_id)
        shown = [replace(one, boxes=tuple(box.shift(-x, -y) for box in one.boxes)) for one in answer.verdicts]
        verdicts = dict(zip(indexes, shown, strict=False))
        self._step(active, happened.WidgetsRead(self._now(), verdicts, answer.read_mono_ns / 1e9))
