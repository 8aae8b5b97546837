"""Backends by name: several of one kind beside each other, and doors of vendors that speak OpenAI's form."""

from __future__ import annotations

import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from acud import config
from acud.config import api_keys
from acud.evaluator.judges.judge import JudgeReply
from acud.evaluator.judges.model import Model
from acud.evaluator.judges.registry import make_models
from acud.types import Answer as Said
from acud.types import Criteria
from tests.integration.evaluator_rig import EvaluatorRig, PaintedRing, ask
from tests.integration.model_server import Answer, ModelServer, ModelThread
from tests.integration.test_backends_chain import only
from tests.integration.vendors import PATIENT, PICTURE, QUESTION, Quick, check_request, completion

EAST, WEST = "east-0123456789-key", "west-0123456789-key"
TWO = """
[vision]
backends = ["east", "west"]
[backends.east]
kind = "openai"
url = "{east}"
model = "eye-1"
tries = 1
headers = {{ x-team = "secret-team-east" }}
price = {{ input = 1, output = 10, as_of = "2026-11-26" }}
[backends.west]
kind = "openai"
url = "{west}/v1"
model = "eye-2"
tries = 1
price = {{ input = 2, output = 20, as_of = "2026-11-26" }}
"""
KEYS = {"ACU_EAST_API_KEY": EAST, "ACU_WEST_API_KEY": WEST}
DOWN = Answer({"error": {"message": f"{EAST} of secret-team-east is out of order"}}, 500)


def settings(folder: Path, text: str, env: dict[str, str] | None = None) -> config.Settings:
    """Return the settings of an acud.toml with that text."""
    path = folder / "acud.toml"
    path.write_text(text)
    return config.load(path, env or {})


def models(loaded: config.Settings) -> dict[str, Model]:
    """Return the backends as an evaluator makes them."""
    keys = api_keys.read_all(loaded.backends, {})
    return make_models(loaded.backends, PATIENT, keys, loaded.prices, clock=Quick())


async def judged(backend: Model) -> JudgeReply:
    reply = await backend.evaluate(QUESTION, PICTURE)
    await backend.close()
    return reply


@pytest.mark.asyncio
async def test_two_of_one_kind_have_their_own_address_key_headers_and_price(tmp_path: Path) -> None:
    async with ModelServer(completion()) as east, ModelServer(completion()) as west:
        made = models(settings(tmp_path, TWO.format(east=east.url, west=west.url), KEYS))
        replies = [await judged(made[name]) for name in ("east", "west")]
    assert [one.judge for one in replies] == ["east", "west"]
    assert [one.cost_usd for one in replies] == pytest.approx([(700 + 9 * 10) / 1e6, 2 * (700 + 9 * 10) / 1e6])
    (first,), (second,) = east.posts, west.posts
    assert first.path == second.path == "/v1/chat/completions"
    assert [one.headers["authorization"] for one in (first, second)] == [f"Bearer {EAST}", f"Bearer {WEST}"]
    assert [one.headers.get("x-team") for one in (first, second)] == ["secret-team-east", None]
    assert [one.body["model"] for one in (first, second)] == ["eye-1", "eye-2"]


def test_a_chain_goes_along_the_names_and_hears_nobody_else(tmp_path: Path) -> None:
    with ModelThread(DOWN) as east, ModelThread(completion("NO: not yet")) as west:
        text = TWO.replace("tries = 1", "tries = 1\nlocal = true").format(east=east.url, west=west.url)
        loaded = settings(tmp_path, text, KEYS)
        ring = PaintedRing(tmp_path / "ring")
        keys = api_keys.read_all(loaded.backends, {})
        with ring, EvaluatorRig(tmp_path, models=loaded.backends, keys=keys, backends=loaded.vision.backends) as rig:
            ring.publish()
            rig.ready()
            first = only(rig.run(ring.job(ask(Criteria("the lamp is green")))))
            assert (first.judge, first.verdict.answer) == ("west", Said.NO)
            west.server.answers[:] = [Answer({"error": {"message": "slow down"}}, 429)]
            ring.pixels[:] = 7
            ring.publish()
            second = only(rig.run(ring.job(ask(Criteria("the lamp is green")))))
        assert second.verdict.code == "judge_down"
        assert "east answered 500" in second.verdict.detail
        assert "west answered 429" in second.verdict.detail
        assert EAST not in repr(rig.received)
        assert "secret-team-east" not in repr(rig.received)


AZURE = """
[backends.azure]
kind = "openai"
url = "{url}/openai/deployments/eye?api-version=2024-10-21"
model = "eye"
headers = {{ api-key = "{{api_key}}" }}
lists_models = false
"""
AZURE_V1 = """
[backends.azure]
kind = "openai"
url = "{url}/openai/v1"
model = "eye"
headers = {{ api-key = "{{api_key}}" }}
lists_models = false
"""
BEDROCK = """
[backends.bedrock]
kind = "openai"
url = "{url}/openai/v1"
model = "openai.gpt-oss-120b-1:0"
lists_models = false
"""


@pytest.mark.asyncio
@pytest.mark.parametrize(("text", "name", "path", "query", "header"), [
    (
        AZURE, "azure", "/openai/deployments/eye/chat/completions", {"api-version": ["2024-10-21"]},
        ("api-key", EAST),
    ),
    (AZURE_V1, "azure", "/openai/v1/chat/completions", {}, ("api-key", EAST)),
    (BEDROCK, "bedrock", "/openai/v1/chat/completions", {}, ("authorization", f"Bearer {EAST}")),
])  # fmt: skip
async def test_a_vendor_s_openai_door_gets_the_path_query_and_key_that_it_documents(
    tmp_path: Path, text: str, name: str, path: str, query: dict[str, Any], header: tuple[str, str]
) -> None:
    async with ModelServer(completion()) as server:
        loaded = settings(tmp_path, text.format(url=server.url), {f"ACU_{name.upper()}_API_KEY": EAST})
        backend = models(loaded)[name]
        health = await backend.check_health()
        reply = await judged(backend)
    (sent,) = server.posts
    address = urllib.parse.urlsplit(sent.path)
    assert (address.path, urllib.parse.parse_qs(address.query)) == (path, query)
    assert sent.headers[header[0]] == header[1]
    assert {"api-key", "authorization"} & sent.headers.keys() == {header[0]}
    assert (health.state, reply.verdict.answer) == ("ready", Said.YES)
    check_request("vllm", sent.body)
    assert {one.headers[header[0]] for one in server.asked} == {header[1]}, "also the question about its health"
