"""Answer requests: recordings of displays and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from acud.base.errors import DisplayDown, InvalidRequest
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
from acud.store.rows import OwnerFilter
from acud.supervisor.control import Call, handles
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Target
from acud.waits.targets import find_named_window, parse_target

if TYPE_CHECKING:
    from acud.features.recording.supervisor.feature import RecordingFeature


def _reply(feature: RecordingFeature, recording: RecordingInfo) -> RecordReply:
    return RecordReply(recording, str(feature.recordings.folders.folder(recording.folder)))


@handles(RecordStart)
def record_start(feature: RecordingFeature, request: RecordStart, call: Call) -> None:
    """Begin a recording, and answer with its first frame; the default display may have to be started first."""
    place = feature.core.ports.tasks.place(request.task_id, request.target, request.display)
    target = parse_target(request.target, place.display)
    if target.pty:
        raise InvalidRequest(f"{request.target!r} can't be recorded", hint="record the window that shows it")

    def on_begun(recording: RecordingInfo) -> None:
        call.reply(_reply(feature, recording))

    def start(watched: WatchedDisplay, part: Target | None) -> None:
        if watched.state is DisplayState.ENDED:
            raise DisplayDown(f"display {watched.name} has ended: {watched.reason}", hint="acud display list")
        made = feature.recordings.start(watched, fps=request.fps, task_id=place.task_id, target=part)
        feature.recordings.when_begun(made, call.later(on_begun))

    def on_target(fresh: FreshTarget) -> None:
        window = find_named_window(target.window, fresh.watched.windows) if target.window else None
        start(fresh.watched, replace(target, window=hex(window.window_id)) if window is not None else target)

    if target.region is None and not target.in_windows:
        feature.core.displays.with_display(target.display, call.then(lambda watched: start(watched, None)))
    else:
        feature.core.fresh_frames.resolve_target(target, call.then(on_target))


@handles(RecordStop)
def record_stop(feature: RecordingFeature, request: RecordStop, call: Call) -> None:
    """End a recording; the reply waits for its last frame."""
    feature.recordings.stop(request.recording_id, "stopped", lambda ended: call.reply(_reply(feature, ended)))


@handles(RecordList)
def record_list(feature: RecordingFeature, request: RecordList, call: Call) -> RecordListReply:
    of = OwnerFilter(request.tasks, request.displays)
    if request.task_id:
        of = OwnerFilter((feature.core.ports.tasks.find(request.task_id).task_id,))
    found = feature.recordings.newest(request.limit, of, request.offset)
    return RecordListReply(found, str(feature.core.paths.recordings))


@handles(RecordShow)
def record_show(feature: RecordingFeature, request: RecordShow, call: Call) -> RecordReply:
    return _reply(feature, feature.recordings.find(request.recording_id))


@handles(RecordTimeline)
def record_timeline(feature: RecordingFeature, request: RecordTimeline, call: Call) -> TimelineReply:
    recording = feature.recordings.find(request.recording_id)
    now = feature.core.utc_s()
    return feature.recordings.what_happened(recording, request.after_ms, now, request.limit)


@handles(RecordDelete)
def record_delete(feature: RecordingFeature, request: RecordDelete, call: Call) -> RecordReply:
    return _reply(feature, feature.recordings.delete(request.recording_id))
