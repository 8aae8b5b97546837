"""Waits judged by a model behind an API: resolved, paid for, and carried on by another when the first one dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import InvalidRequest
from acud.protocol.requests.daemon import Finding
from acud.types import Budget, Criteria, DisplayInfo, JudgeName, Policy, Spent, WaitInfo
from tests.e2e import faults
from tests.e2e.cli_support import acud
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.integration.model_server import Answer, ModelThread
from tests.integration.vendors import KEY, MODELS, chat, completion, content, message

FULL = Criteria("the bar is full")
USAGE = {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709}
DOWN = Answer({"error": {"message": "out of order"}}, 500)
VLLM = {"/v1/models": Answer({"object": "list", "data": [{"id": MODELS["vllm"], "object": "model"}]})}


@pytest.fixture
def vllm() -> Iterator[ModelThread]:
    """An OpenAI-compatible server that says no."""
    with ModelThread(completion("NO: it is at 40 %", usage=USAGE), gets=VLLM) as running:
        yield running


@pytest.fixture
def claude() -> Iterator[ModelThread]:
    """A server that speaks Claude's form and says yes."""
    with ModelThread(message("YES: it is full"), gets={}) as running:
        yield running


def settings(vision: dict[str, Any], **sections: dict[str, Any]) -> str:
    """Return settings under which a failed call fails at once."""
    each = {name: {"tries": 1, "local": True, **section} for name, section in sections.items()}
    return faults.settings(vision=vision, **each)


def display(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create().display


def cli(daemon: Daemon, *arguments: str) -> Any:
    return json.loads(acud(daemon, *arguments, "--json").stdout)


def test_a_wait_is_judged_over_openai_s_api_and_its_cost_shows_in_usage(vllm: ModelThread) -> None:
    price = f'[prices."{MODELS["vllm"]}"]\ninput = 1000\noutput = 2000\nas_of = "2026-11-22"\n'
    vision = {"backend": "vllm", "backends": ["claude"]}
    with Daemon(settings=settings(vision, vllm={"url": vllm.url}) + price) as daemon:
        screen = display(daemon)
        with closing(Painter(screen)) as painter:
            task = daemon.client.task_register("fill the bar", isolated_display=False).view.task
            wait = daemon.client.wait_create(FULL, display=screen.name, task_id=task.task_id).wait
            faults.judged(daemon, wait, "no")
            vllm.server.answers[:] = [completion("YES: it is full", usage=USAGE)]
            painter.lamp(on=True)
            told = faults.ended(daemon, wait, "resolved")
        assert told.verdict.detail == "it is full"
        (warned,) = (one for one in daemon.client.doctor().findings if one.part == "vision")
        assert (warned.level, "stands alone" in warned.text) == ("warning", True)
        rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
        assert {row.judge for row in rows} == {"vllm"}
        each = (700 * 1000 + 9 * 2000) / 1e6
        assert told.spent.cost_usd == pytest.approx(each * told.spent.evaluations)
        used = cli(daemon, "usage")
        assert used["cost_usd"] == pytest.approx(told.spent.cost_usd)
        assert [row["judge"] for row in used["rows"]] == ["vllm"]


def test_a_budget_of_dollars_is_held_with_the_cost_that_openrouter_tells(tmp_path: Path) -> None:
    with ModelThread(completion("NO: not yet", usage={**USAGE, "cost": 0.4}), gets={"/key": Answer({})}) as router:
        router.server.gets[f"/models/{MODELS['openrouter']}/endpoints"] = Answer({})
        text = settings({"backend": "openrouter"}, openrouter={"url": router.url})
        with Daemon(settings=text, env={"OPENROUTER_API_KEY": KEY}) as daemon:
            screen = display(daemon)
            with closing(Painter(screen)) as painter:
                budget = Budget(max_cost_usd=1.0)
                again = Policy(
                    force_after_s=2.0
                )  # the lamp has two looks alone, and what was judged is not asked again
                wait = daemon.client.wait_create(FULL, display=screen.name, budget=budget, policy=again).wait

                def paint() -> bool:
                    painter.lamp(on=True)
                    painter.lamp(on=False)
                    return bool(daemon.client.wait_show(wait.wait_id).wait.spent.cost_usd >= 1.0)

                faults.until(paint, "a dollar spent")
                faults.judged(daemon, wait, "unknown", "budget")
            spent = faults.until(lambda: all_answered(daemon, wait, router), "the last answer")
            assert spent.unpriced == 0
            assert spent.evaluations in (3, 4)  # a slow one may have been in the air with the one that spent the dollar
            assert router.server.posts[0].headers["authorization"] == f"Bearer {KEY}"


def all_answered(daemon: Daemon, wait: WaitInfo, model: ModelThread) -> Spent | None:
    """Return what the wait spent, once it counts every question to the model."""
    spent = daemon.client.wait_show(wait.wait_id).wait.spent
    return spent if spent.evaluations == len(model.server.posts) else None


def test_a_model_that_dies_in_mid_wait_is_unknown_and_then_the_fallback_answers(
    vllm: ModelThread, claude: ModelThread
) -> None:
    sections = {"vllm": {"url": vllm.url}, "claude": {"url": claude.url}}
    claude.server.answers[:] = [Answer({"type": "error", "error": {"type": "x", "message": "overloaded"}}, 529)]
    text = settings({"backends": ["vllm", "claude"]}, **sections)
    with Daemon(settings=text, env={"ANTHROPIC_API_KEY": KEY}) as daemon:
        screen = display(daemon)
        with closing(Painter(screen)) as painter:
            wait = daemon.client.wait_create(FULL, display=screen.name).wait
            faults.judged(daemon, wait, "no")
            assert claude.server.posts == []  # a no is an answer
            vllm.stop()
            painter.lamp(on=True)
            told = faults.judged(daemon, wait, "unknown", "judge_down")
            assert told.state.value == "watching"
            assert "vllm" in told.verdict.detail
            assert "claude answered 529" in told.verdict.detail
            claude.server.answers[:] = [message("YES: it is full")]
            ended = faults.ended(daemon, wait, "resolved")
        assert ended.verdict.detail == "it is full"
        rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
        assert [row.judge for row in rows if row.verdict.answer == "yes"] == ["claude"]
        findings = faults.until(lambda: down(daemon, "judge vllm"), "vllm known to be down")
        assert findings["key claude"].text == "from ANTHROPIC_API_KEY"
        armed = daemon.client.wait_create(FULL, display=screen.name, judge="vllm", budget=Budget(max_evaluations=1))
        assert any(note.startswith("not judged for now: vllm is down: ") for note in armed.notes)
        faults.judged(daemon, armed.wait, "unknown", "judge_down")
        faults.until(lambda: len(asked(daemon, armed.wait)) > 1, "two calls that never left")
        assert daemon.client.wait_show(armed.wait.wait_id).wait.spent.evaluations == 0


def asked(daemon: Daemon, wait: WaitInfo) -> list[str]:
    return [row.verdict.code for row in daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations]


def test_a_key_alone_sends_nothing_and_shows_nowhere(claude: ModelThread, tmp_path: Path) -> None:
    with ModelThread(chat("YES: it is full"), gets={}) as ollama:
        ollama.server.gets |= {
            "/api/tags": Answer({"models": [{"name": "minicpm-v:latest"}]}),
            "/api/version": Answer({"version": "1"}),
        }
        text = settings({}, ollama={"url": ollama.url}, claude={"url": claude.url}, openrouter={"url": claude.url})
        env = {"ANTHROPIC_API_KEY": KEY, "OPENROUTER_API_KEY": KEY}
        with Daemon(settings=text, env=env, home=tmp_path / "home") as daemon:
            screen = display(daemon)
            wait = daemon.client.wait_create(FULL, display=screen.name).wait
            assert faults.ended(daemon, wait, "resolved").verdict.detail == "it is full"
            assert claude.server.asked == []
            keys = [one for one in daemon.client.doctor().findings if one.part.startswith("key ")]
            assert [one.text for one in keys] == [
                f"from {name}; used only by waits that name it as their judge"
                for name in ("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY")
            ]
            echo = Answer({"error": {"type": "x", "message": f"x-api-key: {KEY}"}}, 401)
            claude.server.answers[:] = [echo]
            named = daemon.client.wait_create(FULL, display=screen.name, judge=JudgeName.CLAUDE).wait
            told = faults.judged(daemon, named, "unknown", "no_key")
            assert KEY not in repr(told)
            assert all(KEY.encode() not in _commands(child.pid) for child in daemon.client.status().children)
            assert KEY not in repr(faults.events(daemon)) + repr(daemon.client.doctor()) + daemon.log()
        files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
        assert any(path.suffix == ".db" or "acud" in path.name for path in files)
        assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def _commands(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # one that is to be started anew has no process
        return b""


NAMED = """
[vision]
backends = ["east", "google"]
[backends.east]
kind = "openai"
url = "{east}"
model = "eye"
tries = 1
local = true
headers = {{ x-team = "{secret}" }}
price = {{ input = 1000, output = 2000, as_of = "2026-11-26" }}
[backends.google]
kind = "gemini"
url = "{google}"
model = "g"
tries = 1
local = true
price = {{ input = 3000, output = 0, as_of = "2026-11-26" }}
"""


def test_backends_by_name_are_asked_paid_and_told_of_by_it() -> None:
    secret = "hush-0123456789"
    entry = {"/v1beta/models/g": Answer({"name": "models/g"})}
    listed = {"/v1/models": Answer({"object": "list", "data": [{"id": "eye"}]})}
    with (
        ModelThread(completion("NO: not yet", usage=USAGE), gets=listed) as east,
        ModelThread(content("YES: it is full"), gets=entry) as google,
    ):
        text = faults.settings() + NAMED.format(east=east.url, google=google.url, secret=secret)
        with Daemon(settings=text, env={"ACU_GOOGLE_API_KEY": KEY}) as daemon:
            screen = display(daemon)
            with pytest.raises(InvalidRequest, match="there is no judge 'west'") as caught:
                daemon.client.wait_create(FULL, display=screen.name, judge="west", force=True)
            assert "passthrough, ollama, vllm, openrouter, claude, east, google;" in caught.value.hint
            assert "there is no judge 'west'" in refused(daemon, "wait", "create", "the bar is full", "--judge", "west")
            with closing(Painter(screen)) as painter:
                wait = daemon.client.wait_create(FULL, display=screen.name).wait
                faults.judged(daemon, wait, "no")
                east.server.gets.clear()
                east.server.answers[:] = [Answer({"error": {"message": f"{secret} is out of order"}}, 500)]
                painter.lamp(on=True)
                ended = faults.ended(daemon, wait, "resolved")
                alone = daemon.client.wait_create(FULL, display=screen.name, judge="google").wait
                faults.ended(daemon, alone, "resolved")
            assert ended.verdict.detail == "it is full"
            spent = {row["judge"]: row["cost_usd"] for row in cli(daemon, "usage")["rows"]}
            # A picture of before the painter's window may have been judged, too.
            rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
            east_usd = sum(row.judge == "east" for row in rows) * (700 * 1000 + 9 * 2000) / 1e6
            assert spent == pytest.approx({"east": east_usd, "google": 2 * 700 * 3000 / 1e6})
            findings = faults.until(lambda: down(daemon, "judge east"), "east known to be down")
            assert "[backends.east]" in findings["judge east"].fix
            assert (findings["judge google"].level, findings["key google"].text) == ("ok", "from ACU_GOOGLE_API_KEY")
            assert "google" in repr(daemon.client.metrics())
            shown = daemon.log() + repr(findings) + repr(daemon.client.wait_show(wait.wait_id, evaluations=100))
            assert secret not in shown
            assert KEY not in shown
    assert east.server.posts[0].headers["x-team"] == secret


def down(daemon: Daemon, part: str) -> dict[str, Finding] | None:
    """Return what the doctor finds, by part, once `part` is no longer well."""
    findings = {one.part: one for one in daemon.client.doctor().findings}
    return findings if findings[part].level != "ok" else None


def refused(daemon: Daemon, *arguments: str) -> str:
    """Return what `acud …` says as it is refused as a usage error."""
    ran = acud(daemon, *arguments)
    assert ran.returncode == 2, ran
    return ran.stderr
