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
from acud.types import DisplayState, Target
from acud.waits.targets import find_named_window, parse_target

if TYPE_CHECKING:
    from acud.features.recording.supervisor.feature import RecordingFeature


def _make_reply(feature: RecordingFeature, recording: RecordingInfo) -> RecordReply:
    return RecordReply(recording, str(feature.recordings.folders.folder(recording.folder)))


@handles(RecordStart)
async def record_start(feature: RecordingFeature, request: RecordStart, call: Call) -> RecordReply:
    """Begin a recording, and answer with its first frame; the default display may have to be started first."""
    core = feature.core
    place = core.ports.tasks.place(request.task_id, request.target, request.display)
    target = parse_target(request.target, place.display)
    if target.pty:
        raise InvalidRequest(f"{request.target!r} can't be recorded", hint="record the window that shows it")
    part: Target | None = None
    if target.region is None and not target.in_windows:
        watched = await core.displays.find_display(target.display)
    else:
        watched = (await core.fresh_frames.find(target)).watched
        window = find_named_window(target.window, watched.windows) if target.window else None
        part = replace(target, window=hex(window.window_id)) if window is not None else target
    if watched.state is DisplayState.ENDED:
        raise DisplayDown(f"display {watched.name} has ended: {watched.reason}", hint="acud display list")
    made = feature.recordings.start(watched, fps=request.fps, task_id=place.task_id, target=part)
    return _make_reply(feature, await feature.recordings.begun(made))


@handles(RecordStop)
async def record_stop(feature: RecordingFeature, request: RecordStop, call: Call) -> RecordReply:
    """End a recording; the reply waits for its last frame."""
    return _make_reply(feature, await feature.recordings.stop(request.recording_id, "stopped"))


@handles(RecordList)
def record_list(feature: RecordingFeature, request: RecordList, call: Call) -> RecordListReply:
    of = OwnerFilter(request.tasks, request.displays)
    if request.task_id:
        of = OwnerFilter((feature.core.ports.tasks.find(request.task_id).task_id,))
    found = feature.recordings.newest(request.limit, of, request.offset)
    return RecordListReply(found, str(feature.core.paths.recordings))


@handles(RecordShow)
def record_show(feature: RecordingFeature, request: RecordShow, call: Call) -> RecordReply:
    return _make_reply(feature, feature.recordings.find(request.recording_id))


@handles(RecordTimeline)
def record_timeline(feature: RecordingFeature, request: RecordTimeline, call: Call) -> TimelineReply:
    recording = feature.recordings.find(request.recording_id)
    now = feature.core.utc_s()
    return feature.recordings.what_happened(recording, request.after_ms, now, request.limit)


@handles(RecordDelete)
def record_delete(feature: RecordingFeature, request: RecordDelete, call: Call) -> RecordReply:
    return _make_reply(feature, feature.recordings.delete(request.recording_id))
