"""What a worker counts, told as one log line a minute and at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from acud import child_process, log
from acud.evaluator.vision.judge import JudgeReply
from acud.types import Answer

_LOG = log.logger("worker")
_EVERY_S = 60.0


class Tally:
    """Counts since the start. `unwanted`: jobs for which nobody waited any more. `given_back`: those that others are to
    do. `cost_usd` is of the answers whose cost is known; `unpriced` are the others."""

    def __init__(self) -> None:
        self.jobs = 0
        self.redelivered = 0
        self.unwanted = 0
        self.repeated = 0
        self.answers = 0
        self.unheard = 0
        self.unknown = 0
        self.expired = 0
        self.given_back = 0
        self.unpriced = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.cost_usd = 0.0
        self._told: dict[str, float] = {}

    def took(self, begun: int) -> None:
        """A job was begun, by the `begun`th worker."""
        self.jobs += 1
        self.redelivered += begun > 1

    def judged(self, reply: JudgeReply, heard: bool) -> None:
        """A question was answered; `heard`: who asked has the answer."""
        self.answers += heard
        self.unheard += not heard
        self.unknown += reply.verdict.answer is Answer.UNKNOWN
        self.unpriced += reply.cost_usd is None
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.cost_usd += reply.cost_usd or 0.0

    def figures(self) -> dict[str, float]:
        """Return everything counted."""
        told = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return told | {"cost_usd": round(self.cost_usd, 6)}

    def tell(self, in_hand: int) -> None:
        """Log the figures."""
        self._told = self.figures()
        _LOG.info("worker.metrics", in_hand=in_hand, rss_mb=round(child_process.rss_mb(), 1), **self._told)

    async def tell_for_ever(self, in_hand: Callable[[], int]) -> None:
        """Log the figures once a minute, where anything changed."""
        while True:
            await asyncio.sleep(_EVERY_S)
            if self.figures() != self._told:
                self.tell(in_hand())
