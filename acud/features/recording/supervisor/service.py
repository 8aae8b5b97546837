"""Recordings as requests see them: one recorder process each, begun by a task or by hand, ended with its true state.

A recording lasts until it is stopped, its task ends or its display is gone. An interruption (a display that is down, a
recorder or supervisor that died) ends a segment; the next one continues in a file of its own.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import Conflict, Refused
from acud.base.ids import new_id
from acud.features.recording.settings import RecordingSettings
from acud.features.recording.supervisor.active_recording import ActiveRecording, with_segments
from acud.features.recording.supervisor.files import NOUN, RecordingFiles
from acud.features.recording.tables import RecordingTable, Timeline, TimelineSpan
from acud.metrics.counters import Tally
from acud.protocol.bootstrap import RecorderOptions
from acud.protocol.capture import Notice
from acud.protocol.questions import Hide
from acud.protocol.recordings import (
    Film,
    Filmed,
    FilmHide,
    Filming,
    FirstFrame,
    HideAsk,
    RecorderHello,
    RecordingInfo,
    RecordingState,
    Unfilm,
)
from acud.protocol.requests.recordings import TimelineReply
from acud.store.rows import OwnerFilter
from acud.supervisor.children import Child, ChildState, Message
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.frame_sources import Source
from acud.supervisor.observers import Order, ParkedCalls
from acud.supervisor.redaction import Redaction
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Target, target_argument
from acud.types.tasks import Task, TaskStatus
from acud.waits.targets import TargetLocation, locate

_LOG = log.logger("recordings")
_MAX_LIVE = 64
"""Recorders are processes of some 80 MB."""
_FIRST_FRAME_S = 15.0
"""A recorder starts in a second; a busy machine takes its time."""
_CLOSE_S = 10.0
"""For the last frame and the end of the file; a recorder that was killed has neither."""


class RecordingService:
    """Every recording of this supervisor."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._settings = core.settings.of(RecordingSettings)
        self.table, self._timeline = RecordingTable(core.store), Timeline(core.store)
        self.folders = RecordingFiles(core.paths.recordings)
        self.active: dict[str, ActiveRecording] = {}
        self.lost = Tally()
        """Frames that no recording has, by reason."""
        redaction = core.settings.redaction
        self._hides = redaction if redaction.recordings else None
        """What recordings hide; None: nothing."""
        self._begun = ParkedCalls[str, RecordingInfo](core.loop)
        """Calls that wait for the first frame of a recording."""
        core.sources.watchers.add(self, Order.FEATURES)
        core.watched_displays.watchers.add(self, Order.FEATURES)
        core.watched_displays.gone.add(self._end_soon, Order.FEATURES)
        core.watched_displays.removed.add(self._end_soon, Order.FEATURES)

    def resume(self) -> None:
        """Continue a former supervisor's recordings, or close them with what is on disk."""
        swept = self.folders.remove_unknown(self.table.ids())
        if swept:
            _LOG.info("recordings.swept", files=swept)
        for row in self.table.list_unfinished():
            recording = with_segments(row, self.folders.measure(row))
            watched = self._core.watched_displays.find_by_number(row.display_number)
            task = self._core.ports.tasks.state_of(row.task_id) if row.task_id else "live"
            if task == "gone":
                self._delete_later(recording)
            elif watched is None or task == "ended":
                self._record_end(recording, RecordingState.DONE, "the daemon ended over it")
            else:
                self._launch_recorder(ActiveRecording(recording, watched, self))

    def find(self, recording_id: str) -> RecordingInfo:
        """Return a recording as it is now. Raises: NotFound; InvalidRequest when several ids match."""
        stored = self.table.find(recording_id)
        active = self.active.get(stored.recording_id)
        return active.info if active is not None else stored

    def newest(self, limit: int, of: OwnerFilter, offset: int = 0) -> tuple[RecordingInfo, ...]:
        """Return the newest recordings of `of` from the `offset`th on, newest first."""
        rows = self.table.newest(limit, of, offset)
        return tuple(self.active[row.recording_id].info if row.recording_id in self.active else row for row in rows)

    def what_happened(self, recording: RecordingInfo, after_ms: int, now_utc_s: float, limit: int) -> TimelineReply:
        """Return the earliest marks after `after_ms` during `recording`, at most `limit`."""
        first = recording.segments[0].start_utc_ms if recording.segments else recording.created_utc_s * 1000
        start_ms, end_s = int(min(first, recording.created_utc_s * 1000)), recording.ended_utc_s or now_utc_s
        span = TimelineSpan(
            max(start_ms, after_ms + 1) / 1000, end_s, recording.display, recording.display_number, recording.task_id
        )
        marks, more = self._timeline.page(span, limit)
        if recording.target:  # points are the display's: they do not fit a part of it, which moves
            marks = tuple(replace(mark, points=()) for mark in marks)
        waits = () if after_ms else self._timeline.waits(span)
        return TimelineReply(recording.recording_id, start_ms, int(end_s * 1000), marks, more, waits)

    # ---- begun: in the savepoint of a call ---------------------------------------------------------------------------

    def start(
        self,
        watched: WatchedDisplay,
        *,
        fps: float = 0.0,
        task_id: str = "",
        automatic: bool = False,
        target: Target | None = None,
    ) -> RecordingInfo:
        """Begin to record `watched`, or its part `target`. Raises: Conflict for a repeat, Refused beyond 64."""
        part = target_argument(target, "") if target is not None else ""
        for active in self.active.values():
            here = active.watched is watched and active.info.target == part
            if here and active.info.task_id == task_id and active.ending is None:
                raise Conflict(f"{watched.name} is recorded already", hint=f"acud record stop {active.recording_id}")
        if len(self.active) >= _MAX_LIVE:
            raise Refused(f"{len(self.active)} recordings are being made", hint="stop some of them: acud record list")
        recording_id = new_id(NOUN)
        recording = RecordingInfo(
            recording_id,
            RecordingState.RECORDING,
            watched.name,
            watched.number,
            task_id or recording_id,
            fps or self._settings.fps,
            self._settings.crf,
            self._core.utc_s(),
            task_id,
            automatic,
            target=part,
        )
        self.table.insert(recording)
        data = {"display": watched.name, "task_id": task_id}
        self._core.journal.event("recording.started", recording_id, **data)
        active = ActiveRecording(recording, watched, self, self._now_ns() if automatic else 0)
        self._core.journal.after_commit(lambda: self._launch_recorder(active))
        return recording

    async def begun(self, recording: RecordingInfo) -> RecordingInfo:
        """Return the recording once it has its first frame or has ended; or with why it has no frame yet."""
        key, late = recording.recording_id, partial(self._describe_late, recording)
        return await Callback[RecordingInfo](lambda resume: self._begun.park(key, resume, _FIRST_FRAME_S, late))

    def _describe_late(self, recording: RecordingInfo) -> RecordingInfo:
        late = f"its recorder has taken no frame in {_FIRST_FRAME_S:.0f} s"
        active = self.active.get(recording.recording_id)
        info = active.info if active is not None else recording
        return replace(info, reason=f"{late}: {info.reason}" if info.reason else late)

    def _answer_begun(self, info: RecordingInfo) -> None:
        self._begun.answer_fitting(lambda one: one == info.recording_id, info)

    def begin_task(self, task: Task, watched: WatchedDisplay) -> None:
        """Record a task that has a display of its own, if the settings ask for it."""
        if not self._settings.enabled:
            return
        try:
            self.start(watched, task_id=task.task_id, automatic=True)
        except Refused as fault:
            _LOG.warning("recording.refused", task=task.task_id, reason=fault.message)

    def _launch_recorder(self, active: ActiveRecording) -> None:
        if active.watched.state is DisplayState.ENDED:
            reason = f"display {active.watched.name} had ended"
            self._answer_begun(self._record_end(active.info, RecordingState.DONE, reason))
            return
        self.active[active.recording_id] = active
        info = active.info
        options = RecorderOptions(
            info.recording_id,
            str(self.folders.folder(info.folder)),
            self._core.paths.frames_endpoint(info.display),
            info.fps,
            info.crf,
            self._hides,
            self._core.settings.ocr,
            self._core.settings.accessibility,
        )
        self._core.keeper.start(active.child, options)
        self._follow_target(active)

    async def stop(self, recording_id: str, reason: str) -> RecordingInfo:
        """End a recording with the display's current frame; return it when its files are closed.

        Raises: NotFound; Conflict when it has ended.
        """
        info = self.find(recording_id)
        active = self.active.get(info.recording_id)
        if active is None or active.ending is not None:
            raise Conflict(f"recording {info.recording_id} is {info.state}", hint="acud record list")
        return await Callback[RecordingInfo](partial(self._begin_stop, active, reason))

    def _begin_stop(self, active: ActiveRecording, reason: str, resume: Resume[RecordingInfo]) -> None:
        active.waiting.append(resume)
        source = self._find_source(active)
        if source is None or not source.live:
            self._end_recording(active, RecordingState.DONE, reason)
        else:
            self._core.frame_requests.grab(source, lambda _: self._end_recording(active, RecordingState.DONE, reason))

    def end_task(self, task: Task) -> None:
        """End the recordings of a task that ended; those of a failed one are kept only if the settings ask for it."""
        forget = task.status is TaskStatus.FAILED and not self._settings.keep_failed
        for active in self._list_of_task(task.task_id):
            active.forgotten = active.forgotten or (forget and active.info.automatic)
            self._end_recording(active, RecordingState.DONE, f"its task is {task.status}")

    def delete(self, recording_id: str) -> RecordingInfo:
        """Forget a recording and remove its files. Raises: NotFound; Conflict while it is being made."""
        recording = self.find(recording_id)
        if recording.state is RecordingState.RECORDING:
            raise Conflict(
                f"recording {recording.recording_id} is being made", hint=f"acud record stop {recording.recording_id}"
            )
        self._delete_recording(recording)
        return recording

    def delete_task(self, task_id: str) -> None:
        """Forget every recording of a task, also those in progress; in the savepoint of the call."""
        living = {active.recording_id for active in self._list_of_task(task_id)}
        for recording in self.table.of_task(task_id):
            if recording.recording_id not in living:
                self._delete_recording(recording)
        self._core.journal.after_commit(lambda: self._forget_live(task_id))

    def _forget_live(self, task_id: str) -> None:
        for active in self._list_of_task(task_id):
            active.forgotten = True
            self._end_recording(active, RecordingState.DONE, "its task was deleted")

    def _list_of_task(self, task_id: str) -> list[ActiveRecording]:
        return [active for active in self.active.values() if active.info.task_id == task_id]

    def _end_recording(self, active: ActiveRecording, state: RecordingState, reason: str) -> None:
        if active.ending is not None:
            return
        active.ending = (state, reason)
        source = self._find_source(active)
        if source is not None:
            self._core.sources.want(source, active, 0)
        self._core.watched_displays.follow(active.watched, active, ())
        if active.child.process is None:
            self._core.keeper.stop(active.child)
            self._finish_recording(active)
        elif active.child.state is not ChildState.STARTING:  # else it stops after the last frame: `handle_message`
            self._stop_recorder(active)

    def _stop_recorder(self, active: ActiveRecording) -> None:
        self._core.keeper.stop(active.child, _CLOSE_S + (self._hides.timeout_s if self._hides is not None else 0))

    def _finish_recording(self, active: ActiveRecording) -> None:
        assert active.ending is not None
        self.active.pop(active.recording_id, None)
        active.take_disk_state(self.folders.measure(active.info))
        recording = active.info
        if active.forgotten:
            self._delete_later(recording)
        else:
            recording = self._record_end(recording, *active.ending)
        self._answer_begun(recording)
        for resume in active.waiting:
            resume(recording)

    def _record_end(self, recording: RecordingInfo, state: RecordingState, reason: str) -> RecordingInfo:
        closed = replace(recording, state=state, reason=reason, ended_utc_s=self._core.utc_s())
        self._core.journal.keep(lambda: self._write_end(closed))
        return closed

    def _write_end(self, recording: RecordingInfo) -> None:
        self.table.update(recording)
        facts = {"state": recording.state.value, "reason": recording.reason}
        counts = {"frames": recording.frames, "seconds": recording.seconds}
        self._core.journal.event("recording.ended", recording.recording_id, **facts, **counts)

    def _delete_later(self, recording: RecordingInfo) -> None:
        """Forget a recording outside of any call."""
        self._core.journal.keep(lambda: self.delete_row(recording), lambda: self.folders.remove(recording))

    def _delete_recording(self, recording: RecordingInfo) -> None:
        self.delete_row(recording)
        self._core.journal.after_commit(lambda: self.folders.remove(recording))

    def delete_row(self, recording: RecordingInfo) -> None:
        """Delete the recording's row and report that. The caller removes its files, after the commit."""
        self.table.delete(recording.recording_id)
        self._core.journal.event("recording.deleted", recording.recording_id, task_id=recording.task_id)

    def _find_source(self, active: ActiveRecording) -> Source | None:
        source = self._core.sources.by_name.get(active.source)
        return source if active.watched.state is not DisplayState.ENDED else None

    def _list_of_display(self, display: str) -> list[ActiveRecording]:
        return [one for one in self.active.values() if one.watched.name == display and one.ending is None]

    def source_up(self, source: Source) -> None:
        """Record the new ring, in a new segment."""
        for active in self._list_of_display(source.display):
            self._follow_target(active, source)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        for active in self._list_of_display(watched.name):
            self._follow_target(active)

    def _follow_target(self, active: ActiveRecording, new: Source | None = None) -> None:
        """Record the target's current place if it changed, or if the ring `new` is its; end with its window."""
        found = self._locate_target(active)
        if found is None:
            return
        self._core.watched_displays.follow(active.watched, active, (found.window_id,) if found.window_id else ())
        if found.missing is not None and found.missing.code == "window_missing":
            self._end_recording(active, RecordingState.DONE, "its window was closed")
        elif found.missing is not None:
            self._pause_filming(active, found.missing.detail)
        elif (found.source, found.crop) != (active.source, active.crop) or (new and new.name == found.source):
            if found.source != active.source:
                self._leave_source(active)
            active.source, active.crop = found.source, found.crop
            source = self._find_source(active)
            if source is not None:
                self._core.sources.want(source, active, active.info.fps)
                self._film_source(active, source)

    def _locate_target(self, active: ActiveRecording) -> TargetLocation | None:
        """Return where the target of a recording is, None while that is unknown."""
        watched, target = active.watched, active.target
        display = self._core.sources.by_name.get(watched.name)
        if display is None or not display.up or (target.in_windows and not watched.windows_known):
            return None
        return locate(target, watched.name, display.width, display.height, watched.windows, monitors=watched.monitors)

    def _leave_source(self, active: ActiveRecording) -> None:
        source = self._find_source(active)
        if source is not None:
            self._core.sources.want(source, active, 0)
        active.source = ""

    def _pause_filming(self, active: ActiveRecording, reason: str) -> None:
        self._leave_source(active)
        active.trouble, active.size = reason, (0, 0)
        self._core.keeper.send(active.child, Unfilm(reason))

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Do nothing: the recorder sees frames for itself."""

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """End the segment with its reason; the recording goes on unless its display is gone for good."""
        for active in [one for one in self._list_of_display(source.display) if one.source == source.name]:
            self._pause_filming(active, reason)

    def _end_soon(self, *_: object) -> None:
        # Later: the display's frames are lost first, which ends the segments with the reason.
        self._core.loop.call_later(0.0, self._end_of_ended_displays)

    def _end_of_ended_displays(self) -> None:
        for active in list(self.active.values()):
            if active.watched.state is DisplayState.ENDED:
                self._end_recording(active, RecordingState.DONE, active.trouble or active.watched.reason)

    def _film_source(self, active: ActiveRecording, source: Source) -> None:
        if source.path is None or not source.up:
            return
        crop = active.crop
        size = (crop.w, crop.h) if crop is not None else (source.width, source.height)
        changed = f"{'its target' if active.info.target else 'the display'} became {size[0]}x{size[1]}"
        reason = changed if active.size not in ((0, 0), size) else "its frames came anew"
        active.size, active.trouble = size, ""
        since_ns = active.asked_ns or self._now_ns()
        if self._core.keeper.send(active.child, Film(str(source.path), source.epoch, since_ns, reason, crop)):
            active.asked_ns = 0

    def _now_ns(self) -> int:
        return int(self._core.clock.monotonic_s() * 1e9)

    def handle_message(self, child: Child, message: Message) -> None:
        active = self.active.get(child.name)
        if active is None:
            return
        match message:
            case FirstFrame():
                self._answer_begun(active.info)
            case RecorderHello():
                source = self._find_source(active)
                if source is not None:
                    self._film_source(active, source)
                if active.ending is not None:
                    self._stop_recorder(active)
            case HideAsk(number=number):
                hide = hidden_of(self._core.redaction, self._find_source(active))
                self._core.keeper.send(active.child, FilmHide(number, hide))
            case Filmed(segment=segment):
                before = active.segments.get(segment.number)
                active.segments[segment.number] = segment
                if before is None or before.reason != segment.reason:
                    self._write_row(active)
            case Filming(dropped=dropped, gone=gone, trouble=trouble):
                self.lost.add("dropped", amount=max(0, dropped - active.dropped))
                self.lost.add("gone", amount=max(0, gone - active.gone))
                active.dropped, active.gone = dropped, gone
                active.trouble = trouble or ("" if active.size != (0, 0) else active.trouble)
                if trouble:
                    self._answer_begun(active.info)

    def _write_row(self, active: ActiveRecording) -> None:
        info = active.info
        self._core.journal.keep(lambda: self.table.update(info), droppable=True)

    def child_ended(self, child: Child, reason: str) -> None:
        """Handle the end of a recorder: requested, to be restarted, or for good."""
        active = self.active.get(child.name)
        if active is None:
            return
        if active.ending is not None:
            self._core.keeper.stop(child)  # it may have ended before its first message, and be due to start again
            self._finish_recording(active)
        elif child.state is ChildState.FAILED:
            active.ending = (RecordingState.FAILED, f"its recorder was given up: {reason}")
            self._core.daemon_events.child_ended(child)
            self._core.keeper.stop(child)
            self._finish_recording(active)
        elif child.state is not ChildState.STOPPED:
            active.take_disk_state(self.folders.measure(active.info))
            self._write_row(active)
            self._core.daemon_events.child_ended(child)
        # Stopped by the end of the daemon: its successor goes on with it, or closes it.


def hidden_of(redaction: Redaction, source: Source | None) -> Hide:
    """Return what a redacted recording hides of `source`; unknown if the display has none."""
    if source is None:
        return Hide(fault="its display has ended, so what is to be hidden is not known")
    return redaction.find_hidden(source, leaves=True) or Hide()
