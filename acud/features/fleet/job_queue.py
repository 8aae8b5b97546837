"""The work queue of jobs: one stream for all kinds, one consumer for the workers of each."""

from __future__ import annotations

from typing import Any

import nats.js.errors
from nats.js.api import AckPolicy, ConsumerConfig, ConsumerInfo, DiscardPolicy, RetentionPolicy, StreamConfig

from acud.config import JobSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import differences

_DUPLICATES_S = 120.0
_IN_HAND = 10_000


class JobQueue:
    """Jobs of one kind, as `settings` say, over `connection`. Neither host nor worker has to come first."""

    def __init__(self, connection: NatsConnection, settings: JobSettings) -> None:
        self.subject = connection.names.job(settings.kind)
        self.stream = connection.names.stream("JOBS")
        self.consumer = f"workers-{settings.kind}"
        self._connection = connection
        self._settings = settings

    async def make(self) -> None:
        """Make the stream where there is none; tell where it differs. Raises: Unavailable when no server answers."""
        with self._connection.translated(f"stream {self.stream}"):
            try:
                found = await self._connection.streams.stream_info(self.stream)
            except nats.js.errors.NotFoundError:
                found = await self._connection.streams.add_stream(self.wanted())
        self._connection.compared(self.stream, differences(found.config, self.wanted()))

    def wanted(self) -> StreamConfig:
        """Return how the stream is to be set up."""
        return StreamConfig(
            name=self.stream,
            subjects=[self._connection.names.job(">")],
            retention=RetentionPolicy.WORK_QUEUE,
            max_age=self._settings.keep_s,
            max_bytes=int(self._settings.max_mb * 1e6),
            # Full, it refuses what is new: who asks then learns it at once, and nothing that was taken is lost.
            discard=DiscardPolicy.NEW,
            num_replicas=self._connection.settings.replicas,
            duplicate_window=min(_DUPLICATES_S, self._settings.keep_s),
        )

    async def make_consumer(self) -> None:
        """Make the workers' consumer, or set the one that is there right. Raises: Unavailable."""
        config = ConsumerConfig(
            name=self.consumer,  # named so, it is made on a subject that holds the filter: servers can permit just that
            durable_name=self.consumer,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=self._settings.ack_wait_s,
            # Who asks counts who began: nats-server 2.9.10 forgets its count when a dead client's pull was still open.
            max_deliver=-1,
            max_ack_pending=_IN_HAND,
            filter_subject=self.subject,
        )
        with self._connection.translated(f"consumer {self.consumer}"):
            await self._connection.streams.add_consumer(self.stream, config)

    async def state(self) -> ConsumerInfo | None:
        """Return how the workers' consumer stands, None when no worker ever was here. Raises: Unavailable."""
        with self._connection.translated(f"consumer {self.consumer}"):
            try:
                found: ConsumerInfo = await self._connection.streams.consumer_info(self.stream, self.consumer)
            except nats.js.errors.NotFoundError:
                return None
        return found

    async def drop(self, sequence: int) -> None:
        """Remove a job without callers from the queue. Raises: Unavailable."""
        with self._connection.translated(f"stream {self.stream}"):
            await self._connection.streams.delete_msg(self.stream, sequence)

    async def subscribe(self) -> Any:
        """Return a pull subscription to the jobs. Raises: Unavailable."""
        with self._connection.translated(f"consumer {self.consumer}"):
            return await self._connection.streams.pull_subscribe_bind(self.consumer, self.stream)
