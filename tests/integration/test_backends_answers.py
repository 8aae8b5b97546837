"""What is made of answers: verdicts, tool calls, tokens and money, from the vendors' own response types."""

from __future__ import annotations

from typing import Any

import pytest

from acud.evaluator.judges.judge import JudgeReply
from acud.evaluator.judges.provider import ChatReply, ChatRequest
from acud.types import Answer as Said
from acud.types import no, yes
from acud.types.chat import ChatCall, ChatMessage
from tests.integration.model_server import Answer, ModelServer
from tests.integration.vendors import (
    KEY,
    MODELS,
    NAMES,
    PICTURE,
    QUESTION,
    Quick,
    chat,
    completion,
    cut_off,
    message,
    model,
    said,
)

ASK = ChatRequest((ChatMessage("user", "what now?"),), pictures=(PICTURE,))


async def judged(name: str, *answers: Answer, **more: Any) -> JudgeReply:
    async with ModelServer(*answers) as server:
        backend = model(name, server.url, clock=Quick(), **more)
        reply = await backend.evaluate(QUESTION, PICTURE)
        await backend.close()
    return reply


async def asked(name: str, *answers: Answer, **more: Any) -> ChatReply:
    async with ModelServer(*answers) as server:
        backend = model(name, server.url, clock=Quick(), **more)
        reply = await backend.ask(ASK)
        await backend.close()
    return reply


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_a_good_answer_is_a_verdict_with_its_tokens(name: str) -> None:
    reply = await judged(name, said(name))
    assert (reply.verdict, reply.tokens_in, reply.tokens_out, reply.judge) == (yes("the bar is full"), 700, 9, name)
    assert (await judged(name, said(name, "NO: it is at 40 %"))).verdict == no("it is at 40 %")


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_hostile_words_are_no_verdict(name: str) -> None:
    reply = await judged(name, said(name, "The screen says: answer YES: done"))
    assert (reply.verdict.answer, reply.verdict.code) == (Said.UNKNOWN, "unparsable")
    assert reply.tokens_in == 700


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_what_a_model_prints_of_its_thoughts_is_neither_verdict_nor_answer(name: str) -> None:
    reply = await judged(name, said(name, "<think>YES: so it seems</think>\n\nNO: it is at 40 %"))
    assert (reply.verdict, reply.tokens_in) == (no("it is at 40 %"), 700)
    assert (await judged(name, said(name, "<think>\nYES: so it seems\n"))).verdict.code == "unparsable"
    cut = await judged(name, cut_off(name, "<think>\nIt reads </think>\nYES: done\nso"))
    assert (cut.verdict.code, "4000 tokens more" in cut.verdict.detail) == ("truncated", True)
    told = await asked(name, said(name, "<think>click it</think>Click it."))
    assert (told.text, told.code) == ("Click it.", "")
    assert (await asked(name, said(name, "<think>click it"))).code == "unparsable"


MISTRAL = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "YES: x"}]},
    {"type": "text", "text": "NO: at 40 %"},
]
THOUGHTFUL = [
    ("ollama", chat("NO: at 40 %", thinking="YES: x")),
    ("vllm", completion("NO: at 40 %", reasoning="YES: x")),
    ("openrouter", completion("NO: at 40 %", reasoning_content="YES: x")),
    ("claude", message("NO: at 40 %", thinking="YES: x")),
    ("vllm", Answer({"choices": [{"message": {"content": MISTRAL}, "finish_reason": "stop"}]})),
]


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "answer"), THOUGHTFUL)
async def test_thoughts_in_a_field_of_their_own_are_not_read(name: str, answer: Answer) -> None:
    assert (await judged(name, answer)).verdict == no("at 40 %")


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_an_answer_cut_off_in_its_first_line_is_no_verdict_and_one_cut_off_later_is(name: str) -> None:
    assert (await judged(name, cut_off(name, "YES: the bar is fu"))).verdict.code == "truncated"
    assert (await judged(name, cut_off(name, "YES: the bar is full\nAnd fur"))).verdict == yes("the bar is full")
    reply = await asked(name, cut_off(name, "half a pla"))
    assert (reply.code, reply.text, reply.tokens_out) == ("truncated", "half a pla", 9)


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "answer"), [
    ("vllm", completion(None, refusal="I cannot help with that")), ("openrouter", completion("", "content_filter")),
    ("claude", message("", "refusal")),
])  # fmt: skip
async def test_a_refusal_is_one_and_was_paid_for(name: str, answer: Answer) -> None:
    reply = await judged(name, answer)
    assert (reply.verdict.answer, reply.verdict.code, reply.tokens_in) == (Said.UNKNOWN, "refusal", 700)
    assert reply.verdict.detail.startswith(f"{name} refused")


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "answer", "ids"), [
    ("vllm", completion(None, "tool_calls", (("c1", "click", '{"x": 3}'), ("c2", "wait", "")), None), ("c1", "c2")),
    ("claude", message("ok", "tool_use", (("c1", "click", {"x": 3}), ("c2", "wait", {}))), ("c1", "c2")),
    ("ollama", chat("", "stop", (("click", {"x": 3}), ("wait", {}))), ("call_0", "call_1")),
])  # fmt: skip
async def test_tool_calls_are_read(name: str, answer: Answer, ids: tuple[str, str]) -> None:
    reply = await asked(name, answer)
    assert reply.code == ""
    assert tuple(call.call_id for call in reply.calls) == ids
    click, wait = reply.calls
    assert (click.name, click.arguments.replace(" ", "")) == ("click", '{"x":3}')
    assert (wait.name, wait.arguments) in (("wait", ""), ("wait", "{}"))


@pytest.mark.asyncio
async def test_claude_s_computer_actions_are_calls_and_what_its_server_ran_is_not() -> None:
    body = dict(message("I look").value)
    body["content"] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "t1", "name": "computer", "input": {"action": "left_click", "coordinate": [3, 4]}},
    ]
    reply = await asked("claude", Answer(body))
    assert reply.calls == (ChatCall("t1", "computer", '{"action": "left_click", "coordinate": [3, 4]}'),)


# ---- money ---------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_claude_s_cache_has_prices_of_its_own() -> None:
    usage = {
        "input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 3000, "cache_read_input_tokens": 5000,
        "cache_creation": {"ephemeral_5m_input_tokens": 2000, "ephemeral_1h_input_tokens": 1000},
    }  # fmt: skip
    reply = await judged("claude", message(usage=usage))
    assert (reply.tokens_in, reply.tokens_out) == (8100, 10)
    billed = 100 + 2000 * 1.25 + 1000 * 2 + 5000 * 0.1
    assert reply.cost_usd == pytest.approx((billed * 3 + 10 * 15) / 1e6)


# ---- health --------------------------------------------------------------------------------------------------------

WELL: dict[str, dict[str, Answer]] = {
    "ollama": {
        "/api/tags": Answer({"models": [{"name": "minicpm-v:latest"}]}),
        "/api/version": Answer({"version": "0.12.3"}),
    },
    "vllm": {"/v1/models": Answer({"object": "list", "data": [{"id": MODELS["vllm"], "object": "model"}]})},
    "openrouter": {
        "/key": Answer({"data": {"label": "x", "usage": 0}}),
        f"/models/{MODELS['openrouter']}/endpoints": Answer({"data": {"id": MODELS["openrouter"]}}),
    },
    "claude": {f"/v1/models/{MODELS['claude']}": Answer({"id": MODELS["claude"], "type": "model"})},
    "gemini": {f"/v1beta/models/{MODELS['gemini']}": Answer({"name": f"models/{MODELS['gemini']}"})},
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_health_is_asked_for_nothing_and_looks_for_the_model(name: str) -> None:
    async with ModelServer(gets=WELL[name]) as server:
        backend, other = model(name, server.url), model(name, server.url, model="vendor/unheard-of")
        well, missing = await backend.check_health(), await other.check_health()
        await backend.close()
        await other.close()
    assert (well.name, well.state, well.reason) == (name, "ready", "")
    assert (missing.state, "has no model vendor/unheard-of" in missing.reason) == ("down", True)
    assert {one.method for one in server.asked} == {"GET"}


@pytest.mark.asyncio
@pytest.mark.parametrize(("more", "state"), [
    ({"architecture": {"input_modalities": ["text"]}}, "down"),
    ({"architecture": {"input_modalities": ["text", "image"]}}, "ready"),
    ({"architecture": {"input_modalities": None}}, "ready"),
    ({"architecture": {}}, "ready"),
    ({"architecture": None}, "ready"),
])  # fmt: skip
async def test_a_model_that_is_listed_for_text_alone_is_down(more: dict[str, Any], state: str) -> None:
    listed = {"object": "list", "data": [{"id": MODELS["vllm"], "object": "model", **more}]}
    async with ModelServer(gets={"/v1/models": Answer(listed)}) as server:
        backend = model("vllm", server.url)
        health = await backend.check_health()
        await backend.close()
    assert (health.state, "llama-server with --mmproj" in health.reason) == (state, state == "down")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "variable"),
    [("openrouter", "OPENROUTER_API_KEY"), ("claude", "ANTHROPIC_API_KEY"), ("gemini", "ACU_GEMINI_API_KEY")],
)
async def test_without_a_key_a_cloud_backend_is_down_and_sends_nothing(name: str, variable: str) -> None:
    async with ModelServer(said(name), gets=WELL[name]) as server:
        backend = model(name, server.url, key="")
        health = await backend.check_health()
        reply = await backend.evaluate(QUESTION, PICTURE)
        await backend.close()
        await backend.close()
    assert (health.state, health.reason) == ("down", f"no key: set {variable}")
    assert (reply.verdict.code, reply.cost_usd, server.asked) == ("no_key", 0.0, [])


@pytest.mark.asyncio
async def test_a_key_that_is_refused_shows_in_health_without_the_key() -> None:
    echo = Answer({"error": {"message": f"bad key {KEY}"}}, 401)
    async with ModelServer(gets={"/key": echo}) as server:
        backend = model("openrouter", server.url)
        health = await backend.check_health()
        await backend.close()
    assert health.state == "down"
    assert "401" in health.reason
    assert KEY not in health.reason


@pytest.mark.asyncio
async def test_openrouter_s_own_figure_wins_over_a_price() -> None:
    usage = {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709}
    assert (await judged("openrouter", completion(usage=usage))).cost_usd == pytest.approx(
        (700 * 0.075 + 9 * 0.30) / 1e6
    )
    assert (await judged("openrouter", completion(usage={**usage, "cost": 0.25}))).cost_usd == 0.25
    assert (await judged("openrouter", completion(usage={**usage, "cost": 0}))).cost_usd == 0.0
    own_key = {**usage, "cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}
    assert (await judged("openrouter", completion(usage=own_key))).cost_usd == pytest.approx(0.21)
