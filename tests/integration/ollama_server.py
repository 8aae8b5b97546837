"""A loopback HTTP server that plays Ollama's API, well or badly, for tests of the judge behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from tests.integration.model_server import (
    Answer,
    Asked,
    LoopbackServer,
    ServerThread,
    Writer,
    hang,
    reset,
    send,
    trickle,
)

Manner = Literal["normal", "500", "hang", "garbage", "not_json", "empty", "reset", "trickle", "flood", "404"]

GARBAGE = "Yesterday's report says so."


class OllamaServer(LoopbackServer):
    """Answers /api/chat in a `manner` that a test may change; `asked` holds the bodies."""

    def __init__(self, *models: str, manner: Manner = "normal", words: str = "YES: the bar is full") -> None:
        super().__init__()
        self.models = list(models)
        self.manner: Manner = manner
        self.words = words
        self.asked: list[dict[str, Any]] = []
        self.release = asyncio.Event()
        self.release.set()
        self.at_once = self.most_at_once = 0

    async def respond(self, asked: Asked, writer: Writer) -> None:
        if asked.path == "/api/tags":
            return await send(writer, Answer({"models": [{"name": name, "size": 1} for name in self.models]}))
        if asked.path == "/api/version":
            return await send(writer, Answer({"version": "0.12.3"}))
        self.asked.append(asked.body)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.arrived.set()
        await self.release.wait()
        self.at_once -= 1
        return await send(writer, self._answer())

    def _answer(self) -> Answer:
        words = {"garbage": GARBAGE, "empty": ""}.get(self.manner, self.words)
        message = {"role": "assistant", "content": words}
        odd = {
            "500": Answer({"error": "out of memory"}, 500),
            "404": Answer({"error": "model not found"}, 404),
            "hang": Answer(play=hang),
            "reset": Answer(play=reset),
            "trickle": Answer(play=trickle),
            "not_json": Answer(b"<html>proxy</html>"),
            "flood": Answer(b" " * (2 << 20)),
        }
        return odd.get(
            self.manner, Answer({"message": message, "done": True, "prompt_eval_count": 700, "eval_count": 9})
        )


@contextmanager
def serving_ollama(*models: str) -> Iterator[OllamaServer]:
    """Give an `OllamaServer` that has these models, in a thread of its own: for tests that block."""
    with ServerThread(lambda: OllamaServer(*models)) as thread:
        yield thread.server
