"""The feed, the senses and the analyses."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import Command, RestOperation
from acud.protocol.web import Scope
from acud.types.commentary import AnalysisConfig, AnalysisResult, ContextWindow, FeedItem, SenseEvent, SenseMeta


class FeedPost(Struct, frozen=True, tag="feed_post", forbid_unknown_fields=True):
    """Add a message (a transcript, a note for readers) to the feed, and return its number; the newest 100 are kept."""

    text: Annotated[str, Meta(min_length=1, max_length=100_000)]
    priority: Annotated[str, Meta(max_length=40)] = "normal"
    source: Annotated[str, Meta(max_length=60)] = ""


class Posted(Struct, frozen=True, forbid_unknown_fields=True):
    """The number it got; numbers grow over restarts."""

    id: int


class FeedList(Struct, frozen=True, tag="feed_list", forbid_unknown_fields=True):
    """List the kept messages with an id above `after`, oldest first."""

    after: Annotated[int, Meta(ge=0, le=2**53)] = 0


class FeedListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The messages."""

    messages: tuple[FeedItem, ...]


class SensePost(Struct, frozen=True, tag="sense_post", forbid_unknown_fields=True):
    """Add a sense event from outside, and return its number; the newest 30 are kept. `ts`: milliseconds since the
    epoch. Pictures ride in `roi.data` and `diff.data` (base64) as they came; a message is at most 1 MiB, and its
    objects at most 32 deep.
    """

    kind: Literal["text", "visual", "context"]
    ts: Annotated[int, Meta(ge=0, le=2**53)]
    ocr: Annotated[str, Meta(max_length=100_000)] = ""
    meta: SenseMeta = SenseMeta()
    roi: dict[str, Any] | None = None
    diff: dict[str, Any] | None = None
    observation: dict[str, Any] | None = None


class SenseList(Struct, frozen=True, tag="sense_list", forbid_unknown_fields=True):
    """List the kept sense events with an id above `after`, oldest first; with `meta_only` without their pictures."""

    after: Annotated[int, Meta(ge=0, le=2**53)] = 0
    meta_only: bool = False


class SenseListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The events."""

    events: tuple[SenseEvent, ...]


class AnalysisStatus(Struct, frozen=True, tag="analysis_status", forbid_unknown_fields=True):
    """Return the state of the commentary's loop and its rings."""


class AnalysisStatusReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`messages`, `sense_events`: in the rings now. `calls` (analyses, failed ones too), tokens and cost: since the
    daemon's start; calls without a known cost are `unpriced`. `model`: the commentator (`embedded` without a backend).
    `fault`: why the newest call failed, or why a configured model is not asked. `interval_ms`: the present one,
    back-off included.
    """

    messages: int
    sense_events: int
    config: AnalysisConfig
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float
    unpriced: int
    interval_ms: int
    fault: str = ""
    last: AnalysisResult | None = None


class AnalysisHistory(Struct, frozen=True, tag="analysis_history", forbid_unknown_fields=True):
    """List the newest results, newest first; with `limit` 1 the last one."""

    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class AnalysisHistoryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The results."""

    results: tuple[AnalysisResult, ...]


class AnalysisContextGet(Struct, frozen=True, tag="analysis_context", forbid_unknown_fields=True):
    """Return the context window as of now: what an analysis would be made from."""


class AnalysisContextReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The window, and the prompt that a model would get."""

    context: ContextWindow
    prompt: str


class AnalysisConfigure(Struct, frozen=True, tag="analysis_config", forbid_unknown_fields=True):
    """Change what is given (None: as it is), and return the whole; without anything given nothing changes.

    Intervals and ages below the least are raised to it. The change lasts until the daemon ends. `backend` names the
    vision backend that is asked, `model` its model ("": its own); with `backend` "" the embedded commentary runs.
    """

    enabled: bool | None = None
    interval_ms: int | None = None
    model: str | None = None
    backend: str | None = None
    max_age_ms: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    push_to_feed: bool | None = None
    log_verbose: bool | None = None
    cadence: Literal["interval", "event"] | None = None


class AnalysisConfigReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The present configuration. `has_key`: whether the named backend has its key (a local one needs none)."""

    config: AnalysisConfig
    has_key: bool


COMMANDS = (
    Command(FeedPost, Posted, mutating=True, feature="commentary"),
    Command(FeedList, FeedListReply, positional=1, feature="commentary"),
    Command(SensePost, Posted, mutating=True, positional=3, feature="commentary"),
    Command(SenseList, SenseListReply, positional=1, feature="commentary"),
    Command(AnalysisStatus, AnalysisStatusReply, feature="commentary"),
    Command(
        AnalysisHistory,
        AnalysisHistoryReply,
        positional=1,
        feature="commentary",
        rest=RestOperation("GET", "/api/commentary", Scope.READ, "the commentary"),
    ),
    Command(AnalysisContextGet, AnalysisContextReply, feature="commentary"),
    Command(AnalysisConfigure, AnalysisConfigReply, mutating=True, feature="commentary"),
)
