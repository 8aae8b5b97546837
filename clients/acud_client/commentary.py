"""The commentary's requests as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, TypeVar

import msgspec

from acud.protocol.requests.commentary import (
    AnalysisConfigReply,
    AnalysisConfigure,
    AnalysisContextGet,
    AnalysisContextReply,
    AnalysisHistory,
    AnalysisHistoryReply,
    AnalysisStatus,
    AnalysisStatusReply,
    FeedList,
    FeedListReply,
    FeedPost,
    Posted,
    SenseList,
    SenseListReply,
    SensePost,
)
from acud.types.commentary import SenseMeta

Reply = TypeVar("Reply", bound=msgspec.Struct)
SenseKind = Literal["text", "visual", "context"]
Cadence = Literal["interval", "event"]


class CommentaryCalls(ABC):
    """The commentary's requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def feed_post(self, text: str, *, priority: str = "normal", source: str = "") -> Posted:
        """Add a message to the feed; return its number."""
        return self.ask(FeedPost(text, priority, source), Posted)

    def feed_list(self, after: int = 0) -> FeedListReply:
        """Return the kept messages with a number above `after`, oldest first."""
        return self.ask(FeedList(after), FeedListReply)

    def sense_post(
        self,
        kind: SenseKind,
        ts: int,
        ocr: str = "",
        *,
        meta: SenseMeta = SenseMeta(),  # noqa: B008 - frozen
        roi: dict[str, Any] | None = None,
        diff: dict[str, Any] | None = None,
        observation: dict[str, Any] | None = None,
    ) -> Posted:
        """Tell of something seen at `ts` (milliseconds since the epoch); return its number."""
        return self.ask(SensePost(kind, ts, ocr, meta, roi, diff, observation), Posted)

    def sense_list(self, after: int = 0, *, meta_only: bool = False) -> SenseListReply:
        """Return the kept sense events with a number above `after`, with `meta_only` without their pictures."""
        return self.ask(SenseList(after, meta_only), SenseListReply)

    def analysis_status(self) -> AnalysisStatusReply:
        """Return how the commentary is doing."""
        return self.ask(AnalysisStatus(), AnalysisStatusReply)

    def analysis_history(self, limit: int = 10) -> AnalysisHistoryReply:
        """Return the newest results, newest first."""
        return self.ask(AnalysisHistory(limit), AnalysisHistoryReply)

    def analysis_context(self) -> AnalysisContextReply:
        """Return what an analysis would be made from now."""
        return self.ask(AnalysisContextGet(), AnalysisContextReply)

    def analysis_config(
        self,
        *,
        enabled: bool | None = None,
        interval_ms: int | None = None,
        model: str | None = None,
        backend: str | None = None,
        max_age_ms: int | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        push_to_feed: bool | None = None,
        log_verbose: bool | None = None,
        cadence: Cadence | None = None,
    ) -> AnalysisConfigReply:
        """Change what is given until the daemon ends; return the whole."""
        asked = (enabled, interval_ms, model, backend, max_age_ms, max_tokens, temperature)
        return self.ask(AnalysisConfigure(*asked, push_to_feed, log_verbose, cadence), AnalysisConfigReply)


class AsyncCommentaryCalls(ABC):
    """The same for a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def feed_post(self, text: str, *, priority: str = "normal", source: str = "") -> Posted:
        """Add a message to the feed; return its number."""
        return await self.ask(FeedPost(text, priority, source), Posted)

    async def feed_list(self, after: int = 0) -> FeedListReply:
        """Return the kept messages with a number above `after`, oldest first."""
        return await self.ask(FeedList(after), FeedListReply)

    async def sense_post(
        self,
        kind: SenseKind,
        ts: int,
        ocr: str = "",
        *,
        meta: SenseMeta = SenseMeta(),  # noqa: B008 - frozen
        roi: dict[str, Any] | None = None,
        diff: dict[str, Any] | None = None,
        observation: dict[str, Any] | None = None,
    ) -> Posted:
        """Tell of something seen at `ts` (milliseconds since the epoch); return its number."""
        return await self.ask(SensePost(kind, ts, ocr, meta, roi, diff, observation), Posted)

    async def sense_list(self, after: int = 0, *, meta_only: bool = False) -> SenseListReply:
        """Return the kept sense events with a number above `after`, with `meta_only` without their pictures."""
        return await self.ask(SenseList(after, meta_only), SenseListReply)

    async def analysis_status(self) -> AnalysisStatusReply:
        """Return how the commentary is doing."""
        return await self.ask(AnalysisStatus(), AnalysisStatusReply)

    async def analysis_history(self, limit: int = 10) -> AnalysisHistoryReply:
        """Return the newest results, newest first."""
        return await self.ask(AnalysisHistory(limit), AnalysisHistoryReply)

    async def analysis_context(self) -> AnalysisContextReply:
        """Return what an analysis would be made from now."""
        return await self.ask(AnalysisContextGet(), AnalysisContextReply)

    async def analysis_config(
        self,
        *,
        enabled: bool | None = None,
        interval_ms: int | None = None,
        model: str | None = None,
        backend: str | None = None,
        max_age_ms: int | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        push_to_feed: bool | None = None,
        log_verbose: bool | None = None,
        cadence: Cadence | None = None,
    ) -> AnalysisConfigReply:
        """Change what is given until the daemon ends; return the whole."""
        asked = (enabled, interval_ms, model, backend, max_age_ms, max_tokens, temperature)
        return await self.ask(AnalysisConfigure(*asked, push_to_feed, log_verbose, cadence), AnalysisConfigReply)
