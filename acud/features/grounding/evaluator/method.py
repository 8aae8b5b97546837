"""One way of finding something on a screen: its input, its result, and the sizes of pictures for models."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from acud.config import GroundingSettings
from acud.evaluator.judges.judge import JudgePicture
from acud.evaluator.judges.picture_coordinates import Size, box_to_display, to_display
from acud.evaluator.judges.provider import Backend, ChatReply
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.questions import FindAsk
from acud.types import Rect
from acud.types.grounding import Candidate, GroundingMethod, Tried


class Located(Struct, frozen=True):
    """Where a model locates a described thing: points in pixels of the picture that it was given, best first.

    `boxes` are parallel to `points` (None where the model gives none). Empty `points` with `reply.code` "" mean that
    the model looked and did not find it.
    """

    points: tuple[tuple[float, float], ...]
    boxes: tuple[tuple[float, float, float, float] | None, ...]
    reply: ChatReply


def smart_size(width: int, height: int, min_pixels: int, max_pixels: int, factor: int = 28) -> Size | None:
    """Return the size that Qwen2-VL's and Qwen2.5-VL's preprocessing gives a picture: sides that are multiples of
    `factor`, an area between the two limits, the aspect nearly kept (`smart_resize` of qwen-vl-utils and of UI-TARS).

    None for a side more than 200 times the other, which that preprocessing refuses.
    """
    if min(width, height) < 1 or max(width, height) > 200 * min(width, height):
        return None
    wide, high = (max(factor, round(side / factor) * factor) for side in (width, height))
    if wide * high > max_pixels:
        shrink = math.sqrt(width * height / max_pixels)
        wide, high = (max(factor, math.floor(side / shrink / factor) * factor) for side in (width, height))
    elif wide * high < min_pixels:
        grow = math.sqrt(min_pixels / (width * height))
        wide, high = (math.ceil(side * grow / factor) * factor for side in (width, height))
    return Size(wide, high)


def fitting(width: int, height: int, max_side: int, max_pixels: int) -> Size:
    """Return the largest size of the same aspect, no larger than it is, within both limits; no side falls below 1."""
    shrink = min(1.0, max_side / max(width, height), math.sqrt(max_pixels / (width * height)))
    if shrink == 1:
        return Size(width, height)
    return Size(max(1, math.floor(width * shrink)), max(1, math.floor(height * shrink)))


class SearchView(NamedTuple):
    """The view that a method searches. `at`: the shot's place on its display; a pixel (x, y) of the shot is the pixel
    (at.x + x, at.y + y) there.
    """

    shot: ViewPixels
    at: Rect


class MethodResult(NamedTuple):
    """What one method found. `sure`: exactly one candidate; `nothing` and `unavailable`: none; points and boxes are in
    display pixels, best first.
    """

    tried: Tried
    candidates: tuple[Candidate, ...] = ()


class GroundingMethodPort(Protocol):
    """One way of finding. Never raises for outside faults: a method that cannot look returns `unavailable`."""

    name: GroundingMethod

    async def find(self, ask: FindAsk, search_view: SearchView) -> MethodResult:
        """Return what `ask.description` describes in `search_view`. `ask.before` holds what earlier methods found."""

    async def close(self) -> None:
        """Close connections; twice is harmless."""


Prepare = Callable[[ViewPixels, Backend], Awaitable[ViewPixels]]
"""Returns the shot as that backend may see it: a local one all of it, any other a copy of that size with black boxes.

Raises: Unavailable when nothing may leave, and why.
"""


class ModelMethod:
    """Asks the model behind one backend. `prepare` makes the shot as that backend may see it."""

    def __init__(self, backend: Backend, model: str, settings: GroundingSettings, prepare: Prepare) -> None:
        self._backend = backend
        self._model = model
        self._settings = settings
        self._prepare = prepare

    async def close(self) -> None:
        await self._backend.close()


MODEL_CONFIDENCE = 0.8
"""Models give no confidence for a place; this stands below every exact local match."""
_ANSWERED = frozenset({"unparsable", "refusal", "truncated"})
"""Codes of a model that answered without a place; with any other code it could not be asked."""


def unavailable(method: GroundingMethod, reason: str) -> MethodResult:
    """Return the result of a method that could not look."""
    return MethodResult(Tried(method, "unavailable", reason))


def make_result(method: GroundingMethod, location: Located, picture: JudgePicture, at: Rect) -> MethodResult:
    """Return `location` (in pixels of `picture`, a view that is `at` on its display) as a method's result."""
    reply = location.reply
    if reply.code:
        return MethodResult(
            _make_tried(method, "unsure" if reply.code in _ANSWERED else "unavailable", reply, _explain_reply(reply))
        )
    candidates = tuple(
        Candidate(to_display(spot, picture, at), box and box_to_display(box, picture, at), MODEL_CONFIDENCE, method)
        for spot, box in zip(location.points, location.boxes, strict=True)
    )
    if not candidates:
        return MethodResult(_make_tried(method, "nothing", reply, "the model says that it is not there"))
    return MethodResult(_make_tried(method, "sure" if len(candidates) == 1 else "ambiguous", reply, ""), candidates)


def _make_tried(method: GroundingMethod, outcome: str, reply: ChatReply, reason: str) -> Tried:
    return Tried(
        method,
        outcome,  # type: ignore[arg-type]
        reason,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
    )


def _explain_reply(reply: ChatReply) -> str:
    return f"{reply.code}: {reply.reason}" if reply.reason else reply.code


def make_nowhere(reply: ChatReply, code: str = "", reason: str = "") -> Located:
    """Return a result without a place, with the reply's own fault or the given one."""
    if code and not reply.code:
        reply = replace(reply, code=code, reason=reason, retry_after_s=0.0)
    return Located((), (), reply)


def quote(text: str) -> str:
    """Return the beginning of a model's answer in one line, for a reason."""
    return repr(" ".join(text.split())[:120])
