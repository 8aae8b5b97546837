"""One job: a frame taken, its conditions answered side by side, its picture written."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import NamedTuple

from acud.errors import AcudError, ProtocolError
from acud.evaluator.ask import Asking
from acud.evaluator.evidence import write_picture
from acud.evaluator.room import Encoded, Room
from acud.evaluator.share import Share
from acud.evaluator.shot import Shot
from acud.frames.ring import FrameGone
from acud.protocol.children import Answered, Job, JobResult


class Written(NamedTuple):
    """A picture in the spool: its file name ("" for none) and its size in pixels."""

    name: str
    width: int
    height: int


async def run_job(job: Job, room: Room) -> JobResult:
    """Return the result of `job`; a frame that is gone and a fault of acud's own kind are results too."""
    try:
        shot = await room.off_loop(partial(room.rings.take, job))
        picture = await room.off_loop(partial(_write_picture, job, shot, room))
    except FrameGone as fault:
        return JobResult(job.job_id, "frame_gone", reason=fault.message)
    except AcudError as fault:
        return JobResult(job.job_id, "failed", reason=str(fault))
    answered, encode_ms = await _answer_all(job, shot, room)
    return _done(job, shot, picture, answered, encode_ms)


def _write_picture(job: Job, shot: Shot, room: Room) -> Written:
    height, width = shot.pixels.shape[:2]
    if job.picture is None:
        return Written("", width, height)
    name = f"{job.job_id}.{job.picture.format}"
    if not all(c.isalnum() or c in "-_" for c in job.job_id):
        raise ProtocolError(f"a job id that is no file name: {job.job_id!r}")
    return Written(name, *write_picture(shot, job.picture, room.spool / name))


async def _answer_all(job: Job, shot: Shot, room: Room) -> tuple[tuple[Answered, ...], float]:
    async with asyncio.TaskGroup() as group:
        share = Share(group)
        asking = [group.create_task(Asking(ask, shot, room, share).run()) for ask in job.asks]
    encoded: Encoded | None = share.made(Encoded)
    return tuple(task.result() for task in asking), encoded.spent_ms if encoded is not None else 0.0


def _done(job: Job, shot: Shot, picture: Written, answered: tuple[Answered, ...], encode_ms: float) -> JobResult:
    return JobResult(
        job.job_id,
        "done",
        epoch=shot.epoch,
        frame=shot.frame,
        frame_mono_ns=shot.mono_ns,
        identity=shot.identity,
        answered=answered,
        picture=picture.name,
        width=picture.width,
        height=picture.height,
        encode_ms=encode_ms,
    )
