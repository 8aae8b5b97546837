"""The process of `acud fleet worker`: judges jobs of the fleet until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack

import msgspec

from acud import config
from acud.base import log, paths
from acud.base.errors import AcudError, ConfigError
from acud.base.extras import require
from acud.base.typed_values import convert, decode_json
from acud.base.value_errors import value_fault
from acud.config import Settings, api_keys
from acud.features.fleet.settings import RaySettings
from acud.features.fleet.worker.judge_chain import JobJudge, backend_chain
from acud.protocol.worker import WorkerAsk

_LOG = log.logger("worker")
_EXIT = 1


def main(argument: str) -> int:
    """Work by the JSON `argument`. Returns the exit code."""
    ask = decode_json(argument, WorkerAsk)
    try:
        here = paths.resolve(os.environ)
        settings = _list_given(config.load(here.config, os.environ), ask)
        _check_fleet(settings)
        asyncio.run(_run_worker(ask, settings))
    except AcudError as fault:
        print(f"acud: {fault}", file=sys.stderr)  # noqa: T201 - it is a command's own last word
        return _EXIT
    return 0


def _list_given(settings: Settings, ask: WorkerAsk) -> Settings:
    given = {name: value for name, value in (("kind", ask.kind), ("worker_concurrency", ask.concurrency)) if value}
    try:
        jobs = convert(msgspec.to_builtins(settings.jobs) | given, config.JobSettings)
    except msgspec.ValidationError as fault:
        raise ConfigError(
            f"[jobs] {value_fault(fault, config.JobSettings).of('jobs')}", hint="acud fleet worker --help"
        ) from fault
    return msgspec.structs.replace(settings, jobs=jobs)


def _check_fleet(settings: Settings) -> None:
    if not settings.fleet.urls:
        raise ConfigError("this machine is in no fleet", hint="set [fleet] url, or ACU_FLEET_URL")
    require("fleet", "a worker of the fleet")


async def _run_worker(ask: WorkerAsk, settings: Settings) -> None:
    from acud.features.fleet.connection import NatsConnection
    from acud.features.fleet.job_worker import JobWorker
    from acud.features.fleet.names import own_host
    from acud.features.fleet.worker.service import JobService

    name = f"{own_host(settings.fleet)}/{os.getpid()}"
    stopping = asyncio.Event()
    async with AsyncExitStack() as stack:
        judge = await _make_judge(ask, settings)
        for number in (signal.SIGTERM, signal.SIGINT):  # after Ray, which puts handlers of its own there
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        stack.push_async_callback(judge.close)
        connection = await stack.enter_async_context(
            NatsConnection(settings.fleet, f"acud fleet worker {name}", inbox="worker")
        )
        if not await _wait_until_joined(connection.ready(), stopping):
            return
        _LOG.info("worker.ready", worker=name, kind=settings.jobs.kind, judges=ask.backends, ray=ask.ray)
        await JobService(name, JobWorker(connection, settings.jobs), judge, settings.jobs).run(stopping)
    _LOG.info("worker.ended", worker=name)


async def _wait_until_joined(ready: object, stopping: asyncio.Event) -> bool:
    """Wait for the first connection, as long as it takes; False when stopped before it came."""
    joining, stopped = asyncio.ensure_future(ready), asyncio.ensure_future(stopping.wait())  # type: ignore[call-overload]
    await asyncio.wait({joining, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if joining.done():
        joining.result()
        return True
    joining.cancel()
    return False


async def _make_judge(ask: WorkerAsk, settings: Settings) -> JobJudge:
    if ask.ray:
        from acud.features.fleet.worker.ray_pool import RayPool

        return await RayPool.start_patiently(settings.of(RaySettings), ask.backends)
    return backend_chain(ask.backends, settings, api_keys.read_all(settings.backends, os.environ))


if __name__ == "__main__":
    log.configure("worker", debug=False)
    sys.exit(main(sys.argv[1]))
