"""Jobs judged by actors of Ray, which hold local models on the machines and GPUs of the cluster.

`RayActor` runs inside such an actor, maybe on another machine than its worker: judges of its own, asked by bytes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, cast

from acud import config
from acud.base import log, paths
from acud.base.errors import ConfigError, Unavailable
from acud.config import api_keys
from acud.evaluator.judges.judge import Judge, JudgeReply
from acud.features.fleet.settings import RaySettings
from acud.features.fleet.worker.judge_chain import STARTING, BackendChain, backend_chain
from acud.process.child_process import call_foreign
from acud.protocol import codec
from acud.protocol.jobs import VisionJob

_LOG = log.logger("worker")
_AGAIN_S = 0.5
_FIRST_PAUSE_S, _MOST_PAUSE_S = 1.0, 60.0
_START_S = 120.0
"""A cluster without room for the actors does not report it; a model may take a minute to load."""


class RayActor:
    """Holds a model for as long as it lives. `judge`: `module:function` that makes it, "" for `backends`, set up by
    this machine's own acud.toml.
    """

    def __init__(self, backends: Sequence[str], judge: str) -> None:
        self._chain = BackendChain([judge_from(judge)]) if judge else _make_chain(backends)

    async def answer(self, job: bytes, number: int) -> bytes:
        """Return the encoded reply to question `number` of the encoded `job`."""
        found = codec.decode(job, VisionJob, limit=codec.MAX_REPLY_BYTES)
        return codec.encode(await self._chain.answer(found, number))

    async def ready(self) -> str:
        """Return the pid of this actor once it has started."""
        return str(os.getpid())


def judge_from(name: str) -> Judge:
    """Return what the function named `module:function` makes. Raises: ConfigError; Unavailable when it fails."""
    module, _, function = name.partition(":")
    try:
        make = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as fault:
        raise ConfigError(f"[ray] judge: there is no {name!r}: {fault}", hint="give module:function") from fault
    return cast(Judge, call_foreign(make, f"[ray] judge {name}"))


class RayPool:
    """Actors, the least busy first. One that failed is asked nothing until Ray has made it again. Use `start`."""

    def __init__(self, ray: Any, actors: Sequence[Any]) -> None:
        self._ray = ray
        self._busy = dict.fromkeys(range(len(actors)), 0)
        self._actors = list(actors)
        self._starting: dict[int, asyncio.Task[None]] = {}

    @classmethod
    async def start(cls, settings: RaySettings, backends: Sequence[str]) -> Self:
        """Join or start Ray, and return once every actor holds its model.

        Raises: Unavailable when Ray does not answer or has no place now; ConfigError when it is not installed, or there
        is nothing to ask.
        """
        if not settings.judge and not backends:
            raise ConfigError("nobody to ask is named", hint="[ray] judge, or acud fleet worker --backend NAME")
        if find_spec("ray") is None:
            raise ConfigError("Ray is not installed", hint="install acud with its extra: acud[ray]")
        ray = _join_ray(settings)
        kind = ray.remote(
            num_cpus=settings.cpus_per_actor,
            num_gpus=settings.gpus_per_actor,
            max_concurrency=settings.calls_per_actor,
            max_restarts=-1,
        )(RayActor)
        pool = cls(ray, [kind.remote(tuple(backends), settings.judge) for _ in range(settings.actors)])
        try:
            await pool._make_again()
        except Unavailable:
            await pool.close()
            raise
        return pool

    @classmethod
    async def start_patiently(cls, settings: RaySettings, backends: Sequence[str]) -> Self:
        """Repeat `start` until Ray is there; log once why it is not.

        Raises: ConfigError as `start` does.
        """
        said, pause_s = "", _FIRST_PAUSE_S
        while True:
            try:
                return await cls.start(settings, backends)
            except Unavailable as fault:
                if fault.message != said:
                    said = fault.message
                    print(f"acud: {fault}; trying again until Ray is there", file=sys.stderr, flush=True)  # noqa: T201
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _MOST_PAUSE_S)

    async def _make_again(self) -> None:
        try:
            async with asyncio.timeout(_START_S):
                pids = [await actor.ready.remote() for actor in self._actors]
        except TimeoutError:
            why = f"Ray gave no place to {len(self._actors)} actors within {_START_S:g} s"
            raise Unavailable(why, hint="ray status; [ray] actors, cpus_per_actor, gpus_per_actor") from None
        except self._ray.exceptions.RayError as fault:
            raise Unavailable(f"an actor could not be made: {_describe_fault(fault)}", hint="see [ray]") from fault
        _LOG.info("ray.ready", actors=len(pids), pids=pids)

    async def answer(self, job: VisionJob, number: int) -> JudgeReply:
        """Return an actor's reply. Raises: Unavailable when the actor died or failed over it, or, with the reason
        `STARTING`, when every actor is being made again.
        """
        there = self._busy.keys() - self._starting.keys()
        if not there:
            raise Unavailable("every actor is being made again", reason=STARTING)
        index = min(there, key=lambda one: self._busy[one])
        self._busy[index] += 1
        try:
            return await self._ask_actor(self._actors[index], codec.encode(job), number)
        except Unavailable:
            self._await_again(index)
            raise
        finally:
            self._busy[index] -= 1

    def _await_again(self, index: int) -> None:
        if index not in self._starting:
            task = self._starting[index] = asyncio.create_task(self._wait_until_actor_ready(self._actors[index]))
            task.add_done_callback(lambda _: self._starting.pop(index))

    async def _wait_until_actor_ready(self, actor: Any) -> None:
        while True:
            try:
                pid = await actor.ready.remote()
            except self._ray.exceptions.RayError:
                await asyncio.sleep(_AGAIN_S)
            else:
                _LOG.info("ray.actor_made_again", pid=pid)
                return

    async def _ask_actor(self, actor: Any, job: bytes, number: int) -> JudgeReply:
        reply = actor.answer.remote(job, number)
        try:
            return codec.decode(await reply, JudgeReply)
        except asyncio.CancelledError:
            self._ray.cancel(reply)
            raise
        except self._ray.exceptions.RayError as fault:
            raise Unavailable(f"an actor failed: {_describe_fault(fault)}") from fault

    async def close(self) -> None:
        """End the actors, and Ray where it was started here."""
        for task in tuple(self._starting.values()):
            task.cancel()
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        await asyncio.to_thread(self._ray.shutdown)


def _make_chain(backends: Sequence[str]) -> BackendChain:
    settings = config.load(paths.resolve(os.environ).config, os.environ)
    return backend_chain(backends, settings, api_keys.read_all(settings.backends, os.environ))


def _join_ray(settings: RaySettings) -> Any:
    """Return the module `ray`, connected. Blocks for a few seconds. Raises: Unavailable."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report this machine to its makers
    if not settings.address:
        # A program that reaches Ray's ports can run code as this user: the token keeps other users out.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        _close_token_folder()
    import ray

    own = {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1", "num_cpus": _cpus(settings)}
    try:
        ray.init(log_to_driver=False, **({"address": settings.address} if settings.address else own))
    except (ray.exceptions.RayError, ConnectionError, OSError, RuntimeError, ValueError) as fault:
        where = settings.address or "here"
        raise Unavailable(
            f"Ray does not answer ({where}): {_describe_fault(fault)}", hint="ray status; [ray] address"
        ) from fault
    return ray


def _close_token_folder() -> None:
    """Close the folder of Ray's token to others: Ray writes the file readable for all (2.60, mode 0644).

    Raises: Unavailable when that can't be done.
    """
    folder = Path.home() / ".ray"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
    except OSError as fault:
        raise Unavailable(f"Ray's token in {folder} can't be kept from others: {fault.strerror}") from fault


def _cpus(settings: RaySettings) -> int:
    return max(1, round(settings.actors * settings.cpus_per_actor))


def _describe_fault(fault: BaseException) -> str:
    lines = [line for line in str(fault).splitlines() if line.strip()]
    return f"{type(fault).__name__}: {lines[-1].strip()[:200]}" if lines else type(fault).__name__
