"""Workers as processes of their own, and a host's judge that asks them, over real NATS servers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
from nats.js.errors import NotFoundError

from acud.config import JobSettings, VisionSettings
from acud.config.fleet import FleetSettings
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion
from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.evaluator import FleetJudge
from acud.protocol.worker import WorkerAsk
from tests.fixtures.patience import LONG_S, until_true

_ASKED_S = 100.0
"""A call ends with an answer, or with what its test is about: processes may start one after the other for it."""
QUESTION = JudgeQuestion("the lamp is green", 3.0, 60.0)


def picture(shade: int = 40, side: int = 64) -> JudgePicture:
    """Return a grey view of `side` x `side` pixels."""
    return encode_for_judge(np.full((side, side, 4), shade, np.uint8), 960, 72)


def noise(side: int) -> JudgePicture:
    """Return a view that JPEG cannot make small."""
    pixels = np.random.default_rng(7).integers(0, 255, (side, side, 4), np.uint8)
    return encode_for_judge(pixels, side, 95)


class Worker:
    """A worker of jobs with a scripted judge; `script` may be written anew at any time. Use in `with`."""

    def __init__(
        self,
        home: Path,
        url: str,
        script: dict[str, Any] | None = None,
        *,
        backends: tuple[str, ...] = ("scripted",),
        concurrency: int = 4,
        ray: dict[str, Any] | None = None,
        login: str = "",
        **jobs: Any,
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.script(script or {})
        told = [
            f"[vision]\nscripted = {json.dumps(str(home / 'script.json'))}",
            f"[fleet]\nurl = {json.dumps(url)}\n{login}",
        ]
        told += ["[jobs]", *(f"{name} = {json.dumps(value)}" for name, value in jobs.items())]
        told += ["[ray]", *(f"{name} = {json.dumps(value)}" for name, value in (ray or {}).items())]
        (home / "acud.toml").write_text("\n".join(told) + "\n")
        ask = WorkerAsk(backends, concurrency=concurrency, ray=ray is not None)
        self._command = [sys.executable, "-m", "acud.features.fleet.worker", msgspec.json.encode(ask).decode()]
        self._log = (home / "log").open("wb")

    def script(self, script: dict[str, Any]) -> None:
        """Have the judge do what `script` says, from its next question on."""
        fresh = self.home / "script.new"
        fresh.write_text(json.dumps(script))
        fresh.replace(self.home / "script.json")

    def __enter__(self) -> Self:
        env = {name: value for name, value in os.environ.items() if not name.startswith("ACU")}
        self.process = subprocess.Popen(
            self._command, env=env | {"ACU_HOME": str(self.home)}, stderr=self._log, stdout=self._log
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._log.close()

    def events(self, name: str = "") -> list[dict[str, Any]]:
        lines = (self.home / "log").read_text().splitlines(keepends=True)
        told = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]
        return [one for one in told if name in ("", one["event"])]

    async def ready(self) -> Self:
        await until_true(lambda: self.events("worker.ready") or self.process.poll() is not None, "a worker")
        assert self.process.poll() is None, (self.home / "log").read_text()
        return self

    async def took(self) -> None:
        await until_true(lambda: self.events("job.taken"), "a job that is begun")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait, LONG_S)

    def figures(self) -> dict[str, Any]:
        """Return what it counted in all, told at its end."""
        return self.events("worker.metrics")[-1]


@asynccontextmanager
async def host(url: str, *, timeout_s: float = _ASKED_S, **more: Any) -> AsyncIterator[FleetJudge]:
    """Give the judge `fleet` of a host of the fleet at `url`."""
    jobs = {name: value for name, value in more.items() if name in JobSettings.__struct_fields__}
    vision = {"connect_timeout_s": LONG_S} | {name: value for name, value in more.items() if name not in jobs}
    judge = FleetJudge(
        FleetSettings(url=url, host="alpha"), JobSettings(timeout_s=timeout_s, **jobs), VisionSettings(**vision)
    )
    try:
        yield judge
    finally:
        await judge.close()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[NatsConnection]:
    async with NatsConnection(FleetSettings(url=url), "test") as connection:
        await connection.ready()
        yield connection


async def emptied(connection: NatsConnection) -> None:
    """Return once no job is in the queue, in hand or not."""
    async with asyncio.timeout(LONG_S):
        while (await connection.streams.stream_info("ACUD_JOBS")).state.messages:  # noqa: ASYNC110 - the servers do not tell
            await asyncio.sleep(0.02)


async def queued(connection: NatsConnection) -> None:
    async with asyncio.timeout(LONG_S):
        while not await _jobs(connection):  # noqa: ASYNC110 - the servers do not tell
            await asyncio.sleep(0.02)


async def _jobs(connection: NatsConnection) -> int:
    try:
        return (await connection.streams.stream_info("ACUD_JOBS")).state.messages
    except NotFoundError:
        return 0
