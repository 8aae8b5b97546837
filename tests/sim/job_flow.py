"""Jobs through the queue as fast as it takes them: three servers that keep three copies, hosts and workers beside."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
from nats.errors import TimeoutError as NatsTimeout

from acud.config import JobSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.job_queue import JobQueue
from tests.bench._many_cost import cpu_s
from tests.fixtures.fleet_servers import FleetServers
from tests.fixtures.nats_servers import NatsServer
from tests.integration.jobs_rig import connected, emptied

JOBS = 2000
_PUBLISHERS = _PLACES = 64
_KIND = "vision"
_MONITORED = 'http: "127.0.0.1:-1"\n'


class JobFlow(NamedTuple):
    """Jobs a second, each stored, given to a worker and acknowledged; the CPU of all processes for one, and what these
    had of the machine's cores meanwhile; kB that the busiest server sent to others for one.
    """

    per_s: float
    cpu_ms: float
    cores: float
    sent_kb: float


async def job_flow(picture: bytes, rounds: int) -> JobFlow:
    """Return the best of several rounds, as others on the machine only slow it; of what was sent, the most."""
    found = []
    for _ in range(rounds):
        with FleetServers(3, _MONITORED) as servers:
            async with connected(servers.url) as hosts, connected(servers.url) as workers:
                found.append(await _flow(servers.servers, hosts, workers, picture))
    return max(found)._replace(sent_kb=max(one.sent_kb for one in found))


async def _flow(servers: list[NatsServer], hosts: NatsConnection, workers: NatsConnection, picture: bytes) -> JobFlow:
    queue, taken, left = JobQueue(workers, JobSettings(kind=_KIND)), iter(range(JOBS)), iter(range(JOBS))
    places = [await queue.subscribe() for _ in range(_PLACES)]
    pids = [os.getpid(), *(server.process.pid for server in servers if server.process is not None)]
    sent, spent_s, began = _sent_bytes(servers), cpu_s(pids), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(_PUBLISHERS):
            group.create_task(_publish(hosts, picture, left))
        for place in places:
            group.create_task(_take(place, taken))
    seconds, spent_s = time.perf_counter() - began, cpu_s(pids) - spent_s
    await emptied(hosts)
    sent_bytes = max(now - then for now, then in zip(_sent_bytes(servers), sent, strict=True))
    return JobFlow(JOBS / seconds, spent_s * 1000 / JOBS, spent_s / seconds, sent_bytes / JOBS / 1000)


async def _publish(hosts: NatsConnection, picture: bytes, left: Iterator[int]) -> None:
    subject = hosts.names.job(_KIND, "alpha")
    for number in left:
        await hosts.streams.publish(subject, picture, headers={"Nats-Msg-Id": f"job-{number}"})


async def _take(place: Any, left: Iterator[int]) -> None:
    for _ in left:
        while True:
            try:
                (job,) = await place.fetch(1, timeout=5)
            except NatsTimeout:
                continue
            await job.ack()
            break


def _sent_bytes(servers: list[NatsServer]) -> list[int]:
    """Return what each server sent so far, to clients and to the other servers, as it says itself."""
    found = []
    for server in servers:
        (port,) = (line.rpartition(":")[2] for line in server.log().splitlines() if "http monitor on" in line)
        told = httpx.get(f"http://127.0.0.1:{int(port)}/varz", trust_env=False)
        found.append(int(told.raise_for_status().json()["out_bytes"]))
    return found
