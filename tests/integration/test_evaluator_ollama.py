"""The judge behind Ollama's API, over real HTTP: good answers are verdicts, everything else is unknown, never no."""

import base64

import pytest

from acud.config import VisionSettings
from acud.config.backends import OllamaSettings
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.model import Model
from acud.evaluator.judges.registry import make_models
from tests.integration.ollama_server import OllamaServer
from tests.integration.vendors import PATIENT

PICTURE = JudgePicture(b"\xff\xd8jpeg\xff\xd9", 96, 54, 128, 72)
QUESTION = JudgeQuestion("the build has finished", 12, 300)


def judge_at(url: str, vision: VisionSettings | None = None, **more: object) -> Model:
    """Return the judge behind `url`, with short limits."""
    ollama = OllamaSettings(**{"url": url, "model": "minicpm-v", "tries": 1, **more})  # type: ignore[arg-type]
    return make_models({"ollama": ollama}, vision or PATIENT, {}, {})["ollama"]


async def asked(server: OllamaServer, vision: VisionSettings | None = None, **more: object) -> JudgeReply:
    judge = judge_at(server.url, vision, **more)
    try:
        return await judge.evaluate(QUESTION, PICTURE)
    finally:
        await judge.close()


@pytest.mark.asyncio
async def test_the_request_is_what_the_api_asks_for() -> None:
    async with OllamaServer() as server:
        await asked(server, VisionSettings(system_instructions="Look well."), keep_alive="-1")
        await asked(server)
    first, second = server.asked
    assert (first["model"], first["stream"], first["keep_alive"]) == ("minicpm-v", False, -1)
    assert second["keep_alive"] == "10m"
    system, user = first["messages"]
    assert system == {"role": "system", "content": "Look well."}
    assert base64.b64decode(user["images"][0]) == PICTURE.jpeg
    assert QUESTION.criteria in user["content"]


@pytest.mark.asyncio
@pytest.mark.parametrize(("model", "there", "state"), [
    ("minicpm-v", "minicpm-v:latest", "ready"), ("minicpm-v:latest", "minicpm-v:latest", "ready"),
    ("minicpm-v:8b", "minicpm-v:8b", "ready"), ("minicpm-v", "minicpm-v:8b", "down"),
    ("hub.local:5000/team/eye", "hub.local:5000/team/eye:latest", "ready"), ("minicpm-v", "llava:latest", "down"),
])  # fmt: skip
async def test_health_looks_for_the_model(model: str, there: str, state: str) -> None:
    async with OllamaServer(there) as server:
        judge = judge_at(server.url, model=model)
        health = await judge.check_health()
        await judge.close()
    assert (health.name, health.state, health.version) == ("ollama", state, "0.12.3")
    assert (model in health.reason) == (state == "down")
