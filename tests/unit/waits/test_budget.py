"""Budgets: what they allow, and that no judge is asked once they are spent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.types import AnyOf, Budget, Criteria, OnBudget, Policy, Spent, Text, WaitState, WindowTitle, no, unknown, yes
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.budget import BudgetAccount, BudgetStatus, check_budgets, find_exhausted_limit, with_cost
from acud.waits.effects import JobKind
from acud.waits.look_turns import MOST_FLIGHTS
from tests.unit.waits.rig import Rig, spec

PLAIN, SEEN = Text("Done"), Criteria("the lamp is green")
SPENT = BudgetStatus("budget: 2 of 2 evaluations are spent", False, "told")
EAGER = Policy(min_interval_s=0.0, interval_s=0.1)


def _tell(rig: Rig, said: BudgetStatus) -> None:
    rig.tell(happened.BudgetChecked(rig.now, said))


# ---- the rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("budget", "spent", "words"), [
    (Budget(), Spent(9e9, 10**9), ""),
    (Budget(max_evaluations=2), Spent(0.0, 1), ""),
    (Budget(max_evaluations=2), Spent(0.0, 2), "2 of 2 evaluations are spent"),
    (Budget(max_cost_usd=0.3), Spent(0.1 + 0.1 + 0.1, 3), "$0.300000 of $0.300000 are spent"),
    (Budget(max_cost_usd=0.7), Spent(0.1 * 3 + 0.4 - 1e-16, 3), "$0.700000 of $0.700000 are spent"),
    (Budget(max_cost_usd=0.3), Spent(0.2, 500), ""),
    (Budget(max_cost_usd=0.0), Spent(), "$0.000000 of $0.000000 are spent"),
    (Budget(max_cost_usd=0.3), Spent(0.0, 500, 500), ""),
])  # fmt: skip
def test_what_is_spent(budget: Budget, spent: Spent, words: str) -> None:
    assert find_exhausted_limit(BudgetAccount(budget, spent)) == words


def test_a_cost_that_is_not_known_is_said_not_guessed() -> None:
    spent = with_cost(Spent(), 0.0, unpriced=True)
    assert spent == Spent(0.0, 1, 1)
    said = check_budgets(BudgetAccount(Budget(max_cost_usd=0.3), spent), BudgetAccount())
    assert (said.spent, said.fail) == ("", False)
    assert "not known" in said.note
    assert check_budgets(BudgetAccount(Budget(max_evaluations=3), spent), BudgetAccount()) == BudgetStatus()


def test_the_budget_of_the_task_binds_too_and_fail_wins() -> None:
    own = BudgetAccount(Budget(max_evaluations=1), Spent(0.0, 1))
    task = BudgetAccount(Budget(max_cost_usd=1.0, on_budget=OnBudget.FAIL), Spent(1.5, 3))
    assert not check_budgets(own, BudgetAccount()).fail
    both = check_budgets(own, task)
    assert both.fail
    assert both.spent == "budget: 1 of 1 evaluations are spent; budget of the task: $1.500000 of $1.000000 are spent"
    assert check_budgets(BudgetAccount(), task).spent == "budget of the task: $1.500000 of $1.000000 are spent"


# ---- the machine -----------------------------------------------------------------------------------------------------


def test_a_sentence_that_needs_eyes_is_unknown_to_the_deadline() -> None:
    rig = Rig(spec(SEEN, EAGER)).start()
    rig.judge()
    _tell(rig, SPENT)
    assert rig.asked(out.NoteChanged) == [out.NoteChanged("told")]
    assert (rig.wait.verdict.code, rig.wait.note) == ("budget", "told")
    rig.change(1)
    rig.later(100.0)
    assert not rig.wants(JobKind.JUDGE)
    rig.tell(happened.DeadlinePassed(rig.now))
    assert isinstance(rig.ending, out.WaitTimedOut)
    assert rig.ending.verdict.code == "budget"


def test_quoted_words_are_judged_locally() -> None:
    rig = Rig(spec(PLAIN, EAGER)).start()
    assert not rig.wait.requests.jobs[JobKind.JUDGE].local
    _tell(rig, SPENT)
    assert rig.wait.requests.jobs[JobKind.JUDGE].local
    rig.judge(yes("Done"), picture=True)
    assert rig.wait.state is WaitState.RESOLVED


def test_the_rest_of_a_condition_goes_on() -> None:
    rig = Rig(spec(AnyOf((SEEN, WindowTitle("Ready"))), EAGER)).start()
    rig.windows("Busy")
    _tell(rig, SPENT)
    assert not rig.wants(JobKind.JUDGE)
    rig.windows("Ready")
    rig.later(1.0)
    assert rig.wait.pending is not None


def test_a_due_that_has_not_left_is_withdrawn() -> None:
    rig = Rig(spec(SEEN, EAGER)).start()
    assert rig.wants(JobKind.JUDGE)
    _tell(rig, SPENT)
    assert rig.asked(out.JobWithdrawal) == [out.JobWithdrawal(JobKind.JUDGE)]


def test_an_answer_in_the_air_still_decides() -> None:
    rig = Rig(spec(SEEN, EAGER)).start()
    job = rig.dispatch()
    _tell(rig, SPENT)
    rig.answer(job, yes("green"), picture=True)
    assert rig.wait.state is WaitState.RESOLVED


def test_fail_ends_the_wait_but_not_a_yes_without_its_picture() -> None:
    rig = Rig(spec(SEEN, EAGER)).start()
    rig.judge()
    _tell(rig, BudgetStatus("budget: gone", True, "told"))
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert isinstance(rig.ending, out.WaitFailed)
    assert (rig.ending.reason, rig.ending.evidence and rig.ending.evidence.name) == ("budget: gone", "kept.jpg")
    assert rig.ending.verdict == unknown("budget", "budget: gone; before that: no: not there")
    sure = Rig(spec(SEEN, EAGER)).start()
    sure.judge(yes("green"))
    _tell(sure, BudgetStatus("budget: gone", True, "told"))
    assert sure.wait.state is WaitState.WATCHING
    sure.answer(sure.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert sure.wait.state is WaitState.RESOLVED


@pytest.mark.parametrize("until", [SEEN, PLAIN])
def test_new_money_asks_anew_of_the_same_pixels(until: Criteria) -> None:
    rig = Rig(spec(until, EAGER)).start()
    _tell(rig, SPENT)
    if rig.wants(JobKind.JUDGE):
        rig.judge(no("not read"))
    rig.later(5.0)
    assert not rig.wants(JobKind.JUDGE)
    _tell(rig, BudgetStatus())
    rig.later(1.0)
    due = rig.wait.requests.jobs[JobKind.JUDGE]
    assert (due.local, due.asks[0].memo, rig.wait.note) == (False, (), "")


STEPS = st.lists(st.sampled_from(["change", "later", "dispatch", "oldest", "newest", "lose"]), max_size=60)


@given(STEPS, st.integers(0, 6), st.sampled_from([None, 0.0, 0.25, 0.5]), st.sampled_from([0.125, 0.5]), st.booleans())
def test_never_more_than_what_is_in_the_air(
    steps: list[str], most: int, most_usd: float | None, price: float, fail: bool
) -> None:
    budget = Budget(most_usd, most, OnBudget.FAIL if fail else OnBudget.LOCAL)
    account, air = BudgetAccount(budget), list[str]()
    rig = Rig(spec(SEEN, EAGER)).start()

    def settle() -> None:
        said = check_budgets(account, BudgetAccount())
        if said != rig.wait.budget_status:
            _tell(rig, said)

    settle()
    for step in steps:
        if step == "change":
            rig.change(1)
        elif step == "later":
            rig.later(0.2)
        elif step == "dispatch" and rig.wants(JobKind.JUDGE):
            assert not find_exhausted_limit(account)
            air.append(rig.dispatch())
        elif step in ("oldest", "newest", "lose") and air:
            job = air.pop(0 if step == "oldest" else -1)
            account = BudgetAccount(budget, with_cost(account.spent, price))
            if step == "lose":
                rig.lose(job)
            else:
                rig.answer(job)
            settle()
    assert account.spent.evaluations <= max(0, most + MOST_FLIGHTS - 1)
    if most_usd is not None:
        assert account.spent.cost_usd < most_usd + price * MOST_FLIGHTS
