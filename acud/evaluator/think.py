"""One turn of a chat model over a shot, or over words alone: its words come back as they are.

What leaves this machine is redacted first: the picture, and every message that quotes a screen.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from msgspec.structs import replace

from acud.agent.chat import ChatMessage
from acud.errors import Unavailable
from acud.evaluator.limited import TookTooLong
from acud.evaluator.redactor import Withheld
from acud.evaluator.room import Room
from acud.evaluator.shot import Shot
from acud.evaluator.vision.backend import ChatRequest
from acud.evaluator.vision.judge import Picture
from acud.evaluator.vision.model import Model
from acud.protocol.asks import ThinkAsk
from acud.protocol.evaluation import Thought


class Turned(NamedTuple):
    """What was said, and the size in pixels of the picture that was shown (0: none)."""

    thought: Thought
    width: int = 0
    height: int = 0


async def think(ask: ThinkAsk, shot: Shot | None, room: Room) -> Turned:
    """Return the model's turn; a model that was not asked, or did not answer, is told by its `code`.

    `shot` None: there is nothing to see, and `ask` wants no picture.
    """
    backend = room.desk.judge(ask.backend)
    if not isinstance(backend, Model):
        return Turned(Thought(code="judge_down", reason=f"{ask.backend!r} is no chat model here", cost_usd=0.0))
    try:
        pictures = (await _picture(shot, backend, room),) if ask.picture and shot is not None else ()
        messages = ask.messages if backend.local else tuple(_outgoing(one, room) for one in ask.messages)
    except Unavailable as fault:
        return Turned(Thought(code="redaction", reason=fault.message, cost_usd=0.0))
    request = ChatRequest(
        messages,
        ask.system,
        pictures,
        ask.tools,
        model=ask.model,
        max_tokens=ask.max_tokens,
        temperature=ask.temperature,
    )
    thought = await _asked(backend, request, room)
    return Turned(thought, *((pictures[0].width, pictures[0].height) if pictures else ()))


async def _asked(backend: Model, request: ChatRequest, room: Room) -> Thought:
    started = time.perf_counter()
    room.counters.add("think_calls")
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


async def _picture(shot: Shot, backend: Model, room: Room) -> Picture:
    form = room.form(backend)
    if form.redacted:
        out = await room.outgoing(shot)
        if isinstance(out, Withheld):
            raise Unavailable(out.reason)
        shot = out.shot
    return (await room.encode(shot, form)).picture


def _outgoing(message: ChatMessage, room: Room) -> ChatMessage:
    if not message.quotes:
        return message
    try:
        return replace(message, text=room.quoted(message.text))
    except TookTooLong as fault:
        raise Unavailable(str(fault)) from fault
