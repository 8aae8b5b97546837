"""A local model's stand-in inside an actor of Ray: it says which process it is in, and can be told to end it."""

from __future__ import annotations

import asyncio
import os

from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.types import yes


class InActor:
    """Says yes with its process id. "die": it ends its process. "wait": it takes three seconds."""

    name = "in_actor"
    local = True

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        if "die" in question.criteria:
            os._exit(1)
        if "wait" in question.criteria:
            await asyncio.sleep(3)
        return JudgeReply(yes(f"pid {os.getpid()}, {len(picture.jpeg)} bytes"), 10, 2, 0.0)

    async def close(self) -> None:
        """Do nothing."""


def make() -> InActor:
    return InActor()
