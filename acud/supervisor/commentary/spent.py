"""What the commentary took since the daemon's start."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.evaluation import Thought


class Spent(Struct, frozen=True):
    """Analyses asked for, failed ones included; `unpriced`: how many of them have a cost that nobody knows."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def plus(self, thought: Thought) -> Spent:
        """Return it with one more analysis."""
        return Spent(
            self.calls + 1,
            self.tokens_in + (thought.tokens_in or 0),
            self.tokens_out + (thought.tokens_out or 0),
            self.cost_usd + (thought.cost_usd or 0.0),
            self.unpriced + (thought.cost_usd is None),
        )
