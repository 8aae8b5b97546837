"""What a model's answer means for a search: a place, several, none, or the honest "cannot say"."""

from __future__ import annotations

from acud.desktop.found import Candidate, GroundingMethod, Tried
from acud.evaluator.grounding.method import Looked
from acud.evaluator.grounding.scale import box_to_display, to_display
from acud.evaluator.judges.judge import Picture
from acud.evaluator.judges.provider import ChatReply, Located
from acud.types import Rect

MODEL_CONFIDENCE = 0.8
"""No model says how sure it is of a place; this stands below every exact local match."""

_ANSWERED = frozenset({"unparsable", "refusal", "truncated"})
"""Codes of a model that answered, but no place; with the others it could not be asked."""


def unavailable(method: GroundingMethod, reason: str) -> Looked:
    """Return that `method` could not look."""
    return Looked(Tried(method, "unavailable", reason))


def looked(method: GroundingMethod, located: Located, picture: Picture, at: Rect) -> Looked:
    """Return `located` (in pixels of `picture`, a view that is `at` on its display) as a method's answer."""
    reply = located.reply
    if reply.code:
        return Looked(_tried(method, "unsure" if reply.code in _ANSWERED else "unavailable", reply, _why(reply)))
    candidates = tuple(
        Candidate(to_display(spot, picture, at), box and box_to_display(box, picture, at), MODEL_CONFIDENCE, method)
        for spot, box in zip(located.points, located.boxes, strict=True)
    )
    if not candidates:
        return Looked(_tried(method, "nothing", reply, "the model says that it is not there"))
    return Looked(_tried(method, "sure" if len(candidates) == 1 else "ambiguous", reply, ""), candidates)


def _tried(method: GroundingMethod, outcome: str, reply: ChatReply, reason: str) -> Tried:
    return Tried(
        method,
        outcome,  # type: ignore[arg-type]
        reason,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
    )


def _why(reply: ChatReply) -> str:
    return f"{reply.code}: {reply.reason}" if reply.reason else reply.code


def nowhere(reply: ChatReply, code: str = "", reason: str = "") -> Located:
    """Return no place, with the reply's own fault or the given one."""
    if reply.code or not code:
        return Located((), (), reply)
    return Located((), (), _faulted(reply, code, reason))


def _faulted(reply: ChatReply, code: str, reason: str) -> ChatReply:
    return ChatReply(
        reply.text, reply.calls, code, reason, reply.model, reply.tokens_in, reply.tokens_out, reply.cost_usd
    )
