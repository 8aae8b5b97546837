"""What `usage` adds up is what the replies said, whatever a model was asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acud.types import Criteria, Rect
from acud.types.grounding import Found, GroundingBackend
from tests.e2e import faults
from tests.e2e.desktop import Desk
from tests.fixtures.daemon import Daemon
from tests.integration.model_server import Answer, ModelThread
from tests.integration.vendors import MODELS, completion

USAGE = {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709}
EACH_USD = (700 * 1000 + 9 * 2000) / 1e6


@pytest.fixture(scope="module")
def model() -> Iterator[ModelThread]:
    with ModelThread(_here()) as running:
        yield running


@pytest.fixture(scope="module")
def daemon(model: ModelThread) -> Iterator[Daemon]:
    """A daemon that asks one priced model to find things and to judge."""
    price = f'[prices."{MODELS["vllm"]}"]\ninput = 1000\noutput = 2000\nas_of = "2026-11-22"\n'
    settings = faults.settings(
        vision={"backend": "vllm"}, vllm={"url": model.url, "tries": 1, "local": True}, grounding={"uitars_via": "vllm"}
    )
    with Daemon(settings=settings + price) as running:
        yield running


def _here() -> Answer:
    return completion("Thought: There.\nAction: click(point='<point>100 100</point>')", usage=USAGE)


def asked(found: Found | None) -> list[float | None]:
    """Return what each method cost that asked a model."""
    assert found is not None
    return [one.cost_usd for one in found.tried if one.tokens_in is not None]


def test_finding_and_judging_an_effect_are_in_usage_as_their_replies_say(daemon: Daemon, model: ModelThread) -> None:
    client = daemon.client
    task = client.task_register("count", isolated_display=False).view.task.task_id
    display = client.display_create(320, 240).display
    with Desk(display.name, display.auth_file) as desk:
        desk.window(Rect(0, 0, 320, 240), 0x336699, title="Target")
        found = client.gui_find("the star", display=display.name, backend=GroundingBackend.UITARS).found
        assert asked(found) == [pytest.approx(EACH_USD)]
        model.server.answers[:] = [_here(), completion("YES: the star shines", usage=USAGE)]
        done = client.gui_do(
            "click the star",
            display=display.name,
            backend=GroundingBackend.UITARS,
            expect=Criteria("the star shines"),
            timeout_s=30,
            task_id=task,
        )
    assert (done.status, done.spent.evaluations) == ("verified", 1)
    rows = {(row.purpose, row.task_id): row for row in client.usage().rows}
    assert set(rows) == {("find", ""), ("find", task), ("effect", task)}
    assert {row.judge for row in rows.values()} == {"vllm"}
    assert [row.tokens_in for row in rows.values()] == [700] * 3
    assert rows["find", ""].model == MODELS["vllm"]
    assert rows["find", task].cost_usd == pytest.approx(sum(cost or 0.0 for cost in asked(done.found)))
    assert rows["effect", task].cost_usd == pytest.approx(done.spent.cost_usd)
    assert client.usage().cost_usd == pytest.approx(3 * EACH_USD)
    assert client.usage(task_id=task).cost_usd == pytest.approx(2 * EACH_USD)
    assert client.status().cost_usd_today == pytest.approx(3 * EACH_USD)
