"""`analysis_history`: what the commentary said."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.analysis.nouns import AnalysisResult
from acud.protocol.requests.spec import RequestSpec


class AnalysisHistory(Struct, frozen=True, tag="analysis_history", forbid_unknown_fields=True):
    """List the newest results, newest first; with `limit` 1 the last one."""

    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class AnalysisHistoryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The results."""

    results: tuple[AnalysisResult, ...]


SPEC = RequestSpec(AnalysisHistory, AnalysisHistoryReply)
