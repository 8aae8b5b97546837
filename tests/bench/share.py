"""What sharing saves, and whether shared verdicts agree with single ones: the scripted judge, and models on loopback.

The loopback models are real HTTP exchanges with a made model: it knows the truth of each condition, and in a shared
answer it garbles lines, loses count, or is swayed to another verdict at a given rate. What a vendor's model does is not
measured here: it is the same measurement with `[backends.ollama] url` pointing at it.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from acud.config import VisionSettings
from acud.config.backends import PREDEFINED, predefined_backends
from acud.evaluator.context import Counters
from acud.evaluator.judges.judge import Judge, JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.evaluator.judges.registry import make_models
from acud.evaluator.judges.scripted import ScriptedJudge
from acud.evaluator.questions import QuestionBatcher

VIEWS = 60
TOGETHER = (2, 4, 8)
LAMPS = 8
_CONDITION = re.compile(r"<condition(?: (\d+))?>\nlamp (\d+) of view (\d+) is on\n")


class Manner(Struct, frozen=True):
    """How often a shared answer has a garbled line, a wrong count, or a verdict that is not the single one."""

    garbled: float = 0.0
    miscounted: float = 0.0
    swayed: float = 0.0


MANNERS = {
    "model, well formed": Manner(),
    "model, 10 % of lines garbled": Manner(garbled=0.1),
    "model, 10 % of answers miscounted": Manner(miscounted=0.1),
    "model, 5 % of lines swayed": Manner(swayed=0.05),
}


def on(view: int, lamp: int) -> bool:
    return random.Random(f"{view}/{lamp}").random() < 0.4


def question(view: int, lamp: int) -> JudgeQuestion:
    return JudgeQuestion(f"lamp {lamp} of view {view} is on")


def picture(view: int) -> JudgePicture:
    pixels = np.zeros((40, 40 * LAMPS, 4), np.uint8)
    for lamp in range(LAMPS):
        pixels[10:30, 40 * lamp + 10 : 40 * lamp + 30, 1] = 220 if on(view, lamp) else 0
    return encode_for_judge(pixels, 960, 72)


class Model:
    """The made model's server on loopback. An async context manager."""

    def __init__(self, manner: Manner) -> None:
        self._manner = manner
        self._chance = random.Random(7)
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Model:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*self._serving)  # each ends with its connection, which the client has closed
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._serving.add(task)
        while head := await _head(reader):
            length = int(re.findall(rb"(?i)content-length: (\d+)", head)[0])
            said = self._said(json.loads(await reader.readexactly(length))["messages"][-1]["content"])
            told = {"model": "m", "message": {"role": "assistant", "content": said}, "done": True}
            body = json.dumps({**told, "prompt_eval_count": 1000, "eval_count": 20, "done_reason": "stop"}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
        writer.close()

    def _said(self, prompt: str) -> str:
        asked = _CONDITION.findall(prompt)
        if not asked[0][0]:
            return _verdict(on(int(asked[0][2]), int(asked[0][1])))
        lines = [self._line(int(number), on(int(view), int(lamp))) for number, lamp, view in asked]
        if self._chance.random() < self._manner.miscounted:
            lines.append(f"{len(lines) + 1} YES: one more")
        return "\n".join(lines)

    def _line(self, number: int, holds: bool) -> str:
        if self._chance.random() < self._manner.garbled:
            return f"{number} it seems so"
        return f"{number} {_verdict(holds != (self._chance.random() < self._manner.swayed))}"


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def _verdict(holds: bool) -> str:
    return "YES: it is lit" if holds else "NO: it is dark"


async def _asked(judge: Judge, together: int, *, shared: bool) -> tuple[list[JudgeReply], int]:
    replies, counters = [], Counters()
    for view in range(VIEWS):
        seen = picture(view)
        async with asyncio.TaskGroup() as group:
            panel = QuestionBatcher(group, VisionSettings(share_calls=shared, share_max=together), counters)
            asks = [panel.ask(judge, "a", question(view, lamp), seen) for lamp in range(together)]
            replies += [group.create_task(one) for one in asks]
    return [one.result() for one in replies], int(counters.snapshot()["judge_calls"])


async def _compared(name: str, judge: Judge, together: int) -> dict[str, Any]:
    single, calls = await _asked(judge, together, shared=False)
    shared, fewer = await _asked(judge, together, shared=True)
    same = [one.verdict.answer is other.verdict.answer for one, other in zip(single, shared, strict=True)]
    return {
        "judge": name, "together": together, "verdicts": len(same), "calls_single": calls, "calls_shared": fewer,
        "saved": 1 - fewer / calls, "agreement": sum(same) / len(same), "tokens_in_single": _tokens(single),
        "tokens_in_shared": _tokens(shared),
    }  # fmt: skip


def _tokens(replies: Sequence[JudgeReply]) -> int:
    return sum(one.tokens_in or 0 for one in replies)


def _script() -> str:
    rules = [
        {"criteria": f"lamp {lamp} ", "pixel": [40 * lamp + 20, 20, "#00dc00"], "answer": "yes"}
        for lamp in range(LAMPS)
    ]
    return json.dumps({"rules": rules, "tokens_in": 1000, "tokens_out": 20})


async def _points() -> list[dict[str, Any]]:
    found = [await _compared("scripted", ScriptedJudge(_script()), count) for count in TOGETHER]
    for name, manner in MANNERS.items():
        for count in TOGETHER:
            async with Model(manner) as server:
                backends = predefined_backends() | {"ollama": replace(PREDEFINED["ollama"], url=server.url, tries=1)}
                judge = make_models(backends, VisionSettings(), {}, {})["ollama"]
                found.append(await _compared(name, judge, count))
                await judge.close()
    return found


def run() -> dict[str, Any]:
    return {"views": VIEWS, "points": asyncio.run(_points())}


def table(figures: dict[str, Any]) -> str:
    lines = [
        "| judge | conditions a view | verdicts | calls single | shared | saved | agreement |",
        "|---|" + "---:|" * 6,
    ]
    lines += [
        f"| {one['judge']} | {one['together']} | {one['verdicts']} | {one['calls_single']} | {one['calls_shared']}"
        f" | {one['saved']:.0%} | {one['agreement']:.1%} |"
        for one in figures["points"]
    ]
    return "\n".join(lines)
