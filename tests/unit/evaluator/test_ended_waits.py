"""What an evaluator keeps for waits goes when they end, also what a job that was under way then has just kept."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from acud.config import OcrSettings, VisionSettings
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.judges.registry import JudgeRegistry
from acud.evaluator.judges.scripted import ScriptedJudge
from acud.evaluator.service import EvaluatorService, Incoming
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import RedactionRules
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.evaluation import Job, JobResult, WaitsOver
from acud.protocol.questions import Ask, LeafAsk, View
from acud.types import Criteria, Rect

SCRIPT = '{"default": "no", "delay_ms": 50}'


class _Frames:
    """A black frame."""

    def take_view(self, job: Job) -> ViewPixels:
        return ViewPixels(":1", 1, 1, 0, Rect(0, 0, 60, 40), np.zeros((40, 60, 4), np.uint8), "abc")

    def free_unneeded(self) -> None:
        """Let go of nothing."""

    def close(self) -> None:
        """Let go of nothing."""


class _Child:
    """The supervisor's end: `said` are messages, each given when its condition holds of the results so far."""

    def __init__(self, *said: tuple[int, Incoming]) -> None:
        self._said = said
        self._came = asyncio.Event()
        self.results: list[JobResult] = []

    async def send(self, message: msgspec.Struct) -> None:
        if isinstance(message, JobResult):
            self.results.append(message)
            self._came.set()

    async def messages(self) -> AsyncIterator[Incoming]:
        """Yield each message once so many results came."""
        for results, message in self._said:
            while len(self.results) < results:
                self._came.clear()
                await self._came.wait()
            await asyncio.sleep(0)
            yield message

    async def send_beats(self, heartbeat: Callable[[], Heartbeat]) -> None:
        """Say nothing."""


async def _serve(folder: Path, *said: tuple[int, Incoming]) -> EvaluatorContext:
    """Return the context of an evaluator that was told all this, about waits with a lossy gate."""
    options = EvaluatorOptions(VisionSettings(), OcrSettings(), False, str(folder), str(folder), 8, 320)
    judges = JudgeRegistry({"scripted": ScriptedJudge(SCRIPT)}, ("scripted",))
    context = EvaluatorContext(options, judges, None, RedactionRules(options.redaction, None), {}, _Frames())
    child: Any = _Child(*said)
    try:
        await EvaluatorService(child, context, owns_ocr=False, max_jobs=8, health_interval_s=60).run()
    finally:
        await context.close()
    return context


def _job(job_id: str, wait_id: str) -> Job:
    ask = Ask(wait_id, Criteria("it holds"), (LeafAsk(0),), judge="scripted", gate="ratio")
    return Job(job_id, View(":1"), "/ring", 1, 0, (ask,))


def _find_kept(context: EvaluatorContext, wait_id: str) -> tuple[bool, bool]:
    return wait_id in context.gates._judged, context.last_negative_views.pop(wait_id, 0, None) is not None


@pytest.mark.asyncio
async def test_a_view_that_was_judged_is_kept_until_its_wait_is_over(tmp_path: Path) -> None:
    said = ((0, _job("j1", "w1")), (1, _job("j2", "w2")), (2, WaitsOver(("w1",))), (2, Stop()))
    context = await _serve(tmp_path, *said)
    assert (_find_kept(context, "w1"), _find_kept(context, "w2")) == ((False, False), (True, True))


@pytest.mark.asyncio
async def test_a_job_that_was_under_way_when_its_wait_ended_leaves_nothing(tmp_path: Path) -> None:
    said = ((0, _job("j1", "w1")), (0, _job("j2", "w2")), (0, WaitsOver(("w1",))), (2, Stop()))
    context = await _serve(tmp_path, *said)
    assert (_find_kept(context, "w1"), _find_kept(context, "w2")) == ((False, False), (True, True))
