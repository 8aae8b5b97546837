"""One job: a frame taken, its conditions answered side by side, its picture written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from acud.base.errors import AcudError, ProtocolError, Unavailable
from acud.evaluator.chat import ChatTurn, think
from acud.evaluator.context import Encoded, EvaluatorContext
from acud.evaluator.evidence import write_difference, write_picture
from acud.evaluator.judges.judge import Seated
from acud.evaluator.ports import RedactedPixels, Withheld
from acud.evaluator.questions import JobCache, QuestionBatcher, WaitQuestions
from acud.evaluator.view_pixels import ViewPixels
from acud.frames.ring import FrameGone
from acud.pixels.tiles import identity
from acud.protocol.evaluation import FEATURE_ASKS, Answered, Job, JobResult
from acud.protocol.questions import DiffAsk
from acud.types import Criteria, HiddenBox, Leaf, PixelLeaf, TextLeaf
from acud.waits import condition_tree


class WrittenPicture(NamedTuple):
    """A picture in the spool: its file name ("" for none) and its size in pixels."""

    name: str
    width: int
    height: int


Tell = Callable[[JobResult], Awaitable[None]]

_BREATH_S = 0.002  # answers that come within this time share a message: identical questions are answered together


async def run_job(job: Job, context: EvaluatorContext, tell: Tell) -> JobResult:
    """Return the result of `job`; a frame that is gone and a fault of acud's own kind are results too. Answers that
    come before the slowest one are sent with `tell` as parts, and are not repeated in the result.
    """
    if job.think is not None and not job.view.source:
        return JobResult(job.job_id, "done", thought=(await think(job.think, None, context)).thought)
    if job.diff is not None:
        return await _make_difference(job, job.diff, context)
    if job.check_images:
        why = await context.check_images(job.check_images)
        return JobResult(job.job_id, "failed" if why else "done", reason=why)
    off = [name for name in FEATURE_ASKS if getattr(job, name) is not None and name not in context.answerers]
    if off:
        return JobResult(job.job_id, "failed", reason=f"the feature that answers {off[0]!r} is off")
    async with _choose_seat(job, context):
        return await _look_at_view(job, context, tell)


def _choose_seat(job: Job, context: EvaluatorContext) -> AbstractAsyncContextManager[None]:
    """Return the seat to hold while the job runs: one at its judge if it asks for sentences alone, so that the frame is
    taken when the judge can be asked.
    """
    asked = [*_asked_leaves(job)]
    is_sentences = bool(asked) and all(isinstance(one, Criteria) for one in asked)
    judges = context.judges.list_judges(job.asks[0].judge) if is_sentences else ()
    return judges[0].seat() if judges and isinstance(judges[0], Seated) else nullcontext()


async def _look_at_view(job: Job, context: EvaluatorContext, tell: Tell) -> JobResult:
    try:
        shot = await context.off_loop(partial(_take_frame, job, context))
        if _reads_at_once(job, shot, context):
            shot = await context.read_look(shot, job)
        shown = await _redact_for_picture(job, shot, context)
        picture = await _write_picture(job, shown.shot, context)
    except FrameGone as fault:
        return JobResult(job.job_id, "frame_gone", reason=fault.message)
    except AcudError as fault:
        return JobResult(job.job_id, "failed", reason=str(fault))
    for wait_id in job.remember:
        context.last_negative_views.began(wait_id, shot)
    answered, encode_ms = await _answer_all(job, shot, context, tell)
    asks = {name: ask for name in FEATURE_ASKS if (ask := getattr(job, name)) is not None}
    features = {FEATURE_ASKS[name]: await context.answerers[name](ask, shot, context) for name, ask in asks.items()}
    result = _make_result(job, shot, picture, answered)
    result = replace(result, encode_ms=encode_ms, hidden=_hidden_boxes(shown), **features)
    return result if job.think is None else _add_thought(result, await think(job.think, shot, context))


def find_readers(job: Job) -> set[str] | None:
    """Return the job's waits if it only reads text and searches images; None if it does anything else."""
    features = any(getattr(job, name) is not None for name in FEATURE_ASKS)
    other = (job.picture, job.think, job.diff, *job.remember, *job.check_images)
    if features or any(one is not None for one in other) or any(map(condition_tree.may_ask_model, _asked_leaves(job))):
        return None
    pixels = all(isinstance(leaf, PixelLeaf) for leaf in _asked_leaves(job))
    return {ask.wait_id for ask in job.asks} if pixels else None


def _asked_leaves(job: Job) -> Iterator[Leaf]:
    for ask in job.asks:
        found = condition_tree.leaves(ask.until)
        yield from (found[leaf.index] for leaf in ask.asks)


def _reads_at_once(job: Job, shot: ViewPixels, context: EvaluatorContext) -> bool:
    if find_readers(job) is None or not all(isinstance(leaf, TextLeaf) for leaf in _asked_leaves(job)):
        return False
    gated = any(context.gates.applies(ask) for ask in job.asks)
    return not gated and any(ask.force or shot.identity not in leaf.memo for ask in job.asks for leaf in ask.asks)


async def _make_difference(job: Job, ask: DiffAsk, context: EvaluatorContext) -> JobResult:
    name = f"{job.job_id}.png"
    try:
        await context.off_loop(partial(write_difference, context.evidence, ask, context.spool / name))
    except AcudError as fault:
        return JobResult(job.job_id, "failed", reason=str(fault))
    return JobResult(job.job_id, "done", picture=name)


def _add_thought(result: JobResult, turn: ChatTurn) -> JobResult:
    return replace(result, thought=turn.thought, width=turn.width, height=turn.height)


async def _redact_for_picture(job: Job, shot: ViewPixels, context: EvaluatorContext) -> RedactedPixels:
    """Return the shot for the job's picture, redacted if asked. Raises: Unavailable when that cannot be done."""
    if job.picture is None or not job.picture.redacted:
        return RedactedPixels(shot, ())
    out = await context.redact_shot(shot, job.picture.secure)
    if isinstance(out, Withheld):
        raise Unavailable(out.reason)
    return out


def _take_frame(job: Job, context: EvaluatorContext) -> ViewPixels:
    """Return the newest frame, or the frame of the scene that the picture is of, if it is still kept."""
    shot = context.rings.take_view(job)
    at = job.picture.of_scene if job.picture is not None else None
    # Which places rules hide is known of the newest frame alone.
    kept = context.shown.pixels(shot.source, *at) if at is not None and job.hide is None else None
    if at is None or kept is None:
        return shot
    return shot._replace(epoch=at[0], frame=at[1], pixels=kept, identity=identity(kept))


def _hidden_boxes(redacted: RedactedPixels) -> tuple[HiddenBox, ...]:
    crop = redacted.shot.crop
    return tuple(HiddenBox(one.rule, one.box.shift(crop.x, crop.y)) for one in redacted.hidden)


async def _write_picture(job: Job, shot: ViewPixels, context: EvaluatorContext) -> WrittenPicture:
    height, width = shot.pixels.shape[:2]
    if job.picture is None:
        return WrittenPicture("", width, height)
    name = f"{job.job_id}.{job.picture.format}"
    if not all(c.isalnum() or c in "-_" for c in job.job_id):
        raise ProtocolError(f"a job id that is no file name: {job.job_id!r}")
    size = await context.off_loop(partial(write_picture, shot, job.picture, context.spool / name))
    return WrittenPicture(name, *size)


async def _answer_all(
    job: Job, shot: ViewPixels, context: EvaluatorContext, tell: Tell
) -> tuple[tuple[Answered, ...], float]:
    async with asyncio.TaskGroup() as group:
        cache = JobCache(group)
        batcher = QuestionBatcher(group, context.vision, context.counters)
        asking = [group.create_task(WaitQuestions(ask, shot, context, cache, batcher).answer_all()) for ask in job.asks]
        last = await _as_they_come(asking, lambda some: tell(_make_part(job, shot, some)))
    return last, sum(encoded.spent_ms for encoded in cache.values_of(Encoded))


async def _as_they_come(
    asking: list[asyncio.Task[Answered]], tell: Callable[[tuple[Answered, ...]], Awaitable[None]]
) -> tuple[Answered, ...]:
    """Send answers with `tell` while others are pending; return the last ones, in the order of the asks."""
    while asking:
        _, slow = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        if slow:
            await asyncio.wait(slow, timeout=_BREATH_S)
        finished, asking = [t for t in asking if t.done()], [t for t in asking if not t.done()]
        answered = tuple(task.result() for task in finished)
        if not asking:
            return answered
        await tell(answered)
    return ()


def _make_part(job: Job, shot: ViewPixels, answers: tuple[Answered, ...]) -> JobResult:
    height, width = shot.pixels.shape[:2]
    return replace(_make_result(job, shot, WrittenPicture("", width, height), answers), status="part")


def _make_result(job: Job, shot: ViewPixels, picture: WrittenPicture, answers: tuple[Answered, ...]) -> JobResult:
    return JobResult(
        job.job_id,
        "done",
        epoch=shot.epoch,
        frame=shot.frame,
        frame_mono_ns=shot.mono_ns,
        identity=shot.identity,
        answered=answers,
        picture=picture.name,
        width=picture.width,
        height=picture.height,
    )
