"""One turn of a chat model over words alone: no frame is taken, nothing is shown."""

from __future__ import annotations

import time

from acud.evaluator.room import Room
from acud.evaluator.vision.backend import ChatReply, ChatRequest
from acud.evaluator.vision.model import Model
from acud.protocol.children import ThinkAsk, Thought


async def think(ask: ThinkAsk, room: Room) -> Thought:
    """Return what the backend of `ask` says, or why it says nothing."""
    backend = room.desk.judge(ask.backend)
    if not isinstance(backend, Model):
        return Thought(code="judge_down", reason=f"this evaluator has no chat model {ask.backend!r}", cost_usd=0.0)
    room.counters.add("chat_calls")
    started = time.perf_counter()
    reply = await backend.ask(_request(ask))
    if reply.code == "judge_down":
        room.desk.doubt(ask.backend)
    return _thought(reply, (time.perf_counter() - started) * 1000)


def _request(ask: ThinkAsk) -> ChatRequest:
    return ChatRequest(
        ask.messages,
        ask.system,
        tools=ask.tools,
        model=ask.model,
        max_tokens=ask.max_tokens,
        temperature=ask.temperature,
    )


def _thought(reply: ChatReply, spent_ms: float) -> Thought:
    tokens = (reply.tokens_in, reply.tokens_out, reply.cost_usd)
    return Thought(
        reply.text, reply.calls, reply.code, reply.reason, reply.model, spent_ms, *tokens, reply.retry_after_s
    )
