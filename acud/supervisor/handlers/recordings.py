"""Answer requests: recordings of displays and tasks."""

from __future__ import annotations

from acud.errors import AcudError, DisplayDown
from acud.protocol.recordings import RecordingInfo
from acud.protocol.requests.recordings import (
    RecordDelete,
    RecordList,
    RecordListReply,
    RecordReply,
    RecordShow,
    RecordStart,
    RecordStop,
    RecordTimeline,
    TimelineReply,
)
from acud.store import OwnerFilter, TimelineSpan
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.handlers.registry import handles
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState


@handles(RecordStart)
def record_start(app: App, request: RecordStart, call: Call) -> None:
    """Begin a recording; the default display may have to be started first."""
    place = app.tasks.place(request.task_id, "screen", request.display)

    def on_display(outcome: WatchedDisplay | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        elif outcome.state is DisplayState.ENDED:
            call.fail(DisplayDown(f"display {outcome.name} has ended: {outcome.reason}", hint="acud display list"))
        else:
            recording = app.recordings.start(outcome, fps=request.fps, task_id=place.task_id)
            call.reply(RecordReply(recording, str(app.recordings.folders.folder(recording.folder))))

    app.displays.with_display(place.display, call.later(on_display))


@handles(RecordStop)
def record_stop(app: App, request: RecordStop, call: Call) -> None:
    """End a recording; the reply waits for its last frame."""

    def closed(recording: RecordingInfo) -> None:
        call.reply(RecordReply(recording, str(app.recordings.folders.folder(recording.folder))))

    app.recordings.stop(request.recording_id, "stopped", closed)


@handles(RecordList)
def record_list(app: App, request: RecordList, call: Call) -> RecordListReply:
    """Return the newest recordings."""
    of = OwnerFilter(request.tasks, request.displays)
    if request.task_id:
        of = OwnerFilter((app.tasks.find(request.task_id).task_id,))
    return RecordListReply(app.recordings.newest(request.limit, of), str(app.paths.recordings))


@handles(RecordShow)
def record_show(app: App, request: RecordShow, call: Call) -> RecordReply:
    """Return one recording."""
    recording = app.recordings.find(request.recording_id)
    return RecordReply(recording, str(app.recordings.folders.folder(recording.folder)))


@handles(RecordTimeline)
def record_timeline(app: App, request: RecordTimeline, call: Call) -> TimelineReply:
    """Return what happened while a recording was made."""
    recording = app.recordings.find(request.recording_id)
    start_ms, end_s = _start_ms(recording), recording.ended_utc_s or app.clock.instant().utc_s
    span = TimelineSpan(
        max(start_ms, request.after_ms + 1) / 1000,
        end_s,
        recording.display,
        recording.display_number,
        recording.task_id,
    )
    marks, more = app.store.timeline.page(span, request.limit)
    return TimelineReply(recording.recording_id, start_ms, int(end_s * 1000), marks, more)


def _start_ms(recording: RecordingInfo) -> int:
    first = recording.segments[0].start_utc_ms if recording.segments else recording.created_utc_s * 1000
    return int(min(first, recording.created_utc_s * 1000))


@handles(RecordDelete)
def record_delete(app: App, request: RecordDelete, call: Call) -> RecordReply:
    """Forget a recording."""
    recording = app.recordings.delete(request.recording_id)
    return RecordReply(recording, str(app.recordings.folders.folder(recording.folder)))
