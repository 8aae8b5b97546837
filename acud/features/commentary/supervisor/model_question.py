"""One question of the commentary to a model, as work for the evaluator pool: words alone, without a frame."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from acud.features.commentary.prompt import AUDIO_CHARACTERS, SYSTEM, user_prompt
from acud.features.commentary.supervisor.service import model_named
from acud.protocol.evaluation import Job, JobResult, Thought
from acud.protocol.questions import ThinkAsk, View
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.job_queues import Lane
from acud.types.chat import ChatMessage
from acud.types.commentary import AnalysisConfig, ContextWindow
from acud.waits.schedule import NORMAL_PRIORITY

Done = Callable[[Thought], None]

_LOOKED_AT = 4 * AUDIO_CHARACTERS
"""More than is told of a chunk, so that a key is not missed for being cut; and no more, for this is the supervisor."""

NOWHERE = View("")
"""The view of a job that takes no frame."""


class Thinking:
    """Asks through the pool. `leaves` tells whether a backend is not on this machine: it gets what `hide` leaves."""

    def __init__(self, pool: EvaluatorPool, leaves: Callable[[str], bool], hide: Callable[[str], str]) -> None:
        self._pool = pool
        self._leaves = leaves
        self._hide = hide

    def ask(self, config: AnalysisConfig, window: ContextWindow, done: Done) -> None:
        """Ask the backend of `config` once."""
        told = self._redacted(window) if self._leaves(config.backend) else window
        self._pool.submit(_Question(_ask(config, user_prompt(told)), done))

    def _redacted(self, window: ContextWindow) -> ContextWindow:
        """Return the window without what redaction hides in speech; what the screen showed was redacted as it came."""
        audio = (replace(chunk, text=self._hide(chunk.text[:_LOOKED_AT])) for chunk in window.audio)
        return replace(window, audio=tuple(audio))


def _ask(config: AnalysisConfig, prompt: str) -> ThinkAsk:
    return ThinkAsk(
        config.backend,
        SYSTEM,
        (ChatMessage("user", prompt, quotes=True),),
        model=model_named(config),
        picture=False,
        max_tokens=config.max_tokens,
        temperature=config.temperature,
    )


class _Question:
    """A worker that died over it may have asked already: it is not asked again, the next analysis will be."""

    lane = Lane.JUDGE
    display = ""
    priority = NORMAL_PRIORITY

    def __init__(self, ask: ThinkAsk, done: Done) -> None:
        self._ask = ask
        self._done = done
        self._sent = False

    def build(self, job_id: str) -> Job | None:
        """Return the job, the first time."""
        if self._sent:
            self._done(Thought(code="judge_down", reason="the evaluator ended while the model was asked"))
            return None
        self._sent = True
        return Job(job_id, NOWHERE, "", 0, 0, think=self._ask)

    def partly(self, result: JobResult) -> None:
        """A thought has no parts."""

    def finished(self, result: JobResult) -> None:
        """Hand the thought on."""
        reason = f"the model was not asked: {result.reason or result.status}"
        self._done(result.thought or Thought(code="judge_down", reason=reason, cost_usd=0.0))

    def lost(self, reason: str) -> None:
        """Nobody knows whether it was asked, or what it cost."""
        self._done(Thought(code="judge_down", reason=f"the model's answer was lost: {reason}"))
