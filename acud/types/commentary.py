"""Values of the commentary: feed items, sense events, results, and the configuration of its loop."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

FEED_KEPT = 100
SENSE_KEPT = 30
HISTORY_KEPT = 50


class FeedItem(Struct, frozen=True, omit_defaults=True):
    """One message of the feed. `ts`: milliseconds since the epoch. `source` `agent`: the commentary's own words, which
    never count as news to it.
    """

    id: int
    text: str
    priority: str
    ts: int
    source: str = ""


class SenseMeta(Struct, frozen=True, omit_defaults=True):
    """Where a sense event comes from."""

    ssim: float | None = None
    app: str = ""
    windowTitle: str = ""
    screen: int | str = 0


class SenseEvent(Struct, frozen=True, omit_defaults=True):
    """Something was seen: new text, a visual change, or another context (app, window). `receivedAt`: milliseconds."""

    id: int
    type: Literal["text", "visual", "context"]
    ts: int
    receivedAt: int
    ocr: str = ""
    meta: SenseMeta = SenseMeta()
    roi: dict[str, Any] | None = None
    diff: dict[str, Any] | None = None
    observation: dict[str, Any] | None = None
    source: str = ""
    """`acud`: from its own scenes; "" : posted from outside."""


class AnalysisConfig(Struct, frozen=True):
    """How the loop runs. `backend` "": the embedded commentary, without a model; `model` "": that backend's own."""

    enabled: bool = True
    interval_ms: Annotated[int, Meta(ge=5000, le=3_600_000)] = 10_000
    model: str = ""
    backend: str = ""
    max_age_ms: Annotated[int, Meta(ge=10_000, le=86_400_000)] = 120_000
    max_tokens: Annotated[int, Meta(ge=1, le=4000)] = 100
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.3
    push_to_feed: bool = True
    log_verbose: bool = False
    cadence: Literal["interval", "event"] = "interval"


class AnalysisContext(Struct, frozen=True):
    """What an analysis was made from."""

    currentApp: str
    audioCount: int
    screenCount: int


class AnalysisResult(Struct, frozen=True):
    """One analysis. An unknown cost is None."""

    id: int
    ts: int
    analysis: str
    context: AnalysisContext
    pushed: bool
    model: str
    latencyMs: int
    tokensIn: int | None
    tokensOut: int | None
    cost_usd: float | None = None


class AudioChunk(Struct, frozen=True):
    """The text of one feed item; `ts` in milliseconds."""

    ts: int
    text: str


class ScreenMoment(Struct, frozen=True, omit_defaults=True):
    """The content of one sense event; `ts` in milliseconds."""

    ts: int
    type: str
    app: str
    ocr: str = ""
    ssim: float | None = None
    windowTitle: str = ""


class ContextWindow(Struct, frozen=True):
    """The newest chunks and the newest unlike moments, oldest first, and how many there were in the window."""

    currentApp: str
    audio: tuple[AudioChunk, ...]
    screen: tuple[ScreenMoment, ...]
    audioCount: int
    screenCount: int
    windowMs: int

    @property
    def is_empty(self) -> bool:
        return not self.audio and not self.screen

    def counts(self) -> AnalysisContext:
        """Return the part that a result keeps."""
        return AnalysisContext(self.currentApp, self.audioCount, self.screenCount)
