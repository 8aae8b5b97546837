"""A seed decides a round, whatever came before it and whatever cannot be done here."""

from __future__ import annotations

from tests.soak.injecting import _WHOLE
from tests.soak.plan import CORE, EDGE, STEPS_A_ROUND, WORK, round_plan
from tests.soak.work import _KINDS


def test_the_same_seed_plans_the_same_round() -> None:
    assert round_plan(3, 5) == round_plan(3, 5)
    assert round_plan(3, 5) != round_plan(4, 5)
    assert round_plan(3, 5) != round_plan(3, 6)
    step = round_plan(3, 5)[9]
    assert step.chance().random() == step.chance().random()


def test_what_cannot_be_broken_here_changes_no_other_step() -> None:
    whole, less = round_plan(3, 5), round_plan(3, 5, frozenset({"garbage", "kill supervisor"}))
    assert less == [step for step in whole if step.kind not in ("garbage", "kill supervisor")]
    assert [step.number for step in whole] == list(range(5 * STEPS_A_ROUND, 6 * STEPS_A_ROUND))


def test_every_kind_comes_up_and_can_be_done() -> None:
    kinds = {step.kind for index in range(60) for step in round_plan(1, index)}
    assert kinds == {*WORK, *CORE, *EDGE}
    assert set(_KINDS) == set(WORK)
    signalled = {kind for kind in (*CORE, *EDGE) if kind.split()[0] in ("kill", "stop")}
    assert signalled | set(_WHOLE) == {*CORE, *EDGE}
