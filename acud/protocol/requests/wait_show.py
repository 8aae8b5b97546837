"""`wait_show`: one wait with its timeline."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import Verdict, WaitInfo

WaitId = Annotated[str, Meta(min_length=1, max_length=64)]


class WaitShow(Struct, frozen=True, tag="wait_show", forbid_unknown_fields=True):
    """Show the wait `wait_id` (a unique beginning is enough) with its newest evaluations."""

    wait_id: WaitId
    evaluations: Annotated[int, Meta(ge=0, le=1000)] = 50


class Evaluation(Struct, frozen=True, forbid_unknown_fields=True):
    """One judged frame: the verdict on the whole condition, who answered, how long it took, what it cost."""

    utc_s: float
    epoch: int
    frame: int
    verdict: Verdict
    judge: str
    source: str
    latency_ms: float
    identity: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class WaitShowReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Evaluations oldest first. `evidence_path`: where the kept picture lies on the daemon's host ("" for none)."""

    wait: WaitInfo
    evaluations: tuple[Evaluation, ...]
    evidence_path: str = ""


SPEC = RequestSpec(WaitShow, WaitShowReply)
