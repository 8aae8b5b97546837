"""`usage`: what judges and models cost."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec


class Purpose(StrEnum):
    """What a judge or model was asked for: a wait's condition; whether an act had its effect, with what an agent waits
    for and checks; where something is; the agent's next step; what a screen shows; the commentary.
    """

    WAIT = "wait"
    EFFECT = "effect"
    FIND = "find"
    AGENT = "agent"
    ANNOTATE = "annotate"
    COMMENTARY = "commentary"


class Usage(Struct, frozen=True, tag="usage", forbid_unknown_fields=True):
    """Add up what was asked in the last `days` by day (UTC), purpose, judge, model and task. `task_id`: of this one."""

    days: Annotated[int, Meta(ge=1, le=3650)] = 7
    task_id: Annotated[str, Meta(max_length=64)] = ""


class UsageRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Answers of one day, purpose, judge, model ("": not told) and task ("": of no task). `evaluations`: how many;
    `cost_usd` adds up the known costs (None: none is known), `unpriced` of them have no known cost.
    """

    day: str
    purpose: Purpose
    judge: str
    model: str
    task_id: str
    evaluations: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    unpriced: int


class UsageReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows newest day first. Single answers are kept for `kept_days`; what is older counts nowhere."""

    rows: tuple[UsageRow, ...]
    evaluations: int
    cost_usd: float | None
    unpriced: int
    kept_days: float


SPEC = RequestSpec(Usage, UsageReply)
