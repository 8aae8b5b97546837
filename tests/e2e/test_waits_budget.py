"""Budgets on a real daemon, with a scripted judge whose answers cost what its model's tokens cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.types import AnyOf, Budget, Cadence, Criteria, DisplayInfo, OnBudget, Policy, Rect, WaitInfo, WaitState
from acud.types import WindowTitle as Window
from acud_client import Client
from tests.e2e import faults
from tests.e2e.desktop import Desk, ended, judged, shown, timed_out, until
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
SEEN = Criteria("the lamp is red")
OFTEN = Policy(cadence=Cadence.FIXED, interval_s=0.2)
PRICE = '[prices."test/eye"]\ninput = 1000\noutput = 2000\nas_of = "2026-01-02"\n'
EYE = {"model": "test/eye", "tokens_in": 3, "tokens_out": 1}
EACH_USD = 0.005
IN_THE_AIR = 2


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> faults.Judge:
    """The judge's script."""
    folder: Path = tmp_path_factory.mktemp("script")
    return faults.Judge(folder)


@pytest.fixture(scope="module")
def own(script: faults.Judge) -> Iterator[Daemon]:
    """A daemon whose judge has a price."""
    with Daemon(settings=faults.settings(script, tasks={"stuck_detection": False}) + PRICE) as running:
        yield running


@pytest.fixture(scope="module")
def view(own: Daemon) -> DisplayInfo:
    """A display to look at."""
    return own.client.display_create(320, 240).display


@pytest.fixture
def acud(own: Daemon, script: faults.Judge) -> Iterator[Client]:
    """A client; the judge says no, for its price."""
    script.set(**EYE)
    yield own.client
    for wait in own.client.wait_list().waits:
        own.client.wait_cancel(wait.wait_id)


def _arm(client: Client, view: DisplayInfo, budget: Budget, condition: Any = SEEN, **more: Any) -> WaitInfo:
    more = {"timeout_s": LONG_S, "policy": OFTEN, "display": view.name, **more}
    return client.wait_create(condition, budget=budget, **more).wait


def _still(client: Client, wait_id: str) -> WaitInfo:
    """Return the wait after a second in which it asked nobody."""
    until(lambda: "spent" in shown(client, wait_id).note, "a spent budget")
    until(lambda: shown(client, wait_id).verdict.code == "budget", "what was in the air has landed")
    before = shown(client, wait_id)
    time.sleep(1.0)
    after = shown(client, wait_id)
    assert after.spent == before.spent
    return after


# ---- spent -----------------------------------------------------------------------------------------------------------


def test_dollars_are_spent_and_the_rest_is_unknown(acud: Client, own: Daemon, view: DisplayInfo) -> None:
    wait = _arm(acud, view, Budget(max_cost_usd=3 * EACH_USD))
    event = faults.event(own, "wait.note", wait.wait_id)
    assert event.data["text"].startswith("budget: $0.015000 of $0.015000 are spent")
    done = timed_out(acud, wait.wait_id, "unknown", "budget")
    assert (done.state, done.verdict.code) == (WaitState.TIMEOUT, "budget")
    assert 3 <= done.spent.evaluations < 3 + IN_THE_AIR
    assert done.spent.cost_usd == pytest.approx(done.spent.evaluations * EACH_USD)
    assert done.cost_usd == pytest.approx(done.spent.cost_usd)
    assert "unknown (budget)" in done.message


def test_evaluations_are_spent_and_more_are_given(acud: Client, view: DisplayInfo, script: faults.Judge) -> None:
    wait = _arm(acud, view, Budget(max_evaluations=2))
    first = _still(acud, wait.wait_id).spent.evaluations
    assert 2 <= first < 2 + IN_THE_AIR
    script.set(**EYE, default="yes")
    acud.wait_update(wait.wait_id, budget=Budget(max_evaluations=10))
    done = ended(acud, wait.wait_id)
    assert (done.state, done.note) == (WaitState.RESOLVED, "")
    assert done.spent.evaluations > first


def test_what_a_sentence_says_for_certain_goes_on_without_a_budget(acud: Client, view: DisplayInfo) -> None:
    wait = _arm(acud, view, Budget(max_evaluations=1), AnyOf((SEEN, Criteria('"Finished" is visible'))))
    until(lambda: "spent" in shown(acud, wait.wait_id).note, "a spent budget")
    with Desk(view.name, view.auth_file) as desk:
        desk.words(Rect(0, 0, 320, 120), "Finished", size_px=40)
        done = ended(acud, wait.wait_id)
    assert done.state is WaitState.RESOLVED
    assert acud.wait_show(wait.wait_id).evaluations[-1].judge == "ocr"
    assert done.spent.evaluations <= IN_THE_AIR


def test_local_leaves_go_on(acud: Client, view: DisplayInfo) -> None:
    wait = _arm(acud, view, Budget(max_evaluations=0), AnyOf((SEEN, Window("Ready"))))
    judged(acud, wait.wait_id, "unknown", "budget")
    with Desk(view.name, view.auth_file) as desk:
        desk.window(Rect(0, 0, 50, 50), title="Ready")
        done = ended(acud, wait.wait_id)
    assert (done.state, done.spent.evaluations) == (WaitState.RESOLVED, 0)


def test_fail_ends_it_and_the_wake_says_so(acud: Client, view: DisplayInfo) -> None:
    wait = _arm(acud, view, Budget(max_evaluations=2, on_budget=OnBudget.FAIL))
    done = ended(acud, wait.wait_id)
    assert (done.state, done.verdict.code) == (WaitState.FAILED, "budget")
    assert "— budget: 2 of 2 evaluations are spent. Last verdict: unknown (budget)." in done.message
    assert "before that: no" in done.verdict.detail
    assert done.evidence is not None
    assert done.evidence.name
    wakes = acud.wake_list(seen=True, wait_id=wait.wait_id).wakes
    assert [wake.kind.value for wake in wakes] == ["failed"]
    assert "budget: 2 of 2 evaluations are spent" in wakes[0].text


def test_a_cost_that_is_not_known_bounds_nothing_and_is_said(
    acud: Client, view: DisplayInfo, script: faults.Judge
) -> None:
    script.set(model="test/other", tokens_in=3, tokens_out=1)
    wait = _arm(acud, view, Budget(max_cost_usd=EACH_USD))
    until(lambda: shown(acud, wait.wait_id).spent.evaluations >= 3, "a third evaluation")
    now = shown(acud, wait.wait_id)
    assert (now.cost_usd, now.spent.cost_usd, now.spent.unpriced >= 3) == (None, 0.0, True)
    assert "not known" in now.note
    assert all(row.cost_usd is None for row in acud.wait_show(wait.wait_id).evaluations)


def test_what_costs_nothing_does_not_count(acud: Client, view: DisplayInfo) -> None:
    wait = _arm(acud, view, Budget(max_evaluations=1, on_budget=OnBudget.FAIL), judge="ocr", force=True)
    until(lambda: shown(acud, wait.wait_id).judged >= 3, "three readings")
    assert shown(acud, wait.wait_id).spent.evaluations == 0


# ---- tasks -----------------------------------------------------------------------------------------------------------


def test_a_task_pays_for_all_its_waits(acud: Client, view: DisplayInfo) -> None:
    budget = Budget(max_cost_usd=4 * EACH_USD)
    task = acud.task_register("Two", isolated_display=False, budget=budget).view.task
    assert task.budget == budget
    first = _arm(acud, view, Budget(), task_id=task.task_id)
    second = _arm(acud, view, Budget(max_evaluations=50), Criteria("the lamp is blue"), task_id=task.task_id)
    both = [_still(acud, wait.wait_id) for wait in (first, second)]
    assert all(wait.note.startswith("budget of the task: $") for wait in both)
    assert 4 <= sum(wait.spent.evaluations for wait in both) < 4 + 2 * IN_THE_AIR
    acud.wait_cancel(first.wait_id)
    third = acud.wait_create(SEEN, display=view.name, timeout_s=LONG_S, task_id=task.task_id)
    assert any(note.startswith("budget of the task: $") for note in third.notes)
    assert judged(acud, third.wait.wait_id).spent.evaluations == 0
    funded = acud.task_update(task.task_id, budget=Budget(max_evaluations=100)).view.task
    assert funded.budget == Budget(max_evaluations=100)
    assert judged(acud, third.wait.wait_id, "no").note == ""


# ---- restarts --------------------------------------------------------------------------------------------------------


def test_the_last_evaluation_is_the_nearest_deadlines_and_the_others_are_told(
    acud: Client, view: DisplayInfo, script: faults.Judge
) -> None:
    script.set(**EYE, delay_ms=8000)  # under way for as long as this process may stand still
    task = acud.task_register("Last", isolated_display=False, budget=Budget(max_evaluations=1)).view.task
    acud.task_update(task.task_id, status="paused")
    each = [("the lamp is blue", 270.0), ("the lamp is red", 180.0), ("the lamp is grey", 360.0)]
    once = Policy(min_interval_s=300.0)
    armed = [
        _arm(acud, view, Budget(), Criteria(words), timeout_s=left_s, task_id=task.task_id, policy=once)
        for words, left_s in each
    ]
    acud.task_update(task.task_id, status="active")
    told = judged(acud, armed[2].wait_id, "unknown", "budget")
    assert "what is left is under way" in told.verdict.detail
    until(lambda: all("1 of 1 evaluations are spent" in shown(acud, one.wait_id).note for one in armed), "all spent")
    assert [shown(acud, one.wait_id).spent.evaluations for one in armed] == [0, 1, 0]


def test_a_kill_forgets_nothing_that_was_spent(tmp_path: Path) -> None:
    script = faults.Judge(tmp_path)
    script.set(**EYE)
    with Daemon(settings=faults.settings(script, tasks={"stuck_detection": False}) + PRICE) as daemon:
        acud = daemon.client
        view = acud.display_create(320, 240).display
        task = acud.task_register("Killed", isolated_display=False, budget=Budget(max_evaluations=3)).view.task
        gone = _arm(acud, view, Budget(), task_id=task.task_id)
        assert _still(acud, gone.wait_id).spent.evaluations >= 3
        acud.wait_cancel(gone.wait_id)
        own = _arm(acud, view, Budget(max_cost_usd=2 * EACH_USD), Criteria("the lamp is blue"))
        spent = _still(acud, own.wait_id).spent
        daemon.kill()
        daemon.start()
        acud = daemon.client
        assert _still(acud, own.wait_id).spent == spent
        after = acud.wait_create(SEEN, display=view.name, timeout_s=LONG_S, task_id=task.task_id).wait
        assert judged(acud, after.wait_id, "unknown", "budget").spent.evaluations == 0
