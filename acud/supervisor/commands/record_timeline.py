"""Answer `record_timeline`."""

from __future__ import annotations

from acud.protocol.recordings import RecordingInfo
from acud.protocol.requests.recordings import RecordTimeline, TimelineReply
from acud.store import Span
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: RecordTimeline, call: Call) -> TimelineReply:
    """Return what happened while a recording was made."""
    recording = app.recordings.find(request.recording_id)
    start_ms, end_s = _start_ms(recording), recording.ended_utc_s or app.clock.instant().utc_s
    span = Span(
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
