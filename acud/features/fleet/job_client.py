"""The asking side of jobs: put into the queue, answers matched to them, each question's first answer counts."""

from __future__ import annotations

import asyncio
import contextlib

import nats.errors
import nats.js.errors
from msgspec.structs import replace
from nats.aio.msg import Msg

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, ProtocolError, Refused, Unavailable
from acud.base.ids import new_id
from acud.config import JobSettings
from acud.config.fleet import FleetSettings
from acud.features.fleet.cancellation import cancellation_kept
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.job_queue import JobQueue
from acud.features.fleet.names import own_host
from acud.features.fleet.server_policy import fault_text
from acud.features.fleet.signatures import SIGNATURE, Identity, Signed
from acud.protocol import codec
from acud.protocol.jobs import (
    ToAsker,
    VisionAnswer,
    VisionBegun,
    VisionJob,
    VisionOpen,
    VisionReturned,
    digest_of,
    fault_of,
)

_LOG = log.logger("jobs")
_PUBLISH_S = 8.0
"""Longer than the election of a new leader takes."""
_STORED_S = 3.0
"""A job without an acknowledgement by then is published again, under its id."""
_AGAIN_S = 0.25


class OpenJob:
    """A job that is out. `answers`: one future for each question; a `ProtocolError` in them is a worker's fault."""

    def __init__(self, job_id: str, digest: str, questions: int) -> None:
        loop = asyncio.get_running_loop()
        self.job_id = job_id
        self.digest = digest
        self.takers: set[str] = set()
        """The workers that began it and did not give it back unharmed, each with the number of its taking."""
        self.answers: list[asyncio.Future[VisionAnswer]] = [loop.create_future() for _ in range(questions)]

    @property
    def open(self) -> tuple[int, ...]:
        """The questions without an answer."""
        return tuple(number for number, one in enumerate(self.answers) if not one.done())

    def fail(self, fault: AcudError) -> None:
        for one in self.answers:
            if not one.done():
                one.set_exception(fault)
                one.exception()  # the caller may have left


class JobClient:
    """Asks workers of a fleet. Use in `async with`; it connects, and goes on connecting, by itself."""

    def __init__(self, fleet: FleetSettings, jobs: JobSettings) -> None:
        self.host = own_host(fleet)
        self._connection = NatsConnection(fleet, f"acud jobs of {self.host}", inbox=f"host-{self.host}")
        self._queue = JobQueue(self._connection, jobs)
        self._subject = self._connection.names.job(jobs.kind, self.host)
        self._max_begun = jobs.max_deliver
        self._worker = Identity("worker", jobs.kind)
        self.refused = ""
        """Why an answer was not accepted as a worker's, the newest."""
        self._asker = new_id("asker")
        self._open: dict[str, OpenJob] = {}
        self._prepared = asyncio.Lock()
        self._is_prepared = False

    async def open(self) -> None:
        """Begin to connect; that takes as long as it takes."""
        await self._connection.__aenter__()

    async def close(self) -> None:
        """End the connection; what is open fails."""
        for asked in tuple(self._open.values()):
            asked.fail(Unavailable("the evaluator ends"))
        await self._connection.__aexit__(None, None, None)

    async def prepare(self, within_s: float) -> None:
        """Return once jobs can be asked. Raises: Unavailable when that is not so within `within_s`; ConfigError."""
        try:
            async with asyncio.timeout(within_s):
                await self._connection.ready()
                async with self._prepared:
                    await self._subscribe_once()
        except TimeoutError:
            raise self._connection.down() from None
        if not self._connection.connected:
            raise self._connection.down()

    async def _subscribe_once(self) -> None:
        if self._is_prepared:
            return
        client = self._connection.nats
        with self._connection.translate_faults("subscribing to answers"):
            await client.subscribe(self._connection.names.answer(self.host, self._asker, "*"), cb=self._on_message)
        await self._queue.find_stream()
        self._is_prepared = True

    async def workers(self) -> int:
        """Return the number of known places of workers, free or busy. Raises: Unavailable."""
        state = await self._queue.state()
        return (state.num_waiting or 0) + (state.num_ack_pending or 0)

    async def ask(self, job: VisionJob) -> OpenJob:
        """Put `job` into the queue; its id, host and subject of answers are filled in here.

        Raises: Refused when it is larger than the servers take; Unavailable when they do not take it.
        """
        job_id = new_id("job")
        whole = replace(
            job, job_id=job_id, host=self.host, answer_to=self._connection.names.answer(self.host, self._asker, job_id)
        )
        body = codec.encode(whole)
        self._check_size(len(body))
        asked = self._open[job_id] = OpenJob(job_id, digest_of(body), len(job.questions))
        try:
            await self._publish_until_stored(job_id, body)
        except BaseException:
            del self._open[job_id]
            raise
        return asked

    def _check_size(self, size: int) -> None:
        limit = self._connection.nats.max_payload
        if size > limit:
            raise Refused(
                f"a job of {size} bytes is over the {limit} that the NATS server takes (max_payload)",
                hint="raise max_payload in its configuration, or lower [jobs] max_side_px or jpeg_quality",
            )

    async def _publish_until_stored(self, job_id: str, body: bytes) -> None:
        """Publish until a server has stored it; a repeat has the same id, and is stored once."""
        end_s = asyncio.get_running_loop().time() + _PUBLISH_S
        while True:
            try:
                await self._publish_job(job_id, body)
                return
            except (nats.js.errors.NoStreamResponseError, TimeoutError) as fault:
                # No leader right now, or the stream went with a server's disk; the administrator makes it again. Or
                # the acknowledgement was lost.
                if asyncio.get_running_loop().time() > end_s or not self._connection.connected:
                    raise self._not_taken(fault) from fault
                await asyncio.sleep(_AGAIN_S)
            except (nats.errors.Error, OSError) as fault:
                raise self._not_taken(fault) from fault

    async def _publish_job(self, job_id: str, body: bytes) -> None:
        headers = {"Nats-Msg-Id": job_id} | self._connection.signatures.header(Signed.JOB, self._subject, body)
        streams = self._connection.streams
        with cancellation_kept():
            await streams.publish(self._subject, body, timeout=_STORED_S, headers=headers)

    def _not_taken(self, fault: BaseException) -> AcudError:
        if not self._connection.connected:
            return self._connection.down()
        return Unavailable(f"the fleet's stream {self._queue.stream} takes no job: {fault_text(fault)}")

    def forget(self, job: OpenJob) -> None:
        """Stop waiting for the answers to `job`. The client does not delete it from the queue, as the right to do so
        would include the jobs of other hosts: a worker that takes it finds no open question, and drops it.
        """
        self._open.pop(job.job_id, None)

    async def _on_message(self, message: Msg) -> None:
        """Handle a worker's message, and answer what is still open: nothing of a job without callers."""
        signatures, headers = self._connection.signatures, message.headers or {}
        try:
            await signatures.check(Signed.ANSWER, message.subject, message.data, headers, self._worker)
        except AcudError as fault:
            self.refused = fault.message
            return
        asked = self._open.get(message.subject.rpartition(".")[2])
        if asked is not None:
            self._read_answer(asked, message.data)
        if message.reply:
            left = VisionOpen(asked.open, len(asked.takers)) if asked is not None else VisionOpen(())
            body = codec.encode(left)
            signature = signatures.header(Signed.OPEN, message.subject, body, headers.get(SIGNATURE, ""))
            with contextlib.suppress(nats.errors.Error):
                await self._connection.nats.publish(message.reply, body, headers=signature or None)

    def _read_answer(self, job: OpenJob, data: bytes) -> None:
        try:
            told: ToAsker = codec.decode(data, ToAsker)  # type: ignore[arg-type]
        except InvalidRequest as fault:
            # A worker of another version, most likely: callers learn it before their deadline.
            _LOG.warning("answer.refused", job=job.job_id, why=fault.message)
            job.fail(ProtocolError(f"a worker's answer is malformed: {fault.message}"))
            return
        wrong = "it is of another job" if told.job_id != job.job_id else fault_of(told, job.digest, len(job.answers))
        if wrong:
            _LOG.warning("answer.refused", job=job.job_id, worker=told.worker, why=wrong)
        elif isinstance(told, VisionBegun):
            self._count_worker(job, told)
        elif isinstance(told, VisionReturned):
            job.takers.discard(told.worker)
        elif not job.answers[told.number].done():
            job.answers[told.number].set_result(told)

    def _count_worker(self, job: OpenJob, message: VisionBegun) -> None:
        """Count a worker that begins the job; the one beyond `_max_begun` fails it."""
        job.takers.add(message.worker)
        begun = len(job.takers)
        _LOG.debug("job.begun", job=job.job_id, worker=message.worker, begun=begun)
        if begun > self._max_begun:
            why = f"{self._max_begun} workers in a row ended or fell silent over the job"
            _LOG.warning("job.given_up", job=job.job_id, begun=begun)
            job.fail(Unavailable(why, hint="acud fleet worker says why on standard error"))
