"""Servers that fail, each in its way: a code, one line of reason without keys, tries where they help, never a no."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from acud.config import OcrSettings, VisionSettings
from acud.evaluator.chat import think
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.judges.judge import JudgeReply
from acud.evaluator.judges.provider import ChatRequest
from acud.evaluator.judges.registry import JudgeRegistry
from acud.evaluator.ports import PassthroughRedactor
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.questions import ThinkAsk
from acud.types import Answer as Said
from acud.types.chat import ChatMessage
from tests.integration.model_server import Answer, ModelServer, cut, hang, reset, trickle
from tests.integration.vendors import KEY, NAMES, PICTURE, QUESTION, Quick, completion, model, said

STATUSES = [
    (400, "rejected", 1), (401, "no_key", 1), (402, "budget", 1), (403, "no_key", 1), (404, "judge_down", 1),
    (408, "judge_down", 3), (409, "judge_down", 3), (413, "rejected", 1), (422, "rejected", 1),
    (429, "rate_limited", 3), (500, "judge_down", 3), (502, "judge_down", 3), (503, "judge_down", 3),
    (529, "judge_down", 3),
]  # fmt: skip


async def judged(
    name: str, *answers: Answer, clock: Quick | None = None, **more: Any
) -> tuple[JudgeReply, ModelServer]:
    """Return the verdict on one question, and the server that was asked."""
    async with ModelServer(*answers) as server:
        backend = model(name, server.url, clock=clock or Quick(), **{"tries": 3, **more})
        reply = await backend.evaluate(QUESTION, PICTURE)
        await backend.close()
    assert reply.verdict.answer is not Said.NO
    assert "\n" not in reply.verdict.detail
    return reply, server


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("status", "code", "tries"), STATUSES)
async def test_a_status_has_its_code_and_is_tried_again_only_where_that_can_help(
    name: str, status: int, code: str, tries: int
) -> None:
    body = {"type": "error", "error": {"type": "x", "message": "the words\nof the server"}}
    reply, server = await judged(name, Answer(body, status))
    assert (reply.verdict.answer, reply.verdict.code) == (Said.UNKNOWN, code)
    assert f"{name} answered {status}" in reply.verdict.detail
    assert "the words" in reply.verdict.detail
    assert (len(server.posts), reply.cost_usd) == (tries, 0.0)


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [400, 500])
async def test_a_llama_cpp_without_mmproj_is_asked_once_and_told_what_to_start_it_with(status: int) -> None:
    words = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
    body = {"error": {"code": status, "message": words, "type": "server_error"}}
    reply, server = await judged("vllm", Answer(body, status))
    assert (reply.verdict.answer, reply.verdict.code, len(server.posts)) == (Said.UNKNOWN, "rejected", 1)
    assert "start llama-server with --mmproj" in reply.verdict.detail


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("answer", "code", "said_of_it", "tries"), [
    (Answer(b'{"choices": [{"mess'), "unparsable", "API", 1),
    (Answer(b"<html>proxy</html>"), "unparsable", "API", 1), (Answer([]), "unparsable", "API", 1),
    (Answer(b"\xff\xfe"), "unparsable", "API", 1), (Answer(b" " * (2 << 20)), "unparsable", "longer", 1),
    (Answer(b" " * (2 << 20), 500), "unparsable", "longer", 1), (Answer(play=reset), "judge_down", "", 3),
    (Answer(play=cut), "judge_down", "RemoteProtocolError", 3),
    (Answer({}, 302, {"location": "http://127.0.0.1:1/"}), "judge_down", "redirect", 1),
    (Answer({}, 307, {"location": "/v1/chat/completions"}), "judge_down", "redirect", 1),
], ids=["cut_json", "html", "list", "bytes", "flood", "flood_500", "reset", "cut", "302", "307"])  # fmt: skip
async def test_what_is_no_answer_is_unknown(name: str, answer: Answer, code: str, said_of_it: str, tries: int) -> None:
    reply, server = await judged(name, answer)
    assert (reply.verdict.answer, reply.verdict.code, len(server.posts)) == (Said.UNKNOWN, code, tries)
    assert said_of_it in reply.verdict.detail


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("play", [hang, trickle])
async def test_a_call_ends_within_its_limit_whatever_the_server_does(name: str, play: Any) -> None:
    reply, server = await judged(name, Answer(play=play), timeout_s=0.3)
    assert reply.verdict.code == "judge_down"
    assert len(server.posts) <= 1  # none where this process stood still for so long before it had sent
    assert "within 0.3 s" in reply.verdict.detail
    assert reply.cost_usd == (0.0 if name == "ollama" else None)


@pytest.mark.asyncio
@pytest.mark.parametrize("body", [
    {}, {"choices": []}, {"choices": None},
    {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"role": "assistant", "content": " \n"}, "finish_reason": "stop"}]},
])  # fmt: skip
@pytest.mark.parametrize(("name", "tries"), [("vllm", 1), ("openrouter", 3)])
async def test_an_answer_without_content_is_tried_again_where_models_warm_up(name: str, tries: int, body: Any) -> None:
    reply, server = await judged(name, Answer(body))
    assert (reply.verdict.code, len(server.posts)) == ("unparsable", tries)


@pytest.mark.asyncio
@pytest.mark.parametrize(("error", "code", "tries"), [
    ({"code": 502, "message": "provider is down"}, "judge_down", 3),
    ({"code": 429, "message": "slow down"}, "rate_limited", 3),
    ({"code": "429", "message": "slow down"}, "rate_limited", 3),
    ({"code": 402, "message": "no credits"}, "budget", 1),
    ({"code": 400, "message": "bad picture"}, "rejected", 1),
    ({"code": "server_error", "message": "hm"}, "judge_down", 3),
    ({"message": None}, "judge_down", 3),
    ({"code": "model_not_found", "message": "try another server"}, "rejected", 1),
    ({"code": 1210, "message": "the picture is too large"}, "rejected", 1),
    ({"type": "invalid_request_error", "message": "an internal limit"}, "rejected", 1),
    ({"type": "rate_limit_error", "message": "hm"}, "rate_limited", 3),
    ({"code": 1305, "message": "the service is temporarily overloaded"}, "judge_down", 3),
    ({"code": 403, "message": "flagged", "metadata": {"reasons": ["x"], "flagged_input": "y"}}, "refusal", 1),
])  # fmt: skip
@pytest.mark.parametrize("inside", [False, True])
async def test_an_error_inside_a_200_is_an_error(error: dict[str, Any], code: str, tries: int, inside: bool) -> None:
    choice = {"message": {"role": "assistant", "content": "YES: it is"}, "finish_reason": "error", "error": error}
    reply, server = await judged("openrouter", Answer({"choices": [choice]} if inside else {"error": error}))
    assert (reply.verdict.answer, reply.verdict.code, len(server.posts)) == (Said.UNKNOWN, code, tries)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["vllm", "ollama", "claude", "gemini"])
@pytest.mark.parametrize(("error", "code"), [
    ("model 'x' does not support images", "rejected"), ({"status": "INVALID_ARGUMENT", "message": "hm"}, "rejected"),
    ({"status": "UNAVAILABLE", "message": "the model is overloaded"}, "judge_down"),
])  # fmt: skip
async def test_an_error_inside_a_200_is_one_in_every_dialect(name: str, error: Any, code: str) -> None:
    reply, _ = await judged(name, Answer({"error": error}))
    assert (reply.verdict.answer, reply.verdict.code) == (Said.UNKNOWN, code)


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "status", "body"), [
    ("vllm", 429, {"error": {"code": "insufficient_quota", "message": "you exceeded your quota"}}),
    ("claude", 400, {"error": {"type": "x", "message": "Your credit balance is too low to access the API."}}),
    ("claude", 429, {"error": {"type": "x", "details": {"error_code": "enforced_spend_limit_reached"}}}),
])  # fmt: skip
async def test_money_that_is_gone_is_not_waited_for(name: str, status: int, body: Any) -> None:
    reply, server = await judged(name, Answer(body, status))
    assert (reply.verdict.code, len(server.posts)) == ("budget", 1)


# ---- Retry-After ---------------------------------------------------------------------------------------------------


# ---- the breaker, and keys -----------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_server_that_echoes_the_key_gives_nothing_away(name: str, status: int) -> None:
    forms = [f"Authorization: Bearer {KEY}", json.dumps({"x-api-key": KEY}), KEY, "x" * 290 + KEY]
    forms.append(json.dumps({"error": {"message": "".join(f"\\u{ord(c):04x}" for c in KEY[:3]) + KEY[3:]}}))
    for form in forms:
        reply, server = await judged(name, Answer(form.encode(), status), tries=1)
        assert any(KEY in value for value in server.posts[0].headers.values())
        told = repr(reply)
        assert all(KEY[start : start + 8] not in told for start in range(3, len(KEY) - 7)), told


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
async def test_an_answer_that_holds_the_key_is_told_without_it(name: str) -> None:
    reply, _ = await judged(name, said(name, f"YES: the header was Bearer {KEY}"))
    assert reply.verdict.answer is Said.YES
    assert KEY not in repr(reply)


@pytest.mark.asyncio
async def test_the_request_that_failed_is_in_no_exception_and_no_repr() -> None:
    async with ModelServer(Answer(play=reset)) as server:
        backend = model("claude", server.url, clock=Quick())
        reply = await backend.ask(ChatRequest((ChatMessage("user", "x"),), pictures=(PICTURE,)))
        assert KEY not in repr(vars(backend)) + repr(reply)
        await backend.close()
    assert base64.b64encode(PICTURE.jpeg).decode() not in reply.reason


@pytest.mark.asyncio
async def test_a_proxy_for_the_outside_world_is_not_asked_about_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    reply, _ = await judged("vllm", completion())
    assert reply.verdict.answer is Said.YES


@pytest.mark.asyncio
async def test_a_proxy_is_asked_about_everybody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(completion()) as proxy:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        backend = model("vllm", "http://models.invalid:8000", clock=Quick())
        reply = await backend.evaluate(QUESTION, PICTURE)
        await backend.close()
    assert reply.verdict.answer is Said.YES
    assert proxy.posts[0].path == "http://models.invalid:8000/v1/chat/completions"


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("status", "recurring", "posts"), [(429, False, 3), (429, True, 1), (503, True, 3)])
async def test_a_rate_limit_costs_a_caller_that_comes_again_one_post(
    tmp_path: Path, name: str, status: int, recurring: bool, posts: int
) -> None:
    busy = Answer({"error": {"message": "slow down"}}, status, {"retry-after": "2"})
    ask = ThinkAsk(name, "", (ChatMessage("user", "x"),), picture=False, recurring=recurring)
    async with ModelServer(busy) as server:
        backend = model(name, server.url, tries=3, clock=Quick())
        options = EvaluatorOptions(VisionSettings(), OcrSettings(), False, str(tmp_path), str(tmp_path), 8, 320)
        context = EvaluatorContext(options, JudgeRegistry({name: backend}, (), None), None, PassthroughRedactor(), {})
        thought = (await think(ask, None, context)).thought
        await context.close()
        await backend.close()
    assert len(server.posts) == posts
    assert (thought.code, thought.retry_after_s) == ("rate_limited" if status == 429 else "judge_down", 2.0)
