"""A chat model's turn in a conversation, about a view or about words alone.

What leaves this machine is redacted first: the picture, and every message that quotes a screen.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from msgspec.structs import replace

from acud.base.errors import Unavailable
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.expression_time_limit import TookTooLong
from acud.evaluator.judges.judge import JudgePicture
from acud.evaluator.judges.model import Model
from acud.evaluator.judges.provider import ChatRequest
from acud.evaluator.ports import Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.evaluation import Thought
from acud.protocol.questions import ThinkAsk
from acud.types.chat import ChatMessage


class ChatTurn(NamedTuple):
    """The model's answer, and the size in pixels of the picture that it was shown (0: none)."""

    thought: Thought
    width: int = 0
    height: int = 0


async def think(ask: ThinkAsk, shot: ViewPixels | None, context: EvaluatorContext) -> ChatTurn:
    """Return the model's turn; its `code` is set when the model was not asked or did not answer. `shot` None: there is
    nothing to see, and `ask` wants no picture.
    """
    backend = context.judges.judge(ask.backend)
    if not isinstance(backend, Model):
        return ChatTurn(Thought(code="judge_down", reason=f"{ask.backend!r} is no chat model here", cost_usd=0.0))
    try:
        pictures = (await _encode_picture(shot, backend, context),) if ask.picture and shot is not None else ()
        messages = ask.messages if backend.local else tuple(_redact_message(one, context) for one in ask.messages)
    except Unavailable as fault:
        return ChatTurn(Thought(code="redaction", reason=fault.message, cost_usd=0.0))
    request = ChatRequest(
        messages,
        ask.system,
        pictures,
        ask.tools,
        model=ask.model,
        max_tokens=ask.max_tokens,
        temperature=ask.temperature,
        recurring=ask.recurring,
    )
    thought = await _ask_backend(backend, request, context)
    return ChatTurn(thought, *((pictures[0].width, pictures[0].height) if pictures else ()))


async def _ask_backend(backend: Model, request: ChatRequest, context: EvaluatorContext) -> Thought:
    started = time.perf_counter()
    context.counters.add("think_calls")
    reply = await backend.ask(request)
    return Thought(
        reply.text,
        reply.calls,
        reply.code,
        reply.reason,
        reply.model,
        round((time.perf_counter() - started) * 1000, 1),
        reply.tokens_in,
        reply.tokens_out,
        reply.cost_usd,
        reply.retry_after_s,
    )


async def _encode_picture(shot: ViewPixels, backend: Model, context: EvaluatorContext) -> JudgePicture:
    form = context.form(backend)
    if form.redacted:
        out = await context.redact_shot(shot)
        if isinstance(out, Withheld):
            raise Unavailable(out.reason)
        shot = out.shot
    return (await context.encode(shot, form)).picture


def _redact_message(message: ChatMessage, context: EvaluatorContext) -> ChatMessage:
    if not message.quotes:
        return message
    try:
        return replace(message, text=context.redact_quote(message.text))
    except TookTooLong as fault:
        raise Unavailable(str(fault)) from fault
