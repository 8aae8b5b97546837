"""The judges of this process: which one answers, and how each is doing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from acud.evaluator.vision.judge import Judge
from acud.protocol.evaluation import JudgeHealth, Judges
from acud.types import JudgeName

_WHEN_NAMED = frozenset({JudgeName.VLLM, JudgeName.OPENROUTER, JudgeName.CLAUDE, JudgeName.FLEET})


class Checked(Protocol):
    """Whatever tells its health as a judge."""

    async def check_health(self) -> JudgeHealth:
        """Return how it is doing."""
        ...


class Desk:
    """The vision judges by name, and the newest health of all judges, text reading included.

    `chain` is whom `auto` means here, one after the other; () is ollama where it is ready, else ocr (architecture,
    section 5). Backends in `_WHEN_NAMED` hear nothing, not even a question about their health, before the chain or a
    wait names them: a key alone sends nothing.
    """

    def __init__(self, judges: Mapping[str, Judge], chain: Sequence[str] = (), text: Checked | None = None) -> None:
        self._judges = dict(judges)
        self._chain = tuple(chain)
        self._named = set(chain)
        self._text = [text] if text is not None else []
        self._health: dict[str, JudgeHealth] = {}
        self._doubted = asyncio.Event()

    def choose(self, asked: str) -> str:
        """Return the name of the judge that answers where a wait asked for `asked`."""
        if asked != JudgeName.AUTO:
            return asked
        if self._chain:
            return self._chain[0]
        found = self._health.get(JudgeName.OLLAMA)
        return JudgeName.OLLAMA if found is not None and found.state == "ready" else JudgeName.OCR

    def judge(self, name: str) -> Judge | None:
        """Return the vision judge of that name, or None when this process has none; it is named from now on."""
        if name in _WHEN_NAMED - self._named:
            self._named.add(name)
            self._doubted.set()
        return self._judges.get(name)

    def line(self, asked: str) -> tuple[Judge, ...]:
        """Return the judges to ask, in order; who is known to be down comes last, as health may be old."""
        names = self._chain if asked == JudgeName.AUTO and self._chain else (self.choose(asked),)
        found = [judge for name in names if (judge := self.judge(name)) is not None]
        return tuple(sorted(found, key=lambda judge: self._is_down(judge.name)))

    def _is_down(self, name: str) -> bool:
        found = self._health.get(name)
        return found is not None and found.state == "down"

    def _checked(self) -> list[Checked]:
        judges = self._judges.items()
        return [judge for name, judge in judges if name in self._named or name not in _WHEN_NAMED] + self._text

    def _is_local(self, name: str) -> bool:
        judge = self._judges.get(name)
        return judge is None or judge.local  # None: the reader of text, which is here

    async def check(self) -> Judges | None:
        """Ask every judge for its health, all at once; return the news, or None when nothing changed."""
        found = await asyncio.gather(*(one.check_health() for one in self._checked()))
        health = {one.name: replace(one, local=self._is_local(one.name)) for one in found}
        if health == self._health:
            return None
        self._health = health
        return Judges(tuple(health.values()))

    def doubt(self, name: str) -> None:
        """Have the health asked for soon: `name` was thought ready and did not answer."""
        if name in self._health and not self._is_down(name):
            self._doubted.set()

    async def wait_for_doubt(self, at_most_s: float) -> None:
        """Return when a judge is in doubt, or after `at_most_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                await self._doubted.wait()
        self._doubted.clear()

    async def close(self) -> None:
        """Close every judge."""
        for judge in self._judges.values():
            await judge.close()
