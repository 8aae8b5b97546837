"""What the five tasks of `examples/tasks` cost an agent: its calls, and the tokens of their results.

The transcripts were made by an agent that saw the tools alone, and are replayed here against a daemon and programs of
this run: `done` counts the tasks whose programs say so at the end. `calls` and `result_tokens` are sums over the tasks;
a picture counts as width x height / 750 tokens, as Anthropic's documentation puts it. docs/benchmarks.md has beside
them what another such agent needed with the tools of bece5b3.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import types
from PIL import Image

from examples.tasks.play import link, text_of, wait_of
from examples.tasks.tasks import BY_NAME, World, own_acud, playing
from tests.bench._tokens import counter

_TRANSCRIPTS = Path(__file__).parents[2] / "examples" / "tasks" / "transcripts"
_PX_PER_TOKEN = 750
_WAKE_S = 60.0


def run() -> dict[str, Any]:
    count, tokenizer = counter()
    transcripts = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(_TRANSCRIPTS.glob("*.json"))]
    tasks = {one["task"]: asyncio.run(_replay(one, count)) for one in transcripts}
    return {
        "done": sum(one["done"] for one in tasks.values()),
        "calls": sum(one["calls"] for one in tasks.values()),
        "result_tokens": sum(one["result_tokens"] for one in tasks.values()),
        "tasks": tasks,
        "tokenizer": tokenizer,
    }


async def _replay(transcript: dict[str, Any], count: Callable[[str], int]) -> dict[str, Any]:
    tokens = calls = 0
    with playing(BY_NAME[transcript["task"]], own_acud()) as world:
        async with link(world) as client:
            waits: dict[int, str] = {}
            for number, step in enumerate(transcript["calls"]):
                if "wake" in step:
                    await asyncio.to_thread(world.next_wake, step["wake"] - 1, _WAKE_S)
                    continue
                answer = await client.call_tool(step["tool"], _arguments(step, waits, world.displays))
                said = text_of(answer)
                waits[number] = wait_of(said)
                calls += 1
                tokens += count(said) + _picture_tokens(answer)
            done = await _done(world, transcript["task"])
    return {"done": done, "calls": calls, "result_tokens": tokens}


def _arguments(step: dict[str, Any], waits: dict[int, str], displays: list[str]) -> dict[str, Any]:
    """Return the arguments as the transcript says; `{wait 3}` stands for the wait that step 3 armed, `{display 0}` for
    the task's first display.
    """
    text = json.dumps(step["arguments"])
    for number, display in enumerate(displays):
        text = text.replace(f"{{display {number}}}", display)
    for number, wait in waits.items():
        text = text.replace(f"{{wait {number}}}", wait)
    return dict(json.loads(text))


def _picture_tokens(answer: types.CallToolResult) -> int:
    pictures = [block.data for block in answer.content if isinstance(block, types.ImageContent)]
    sizes = [Image.open(io.BytesIO(base64.b64decode(picture))).size for picture in pictures]
    return sum(width * height // _PX_PER_TOKEN for width, height in sizes)


async def _done(world: World, name: str) -> bool:
    for _ in range(50):  # a program writes its result a moment after the press
        if BY_NAME[name].is_done(world):
            return True
        await asyncio.sleep(0.1)
    return False


def table(figures: dict[str, Any]) -> str:
    rows = [_row(name, "done" if one["done"] else "NOT DONE", one) for name, one in figures["tasks"].items()]
    return "\n".join([*rows, f"{_row('all', str(figures['done']), figures)} by {figures['tokenizer']}"])


def _row(name: str, done: str, figures: dict[str, Any]) -> str:
    return f"{name:<18} {done:<8} {figures['calls']:>3} calls {figures['result_tokens']:>6} tokens"
