"""Gemini's own API: what is sent beside what google-genai's client sends, and what is made of answers and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google import genai
from google.genai import types
from pydantic import TypeAdapter

from acud.config.backends import Price
from acud.evaluator.judges.judge import JudgeReply
from acud.evaluator.judges.provider import ChatReply, ChatRequest
from acud.types import yes
from acud.types.chat import ChatCall, ChatMessage, ChatTool
from tests.integration.model_server import Answer, ModelServer
from tests.integration.vendors import GEMINI, KEY, PICTURE, QUESTION, Quick, content, gemini_types, generated, model

SCHEMA = '{"type": "object", "properties": {"x": {"type": "integer"}}}'
TOOL = ChatTool("click", "Click a place.", SCHEMA)
SIGNATURE = "c2lnbmVk"
TURNS = (
    ChatMessage("user", "do it"),
    ChatMessage("assistant", "I click", (ChatCall("c1", "click", '{"x": 3}', SIGNATURE),)),
    ChatMessage("tool", "clicked", call_id="c1"),
    ChatMessage("user", "and now?"),
)
USED = {"promptTokenCount": 700, "totalTokenCount": 760, "thoughtsTokenCount": 51, "cachedContentTokenCount": 600}


async def asked(*answers: Answer, request: ChatRequest | None = None, **more: Any) -> ChatReply:
    async with ModelServer(*answers) as server:
        backend = model("gemini", server.url, clock=Quick(), **more)
        reply = await backend.ask(request or ChatRequest(TURNS[:1], pictures=(PICTURE,)))
        await backend.close()
    return reply


async def judged(*answers: Answer, **more: Any) -> JudgeReply:
    async with ModelServer(*answers) as server:
        backend = model("gemini", server.url, clock=Quick(), **more)
        reply = await backend.evaluate(QUESTION, PICTURE)
        await backend.close()
    return reply


def failed(status: int, message: str, name: str = "", *details: dict[str, Any]) -> Answer:
    """Return an error in the form of https://cloud.google.com/apis/design/errors."""
    return Answer({"error": {"code": status, "message": message, "status": name, "details": list(details)}}, status)


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.asyncio
async def test_the_request_is_the_one_that_google_s_own_client_sends() -> None:
    part = types.Part
    call = types.FunctionCall(id="c1", name="click", args={"x": 3})
    result = types.FunctionResponse(id="c1", name="click", response={"result": "clicked"})
    image = part(inline_data=types.Blob(mime_type="image/jpeg", data=PICTURE.jpeg))
    turns: list[types.ContentUnion] = [
        types.Content(role="user", parts=[part(text="do it")]),
        types.Content(
            role="model", parts=[part(text="I click"), part(function_call=call, thought_signature=b"signed")]
        ),
        types.Content(role="user", parts=[part(function_response=result), image, part(text="and now?")]),
    ]
    declared = types.FunctionDeclaration(
        name="click",
        description="Click a place.",
        parameters_json_schema={"type": "object", "properties": {"x": {"type": "integer"}}},
    )
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        max_output_tokens=77,
        temperature=0.0,
        tools=[types.Tool(function_declarations=[declared])],
    )
    request = ChatRequest(TURNS, system="Be brief.", pictures=(PICTURE,), tools=(TOOL,), max_tokens=77)
    async with ModelServer(content()) as server:
        backend = model("gemini", server.url)
        reply = await backend.ask(request)
        await backend.close()
        client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=server.url, api_version="v1beta"))
        said = await client.aio.models.generate_content(model=GEMINI, contents=turns, config=config)
        await client.aio.aclose()
        client.close()
    ours, theirs = server.posts
    assert (ours.path, ours.headers["x-goog-api-key"]) == (theirs.path, theirs.headers["x-goog-api-key"])
    assert ours.headers["x-goog-api-key"] == KEY
    assert _typed(ours.body) == _typed(theirs.body)
    assert reply.text == said.text == "YES: the bar is full"
    assert said.usage_metadata is not None
    told = (said.usage_metadata.prompt_token_count, said.usage_metadata.candidates_token_count)
    assert (reply.tokens_in, reply.tokens_out) == told


def _typed(body: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of `body` as their published types, of which the client writes some fields in snake case.

    It also gives a role to the system's words, where a role means nothing.
    """
    body["systemInstruction"].pop("role", None)
    kinds = gemini_types()
    return {name: TypeAdapter(kinds[name]).validate_json(json.dumps(value)) for name, value in body.items()}


@pytest.mark.asyncio
async def test_thoughts_are_no_answer_and_are_charged_as_output() -> None:
    told = content("Click it.", thinking="**Looking** YES: so it seems", usage={**USED, "candidatesTokenCount": 9})
    reply = await asked(told, price=Price(1, 10, "2026-11-26"))
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.model) == ("Click it.", 700, 60, "the-model")
    assert reply.cost_usd == pytest.approx((700 * 1 + 60 * 10) / 1e6)
    assert (await judged(content(thinking="NO: wait"))).verdict == yes("the bar is full")


@pytest.mark.asyncio
async def test_a_model_that_spends_all_its_tokens_on_thoughts_has_more_from_then_on() -> None:
    cut = generated({"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}], "usageMetadata": USED})
    async with ModelServer(cut, content()) as server:
        backend = model("gemini", server.url, thought_tokens=700)
        first, second = [await backend.evaluate(QUESTION, PICTURE) for _ in range(2)]
        await backend.close()
    assert (first.verdict.code, first.tokens_out) == ("truncated", 51)
    assert "700 tokens more now" in first.verdict.detail
    assert second.verdict == yes("the bar is full")
    limits = [one.body["generationConfig"]["maxOutputTokens"] for one in server.posts]
    assert limits[1] - limits[0] == 700


@pytest.mark.asyncio
async def test_calls_of_tools_keep_their_signature_for_the_next_turn() -> None:
    reply = await asked(content("", calls=(("click", {"x": 3}, SIGNATURE), ("click", {"x": 4}, ""))))
    assert reply.calls == (ChatCall("call_0", "click", '{"x": 3}', SIGNATURE), ChatCall("call_1", "click", '{"x": 4}'))
    again = (*TURNS[:1], ChatMessage("assistant", calls=reply.calls), ChatMessage("tool", "done", call_id="call_1"))
    async with ModelServer(content()) as server:
        backend = model("gemini", server.url)
        await backend.ask(ChatRequest(again, tools=(TOOL,)))
        await backend.close()
    first, second = server.posts[0].body["contents"][1]["parts"]
    assert (first["thoughtSignature"], "thoughtSignature" in second) == (SIGNATURE, False)


REFUSALS = {
    "blocked": generated({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USED}),
    "safety": generated({"candidates": [{"finishReason": "SAFETY", "index": 0}], "usageMetadata": USED}),
    "recitation": content("YES: it", "RECITATION"),
    "said why": generated({"candidates": [{"finishReason": "SPII", "finishMessage": "It shows a card.", "index": 0}]}),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", REFUSALS)
async def test_what_the_model_or_its_guards_decline_is_a_refusal(name: str) -> None:
    reply = await judged(REFUSALS[name])
    assert reply.verdict.code == "refusal"
    why = {"blocked": "PROHIBITED_CONTENT", "said why": "It shows a card."}.get(name, name.upper())
    assert reply.verdict.detail == f"gemini refused: {why}"
    assert reply.tokens_in == (None if name == "said why" else 700)


@pytest.mark.asyncio
async def test_an_answer_without_words_is_unparsable_and_says_how_it_ended() -> None:
    empty = [
        generated({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "bad", "index": 0}]}),
        generated({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}]}),
        generated({"usageMetadata": USED}),
        Answer({"candidates": "none"}),
    ]
    replies = [await asked(one) for one in empty]
    assert {one.code for one in replies} == {"unparsable"}
    assert [one.reason for one in replies[:3]] == [
        "gemini's answer is empty (bad)",
        "gemini's answer is empty",
        "gemini gave no candidate",
    ]
    truncated = await judged(content("YES: the ba", "MAX_TOKENS"))
    assert truncated.verdict.code == "truncated"


@pytest.mark.asyncio
async def test_a_rate_limit_waits_as_long_as_its_details_ask() -> None:
    clock = Quick()
    limited = failed(429, "You exceeded your current quota.", "RESOURCE_EXHAUSTED", retry_info("7.5s"))
    async with ModelServer(limited, content()) as server:
        backend = model("gemini", server.url, clock=clock)
        assert (await backend.evaluate(QUESTION, PICTURE)).verdict == yes("the bar is full")
        await backend.close()
    assert clock.slept[0] == pytest.approx(7.5 + 0.5 * 0.5)
    long = await judged(failed(429, "Quota exceeded.", "RESOURCE_EXHAUSTED", {"@type": "x"}, retry_info("41s")))
    assert (long.verdict.code, long.retry_after_s, long.cost_usd) == ("rate_limited", 41, 0.0)


@pytest.mark.asyncio
@pytest.mark.parametrize(("answer", "code"), [
    (failed(400, f"API key not valid. Please pass a valid API key. {KEY}", "INVALID_ARGUMENT"), "no_key"),
    (failed(403, "Permission denied.", "PERMISSION_DENIED"), "no_key"),
    (failed(400, "Request contains an invalid argument.", "INVALID_ARGUMENT"), "rejected"),
    (failed(404, "models/x is not found.", "NOT_FOUND"), "judge_down"),
    (failed(503, "The model is overloaded.", "UNAVAILABLE"), "judge_down"),
    (Answer({"error": {"code": 429, "details": "no list"}}, 429), "rate_limited"),
])  # fmt: skip
async def test_its_errors_are_codes(answer: Answer, code: str) -> None:
    reply = await judged(answer)
    assert reply.verdict.code == code
    assert str(answer.status) in reply.verdict.detail
    assert KEY not in repr(reply)
