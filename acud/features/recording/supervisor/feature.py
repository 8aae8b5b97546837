"""Recordings in the supervisor: started with the core, kept within their settings, reported to doctor and metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import DisplayDown, InvalidRequest
from acud.config import Settings
from acud.features.recording.settings import RecordingSettings
from acud.features.recording.supervisor.service import RecordingService
from acud.protocol.recordings import RecordingInfo, RecordingState
from acud.protocol.requests.daemon import Finding
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
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.types import DisplayState, Target
from acud.types.metrics import Sample
from acud.waits.targets import find_named_window, parse_target

_LOG = log.logger("recordings")
_CHECK_S = 5.0
_DAY_S = 86_400.0
_MB = 1_000_000
_LOOKED_THROUGH = 200


class RecordingFeature(RunningFeature):
    """Every recording and its retention: the oldest go first, never one in progress."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.recordings = RecordingService(core)
        self._kept = core.settings.of(RecordingSettings)
        observers = core.ports.tasks.observers
        observers.begun.add(self.recordings.begin_task, Order.FEATURES)
        observers.ended.add(self.recordings.end_task, Order.FEATURES)
        observers.deleted.add(self.recordings.delete_task, Order.FEATURES)

    def start(self) -> None:
        """Continue the recordings of a former supervisor."""
        self.recordings.resume()
        self._trim_recordings()

    def reload(self, settings: Settings) -> None:
        """Apply the limits on size and age."""
        self._kept = settings.of(RecordingSettings)

    def _trim_recordings(self) -> None:
        """Keep recordings within `max_mb` and `keep_days`, now and every five seconds."""
        self.core.loop.call_later(_CHECK_S, self._trim_recordings)
        going: list[RecordingInfo] = []
        self.core.journal.keep(partial(self._strike_surplus, going), partial(self._remove_files, going), droppable=True)

    def _strike_surplus(self, going: list[RecordingInfo]) -> None:
        going[:] = self._find_surplus()
        for recording in going:
            self.recordings.delete_row(recording)

    def _remove_files(self, going: list[RecordingInfo]) -> None:
        for recording in going:
            _LOG.info("recording.expired", recording=recording.recording_id, bytes=recording.size_bytes)
            self.recordings.folders.remove(recording)

    def _find_surplus(self) -> list[RecordingInfo]:
        table = self.recordings.table
        old = list(table.too_old(self.core.utc_s() - self._kept.keep_days * _DAY_S))
        over = table.ended_bytes() - sum(one.size_bytes for one in old) + self._live_bytes()
        over -= int(self._kept.max_mb * _MB)
        for recording in table.oldest() if over > 0 else ():
            if over > 0 and recording not in old:
                old.append(recording)
                over -= recording.size_bytes
        return old

    def _live_bytes(self) -> int:
        return sum(one.info.size_bytes for one in self.recordings.active.values())

    def findings(self) -> Iterator[Finding]:
        """Yield what prevents a recording from being made now, and the failed ones of the last day."""
        for one in self.recordings.newest(_LOOKED_THROUGH, OwnerFilter()):
            part = f"recording {one.recording_id}"
            if one.state is RecordingState.RECORDING and one.reason:
                yield Finding(part, "warning", one.reason, "make room on the disk, or see to its display")
            elif one.state is RecordingState.FAILED and one.ended_utc_s >= time.time() - _DAY_S:
                yield Finding(part, "warning", one.reason, "acud logs --level error; what is on disk plays")

    def samples(self) -> Iterator[tuple[str, Sample]]:
        """Yield the numbers of recordings, bytes and lost frames."""
        yield "acud_recordings_live", Sample((), len(self.recordings.active))
        yield "acud_recordings_bytes", Sample(("ended",), self.recordings.table.ended_bytes())
        yield "acud_recordings_bytes", Sample(("live",), self._live_bytes())
        yield from (("acud_recording_frames_lost_total", sample) for sample in self.recordings.lost.samples())


start = RecordingFeature


def _make_reply(feature: RecordingFeature, recording: RecordingInfo) -> RecordReply:
    return RecordReply(recording, str(feature.recordings.folders.folder(recording.folder)))


@handles(RecordStart)
async def record_start(feature: RecordingFeature, request: RecordStart, call: Call) -> RecordReply:
    """Begin a recording, and answer with its first frame; the default display may have to be started first."""
    core = feature.core
    place = core.ports.tasks.find_place(request.task_id, request.target, request.display)
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
