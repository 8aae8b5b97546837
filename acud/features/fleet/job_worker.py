"""The working side of jobs: taken from the queue, kept in hand while they take long, answered, acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import Any, Self

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.config import JobSettings
from acud.features.fleet.cancellation import cancellation_kept
from acud.features.fleet.connection import NatsConnection, end_subscription
from acud.features.fleet.job_queue import JobQueue
from acud.features.fleet.names import sender_of
from acud.features.fleet.server_policy import fault_text
from acud.features.fleet.signatures import SIGNATURE, Identity, Signed
from acud.protocol import codec
from acud.protocol.jobs import VERSION, VisionAnswer, VisionBegun, VisionJob, VisionOpen, VisionReturned, digest_of

_LOG = log.logger("worker")
_FETCH_S = 5.0
_AGAIN_S = 0.5
_HEARD_S = 2.0
_ASKER_S = 10.0
"""An asker that is silent for so long about a job is gone."""
_HELD_S = 30.0
"""How long a job waits in the queue while its sender cannot be verified."""
_TAKING = itertools.count(1)
_RENEWALS = 3
"""A job in hand is renewed so often in each `ack_wait_s`."""


class TakenJob:
    """A job of this worker. Its `async with` renews it, so that the queue gives it to no other worker.

    End it with `take_off_queue`, `give_back` or `refuse`, or the queue gives it out again after `ack_wait_s`.
    """

    def __init__(self, message: Msg, job: VisionJob, connection: NatsConnection, every_s: float) -> None:
        self.job = job
        self.digest = digest_of(message.data)
        self.deliveries: int = message.metadata.num_delivered or 1
        self._taker = ""
        self._message = message
        self._connection = connection
        self._every_s = every_s
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._renewing = asyncio.create_task(self._renew_hold())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)

    async def _renew_hold(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            with contextlib.suppress(nats.errors.Error):
                await self._message.in_progress()

    async def announce_begin(self, worker: str) -> VisionOpen | None:
        """Send the host a message that this worker begins the job; return the questions that are still open, None
        without an answer.
        """
        self._taker = f"{worker}#{next(_TAKING)}"
        message = VisionBegun(self.job.job_id, self.digest, self._taker)
        return await self._send_until_acknowledged(message, asyncio.get_running_loop().time() + _ASKER_S)

    async def send_answer(self, answer: VisionAnswer, until_s: float) -> bool:
        """Send `answer` until the asker acknowledges it, or the loop's time is `until_s`; return whether it did."""
        return await self._send_until_acknowledged(answer, until_s) is not None

    async def _send_until_acknowledged(self, message: VisionBegun | VisionAnswer, until_s: float) -> VisionOpen | None:
        body, subject, signatures = codec.encode(message), self.job.answer_to, self._connection.signatures
        headers = signatures.header(Signed.ANSWER, subject, body)
        about = headers.get(SIGNATURE, "")
        while True:
            try:
                with cancellation_kept():
                    heard = await self._connection.nats.request(
                        subject, body, timeout=_HEARD_S, headers=headers or None
                    )
                host = Identity("host", self.job.host)
                await signatures.check(Signed.OPEN, subject, heard.data, heard.headers, host, about)
                return codec.decode(heard.data, VisionOpen)
            except AcudError as fault:
                _LOG.warning("asker.unread", job=self.job.job_id, fault=fault.message)
                return None
            except (nats.errors.Error, OSError, TimeoutError):
                # The asker is gone, or the connection is being made again, on its side or on ours.
                if asyncio.get_running_loop().time() + _AGAIN_S >= until_s:
                    return None
                await asyncio.sleep(_AGAIN_S)

    async def take_off_queue(self) -> None:
        """Take the job off the queue: it is answered or no longer wanted."""
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._message.ack()

    async def give_back(self, delay_s: float = 0.0, *, unharmed: bool = False) -> None:
        """Give it to another worker, not before `delay_s`. `unharmed`: this worker did not fail over it, so the asker
        does not count it as failed.
        """
        with contextlib.suppress(nats.errors.Error, OSError):
            if unharmed:
                told = VisionReturned(self.job.job_id, self.digest, self._taker)
                body, subject = codec.encode(told), self.job.answer_to
                headers = self._connection.signatures.header(Signed.ANSWER, subject, body)
                await self._connection.nats.publish(subject, body, headers=headers or None)
            await self._message.nak(delay_s or None)


class JobWorker:
    """Takes jobs of one kind from the queue, one at a time."""

    def __init__(self, connection: NatsConnection, settings: JobSettings) -> None:
        self.refused = 0
        self._connection = connection
        self._queue = JobQueue(connection, settings)
        self._subscription: Any = None

    async def next(self) -> TakenJob | None:
        """Return the next job, or None when none came within a few seconds. What is no job leaves the queue.

        While the servers cannot be reached it waits and tries again.
        """
        try:
            if self._subscription is None:
                self._subscription = await self._queue.subscribe()
            found = await self._subscription.fetch(1, timeout=_FETCH_S)
        except TimeoutError:
            return None
        except (nats.errors.Error, OSError, Unavailable) as fault:
            await self._on_queue_lost(fault)
            return None
        return await self._read_job(found[0])

    async def _on_queue_lost(self, fault: BaseException) -> None:
        _LOG.warning("queue.lost", fault=fault.message if isinstance(fault, Unavailable) else fault_text(fault))
        await self.let_go()
        await asyncio.sleep(_AGAIN_S)

    async def _read_job(self, message: Msg) -> TakenJob | None:
        try:
            job = codec.decode(message.data, VisionJob, limit=self._connection.nats.max_payload)
            check_job(job, message.subject, self._connection)
            host = Identity("host", sender_of(message.subject))
            await self._connection.signatures.check(Signed.JOB, message.subject, message.data, message.headers, host)
        except Unavailable as fault:
            _LOG.warning("job.held", fault=fault.message)
            await message.nak(delay=_HELD_S)
            return None
        except InvalidRequest as fault:
            self.refused += 1
            _LOG.warning("job.refused", fault=fault.message)
            await message.term()
            return None
        return TakenJob(message, job, self._connection, self._queue.ack_wait_s / _RENEWALS)

    async def let_go(self) -> None:
        """Take no more; jobs that came and were not begun go back at once."""
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            await end_subscription(subscription)


def check_job(job: VisionJob, subject: str, connection: NatsConnection) -> None:
    """Raises: InvalidRequest for a job that another host asks than it names, or whose answers would go elsewhere."""
    if job.version != VERSION:
        raise InvalidRequest(f"a job of version {job.version}, not {VERSION}", hint="bring both to one version")
    if sender_of(subject) != job.host:
        raise InvalidRequest(f"a job in the name of host {job.host}, which did not ask it")
    asker = job.answer_to.split(".")[-2:-1]
    if (
        not asker
        or not asker[0].replace("-", "").isalnum()
        or (job.answer_to != connection.names.answer(job.host, asker[0], job.job_id))
    ):
        raise InvalidRequest("a job whose answers would go elsewhere than to the host that asks")
