"""Whose judgement goes first when there are too many."""

from __future__ import annotations

from acud.types import Criteria, Policy, Priority
from acud.waits import ranks
from acud.waits.effects import Due, DueKind
from tests.unit.waits.rig import Rig, spec


def due(priority: Priority = Priority.NORMAL, *, force: bool = False, kind: DueKind = DueKind.JUDGE) -> Due:
    """Return a due as the plan makes it."""
    return Due(kind, ":1", None, (), 1, 1, force=force, priority=ranks.judging(priority, force=force))


def test_judgements_go_by_priority_and_repeated_ones_after_their_equals() -> None:
    wanted = [
        due(Priority.HIGH),
        due(Priority.HIGH, force=True),
        due(),
        due(force=True),
        due(Priority.LOW),
        due(Priority.LOW, force=True),
    ]
    found = [ranks.rank(one, 300.0) for one in wanted]
    assert found == sorted(set(found))


def test_a_wait_about_to_end_goes_before_others_however_low() -> None:
    low = due(Priority.LOW, force=True)
    assert ranks.rank(low, ranks.URGENT_S) == ranks.HIGH < ranks.rank(due(), 300.0)
    assert ranks.rank(low, ranks.URGENT_S + 0.1) > ranks.rank(due(), 300.0)


def test_pictures_and_comparisons_precede_every_judgement() -> None:
    assert ranks.EVIDENCE < ranks.IDENTITY < ranks.rank(due(Priority.HIGH), 0.0)


def test_the_plan_asks_with_the_priority_of_its_policy() -> None:
    rig = Rig(spec(Criteria("x"), Policy(priority=Priority.LOW))).start()
    assert rig.wait.wanted.dues[DueKind.JUDGE].priority == ranks.LOW
