"""The requests about recordings as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import msgspec

from acud.protocol.requests.record_delete import RecordDelete
from acud.protocol.requests.record_list import RecordList, RecordListReply
from acud.protocol.requests.record_start import RecordReply, RecordStart
from acud.protocol.requests.record_stop import RecordStop

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

    def record_list(self, *, task_id: str = "", limit: int = 50) -> RecordListReply:
        """Return the newest recordings, newest first."""
        return self.ask(RecordList(task_id, limit), RecordListReply)

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

    async def record_list(self, *, task_id: str = "", limit: int = 50) -> RecordListReply:
        """Return the newest recordings, newest first."""
        return await self.ask(RecordList(task_id, limit), RecordListReply)

    async def record_delete(self, recording_id: str) -> RecordReply:
        """Forget a recording and remove its files. Raises: Conflict while it is being made."""
        return await self.ask(RecordDelete(recording_id), RecordReply)
