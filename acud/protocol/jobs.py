"""A judge's job for another machine: the view with all of its questions, and the answers.

A job holds no path, no key and no address but the subject of its answers. It goes through the fleet's work queue, so it
may be delivered twice; an answer names the question and the very bytes it is about, and the first one counts.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

from msgspec import Meta, Struct

from acud.types import Answer, Verdict

VERSION = 1
"""Of both messages; a worker and a host that differ in it refuse each other's."""

MAX_QUESTIONS = 64

Side = Annotated[int, Meta(ge=1, le=65_536)]
Tokens = Annotated[int, Meta(ge=0)] | None
Cost = Annotated[float, Meta(ge=0)] | None


class JobQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    """A criterion in natural language, and how long its wait has lasted and may last (0: not known)."""

    criteria: str
    elapsed_s: float = 0.0
    timeout_s: float = 0.0


class VisionJob(Struct, frozen=True, tag="vision_job", forbid_unknown_fields=True):
    """Questions about one view. `jpeg`: the view as the judge sees it, already redacted if `redacted`.

    `width`, `height`: of the JPEG; `view_width`, `view_height`: of the view before scaling, all in pixels.
    `instructions`: the system message, "" for the worker's own. `deadline_utc_s`: no wait needs an answer after it.
    `answer_to`: the subject of the answers. `host`: the asking host, for the worker's log.
    """

    job_id: str
    host: str
    jpeg: bytes
    width: Side
    height: Side
    view_width: Side
    view_height: Side
    questions: Annotated[tuple[JobQuestion, ...], Meta(min_length=1, max_length=MAX_QUESTIONS)]
    deadline_utc_s: float
    answer_to: str
    instructions: str = ""
    redacted: bool = False
    version: int = VERSION


class VisionBegun(Struct, frozen=True, tag="vision_begun", forbid_unknown_fields=True):
    """A worker has taken a job and asks, before it asks a model, whether the answer is still wanted: see `VisionOpen`.

    `worker`: with the number of this attempt, so that a repeated message differs from a second attempt.
    """

    job_id: str
    digest: str
    worker: str
    version: int = VERSION


class VisionReturned(Struct, frozen=True, tag="vision_returned", forbid_unknown_fields=True):
    """A worker has given a job back that it did not fail over: it ends, or its judge is starting. What `worker` had
    begun does not count.
    """

    job_id: str
    digest: str
    worker: str
    version: int = VERSION


class VisionOpen(Struct, frozen=True, tag="vision_open", forbid_unknown_fields=True):
    """The questions of a job that are still open; () for a job without callers. `begun`: how many workers began
    it, this one included. The asker counts, as the server's own count fails in nats-server 2.9 (docs/scaling-jobs.md).
    """

    questions: tuple[int, ...]
    begun: int = 0


class VisionAnswer(Struct, frozen=True, tag="vision_answer", forbid_unknown_fields=True):
    """The verdict on question `number` of a job. `digest`: of the job's bytes, as `digest_of` makes it.

    `judge`: which backend of the worker answered, with `tokens_in`, `tokens_out` and `cost_usd` of all backends it
    asked (None: not known). If no model answered, the verdict is unknown, with a code. `worker`: its name, for records.
    """

    job_id: str
    number: Annotated[int, Meta(ge=0, lt=MAX_QUESTIONS)]
    digest: str
    verdict: Verdict
    judge: str = ""
    worker: str = ""
    tokens_in: Tokens = None
    tokens_out: Tokens = None
    cost_usd: Cost = None
    spent_ms: Annotated[float, Meta(ge=0)] = 0.0
    version: int = VERSION


def digest_of(job: bytes) -> str:
    """Return the digest by which an answer names the encoded `job`."""
    return hashlib.sha256(job).hexdigest()[:32]


ToAsker = VisionBegun | VisionReturned | VisionAnswer


def fault_of(message: ToAsker, digest: str, questions: int) -> str:
    """Return why `message` cannot be about the job with that digest and number of questions; "" if it can."""
    if message.version != VERSION:
        return f"it is of version {message.version}, not {VERSION}"
    if message.digest != digest:
        return "it is about another picture or other questions"
    return _fault_of(message, questions) if isinstance(message, VisionAnswer) else ""


def _fault_of(answer: VisionAnswer, questions: int) -> str:
    if answer.number >= questions:
        return f"it is to question {answer.number} of {questions}"
    if (answer.verdict.answer is Answer.UNKNOWN) != bool(answer.verdict.code):
        return "its verdict contradicts itself"
    return ""
