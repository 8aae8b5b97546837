"""Finding by models through the real backends over HTTP, held against what the vendors publish."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
import simplejpeg
from PIL import Image

from acud import config
from acud.config import GroundingSettings
from acud.config.api_keys import ApiKey
from acud.config.backends import PREDEFINED
from acud.evaluator.judges.judge import JudgePicture
from acud.evaluator.judges.provider import Backend
from acud.evaluator.judges.registry import make_models
from acud.evaluator.ocr.engine import Line
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding.evaluator import uitars
from acud.features.grounding.evaluator.cascade import make_methods
from acud.features.grounding.evaluator.method import MethodResult
from acud.types.actions import Point
from acud.types.grounding import GroundingMethod
from tests.integration.model_server import Answer, ModelServer
from tests.integration.vendors import KEY, PATIENT, check_request, message, model, said
from tests.unit.features.grounding.rig import as_it_is, ask, sight

WIDTH, HEIGHT = 1920, 1080
CLICK = {"action": "left_click", "coordinate": [100, 200]}


async def nothing(shot: ViewPixels) -> Sequence[Line]:
    return []


async def found(
    method: GroundingMethod, settings: GroundingSettings, *answers: Answer
) -> tuple[MethodResult, list[Any]]:
    """Return what `method` made of `answers`, and the bodies that were sent for it."""
    async with ModelServer(*answers) as server:
        backends = {name: msgspec.structs.replace(one, url=server.url) for name, one in PREDEFINED.items()}
        opened: list[Backend] = []

        def open_backend(name: str, keep_alive: str = "") -> Backend:
            own = backends
            if keep_alive:
                own = own | {"ollama": msgspec.structs.replace(own["ollama"], keep_alive=keep_alive)}
            keys = {one: ApiKey(KEY, "a test") for one in own}
            opened.append(make_models(own, PATIENT, keys, config.PRICES)[name])
            return opened[-1]

        methods = make_methods(settings, backends, open_backend, as_it_is, nothing)
        looked = await methods[method].find(ask(), sight(WIDTH, HEIGHT, at=(10, 20)))
        for one in methods.values():
            await one.close()
    return looked, server.posts


def pictures(value: Any) -> list[tuple[int, int]]:
    """Return the sizes of the JPEGs in a request's body."""
    if isinstance(value, dict):
        return [size for one in value.values() for size in pictures(one)]
    if isinstance(value, list):
        return [size for one in value for size in pictures(one)]
    text = value.rpartition("base64,")[2] if isinstance(value, str) else ""
    return [Image.open(io.BytesIO(base64.b64decode(text))).size] if text.startswith("/9j/") else []


@pytest.mark.asyncio
async def test_claude() -> None:
    looked, (post,) = await found(
        GroundingMethod.CLAUDE_CU, GroundingSettings(), message("", "tool_use", (("t1", "computer", CLICK),))
    )
    check_request("claude", post.body, beta=True)
    assert post.headers["anthropic-beta"] == "computer-use-2025-01-24"
    (tool,) = post.body["tools"]
    assert pictures(post.body) == [(tool["display_width_px"], tool["display_height_px"])]
    scale = WIDTH / tool["display_width_px"]
    assert looked.tried.outcome == "sure"
    assert looked.candidates[0].point == Point(round(10 + 100 * scale), round(20 + 200 * scale))


@pytest.mark.asyncio
async def test_the_toolset_is_declared_with_no_beta_and_its_members_are_read() -> None:
    settings = GroundingSettings(claude_tool="computer_toolset_20260801")
    answer = message("", "tool_use", (("t1", "left_click", {"coordinate": [0, 0]}),))
    looked, (post,) = await found(GroundingMethod.CLAUDE_CU, settings, answer)
    check_request("claude", post.body, beta=True)
    assert "anthropic-beta" not in post.headers
    assert looked.candidates[0].point == Point(10, 20)


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "asked_model", "answer", "spot"), [
    ("ollama", "0000/ui-tars-1.5-7b", "(210,140)", (75.0, 50.0)),
    ("vllm", "ui-tars-1.5-7b", "click(start_box='(210,140)')", (75.0, 50.0)),
    ("openrouter", "ui-tars-7b", "(500,500)", (50.0, 50.0)),
])  # fmt: skip
async def test_every_backend_that_serves_ui_tars_locates_in_its_form(
    name: str, asked_model: str, answer: str, spot: tuple[float, float]
) -> None:
    jpeg = simplejpeg.encode_jpeg(np.zeros((100, 100, 3), np.uint8))
    async with ModelServer(said(name, answer)) as server:
        backend = model(name, server.url, model=asked_model)
        picture = JudgePicture(jpeg, 100, 100, 100, 100)
        counting = uitars.counting_of(asked_model)
        assert counting is not None
        located = await uitars.locate_by_uitars(backend, "the Export button", picture, counting, asked_model)
        await backend.close()
    check_request(name, server.posts[0].body)
    assert (located.reply.code, located.reply.reason) == ("", "")
    assert located.points == (pytest.approx(spot),)
