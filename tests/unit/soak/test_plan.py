"""A seed decides a round, whatever came before it and whatever cannot be done here."""

from tests.soak.injecting import WHOLE
from tests.soak.plan import CALM_EDGE, CALM_FROM, CALM_WORK, CORE, EDGE, STEPS_A_ROUND, WORK, round_plan
from tests.soak.work import KINDS


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
    assert set(KINDS) == {*WORK, *CALM_WORK}
    signalled = {kind for kind in (*CORE, *EDGE) if kind.split()[0] in ("kill", "stop")}
    assert signalled | set(WHOLE) == {*CORE, *EDGE}


def test_a_calm_round_ends_no_process_of_acud() -> None:
    kinds = {step.kind for index in range(60) for step in round_plan(1, CALM_FROM + index)}
    assert kinds == {*CALM_WORK, *CALM_EDGE}
    assert {kind for kind in CALM_EDGE if kind.startswith(("kill", "stop"))} == {"kill receiver", "stop receiver"}
    assert set(CALM_EDGE) <= set(EDGE)
