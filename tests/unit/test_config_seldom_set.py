"""Settings that few people change: each reaches the part that it is for."""

import base64
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from acud.config import Settings
from acud.delivery.web_push import build_authorization
from acud.features.fleet.settings import RaySettings
from acud.features.fleet.worker import ray_pool
from acud.features.grounding.evaluator import omniparser
from acud.features.grounding.supervisor import ElementSearch
from acud.types.grounding import GroundingMethod


def test_the_models_of_grounding() -> None:
    settings = Settings()
    grounding = replace(
        settings.grounding,
        uitars_via="openrouter",
        uitars_openrouter_model="tars-2",
        omniparser_picker="claude",
        omniparser_picker_model="picker-2",
    )
    search = ElementSearch(*cast(Any, [None, None, replace(settings, grounding=grounding), None, None]))
    found = [search._model_of(method) for method in (GroundingMethod.UITARS, GroundingMethod.OMNIPARSER)]
    assert found == [("openrouter", "tars-2"), ("claude", "picker-2")]


def test_the_contact_of_pushes() -> None:
    header = build_authorization(
        base64.urlsafe_b64encode(bytes([1]) * 32), "https://push.example", "mailto:a@b.example"
    )
    claims = header.partition("t=")[2].split(".")[1]
    assert json.loads(base64.urlsafe_b64decode(claims + "=="))["sub"] == "mailto:a@b.example"


def test_the_overlap_of_boxes() -> None:
    asked: dict[str, Any] = {}
    nothing = SimpleNamespace(cpu=lambda: SimpleNamespace(tolist=list))

    def predict(pixels: Any, **wanted: Any) -> Any:
        asked.update(wanted)
        return [SimpleNamespace(boxes=SimpleNamespace(xyxy=nothing, conf=nothing))]

    florence = SimpleNamespace(to=lambda device: SimpleNamespace(eval=lambda: None))
    settings = replace(Settings().grounding, omniparser_iou_threshold=0.3)
    models = omniparser.TorchModels(settings, SimpleNamespace(predict=predict), None, None, florence)
    assert (models.detect(cast(Any, None)), asked["iou"]) == ([], 0.3)


@pytest.mark.asyncio
async def test_the_gpus_of_an_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def remote(**wanted: Any) -> Any:
        asked.update(wanted)
        return lambda kind: SimpleNamespace(remote=lambda *given: None)

    async def make_again(pool: ray_pool.RayPool) -> None:
        pass

    monkeypatch.setattr(ray_pool, "find_spec", lambda name: True)
    monkeypatch.setattr(ray_pool, "_join_ray", lambda settings: SimpleNamespace(remote=remote))
    monkeypatch.setattr(ray_pool.RayPool, "_make_again", make_again)
    await ray_pool.RayPool.start(RaySettings(judge="tests.fixtures.ray_judges:make", gpus_per_actor=0.5), ())
    assert asked["num_gpus"] == 0.5
