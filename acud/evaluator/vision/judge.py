"""The seam between an evaluator and whoever answers a criterion from a picture."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from acud.evaluator.vision.turns import Claim
from acud.protocol.evaluation import JudgeHealth
from acud.types import Verdict


class Question(Struct, frozen=True):
    """A criterion in natural language, and how long its wait has lasted and may last (0: not said).

    `instructions`: the system message of whoever asks from elsewhere; "" for what is set here.
    """

    criteria: str
    elapsed_s: float = 0.0
    timeout_s: float = 0.0
    instructions: str = ""
    claim: Claim = Claim()
    """For whom it is asked, where the calls of a minute do not suffice for all."""


class Picture(Struct, frozen=True):
    """A view as a judge sees it: JPEG bytes and their size, and the size of the view before scaling, in pixels."""

    jpeg: bytes
    width: int
    height: int
    view_width: int
    view_height: int


class JudgeReply(Struct, frozen=True):
    """A judge's verdict and what it cost. Token counts and cost are None where the judge does not tell.

    `judge`: who answered, where others were asked before; "" for the one that was asked. `retry_after_s`: when an
    unknown is worth asking again (0: nobody said).
    """

    verdict: Verdict
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    judge: str = ""
    retry_after_s: float = 0.0


class Judge(Protocol):
    """Answers criteria from pictures.

    Both methods may take long and may be cancelled. Neither raises for a judge that is down, slow or incoherent: that
    is `unknown(judge_down)` or `unknown(unparsable)`, or a health of `down`, each with its reason. `local`: what it is
    shown stays on this machine; all others get redacted pictures only.
    """

    name: str
    local: bool
    """Whether what is sent to it stays on this machine."""

    async def evaluate(self, question: Question, picture: Picture) -> JudgeReply:
        """Return the verdict on `question` over `picture`."""
        ...

    async def check_health(self) -> JudgeHealth:
        """Ask whether the judge can answer now."""
        ...

    async def close(self) -> None:
        """Let go of connections; closing twice is harmless."""
        ...
