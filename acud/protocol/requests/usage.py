"""`usage`: what judging cost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec


class Usage(Struct, frozen=True, tag="usage", forbid_unknown_fields=True):
    """Add up the kept evaluations of the last `days` by day (UTC), judge and task. `task_id`: of this task alone."""

    days: Annotated[int, Meta(ge=1, le=3650)] = 7
    task_id: Annotated[str, Meta(max_length=64)] = ""


class UsageRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Evaluations of one day, judge and task ("": of no task). `cost_usd` adds up the known costs (None: none is
    known); `unpriced` evaluations have no known cost.
    """

    day: str
    judge: str
    task_id: str
    evaluations: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    unpriced: int


class UsageReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows newest day first. Single evaluations are kept for `kept_days`; what is older counts nowhere."""

    rows: tuple[UsageRow, ...]
    evaluations: int
    cost_usd: float | None
    unpriced: int
    kept_days: float


SPEC = RequestSpec(Usage, UsageReply)
