"""Requests taken and answered by somebody else's implementation: LiteLLM's proxy, in OpenAI's and Anthropic's forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from acud.evaluator.judges.picture_format import encode_for_judge
from acud.evaluator.judges.provider import ChatRequest
from acud.types import yes
from acud.types.chat import ChatMessage, ChatTool
from tests.gateway.gateway import KEY, Gateway
from tests.integration.vendors import QUESTION, Quick, model

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """The proxy, once for all tests."""
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
