"""A daemon with many displays, its waits and its painter: what the benchmarks of one host share."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from acud.types import Change, Criteria, DisplayInfo, JudgeName, Policy, Stable, Text, Until, WaitInfo
from acud_client import Client
from acud_client.aio import AsyncClient
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import GREEN

_PATIENCE_S = 300.0
"""Of every call: 64 displays that start at once, on a machine that does other things too, take what they take."""
_AT_ONCE = 16
"""Waits that are created side by side."""
QUIET_BOX = "region:960,480,160,64"
"""Ten tiles by four in which nothing is painted while others paint."""
_JUDGE = {"delay_ms": 20, "rules": [{"pixel": [4, 4, GREEN], "answer": "yes"}], "default": "no"}
SETTINGS = (
    f"[vision]\nbackend = \"scripted\"\nscripted = '{json.dumps(_JUDGE)}'\n"
    '[display]\nwindow_manager = "none"\nsession_bus = false\n'
)
Condition = tuple[Until, str, Policy]
_MIX: tuple[Condition, ...] = (
    (Stable(3600.0), "screen", Policy()),
    (Criteria("the lamp is green"), "screen", Policy()),
    (Change(), QUIET_BOX, Policy()),
    (Text("never written"), QUIET_BOX, Policy()),
)
"""Four waits: quiet and a judge's sentence on the pixels that are painted, a change and a text beside them."""


def host(settings: str = SETTINGS) -> Daemon:
    return Daemon(settings=settings, end_s=_PATIENCE_S)


def create(daemon: Daemon, count: int) -> tuple[list[DisplayInfo], list[float], float]:
    """Start `count` displays at once; return them, what each took and what all took, in milliseconds."""
    return asyncio.run(_create(daemon, count))


async def _create(daemon: Daemon, count: int) -> tuple[list[DisplayInfo], list[float], float]:
    async with AsyncClient(daemon.paths, timeout_s=_PATIENCE_S, patience_s=_PATIENCE_S) as client:
        began = time.monotonic()

        async def one() -> tuple[DisplayInfo, float]:
            shown = (await client.display_create(1280, 720)).display
            return shown, (time.monotonic() - began) * 1000

        made = await asyncio.gather(*(one() for _ in range(count)))
        return [display for display, _ in made], [ms for _, ms in made], (time.monotonic() - began) * 1000


def arm(daemon: Daemon, displays: list[DisplayInfo], mix: tuple[Condition, ...] = _MIX) -> list[str]:
    """Arm the waits of `mix` on each display, and return once each judged one was judged; their ids."""
    waits = asyncio.run(_arm(daemon, [(display.name, *condition) for display in displays for condition in mix]))
    _await_judged(daemon, set(waits))
    return waits


async def _arm(daemon: Daemon, wanted: list[tuple[str, Until, str, Policy]]) -> list[str]:
    room = asyncio.Semaphore(_AT_ONCE)
    async with AsyncClient(daemon.paths, timeout_s=_PATIENCE_S, patience_s=_PATIENCE_S) as client:

        async def one(display: str, until: Until, target: str, policy: Policy) -> str:
            async with room:
                made = await client.wait_create(
                    until, target, display=display, timeout_s=3600.0, policy=policy, judge=JudgeName.SCRIPTED
                )
            return made.wait.wait_id

        return list(await asyncio.gather(*(one(*each) for each in wanted)))


def _await_judged(daemon: Daemon, waits: set[str]) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    with Client(daemon.paths, timeout_s=_PATIENCE_S) as client:
        while unjudged := [wait for wait in client.wait_list(limit=1000).waits if _is_unjudged(wait, waits)]:
            if time.monotonic() > deadline_s:
                raise RuntimeError(f"{len(unjudged)} of {len(waits)} waits were not judged: {unjudged[0]}")
            time.sleep(0.25)


def _is_unjudged(wait: WaitInfo, asked: set[str]) -> bool:
    return wait.wait_id in asked and not wait.judged and not isinstance(wait.spec.until, Stable | Change)


class ManyPainter:
    """The painting process of a daemon's displays; use in `with`."""

    def __init__(self, daemon: Daemon, displays: list[DisplayInfo]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench._many_painter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say({"home": str(daemon.home), "displays": [[d.name, d.auth_file] for d in displays]})
        self._answer()

    def __enter__(self) -> ManyPainter:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._process.communicate(timeout=60)

    def _say(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def paint(self, fps: dict[str, float]) -> None:
        self._say({"fps": fps})

    def tell(self) -> dict[str, Any]:
        self._say({"tell": True})
        return self._answer()
