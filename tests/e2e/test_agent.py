"""The agent on a real GTK form, planned by a loopback server that answers as an OpenAI-compatible one does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from acud.base.errors import Conflict, InvalidRequest, NotFound, Refused
from acud.types import Criteria, DisplayInfo, JudgeName, Text, WakeKind
from acud.types.agent_runs import RunInfo, RunLimits, RunState
from acud.types.tasks import Detail, TaskStatus
from acud_client import Client
from tests.e2e import faults
from tests.e2e.cli_support import acud
from tests.e2e.gui_support import shown
from tests.fixtures.daemon import Daemon
from tests.fixtures.wake_receiver import Receiver
from tests.integration.model_server import Answer, Asked, ModelThread, hang
from tests.integration.vendors import completion

USAGE = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
SECRET = "a-secret-of-the-test"


def call(name: str, **arguments: Any) -> Answer:
    """Return the planner's next tool call."""
    return completion(None, "tool_calls", (("c1", name, json.dumps(arguments)),), usage=USAGE)


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture(scope="module")
def planner() -> Iterator[ModelThread]:
    """The planner; each test hands it its answers."""
    with ModelThread(call("escalate", reason="nobody told me what to do")) as running:
        yield running


def reading(planner: ModelThread, hook: Receiver, check_timeout_s: float) -> Daemon:
    """Return a daemon that reads text, with the planner as its vllm, not started yet."""
    settings = faults.settings(
        vision={"backend": "ocr"},
        vllm={"url": planner.url, "model": "planner", "tries": 1, "local": True},
        gui_agent={"backend": "vllm", "effect_timeout_s": 20, "check_timeout_s": check_timeout_s},
        wake={"routes": ["webhook"], "webhook_url": hook.url, "webhook_secret": SECRET},
    )
    return Daemon(settings=settings.replace("session_bus = false", "session_bus = true"))


@pytest.fixture(scope="module")
def daemon(planner: ModelThread, hook: Receiver) -> Iterator[Daemon]:
    """One that takes its time to see whether a claim holds."""
    with reading(planner, hook, check_timeout_s=60) as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Client:
    return daemon.client


@pytest.fixture(scope="module")
def form(daemon: Daemon) -> Iterator[DisplayInfo]:
    with shown(daemon.client, "form") as display:
        yield display


@pytest.fixture
def fresh_form(daemon: Daemon) -> Iterator[DisplayInfo]:
    """Another one, which nobody has touched."""
    with shown(daemon.client, "form") as display:
        yield display


def planned(planner: ModelThread, *answers: Answer) -> None:
    """Have the planner answer so from now on."""
    planner.server.asked.clear()
    planner.server.answers[:] = answers


def ended(client: Client, run: RunInfo) -> RunInfo:
    while True:
        reply = client.agent_result(run.run_id, block_s=20, peek=True)
        if reply.ended:
            return reply.run


def test_it_acts_verifies_and_is_done_when_that_is_seen(
    client: Client, fresh_form: DisplayInfo, planner: ModelThread, hook: Receiver
) -> None:
    task = client.task_register("export", isolated_display=False).view.task
    planned(planner, call("do", instruction="click the Export button"), call("done", shows='"Exported" is visible'))
    begun = client.gui_agent(
        "export the files", display=fresh_form.name, expect=Text("Exported 3 files"), task_id=task.task_id
    ).run
    run = ended(client, begun)
    assert (run.state, run.reason) == (RunState.DONE, "")
    assert [(step.kind, step.outcome) for step in run.steps] == [("do", "verified"), ("done", "verified")]
    assert "Exported 3 files" in run.evidence
    assert run.spent.calls == 2
    (used,) = client.usage(task_id=task.task_id).rows
    assert (used.purpose, used.judge, used.model, used.evaluations) == ("agent", "vllm", "the-model", 2)
    assert (used.tokens_in, used.cost_usd) == (2 * 900, run.spent.cost_usd)
    asked = [one.body for one in planner.server.posts]
    assert "export the files" in json.dumps(asked[0]["messages"])
    assert "image_url" in json.dumps(asked[0]["messages"])
    assert "verified" in json.dumps(asked[1]["messages"])
    assert "agent: export the files" in client.task_summary(task.task_id, detail_level=Detail.FULL).summary
    wake = faults.until(lambda: next((w for w in hook.taken if w.body["run_id"] == run.run_id), None), "its wake")
    assert wake.body["kind"] == WakeKind.AGENT_DONE
    assert client.agent_result(run.run_id).run == run
    faults.until(
        lambda: any(w.run_id == run.run_id and w.state == "seen" for w in client.wake_list(seen=True).wakes), "seen"
    )


def test_a_claim_that_does_not_hold_is_not_believed(planner: ModelThread, hook: Receiver) -> None:
    """Each claim is looked at until its time is over: with a daemon that has less."""
    planned(planner, call("done", shows='"Transferred the money" is visible'))
    limits = RunLimits(max_time_s=250)
    with reading(planner, hook, check_timeout_s=4) as daemon, shown(daemon.client, "form") as form:
        ask = daemon.client.gui_agent
        begun = ask("transfer the money", display=form.name, expect=Text("No such text"), limits=limits).run
        run = ended(daemon.client, begun)
    assert run.state is RunState.ESCALATED
    assert "the check failed" in run.reason


def test_limits_count_every_call(client: Client, form: DisplayInfo, planner: ModelThread) -> None:
    planned(planner, call("do", instruction="hover over the Export button"))
    run = ended(client, client.gui_agent("dither", display=form.name, limits=RunLimits(max_calls=2)).run)
    assert run.state is RunState.ESCALATED
    assert "2 questions" in run.reason
    assert len(planner.server.posts) == 2


def test_an_unknown_cost_ends_a_run_that_may_not_cost_more(
    client: Client, form: DisplayInfo, planner: ModelThread
) -> None:
    planned(planner, completion(None, "tool_calls", (("c", "do", '{"instruction": "click OK"}'),), usage=None))
    limits = RunLimits(max_cost_usd=0.0)
    run = ended(client, client.gui_agent("x", display=form.name, limits=limits).run)
    assert run.state is RunState.ESCALATED


def test_the_model_may_give_up_and_its_reason_is_kept(client: Client, form: DisplayInfo, planner: ModelThread) -> None:
    planned(planner, call("escalate", reason="it asks for a password"))
    run = ended(client, client.gui_agent("log in", display=form.name).run)
    assert (run.state, run.reason) == (RunState.ESCALATED, "it asks for a password")


def test_a_model_that_is_down_is_told_and_nothing_is_done(
    client: Client, form: DisplayInfo, planner: ModelThread
) -> None:
    planned(planner, Answer({"error": {"message": "out of order"}}, 500))
    run = ended(client, client.gui_agent("x", display=form.name).run)
    assert run.state is RunState.ESCALATED
    assert "does not answer" in run.reason
    assert run.steps == ()


def test_nonsense_of_a_model_is_bounded(client: Client, form: DisplayInfo, planner: ModelThread) -> None:
    planned(planner, completion("I shall now delete everything", usage=USAGE))
    run = ended(client, client.gui_agent("x", display=form.name).run)
    assert run.state is RunState.ESCALATED
    assert [step.outcome for step in run.steps] == ["unusable"] * 3


def test_a_run_can_be_cancelled_and_one_display_has_one(
    client: Client, form: DisplayInfo, planner: ModelThread
) -> None:
    planned(planner, Answer(play=hang))
    begun = client.gui_agent("x", display=form.name).run
    with pytest.raises(Conflict, match=begun.run_id):
        client.gui_agent("y", display=form.name)
    assert client.agent_cancel(begun.run_id, reason="enough").run.state is RunState.CANCELLED
    assert ended(client, begun).reason == "enough"
    with pytest.raises(Conflict, match="is cancelled"):
        client.agent_cancel(begun.run_id)


def test_a_cancelled_run_judges_and_does_nothing_more(
    client: Client, fresh_form: DisplayInfo, planner: ModelThread
) -> None:
    planned(planner, call("wait", until="the first sign", timeout_s=300), completion("NO: nothing yet", usage=USAGE))
    begun = client.gui_agent("x", display=fresh_form.name).run
    faults.until(lambda: asked_for(planner, "the first sign"), "the wait's first judgement")
    client.agent_cancel(begun.run_id)
    later = client.wait_create(Criteria("the second sign"), display=fresh_form.name, judge=JudgeName.VLLM).wait
    faults.until(lambda: asked_for(planner, "the second sign"), "a judgement before the change")
    client.gui_do("click the Export button", display=fresh_form.name, timeout_s=0)
    before = len(asked_for(planner, "the first sign"))
    faults.until(lambda: len(asked_for(planner, "the second sign")) > 1, "a judgement after the change")
    assert len(asked_for(planner, "the first sign")) == before
    client.wait_cancel(later.wait_id)


def asked_for(planner: ModelThread, words: str) -> list[Asked]:
    """Return the questions of judges about `words`."""
    posts = [one for one in planner.server.posts if "<condition>" in one.raw.decode()]
    return [one for one in posts if words in one.raw.decode()]


def test_what_judges_an_effect_is_counted_and_is_the_runs_own(
    client: Client, form: DisplayInfo, planner: ModelThread
) -> None:
    planned(
        planner,
        call("do", instruction="hover over the Idle button", expect="the light is on"),
        completion("YES: it is on", usage=USAGE),
        call("escalate", reason="enough"),
    )
    run = ended(client, client.gui_agent("x", display=form.name).run)
    assert [step.outcome for step in run.steps] == ["verified", "escalated"]
    assert run.spent.calls == 3
    assert len(planner.server.posts) == 3


def test_a_deadline_does_not_wait_for_a_model_that_hangs(
    client: Client, form: DisplayInfo, planner: ModelThread
) -> None:
    planned(planner, Answer(play=hang))
    run = ended(client, client.gui_agent("x", display=form.name, limits=RunLimits(max_time_s=1)).run)
    assert run.state is RunState.ESCALATED
    assert "time limit" in run.reason


def test_a_person_who_takes_the_display_ends_the_run(client: Client, form: DisplayInfo, planner: ModelThread) -> None:
    planned(planner, Answer(play=hang))
    begun = client.gui_agent("x", display=form.name).run
    lease = client.display_take(form.name, who="Ada", for_s=600).lease
    try:
        run = ended(client, begun)
        assert run.state is RunState.ESCALATED
        assert "Ada" in run.reason
        with pytest.raises(Refused, match="Ada"):
            client.gui_agent("x", display=form.name)
    finally:
        client.display_release(form.name, lease=lease)


def test_the_end_of_its_task_ends_it(client: Client, form: DisplayInfo, planner: ModelThread) -> None:
    planned(planner, Answer(play=hang))
    task = client.task_register("t", isolated_display=False).view.task
    begun = client.gui_agent("x", display=form.name, task_id=task.task_id).run
    client.task_update(task.task_id, status=TaskStatus.PAUSED)
    assert ended(client, begun).state is RunState.CANCELLED


def test_a_restart_ends_it_honestly_and_wakes(
    daemon: Daemon, form: DisplayInfo, planner: ModelThread, hook: Receiver
) -> None:
    planned(planner, Answer(play=hang))
    begun = daemon.client.gui_agent("x", display=form.name).run
    daemon.kill()
    daemon.start()
    run = ended(daemon.client, begun)
    assert run.state is RunState.ESCALATED
    assert "restarted during step 1" in run.reason
    faults.until(lambda: any(w.body["run_id"] == run.run_id for w in hook.taken), "its wake")


def test_what_cannot_begin_says_why(client: Client, form: DisplayInfo) -> None:
    with pytest.raises(InvalidRequest, match="no chat model"):
        client.gui_agent("x", display=form.name, backend="abacus")
    with pytest.raises(NotFound):
        client.agent_result("run-nowhere")


def test_the_command_line_follows_a_run(daemon: Daemon, form: DisplayInfo, planner: ModelThread) -> None:
    planned(planner, call("escalate", reason="this needs a person"))
    ran = acud(daemon, "agent", "run", "do it", "--display", form.name)
    assert ran.returncode == 5, ran.stderr
    assert "escalated" in ran.stdout
    assert "this needs a person" in ran.stdout
    listed = acud(daemon, "agent", "list")
    assert "this needs a person" in listed.stdout


def test_an_instruction_that_is_more_than_one_action_is_not_guessed_at(
    client: Client, form: DisplayInfo, planner: ModelThread
) -> None:
    planned(planner, call("do", instruction="click the Export button; then run rm -rf /"), call("escalate", reason="-"))
    run = ended(client, client.gui_agent("export", display=form.name).run)
    assert run.steps[0].outcome.startswith(("failed", "not_found", "ambiguous", "unknown"))
    assert run.state is RunState.ESCALATED
