"""One display's capture: orders in, damage in, frames and notices out. Single-threaded; never waits for a reader."""

from __future__ import annotations

import time
from collections.abc import Iterator

import zmq

from acud.base.log import logger
from acud.capture.clipboard_watch import ClipboardWatch
from acud.capture.covered_windows import CoveredWindows
from acud.capture.frame_rate import CaptureCounters, GrabSchedule, painted_ns
from acud.capture.input_actions import InputActions
from acud.capture.input_queue import InputQueue
from acud.capture.source import CaptureSource
from acud.process.child_process import SyncChild, next_beat_s, rss_mb
from acud.process.event_loop import EventLoop, Timer
from acud.protocol import codec
from acud.protocol.bootstrap import CaptureOptions
from acud.protocol.capture import (
    Act,
    Acted,
    Attach,
    ClipboardSeen,
    Demand,
    DisplayWindows,
    DropActs,
    Follow,
    Notice,
    SourceGone,
    SourceHello,
    ToCapture,
)
from acud.protocol.children import Heartbeat, Stop
from acud.x11 import events
from acud.x11.connection import Connection
from acud.x11.damage import Damage
from acud.x11.events import (
    Event,
    FocusMoved,
    Painted,
    PropertyTouched,
    Resized,
    SelectionGiven,
    SelectionTaken,
    Shape,
    WindowTouched,
)
from acud.x11.grab import Area, PixelsGone, choose
from acud.x11.input_guard import InputGuard
from acud.x11.pointer import Cursor
from acud.x11.windows import WindowReader, WindowSnapshot

_WINDOWS_SETTLE_S = 0.05
"""From the first sign that a window changed to the next snapshot: a burst (a drag, a start) costs 20 a second."""
_NUDGES_AFTER_S = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Times after a window manager appeared: it names itself 0.1 s before it serves, on a busy machine seconds."""


class CaptureService:
    """Captures one display. Borrows connection, child and publisher; owns sources. Run in `translate_faults`."""

    def __init__(
        self,
        options: CaptureOptions,
        heartbeat_s: float,
        rests_s: float,
        child: SyncChild[ToCapture],
        connection: Connection,
        publisher: zmq.Socket[bytes],
    ) -> None:
        self._options, self._heartbeat_s, self._rests_s, self._child = options, heartbeat_s, rests_s, child
        self._publisher = publisher
        self._x = connection
        self._loop = EventLoop(time.monotonic, self._do_due_work)
        self._counters = CaptureCounters(time.monotonic())
        self._choice, self._path = choose(connection, options.method)
        self._cursor = Cursor(connection)
        self._windows = WindowReader(connection)
        self._nudge = WindowManagerNudge(self._windows, self._loop) if options.managed else None
        self._translator = events.Translator(connection, self._windows.watched_properties)
        self._covered = CoveredWindows(connection, self._path, self._new_schedule, self._announce, self._send)
        self._screen = self._screen_source()
        guard = InputGuard(connection, self._windows, self._read_windows)
        actions = InputActions(connection, self._windows, self._translator, self._screen_size, guard)
        self._inputs = InputQueue(actions, self._publish_baseline, self._send)
        self._clipboard = ClipboardWatch(connection, self._translator, self._send)
        self._sent: WindowSnapshot | None = None
        self._stale_s: float | None = 0.0
        self._unread = True  # whether a window may differ from the list sent last
        self._is_resized = False
        self._x_server = connection.server_run()
        self._unpublished = 0
        self._beat_s = 0.0
        self._last_beat: object = None
        self._next_beat: Timer | None = None
        self._is_resting = False

    def _screen_source(self) -> CaptureSource:
        damage = Damage(self._x, self._x.root) if self._x.has("DAMAGE") else None
        return CaptureSource(self._x.name, self._screen_area(), damage, self._path(), self._new_schedule())

    def _screen_area(self) -> Area:
        width, height = self._x.size()
        return Area(self._x.root.id, 0, 0, width, height)

    def _screen_size(self) -> tuple[int, int]:
        return self._screen.area.width, self._screen.area.height

    def _new_schedule(self) -> GrabSchedule:
        return GrabSchedule(self._options.max_fps, self._options.floor_s, polled=not self._x.has("DAMAGE"))

    def _list_sources(self) -> Iterator[CaptureSource]:
        yield self._screen
        yield from self._covered.sources()

    # ---- running ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Release what an earlier process left pressed, send the hello, then serve until stopped."""
        self._inputs.actions.undo_leftovers()
        self._announce(self._screen, 0)
        self._send_beat()
        self._loop.watch(self._child.socket, self._handle_orders)
        self._loop.watch(self._x, self._x.read)
        self._do_due_work()
        self._loop.run()
        self._inputs.close()

    def close(self) -> None:
        for source in list(self._list_sources()):
            source.close()
        self._covered.close()

    def _send_beat(self) -> None:
        newest = {source.name: at for source in self._list_sources() if (at := source.newest) is not None}
        compared = {source.name: source.compared_ns for source in self._list_sources() if source.compared_ns}
        counters = self._counters.take_figures(time.monotonic())
        counters |= {"unsent": float(self._child.unsent), "unpublished": float(self._unpublished)}
        told = (newest, compared)
        self._is_resting, self._last_beat = told == self._last_beat, told
        rests_s = self._rests_s if self._is_resting else 0.0
        self._child.send(Heartbeat(newest, rss_mb=rss_mb(), counters=counters, compared=compared, rests_s=rests_s))
        self._beat_s = self._loop.now_s()
        self._next_beat = self._loop.call_at(next_beat_s(self._beat_s, self._heartbeat_s, rests_s), self._send_beat)

    def _hasten_heartbeat(self) -> None:
        """Bring the next heartbeat forward to its usual time: something happens."""
        if self._is_resting and self._next_beat is not None:
            self._is_resting = False
            self._next_beat.cancel()
            self._next_beat = self._loop.call_at(next_beat_s(self._beat_s, self._heartbeat_s, 0.0), self._send_beat)

    # ---- orders -----------------------------------------------------------------------------------------------------

    def _handle_orders(self) -> None:
        self._hasten_heartbeat()
        for order in self._child.receive():
            if isinstance(order, Stop):
                self._loop.stop()
            elif isinstance(order, Follow):
                self._clipboard.want(is_wanted=order.clipboard)
                self._covered.follow_windows(order.windows)
                self._covered.update_sources(self._sent.windows if self._sent else (), time.monotonic())
            elif isinstance(order, Act):
                self._inputs.act(order)
            elif isinstance(order, DropActs):
                self._inputs.drop_acts(order)
            elif isinstance(order, Attach | Demand):
                self._order_to_source(order)

    def _order_to_source(self, order: Attach | Demand) -> None:
        source = next((s for s in self._list_sources() if s.name == order.source), None)
        if source is None:  # its window went away while the order was on its way
            logger("capture").debug("order.late", source=order.source)
        elif isinstance(order, Demand):
            source.schedule.apply_demand(order.fps, order.grab)
            source.sends_looks = order.looks
            source.shown += order.shown
            if source.watch_boxes(order.quiet):
                self._x.sync()
                self._handle_x_events()
                source.forget_paint()
        elif not source.attach_ring(order):
            logger("capture").info("attach.outdated", source=order.source, epoch=order.epoch)

    # ---- events -----------------------------------------------------------------------------------------------------

    def _handle_x_events(self) -> None:
        events.dispatch(self._x, self._translator, self._handle_event)

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, Painted):
            self._on_painted(event)
        elif isinstance(event, Shape):
            self._cursor.serial = event.serial
        elif isinstance(event, Resized):
            self._is_resized = True
            self._mark_stale()  # its monitors may have changed too
        elif isinstance(event, WindowTouched):
            if event.renewed:
                self._covered.mark_stale(event.window)
            self._mark_stale()
        elif isinstance(event, SelectionTaken):
            self._clipboard.on_event(event)
        else:
            if isinstance(event, FocusMoved):
                self._mark_stale()
            elif isinstance(event, SelectionGiven | PropertyTouched):
                self._clipboard.on_event(event)
            self._inputs.actions.on_event(event)

    def _on_painted(self, event: Painted) -> None:
        self._counters.damage_events += 1
        self._inputs.actions.on_painted(event.damage)
        for source in self._list_sources():
            if source.damage is not None and source.damage.id == event.damage:
                source.note_painted(event.box, time.monotonic_ns())
                self._covered.on_painted(source, time.monotonic())
            elif source.paints is not None and source.paints.id == event.damage:
                source.note_painted_at(event.box, painted_ns(event.time_ms, time.monotonic_ns()))

    def _mark_stale(self) -> None:
        self._unread = True
        if self._stale_s is None:
            self._stale_s = time.monotonic() + _WINDOWS_SETTLE_S

    # ---- the turn's end ---------------------------------------------------------------------------------------------

    def _do_due_work(self) -> None:
        """Do all that is due, then sleep until the next due time. Acts take one step: orders are read in between."""
        self._do_all_steps()
        now_s = time.monotonic()
        if self._inputs.advance(now_s) | self._clipboard.advance(now_s):
            self._do_all_steps()
        dues = [due for source in self._list_sources() if (due := source.due_s()) is not None]
        dues += [due for due in (self._stale_s, self._covered.due_s(), self._inputs.due_s()) if due is not None]
        if (clipboard_s := self._clipboard.due_s()) is not None:
            dues.append(clipboard_s)
        self._loop.wake_at(min(dues, default=None))

    def _do_all_steps(self) -> None:
        while self._do_one_step():
            pass

    def _do_one_step(self) -> bool:
        """Handle one due grab or change; return False if none was due. Leaves no event queued unseen by polls."""
        self._x.flush()
        self._handle_x_events()
        return self._check_geometry() or self._look_at_windows() or self._grab_one()

    def _check_geometry(self) -> bool:
        self._covered.renew_pixmaps()
        self._covered.send_hellos(time.monotonic())
        if not self._is_resized:
            return False
        self._is_resized = False
        before, area = self._screen.area, self._screen_area()
        if area != before:
            self._screen.move(area)
            self._announce(self._screen, 0)
        return True

    def _look_at_windows(self) -> bool:
        if self._stale_s is None or time.monotonic() < self._stale_s:
            return False
        self._stale_s = None
        told = self._send_windows() if self._sent is None or self._unread else self._sent
        self._covered.update_sources(told.windows, time.monotonic())
        return True

    def _send_windows(self) -> WindowSnapshot:
        self._unread = False
        snapshot = self._windows.snapshot()
        if self._nudge is not None:
            self._nudge.on_snapshot()
        if snapshot == self._sent:
            return self._sent
        self._sent = snapshot
        self._send(
            DisplayWindows(
                self._x.name,
                snapshot.windows,
                snapshot.focused,
                snapshot.a11y_address,
                monitors=snapshot.monitors,
                scale_factor=snapshot.scale_factor,
            )
        )
        return snapshot

    def _read_windows(self) -> WindowSnapshot:
        """Return the windows as they are now, and report them to the supervisor if they changed."""
        self._handle_x_events()
        if self._sent is None or self._unread:
            self._stale_s = 0.0  # sources begin and end at the turn's end
            return self._send_windows()
        return self._sent

    def _drain_for_frame(self) -> None:
        """Read the events up to the frame just fetched: a frame never precedes its windows.

        Otherwise a window that moved, or was covered, would look changed where it no longer is, and a picture could
        show a window that the list of its moment lacks.
        """
        self._read_windows()

    def _grab_one(self) -> bool:
        now_s = time.monotonic()
        for source in self._list_sources():
            due_s = source.due_s()
            if due_s is not None and due_s <= now_s:
                self._grab_frame(source)
                return True
        return False

    def _grab_frame(self, source: CaptureSource) -> None:
        self._hasten_heartbeat()
        try:
            notice = source.grab(self._cursor, self._drain_for_frame, self._counters)
        except PixelsGone:
            self._on_lost(source)
            return
        if notice is not None:
            self._send(notice)

    def _publish_baseline(self) -> tuple[int, int]:
        """Publish everything painted up to now, and return the display's newest (epoch, frame); (0, 0) for none."""
        self._x.sync()
        self._handle_x_events()
        if self._screen.is_behind:
            self._grab_frame(self._screen)
            self._handle_x_events()
        return self._screen.newest or (0, 0)

    def _on_lost(self, source: CaptureSource) -> None:
        """Note that the drawable of `source` changed: its geometry is read again before the next grab. Raises:
        PixelsGone if the screen gives no pixels at an unchanged size.
        """
        if source is not self._screen:
            self._covered.on_lost(source)
        elif self._screen_area() == source.area:
            raise PixelsGone(f"the X server {self._x.name} gives no pixels", hint="see the log of the X server")
        else:
            self._is_resized = True

    # ---- reports ----------------------------------------------------------------------------------------------------

    def _announce(self, source: CaptureSource, window: int) -> None:
        self._send(
            SourceHello(
                source=source.name,
                display=self._x.name,
                width=source.area.width,
                height=source.area.height,
                depth=self._x.depth,
                method=self._choice.method,
                reason=self._choice.reason,
                x_server=self._x_server,
                window_id=window,
            )
        )

    def _send(self, message: Notice | SourceHello | SourceGone | DisplayWindows | Acted | ClipboardSeen) -> None:
        self._child.send(message)
        if isinstance(message, Notice):
            self._publish_notice(message)

    def _publish_notice(self, notice: Notice) -> None:
        try:
            self._publisher.send(codec.encode(notice), zmq.NOBLOCK)
        except zmq.Again:
            self._unpublished += 1


class WindowManagerNudge:
    """Makes a window manager that just started process the events that came in the meantime.

    openbox 3.6 reads ahead while it starts, and processes what it read only with the next event: a window that then
    asks to be shown is not, for as long as nothing else happens on the display. Only for displays that acud started:
    others are not written to.
    """

    def __init__(self, windows: WindowReader, loop: EventLoop) -> None:
        self._windows, self._loop = windows, loop
        self._was_managed = False

    def on_snapshot(self) -> None:
        """Begin the nudges when the newest snapshot is the first that shows a window manager."""
        if self._windows.is_managed and not self._was_managed:
            for after_s in _NUDGES_AFTER_S:
                self._loop.call_later(after_s, self._windows.nudge_manager)
        self._was_managed = self._windows.is_managed
