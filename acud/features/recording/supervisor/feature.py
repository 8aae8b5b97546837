"""Recordings in the supervisor: started with the core, and what doctor and metrics tell of them."""

from __future__ import annotations

import time
from collections.abc import Iterator

from acud.config import Settings
from acud.features.recording.settings import RecordingSettings
from acud.features.recording.supervisor import active_recording
from acud.features.recording.supervisor import handlers as handlers  # registers them
from acud.features.recording.supervisor.retention import RecordingRetention
from acud.features.recording.supervisor.service import RecordingService
from acud.protocol.requests.daemon import Finding
from acud.store import OwnerFilter
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.types.metrics import Sample


class RecordingFeature(RunningFeature):
    """Every recording, and how long each is kept."""

    def __init__(self, core: Core) -> None:
        self.paths = core.paths
        self.clock = core.clock
        self.displays = core.displays
        self.tasks = core.ports.tasks
        self.recordings = RecordingService(
            core.keeper,
            core.sources,
            core.frame_requests,
            core.loop,
            core.journal,
            core.utc_s,
            core.watched_displays,
            core.settings,
            core.paths,
            self.tasks,
            core.daemon_events.child_ended,
        )
        self._retention = RecordingRetention(
            self.recordings, core.journal, core.loop, core.utc_s, core.settings.of(RecordingSettings)
        )
        observers = self.tasks.observers
        observers.begun.add(self.recordings.begin_task, Order.FEATURES)
        observers.ended.add(self.recordings.end_task, Order.FEATURES)
        observers.deleted.add(self.recordings.delete_task, Order.FEATURES)

    def start(self) -> None:
        """Go on with what a former supervisor recorded."""
        self.recordings.resume()
        self._retention.start()

    def reload(self, settings: Settings) -> None:
        """Take how much is kept, and how long."""
        self._retention.settings = settings.of(RecordingSettings)

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong with recordings."""
        newest = self.recordings.newest(active_recording.LOOKED_THROUGH, OwnerFilter())
        yield from active_recording.findings(newest, time.time())

    def samples(self) -> Iterator[tuple[str, Sample]]:
        """Yield what is recorded and what was lost."""
        active = self.recordings.active.values()
        yield "acud_recordings_live", Sample((), len(active))
        yield "acud_recordings_bytes", Sample(("ended",), self.recordings.table.ended_bytes())
        yield "acud_recordings_bytes", Sample(("live",), sum(one.info.size_bytes for one in active))
        yield from (("acud_recording_frames_lost_total", sample) for sample in self.recordings.lost.samples())


def start(core: Core) -> RecordingFeature:
    """Start the feature."""
    return RecordingFeature(core)
