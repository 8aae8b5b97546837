"""The judge that never judges: an agent that looks for itself, woken by other leaves or the deadline."""

from __future__ import annotations

from acud.evaluator.vision.judge import JudgeReply, Picture, Question
from acud.protocol.evaluation import JudgeHealth
from acud.types import unknown


class PassthroughJudge:
    """Answers `unknown(needs_vision)` to everything, at once, for nothing."""

    name = "passthrough"
    local = True

    async def evaluate(self, question: Question, picture: Picture) -> JudgeReply:
        """Return `unknown(needs_vision)`."""
        return JudgeReply(unknown("needs_vision", "judge `passthrough` leaves looking to the agent"), cost_usd=0.0)

    async def check_health(self) -> JudgeHealth:
        """Return ready: there is nothing that could be down."""
        return JudgeHealth(self.name, "ready")

    async def close(self) -> None:
        """Do nothing."""
