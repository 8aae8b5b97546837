"""The work queue of jobs: one stream for all kinds, one consumer for the workers of each.

The administrator makes both (`acud fleet init`).
"""

from __future__ import annotations

from typing import Any

from nats.js.api import AckPolicy, ConsumerConfig, ConsumerInfo, DiscardPolicy, RetentionPolicy, StreamConfig

from acud.config import JobSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import FleetNames

_DUPLICATES_S = 120.0
_IN_HAND = 10_000


def jobs_stream(names: FleetNames, settings: JobSettings) -> StreamConfig:
    """Return how the stream of jobs is to be set up."""
    return StreamConfig(
        name=names.stream("JOBS"),
        subjects=[names.job("*", "*")],
        retention=RetentionPolicy.WORK_QUEUE,
        max_age=settings.keep_s,
        max_bytes=int(settings.max_mb * 1e6),
        # When full it refuses new jobs: the asker learns it at once, and no accepted job is lost.
        discard=DiscardPolicy.NEW,
        duplicate_window=min(_DUPLICATES_S, settings.keep_s),
    )


def jobs_consumer(names: FleetNames, settings: JobSettings, kind: str) -> ConsumerConfig:
    """Return how the consumer of the workers of `kind` is to be set up."""
    return ConsumerConfig(
        name=names.workers(kind),
        durable_name=names.workers(kind),
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=settings.ack_wait_s,
        # The asker counts the workers that began: nats-server 2.9.10 forgets its count when a dead client's pull was
        # still open.
        max_deliver=-1,
        max_ack_pending=_IN_HAND,
        filter_subject=names.job(kind, "*"),
    )


class JobQueue:
    """Jobs of one kind, as `settings` say, over `connection`. Neither host nor worker has to come first."""

    def __init__(self, connection: NatsConnection, settings: JobSettings) -> None:
        self.stream = connection.names.stream("JOBS")
        self.ack_wait_s = settings.ack_wait_s
        """How long a worker may be silent about a job, as the servers know it once `subscribe` has returned."""
        self._kind = settings.kind
        self._connection = connection
        self._settings = settings

    async def find_stream(self) -> None:
        """Return once the stream was found. Raises: Unavailable when it is missing, or no server answers."""
        await self._connection.find_stream(jobs_stream(self._connection.names, self._settings))

    async def state(self) -> ConsumerInfo:
        """Return the state of the workers' consumer. Raises: Unavailable, also when there is none."""
        return await self._connection.read_consumer(
            self.stream, self._connection.names.workers(self._kind), f"worker {self._kind}"
        )

    async def subscribe(self) -> Any:
        """Return a pull subscription to the jobs. Raises: Unavailable."""
        self.ack_wait_s = (await self.state()).config.ack_wait or self.ack_wait_s
        consumer = self._connection.names.workers(self._kind)
        with self._connection.translate_faults(f"consumer {consumer}"):
            return await self._connection.streams.pull_subscribe_bind(consumer, self.stream)
