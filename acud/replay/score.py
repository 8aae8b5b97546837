"""What one run said: a row for each verdict, and what all of it came to."""

from __future__ import annotations

from collections.abc import Iterable

from acud.protocol.evaluation import Answered
from acud.protocol.replay import Gate, ReplayRow
from acud.types import Verdict
from acud.waits.effects import EvaluationRecord


class Score:
    """The rows of run `run`, in order, and their sums."""

    def __init__(self, run: int) -> None:
        self._run = run
        self.rows: list[ReplayRow] = []

    def judged(
        self, effect: EvaluationRecord, answered: Answered | None, at_s: float, utc_ms: int, *, forced: bool
    ) -> ReplayRow:
        """Add what a job said of a frame; `answered` None: it gave no answer."""
        answers = answered.answers if answered is not None else ()
        worked = [one for one in answers if one.source == "judge"]
        asked: Gate = "forced" if forced else "judged"
        gate: Gate = "held" if effect.gated else asked if worked or not answers else "memo"
        costs = [one.cost_usd for one in worked]
        row = ReplayRow(
            self._run,
            at_s,
            utc_ms,
            effect.epoch,
            effect.frame,
            gate,
            effect.verdict,
            "+".join(sorted({one.judge for one in answers})),
            round(max((one.latency_ms for one in worked), default=0.0), 3),
            _sum(one.tokens_in for one in worked),
            _sum(one.tokens_out for one in worked),
            sum(cost for cost in costs if cost is not None) if None not in costs else None,
        )
        self.rows.append(row)
        return row

    def decided(self, verdict: Verdict, at_s: float, utc_ms: int, epoch: int, frame: int) -> ReplayRow:
        """Add what tiles alone said."""
        row = ReplayRow(self._run, at_s, utc_ms, epoch, frame, "tiles", verdict)
        self.rows.append(row)
        return row

    def count(self, gate: Gate) -> int:
        """Return how many rows are of that kind."""
        return sum(row.gate == gate for row in self.rows)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens in and out, of the judges that told."""
        return sum(row.tokens_in or 0 for row in self.rows), sum(row.tokens_out or 0 for row in self.rows)

    @property
    def cost_usd(self) -> float | None:
        """What the judges cost; None when one did not tell."""
        costs = [row.cost_usd for row in self.rows if row.gate in ("judged", "forced")]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
