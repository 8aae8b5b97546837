"""The form of question that a backend's own model knows best."""

from __future__ import annotations

from acud.evaluator.grounding.asked_point import locate_by_json
from acud.evaluator.grounding.claude_cu import locate_by_claude
from acud.evaluator.grounding.claude_tool import tool_of
from acud.evaluator.grounding.uitars import counting_of, locate_by_uitars, max_pixels_of
from acud.evaluator.judges.judge import Picture
from acud.evaluator.judges.provider import Backend, Located


async def locate_natively(backend: Backend, description: str, picture: Picture, model: str) -> Located:
    """Return where `description` is, asked as `model` was made to be asked: Claude by its computer-use tool where its
    name tells which, UI-TARS in its own form where its name tells how it counts, any other for JSON.
    """
    if backend.name == "claude" and tool_of(model) is not None:
        return await locate_by_claude(backend, description, picture, model)
    counting = counting_of(model)
    if counting is not None:
        return await locate_by_uitars(backend, description, picture, counting, model, max_pixels_of(backend))
    return await locate_by_json(backend, description, picture, model)
