"""One recording: notices and orders in, frames out of the ring and into segments. Single-threaded but for the disk.

Times are seconds of CLOCK_MONOTONIC.
"""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

import numpy as np
import zmq
from msgspec.structs import replace

from acud.base.errors import AcudError, ProtocolError
from acud.base.log import logger
from acud.features.recording.recorder.disk_thread import Disk
from acud.features.recording.recorder.frame_copy import CopiedFrame, FrameCopier, TileChanges
from acud.features.recording.recorder.segment import SegmentWriter
from acud.frames.reader import FrameGone, FrameView, RingReader
from acud.process.child_process import SyncChild, rss_mb
from acud.process.event_loop import EventLoop
from acud.protocol.bootstrap import RecorderOptions
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.questions import Hide
from acud.protocol.recordings import Film as FilmRing
from acud.protocol.recordings import (
    Filmed,
    FilmHide,
    Filming,
    FirstFrame,
    HideAsk,
    RecorderHello,
    Segment,
    ToRecorder,
    Unfilm,
)

if TYPE_CHECKING:
    from acud.features.recording.recorder.redaction import FrameRedactor

_TRIES = 4
"""Readings of one frame before the next is waited for."""
_AGAIN_S = 0.5
"""The pause after a frame that could not be kept."""
_GRACE_S = 2.0
"""The disk's time at the end; the supervisor kills after three seconds."""
_HIDE_S = 1.0
"""The time for the supervisor's answer on what is hidden, which takes it a millisecond."""
_STALLED = "the disk takes nothing now: frames are dropped"
_LOG = logger("recorder")


class NotRedacted(AcudError):
    """The secrets of a frame are not known, so it is not recorded."""


class FramePace:
    """At most `fps` frames a second; the last noticed frame is always taken when its time comes (trailing)."""

    def __init__(self, fps: float) -> None:
        self._interval_s = 1 / fps
        self._due_s = -math.inf
        self.noticed = False

    def due_s(self) -> float | None:
        """Return when to take a frame; None while nothing was noticed."""
        return self._due_s if self.noticed else None

    def note_taken(self, frame_s: float) -> None:
        """Note that the newest frame was taken, which was grabbed at `frame_s`."""
        # A frame taken late was grabbed before it was due: counting from its grab would exceed the rate.
        self._due_s = max(frame_s, self._due_s) + self._interval_s
        self.noticed = False

    def begin_anew(self) -> None:
        """Make the next frame the first of a segment, due at once."""
        self._due_s = -math.inf
        self.noticed = True


class Recorder:
    """Everything of one recording. Borrows child, notices (a SUB socket) and disk."""

    def __init__(
        self,
        options: RecorderOptions,
        heartbeat_s: float,
        rests_s: float,
        child: SyncChild[ToRecorder],
        notices: zmq.Socket[bytes],
        disk: Disk,
    ) -> None:
        self._options = options
        self._heartbeat_s = heartbeat_s
        self._rests_s = rests_s
        self._child = child
        self._notices = notices
        self._disk = disk
        self._loop = EventLoop(time.monotonic, self._do_due_work)
        self._pace = FramePace(options.fps)
        self._reader: RingReader | None = None
        self._copier: FrameCopier | None = None
        self._film: SegmentWriter | None = None
        self._ended: dict[int, Segment] = {}
        self._frame = 0
        self._order = FilmRing("", 0, 0)
        self._number = disk.next_number()
        self._dropped = self._gone = self._dropped_frame = self._seen = 0
        self._trouble = ""
        self._not_before_s = 0.0
        self._put_off: list[ToRecorder] = []
        self._asked = 0
        self._tiles: TileChanges | None = None
        """For frames whose changes the ring does not have: redacted ones, and parts of a display."""
        self._redactor = self._make_redactor()

    def _make_redactor(self) -> FrameRedactor | None:
        options = self._options
        if options.redaction is None:
            return None
        from acud.features.recording.recorder.redaction import FrameRedactor  # most recorders read nothing

        beat_s = self._heartbeat_s + self._rests_s
        return FrameRedactor(options.redaction, options.ocr, options.accessibility, self._send_beat, beat_s)

    def run(self) -> None:
        self._child.send(RecorderHello(os.getpid()))
        self._send_beat()
        self._loop.call_each(self._heartbeat_s + self._rests_s, self._send_beat)
        self._loop.call_each(self._heartbeat_s, self._check_ring)
        self._loop.watch(self._child.socket, self._handle_orders)
        self._loop.watch(self._notices, self._on_notice)
        self._loop.run()
        self._end_recording()

    def _end_recording(self) -> None:
        self._end_filming("stopped")
        if self._redactor is not None:
            self._redactor.close()
        if not self._disk.close(_GRACE_S):
            self._trouble = _STALLED
        self._send_report()

    def _send_beat(self) -> None:
        # The reports are signs of life too, and more frequent.
        self._child.send(Heartbeat(rss_mb=rss_mb(), rests_s=self._rests_s))

    def _check_ring(self) -> None:
        self._send_report()
        # A notice may be lost on its way: the ring itself shows new frames too.
        self._pace.noticed = self._pace.noticed or self._is_behind()

    def _send_report(self) -> None:
        for segment in [*self._ended.values(), *([self._film.segment] if self._film else [])]:
            found = self._disk.get_written(segment.number)
            if found.closed:
                self._ended.pop(segment.number, None)
            if found.frames:
                reason = (found.fault or segment.reason) if found.closed else ""
                figures = {"frames": found.frames, "seconds": found.seconds, "size_bytes": found.size_bytes}
                self._child.send(Filmed(replace(segment, reason=reason, **figures)))
        self._child.send(Filming(self._dropped, self._gone, self._trouble))

    def _handle_orders(self) -> None:
        put_off, self._put_off = self._put_off, []
        for order in (*put_off, *self._child.receive()):
            match order:
                case FilmRing() if self._reader is not None and _is_moved(self._order, order):
                    self._order, self._pace.noticed = order, True
                case FilmRing():
                    self._end_filming(order.reason)
                    self._begin_filming(order)
                case Unfilm():
                    self._end_filming(order.reason)
                case Stop():
                    self._loop.stop()

    def _on_notice(self) -> None:
        # A notice only wakes: the ring has all of its content.
        while True:
            try:
                self._notices.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._pace.noticed = True

    def _begin_filming(self, order: FilmRing) -> None:
        try:
            self._reader = RingReader(order.path)
            self._order, self._frame = order, 0  # another ring counts its own frames
        except (FrameGone, ProtocolError) as fault:
            _LOG.info("ring.missed", fault=fault.message)  # a newer ring is there, and its order on the way
            return
        size = (order.crop.w, order.crop.h) if order.crop is not None else (self._reader.width, self._reader.height)
        self._copier = FrameCopier(*size)
        is_compared = self._redactor is not None or order.crop is not None
        self._tiles = TileChanges(*size) if is_compared else None
        self._pace.begin_anew()

    def _end_filming(self, reason: str) -> None:
        """Close the segment with the newest frame, and the ring."""
        if self._reader is not None:
            self._take_frame()  # at any rate
            self._reader.close()
            self._reader = None
        film, self._film = self._film, None
        if film is not None:
            number = film.segment.number
            self._ended[number] = replace(film.segment, reason=reason)
            self._disk.put(number, film.end(time.monotonic_ns()), last=True)

    def _do_due_work(self) -> None:
        if self._put_off:
            self._handle_orders()
        now_s = time.monotonic()
        due_s = self._take_due_s()
        if due_s is not None and due_s <= now_s:
            self._take_frame()
        film = self._film
        if film is not None and film.rest_due_s() <= now_s and not self._disk.stalled:
            self._disk.put(film.segment.number, film.repeat_newest(time.monotonic_ns()))
        dues = [self._take_due_s(), *([0.0] if self._put_off else [])]
        if self._film is not None:
            dues.append(max(self._film.rest_due_s(), time.monotonic() + _AGAIN_S if self._disk.stalled else 0.0))
        self._loop.wake_at(min((due for due in dues if due is not None), default=None))

    def _take_due_s(self) -> float | None:
        due_s = self._pace.due_s() if self._reader is not None else None
        return None if due_s is None else max(due_s, self._not_before_s)

    def _is_behind(self) -> bool:
        if self._reader is None:
            return False
        try:
            with self._reader.newest(self._frame + 1):
                return True
        except FrameGone:
            return False

    def _take_frame(self) -> None:
        """Keep the newest frame, unless it was kept already."""
        trouble = self._disk_trouble()
        for _ in range(_TRIES):
            try:
                taken = self._read_frame()
            except FrameGone:
                self._gone += 1
                continue
            except NotRedacted as fault:
                self._note_lost(self._seen, fault.message)
                return
            if taken is None:
                self._pace.noticed = False
            else:
                self._keep_frame(taken, trouble)
            return
        self._not_before_s = time.monotonic() + _AGAIN_S

    def _read_frame(self) -> CopiedFrame | None:
        assert self._reader is not None
        assert self._copier is not None
        hide = self._ask_hidden() if self._redactor is not None else None
        try:
            view = self._reader.newest(self._frame + 1, hide.frame if hide is not None else None)
        except FrameGone:
            return None
        if self._tiles is not None:
            return self._read_compared(view, self._tiles, hide)
        # A segment's first frame is copied whole, the others where they differ from the one kept before.
        since = 0 if self._film is None else self._frame + 1
        with view:
            return self._copier.copy_view(view, since)

    def _ask_hidden(self) -> Hide:
        """Return what the supervisor hides now; other orders are postponed. `fault`: why it is unknown."""
        self._asked += 1
        self._child.send(HideAsk(self._asked))
        until_s = time.monotonic() + _HIDE_S
        while (left_s := until_s - time.monotonic()) > 0:
            if not self._child.socket.poll(int(left_s * 1000) + 1):
                break
            for order in self._child.receive():
                if not isinstance(order, FilmHide):
                    self._put_off.append(order)
                elif order.number == self._asked:
                    return order.hide
        return Hide(fault="the daemon did not say what is to be hidden")

    def _read_compared(self, view: FrameView, tiles: TileChanges, hide: Hide | None) -> CopiedFrame:
        """Return the recorded part of the frame, redacted. Raises: FrameGone; NotRedacted for none."""
        assert self._copier is not None
        crop = self._order.crop
        with view:
            pixels = view.copy(crop if self._redactor is None else None)
            frame, epoch, mono_ns = view.frame, view.epoch, view.mono_ns
        self._seen = frame
        if self._redactor is not None:  # what is hidden is found in whole frames
            assert hide is not None
            black = self._redactor.redact(self._options.recording_id, frame, mono_ns, pixels, hide)
            if not isinstance(black, np.ndarray):
                raise NotRedacted(f"not recorded: {black.reason}")
            pixels = black[crop.y : crop.bottom, crop.x : crop.right].copy() if crop is not None else black
        if self._film is None:
            tiles.begin_anew()
        copied = self._copier.copy(frame, epoch, mono_ns, pixels, tiles.find_changed(pixels))
        tiles.keep_frame(pixels)
        return copied

    def _keep_frame(self, copy: CopiedFrame, trouble: str) -> None:
        if trouble:
            # It stays noticed: once the disk takes it, the frame of that time is recorded.
            if self._tiles is not None:
                self._tiles.begin_anew()
            self._note_lost(copy.frame, trouble)
            return
        if self._film is None:
            # The newest frame of a still screen may be minutes old: the recording begins when it was asked for.
            copy = replace(copy, mono_ns=max(copy.mono_ns, self._order.since_ns))
            options = self._options
            self._film = SegmentWriter(
                options.recording_id, self._number, copy, options.fps, options.crf, redacted=self._redactor is not None
            )
            self._number += 1
            self._child.send(FirstFrame())
        self._trouble = ""
        self._disk.put(self._film.segment.number, self._film.add(copy))
        self._frame = copy.frame
        self._pace.note_taken(copy.mono_ns / 1e9)

    def _disk_trouble(self) -> str:
        film = self._film
        fault = self._disk.get_written(film.segment.number).fault if film is not None else ""
        if film is not None and fault:
            self._ended[film.segment.number] = film.segment
            self._film = None
        if self._disk.full:
            return fault or self._trouble or "the disk is full"
        return _STALLED if self._disk.stalled else ""

    def _note_lost(self, frame: int, trouble: str) -> None:
        self._dropped += frame != self._dropped_frame
        self._dropped_frame = frame
        self._trouble = trouble
        self._not_before_s = time.monotonic() + _AGAIN_S


def _is_moved(before: FilmRing, order: FilmRing) -> bool:
    """Return whether `order` asks for a part of the same size elsewhere in the same ring: its segment continues."""
    if before.crop is None or order.crop is None or (before.path, before.epoch) != (order.path, order.epoch):
        return False
    return (before.crop.w, before.crop.h) == (order.crop.w, order.crop.h)
