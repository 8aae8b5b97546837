"""The judges of a worker's jobs: a chain of backends in this process, or actors of Ray."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from acud.base.errors import ConfigError
from acud.config import Settings
from acud.config.api_keys import ApiKey
from acud.evaluator.judges import registry
from acud.evaluator.judges.judge import Judge, JudgePicture, JudgeQuestion, JudgeReply, first_answer
from acud.protocol.jobs import VisionJob

STARTING = "starting"
"""The `reason` of a judge that was not asked, because it is being started (again)."""


class JobJudge(Protocol):
    """Answers one question of a job. May be cancelled.

    Raises: Unavailable when the judge ended over it, or, with the reason `STARTING`, is not there yet: the job then
    goes back to the queue.
    """

    async def answer(self, job: VisionJob, number: int) -> JudgeReply:
        """Return the judge's reply; it holds an unknown verdict if no model answered."""

    async def close(self) -> None:
        """Let go of what it holds."""


class BackendChain:
    """Backends of this process, asked in turn until one answers."""

    def __init__(self, line: Sequence[Judge]) -> None:
        self._line = tuple(line)

    async def answer(self, job: VisionJob, number: int) -> JudgeReply:
        question, picture = question_of(job, number)
        return await first_answer(self._line, lambda one: one.evaluate(question, picture))

    async def close(self) -> None:
        for one in self._line:
            await one.close()


def question_of(job: VisionJob, number: int) -> tuple[JudgeQuestion, JudgePicture]:
    """Return question `number` of `job` and its picture, as judges take them."""
    one = job.questions[number]
    question = JudgeQuestion(one.criteria, one.elapsed_s, one.timeout_s, job.instructions)
    return question, JudgePicture(job.jpeg, job.width, job.height, job.view_width, job.view_height)


def backend_chain(names: Sequence[str], settings: Settings, keys: Mapping[str, ApiKey]) -> BackendChain:
    """Return the backends of those `names`, set up by `settings`. Raises: ConfigError for an unknown name."""
    vision = settings.vision
    found = registry.make_judges(
        vision, settings.prices, registry.make_models(settings.backends, vision, keys, settings.prices)
    )
    unknown = [name for name in names if name not in found]
    if unknown or not names:
        given = f"no backend {unknown[0]!r} here" if unknown else "no backend is named"
        raise ConfigError(f"{given}; there are {', '.join(sorted(found))}", hint="acud fleet worker --backend NAME")
    return BackendChain([found[name] for name in names])
