"""The judges of this process: which one answers, and how each is doing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Protocol

from msgspec.structs import replace

from acud.evaluator.vision.judge import Judge
from acud.protocol.children import JudgeHealth, Judges
from acud.types import JudgeName


class Checked(Protocol):
    """Whatever tells its health as a judge."""

    async def check_health(self) -> JudgeHealth:
        """Return how it is doing."""
        ...


class Desk:
    """The vision judges by name, and the newest health of all judges, text reading included.

    `backend` is what `auto` means here; `auto` itself is ollama where it is ready, else ocr (architecture, section 5).
    """

    def __init__(self, judges: Mapping[str, Judge], backend: str, text: Checked | None = None) -> None:
        self._judges = dict(judges)
        self._backend = backend
        self._checked: list[Checked] = [*judges.values(), *([text] if text is not None else [])]
        self._health: dict[str, JudgeHealth] = {}
        self._doubted = asyncio.Event()

    def choose(self, asked: str) -> str:
        """Return the name of the judge that answers where a wait asked for `asked`."""
        name = asked if asked != JudgeName.AUTO else self._backend
        if name != JudgeName.AUTO:
            return name
        found = self._health.get(JudgeName.OLLAMA)
        return JudgeName.OLLAMA if found is not None and found.state == "ready" else JudgeName.OCR

    def judge(self, name: str) -> Judge | None:
        """Return the vision judge of that name, or None when this process has none."""
        return self._judges.get(name)

    def _is_local(self, name: str) -> bool:
        judge = self._judges.get(name)
        return judge is None or judge.local  # None: the reader of text, which is here

    async def check(self) -> Judges | None:
        """Ask every judge for its health, all at once; return the news, or None when nothing changed."""
        found = await asyncio.gather(*(one.check_health() for one in self._checked))
        health = {one.name: replace(one, local=self._is_local(one.name)) for one in found}
        if health == self._health:
            return None
        self._health = health
        return Judges(tuple(health.values()))

    def doubt(self, name: str) -> None:
        """Have the health asked for soon: `name` was thought ready and did not answer."""
        found = self._health.get(name)
        if found is not None and found.state != "down":
            self._doubted.set()

    async def wait_for_doubt(self, at_most_s: float) -> None:
        """Return when a judge is in doubt, or after `at_most_s`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._doubted.wait(), at_most_s)
        self._doubted.clear()

    async def close(self) -> None:
        """Close every judge."""
        for judge in self._judges.values():
            await judge.close()
