"""Requests taken and answered by somebody else's implementation: LiteLLM's proxy, in OpenAI's and Anthropic's forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud import config
from acud.config import api_keys
from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.evaluator.judges.provider import ChatRequest
from acud.evaluator.judges.registry import make_models
from acud.types import yes
from acud.types.chat import ChatMessage, ChatTool
from tests.gateway.gateway import KEY, Gateway
from tests.integration.vendors import QUESTION, Quick, model

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with Gateway(tmp_path_factory.mktemp("gateway")) as running:
        yield running


def picture() -> Any:
    """Return a real JPEG: the proxy looks into pictures to count their tokens."""
    import numpy as np

    return encode_for_judge(np.zeros((54, 96, 4), np.uint8), 960, 72)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["vllm", "openrouter", "claude"])
async def test_a_question_is_answered(gateway: Gateway, name: str) -> None:
    url = f"{gateway.url}/v1" if name == "openrouter" else gateway.url
    backend = model(name, url, key=KEY, model="eye")
    reply = await backend.evaluate(QUESTION, picture())
    await backend.close()
    assert reply.verdict == yes("the bar is full")
    assert (reply.tokens_in or 0) > 0
    assert (reply.tokens_out or 0) > 0


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["vllm", "claude"])
async def test_a_conversation_with_tools_is_taken(gateway: Gateway, name: str) -> None:
    backend = model(name, gateway.url, key=KEY, model="eye")
    tool = ChatTool("click", "Click a place.", '{"type": "object", "properties": {"x": {"type": "integer"}}}')
    request = ChatRequest((ChatMessage("user", "what now?"),), system="Be brief.", pictures=(picture(),), tools=(tool,))
    reply = await backend.ask(request)
    await backend.close()
    assert (reply.code, reply.text) == ("", "YES: the bar is full")


NAMED = """
[backends.office]
kind = "openai"
url = "{url}/v1"
model = "eye"
[backends.lab]
kind = "anthropic"
url = "{url}"
model = "eye"
price = {{ input = 1, output = 10, as_of = "2026-11-26" }}
[backends.shut]
kind = "openai"
url = "{url}/v1"
model = "eye"
tries = 1
"""


@pytest.mark.asyncio
async def test_backends_by_name_go_through_it_each_in_its_own_form(gateway: Gateway, tmp_path: Path) -> None:
    (tmp_path / "acud.toml").write_text(NAMED.format(url=gateway.url))
    env = {"ACU_OFFICE_API_KEY": KEY, "ACU_LAB_API_KEY": KEY, "ACU_SHUT_API_KEY": "sk-of-nobody"}
    loaded = config.load(tmp_path / "acud.toml", env)
    made = make_models(loaded.backends, loaded.vision, api_keys.read_all(loaded.backends, env), loaded.prices)
    for name in ("office", "lab"):
        reply = await made[name].evaluate(QUESTION, picture())
        assert (reply.verdict, reply.judge or made[name].name) == (yes("the bar is full"), name)
    assert (reply.cost_usd or 0) > 0
    refused = await made["shut"].evaluate(QUESTION, picture())
    assert refused.verdict.code == "rejected", refused  # the proxy says 400 to a key that it does not know
    assert "sk-of-nobody" not in repr(refused)
    for one in made.values():
        await one.close()


@pytest.mark.asyncio
async def test_its_list_of_models_is_read(gateway: Gateway) -> None:
    there, missing = (model("vllm", gateway.url, key=KEY, model=name) for name in ("eye", "nobody"))
    assert (await there.check_health()).state == "ready"
    health = await missing.check_health()
    assert (health.state, "has no model nobody; it has" in health.reason) == ("down", True)
    await there.close()
    await missing.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("wanted", "code"), [("broken", "judge_down"), ("limited", "rate_limited"), ("nobody", "rejected")]
)
async def test_its_errors_are_codes(gateway: Gateway, wanted: str, code: str) -> None:
    backend = model("vllm", gateway.url, key=KEY, model=wanted, clock=Quick())
    reply = await backend.evaluate(QUESTION, picture())
    await backend.close()
    assert reply.verdict.code == code, reply
    assert KEY not in repr(reply)
