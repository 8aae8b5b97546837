"""A whole evaluator with several backends: who is asked, who hears nothing, what each is shown."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

from acud.config import VisionSettings
from acud.config.api_keys import ApiKey
from acud.protocol.evaluation import JobResult, Judges, LeafAnswer
from acud.types import Criteria, yes
from tests.integration.evaluator_rig import EvaluatorRig, PaintedRing, ask
from tests.integration.model_server import Answer, ModelServer, ModelThread
from tests.integration.test_backends_answers import WELL
from tests.integration.vendors import BACKENDS, KEY, MODELS, said

LAMP = Criteria("the lamp is green")
DOWN = Answer({"error": {"message": "out of order"}}, 500)
KEYS = {name: ApiKey(KEY, "a test") for name in MODELS}


class Vendors:
    """A loopback server for each backend, all well until told otherwise; in a `with`."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path
        self.threads = {name: ModelThread(said(name), gets=WELL[name]) for name in MODELS}

    def __enter__(self) -> Vendors:
        for thread in self.threads.values():
            thread.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self.threads.values():
            thread.stop()

    def server(self, name: str) -> ModelServer:
        return self.threads[name].server

    def rig(self, vision: dict[str, Any] | None = None, **more: dict[str, Any]) -> EvaluatorRig:
        made = {
            name: replace(one, **{"url": self.server(name).url, "tries": 1, "local": True, **more.get(name, {})})
            for name, one in BACKENDS.items()
        }
        return EvaluatorRig(self.home, models=made, keys=KEYS, **(vision or {}))


@pytest.fixture
def vendors(tmp_path: Path) -> Any:
    with Vendors(tmp_path) as running:
        yield running


@pytest.fixture
def ring(tmp_path: Path) -> Any:
    with PaintedRing(tmp_path / "ring") as made:
        made.publish()
        yield made


def only(result: JobResult) -> LeafAnswer:
    return result.answered[0].answers[0]


def test_with_keys_set_and_auto_not_one_byte_goes_to_a_cloud_backend(vendors: Vendors, ring: PaintedRing) -> None:
    for ollama in (said("ollama"), DOWN):
        vendors.server("ollama").answers[:] = [ollama]
        with vendors.rig() as rig:
            judges = rig.next(Judges)
            assert {judge.name for judge in judges.judges} == {"ollama", "passthrough"}
            rig.run(ring.job(ask(LAMP)))
            rig.run(ring.job(ask(LAMP, judge="ollama")))
            rig.stop()
    assert vendors.server("ollama").posts
    assert [vendors.server(name).asked for name in ("vllm", "openrouter", "claude")] == [[], [], []]


@pytest.mark.parametrize("name", ["vllm", "openrouter", "claude"])
def test_a_wait_may_name_a_backend_which_then_tells_its_health(vendors: Vendors, ring: PaintedRing, name: str) -> None:
    def is_ready(news: Judges) -> bool:
        return ("ready", name) in {(judge.state, judge.name) for judge in news.judges}

    with vendors.rig() as rig:
        rig.ready()
        answer = only(rig.run(ring.job(ask(LAMP, judge=name))))
        assert (answer.verdict, answer.judge, answer.tokens_in) == (yes("the bar is full"), name, 700)
        if not any(isinstance(one, Judges) and is_ready(one) for one in rig.received):
            rig.next(Judges, is_ready)
    others = {"vllm", "openrouter", "claude"} - {name}
    assert [vendors.server(one).asked for one in others] == [[], []]


def test_each_backend_is_shown_its_own_size(vendors: Vendors, ring: PaintedRing) -> None:
    vendors.server("vllm").answers[:] = [DOWN]
    with vendors.rig({"backends": ("vllm", "claude")}, claude={"max_side_px": 64, "jpeg_quality": 30}) as rig:
        rig.ready()
        result = rig.run(ring.job(ask(LAMP)))
    assert only(result).judge == "claude"
    large = vendors.server("vllm").posts[0].body["messages"][1]["content"][0]["image_url"]["url"].partition(",")[2]
    small = vendors.server("claude").posts[0].body["messages"][0]["content"][0]["source"]["data"]
    widths = [Image.open(io.BytesIO(base64.b64decode(data))).width for data in (large, small)]
    assert widths == [min(ring.pixels.shape[1], VisionSettings().frame_max_dim), 64]
