"""The requests about recordings and live screens as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from acud.protocol.requests.looks import LiveWatch, LiveWatched
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

Reply = TypeVar("Reply", bound=msgspec.Struct)


class RecordingCalls(ABC):
    """The recording requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def record_start(self, display: str = "", *, task_id: str = "", fps: float = 0.0) -> RecordReply:
        """Record a display, or a task's, from now on. Raises: Conflict when that is being done already."""
        return self.ask(RecordStart(display, task_id, fps), RecordReply)

    def record_stop(self, recording_id: str) -> RecordReply:
        """End a recording and return it once its files are closed. Raises: Conflict when it has ended."""
        return self.ask(RecordStop(recording_id), RecordReply)

    def record_list(
        self, *, task_id: str = "", limit: int = 50, tasks: Sequence[str] = (), displays: Sequence[str] = ()
    ) -> RecordListReply:
        """Return the newest recordings, newest first; of a task, or of any of `tasks` (whole ids) and `displays`."""
        return self.ask(RecordList(task_id, limit, tuple(tasks), tuple(displays)), RecordListReply)

    def record_show(self, recording_id: str) -> RecordReply:
        """Return one recording as it is now."""
        return self.ask(RecordShow(recording_id), RecordReply)

    def record_timeline(self, recording_id: str, *, after_ms: int = 0, limit: int = 1000) -> TimelineReply:
        """Return the first marks of a recording's time after `after_ms`: verdicts, waits, actions, messages, tasks."""
        return self.ask(RecordTimeline(recording_id, after_ms, limit), TimelineReply)

    def live_watch(self, display: str, *, fps: float = 10.0, for_s: float = 10.0, watch: str = "") -> LiveWatched:
        """Have a display grabbed as it changes for `for_s`, and return where its frames are; a `watch` goes on."""
        return self.ask(LiveWatch(display, fps, for_s, watch), LiveWatched)

    def record_delete(self, recording_id: str) -> RecordReply:
        """Forget a recording and remove its files. Raises: Conflict while it is being made."""
        return self.ask(RecordDelete(recording_id), RecordReply)


class AsyncRecordingCalls(ABC):
    """The same for a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def record_start(self, display: str = "", *, task_id: str = "", fps: float = 0.0) -> RecordReply:
        """Record a display, or a task's, from now on. Raises: Conflict when that is being done already."""
        return await self.ask(RecordStart(display, task_id, fps), RecordReply)

    async def record_stop(self, recording_id: str) -> RecordReply:
        """End a recording and return it once its files are closed. Raises: Conflict when it has ended."""
        return await self.ask(RecordStop(recording_id), RecordReply)

    async def record_list(
        self, *, task_id: str = "", limit: int = 50, tasks: Sequence[str] = (), displays: Sequence[str] = ()
    ) -> RecordListReply:
        """Return the newest recordings, newest first; of a task, or of any of `tasks` (whole ids) and `displays`."""
        return await self.ask(RecordList(task_id, limit, tuple(tasks), tuple(displays)), RecordListReply)

    async def record_show(self, recording_id: str) -> RecordReply:
        """Return one recording as it is now."""
        return await self.ask(RecordShow(recording_id), RecordReply)

    async def record_timeline(self, recording_id: str, *, after_ms: int = 0, limit: int = 1000) -> TimelineReply:
        """Return the first marks of a recording's time after `after_ms`: verdicts, waits, actions, messages, tasks."""
        return await self.ask(RecordTimeline(recording_id, after_ms, limit), TimelineReply)

    async def live_watch(self, display: str, *, fps: float = 10.0, for_s: float = 10.0, watch: str = "") -> LiveWatched:
        """Have a display grabbed as it changes for `for_s`, and return where its frames are; a `watch` goes on."""
        return await self.ask(LiveWatch(display, fps, for_s, watch), LiveWatched)

    async def record_delete(self, recording_id: str) -> RecordReply:
        """Forget a recording and remove its files. Raises: Conflict while it is being made."""
        return await self.ask(RecordDelete(recording_id), RecordReply)
