"""While more frames come than the engine reads, the frame is taken when its turn comes, and the verdict names that."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from acud.config import OcrSettings, VisionSettings
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.job import run_job
from acud.evaluator.judges.concurrency import Concurrency
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.registry import JudgeRegistry
from acud.evaluator.judges.scripted import ScriptedJudge
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import RedactionRules
from acud.pixels.tiles import identity
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.evaluation import MOST_READINGS_HELD, Job, JobResult
from acud.protocol.questions import Ask, LeafAsk, View
from acud.types import Criteria, Rect, Text
from tests.fixtures.ink_engine import InkEngine


class HeldEngine(InkEngine):
    """Stands at its first search until `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def detect(self, parts: Sequence[NDArray[np.uint8]]) -> list[list[Rect]]:
        self.begun.set()
        assert self.go.wait(30)
        return super().detect(parts)


class Screens:
    """Rings whose newest frame is `frame`; another one shows another word."""

    def __init__(self) -> None:
        self.frame = 1
        self.taken = 0

    def take_view(self, job: Job) -> ViewPixels:
        self.taken += 1
        pixels = np.zeros((40, 120, 4), np.uint8)
        pixels[10:20, 10 : 20 + 4 * self.frame] = 255
        return ViewPixels(job.view.source, 1, self.frame, 0, Rect(0, 0, 120, 40), pixels, identity(pixels))

    def free_unneeded(self) -> None:
        """Let go of nothing."""

    def close(self) -> None:
        """Let go of nothing."""


class OneByOne(ScriptedJudge):
    """Answers one call at a time, and none before `go`."""

    def __init__(self) -> None:
        super().__init__('{"default": "no"}')
        self.places = Concurrency(1, lambda: 0.0)
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    def seat(self) -> AbstractAsyncContextManager[None]:
        """Return what to hold while a picture is taken and asked about."""
        return self.places.seat(30.0)

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        async with self.places.hold_place():
            self.begun.set()
            await self.go.wait()
            return await super().evaluate(question, picture)


def make(folder: Path, screens: Screens, text: TextReading, judge: OneByOne) -> EvaluatorContext:
    options = EvaluatorOptions(VisionSettings(), OcrSettings(), True, str(folder), str(folder), 8, 320)
    judges = JudgeRegistry({"scripted": judge}, ("scripted",), text)
    return EvaluatorContext(options, judges, text, RedactionRules(options.redaction, text), {}, screens)


async def tell(part: JobResult) -> None:
    raise AssertionError(f"one question has no parts: {part}")


async def read_in_turn(folder: Path, sources: Sequence[str]) -> dict[str, JobResult]:
    """Return the results of a job for each of `sources`, all asked while frame 1 is the newest and the first is read;
    frame 9 is the newest when the others' turn comes.
    """
    engine, screens = HeldEngine(), Screens()
    text = TextReading(OcrSettings(), lambda: engine)
    context = make(folder, screens, text, OneByOne())
    found: dict[str, JobResult] = {}

    async def run(number: int, source: str) -> None:
        ask = Ask(f"w{number}", Text("Done"), (LeafAsk(0),), judge="ocr")
        found[f"j{number}"] = await run_job(Job(f"j{number}", View(source), "/ring", 1, 0, (ask,)), context, tell)

    try:
        async with asyncio.TaskGroup() as group:
            for number, source in enumerate(sources):
                group.create_task(run(number, source))
                while len(text._queue._waiting) <= number:  # noqa: ASYNC110 - a queue without an event for that
                    await asyncio.sleep(0)
            assert await asyncio.to_thread(engine.begun.wait, 30)
            screens.frame = 9
            engine.go.set()
    finally:
        engine.go.set()
        await context.close()
    return found


@pytest.mark.asyncio
async def test_a_crowded_engine_reads_the_frames_of_now(tmp_path: Path) -> None:
    found = await read_in_turn(tmp_path, [f":{number}" for number in range(MOST_READINGS_HELD)])
    assert {one.status for one in found.values()} == {"done"}
    # The first was being read; the next one's turn came while all places but one were taken.
    assert [found[name].frame for name in ("j0", "j1")] == [1, 9]


@pytest.mark.asyncio
async def test_what_stood_there_and_went_is_read_while_there_are_places(tmp_path: Path) -> None:
    found = await read_in_turn(tmp_path, [":1", ":2", ":2"])
    assert [(one.status, one.frame) for one in found.values()] == [("done", 1)] * 3


@pytest.mark.asyncio
async def test_what_waits_for_a_busy_model_is_judged_on_the_frame_of_its_turn(tmp_path: Path) -> None:
    judge, screens, text = OneByOne(), Screens(), TextReading(OcrSettings(), InkEngine)
    context = make(tmp_path, screens, text, judge)

    def begin(name: str) -> asyncio.Task[JobResult]:
        ask = Ask(name, Criteria(f"{name} holds"), (LeafAsk(0),), judge="scripted")
        return asyncio.create_task(run_job(Job(name, View(":1"), "/ring", 1, 0, (ask,)), context, tell))

    first = begin("first")
    await judge.begun.wait()
    second = begin("second")
    while screens.taken < 2 and not judge.places._standing:  # noqa: ASYNC110 - without an event
        await asyncio.sleep(0)
    screens.frame = 9
    judge.go.set()
    assert [(await one).frame for one in (first, second)] == [1, 9]
    await context.close()
