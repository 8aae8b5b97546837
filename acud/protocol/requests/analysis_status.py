"""`analysis_status`: how the commentary is doing."""

from __future__ import annotations

from msgspec import Struct

from acud.analysis.nouns import AnalysisConfig, AnalysisResult
from acud.protocol.requests.spec import RequestSpec


class AnalysisStatus(Struct, frozen=True, tag="analysis_status", forbid_unknown_fields=True):
    """Return the state of the loop and its rings."""


class AnalysisStatusReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`messages`, `sense_events`: in the rings now. `calls` (analyses, failed ones too), tokens and cost: since the
    daemon's start; calls without a known cost are `unpriced`. `model`: whose words are said (`embedded` without a
    backend). `fault`: why the newest call came to nothing, or why a model that is named is not asked. `interval_ms`:
    the present one, back-off included.
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


SPEC = RequestSpec(AnalysisStatus, AnalysisStatusReply)
