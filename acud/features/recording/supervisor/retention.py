"""How much is kept of recordings, and how long: looked after all the time, the oldest first, never one being made."""

from __future__ import annotations

from collections.abc import Callable

from acud import log
from acud.event_loop import EventLoop
from acud.features.recording.settings import RecordingSettings
from acud.features.recording.supervisor.service import RecordingService
from acud.protocol.recordings import RecordingInfo
from acud.supervisor.journal import Journal

_LOG = log.logger("recordings")
_CHECK_S = 5.0
_DAY_S = 86_400.0
_MB = 1_000_000


class RecordingRetention:
    """Keeps recordings within `[recording] max_mb` and `keep_days`."""

    def __init__(
        self,
        recordings: RecordingService,
        journal: Journal,
        loop: EventLoop,
        utc_s: Callable[[], float],
        settings: RecordingSettings,
    ) -> None:
        self._recordings = recordings
        self._journal = journal
        self._loop = loop
        self._utc_s = utc_s
        self.settings = settings

    def start(self) -> None:
        """Look now, and then every five seconds."""
        self._loop.call_later(_CHECK_S, self.start)
        going: list[RecordingInfo] = []

        def strike() -> None:
            going[:] = self._surplus()
            for recording in going:
                self._recordings.strike(recording)

        def remove() -> None:
            for recording in going:
                _LOG.info("recording.expired", recording=recording.recording_id, bytes=recording.size_bytes)
                self._recordings.folders.remove(recording)

        self._journal.keep(strike, remove, droppable=True)

    def _surplus(self) -> list[RecordingInfo]:
        table = self._recordings.table
        old = list(table.too_old(self._utc_s() - self.settings.keep_days * _DAY_S))
        active = sum(one.info.size_bytes for one in self._recordings.active.values())
        over = table.ended_bytes() - sum(one.size_bytes for one in old) + active - int(self.settings.max_mb * _MB)
        for recording in table.oldest() if over > 0 else ():
            if over > 0 and recording not in old:
                old.append(recording)
                over -= recording.size_bytes
        return old
