"""Whose judgement goes first when there are too many."""

from acud.types import Criteria, Policy, Priority
from acud.waits import schedule
from acud.waits.effects import JobKind, JobRequest
from tests.unit.waits.rig import Rig, spec


def due(priority: Priority = Priority.NORMAL, *, force: bool = False, kind: JobKind = JobKind.JUDGE) -> JobRequest:
    return JobRequest(
        kind, ":1", None, (), 1, 1, force=force, priority=schedule.judgement_priority(priority, force=force)
    )


def test_judgements_go_by_priority_and_repeated_ones_after_their_equals() -> None:
    wanted = [
        due(Priority.HIGH), due(Priority.HIGH, force=True), due(), due(force=True), due(Priority.LOW),
        due(Priority.LOW, force=True),
    ]  # fmt: skip
    found = [schedule.job_priority(one, 300.0) for one in wanted]
    assert found == sorted(set(found))


def test_a_wait_about_to_end_goes_before_others_however_low() -> None:
    low = due(Priority.LOW, force=True)
    assert schedule.job_priority(low, schedule.URGENT_S) == schedule.HIGH_PRIORITY < schedule.job_priority(due(), 300.0)
    assert schedule.job_priority(low, schedule.URGENT_S + 0.1) > schedule.job_priority(due(), 300.0)


def test_pictures_and_comparisons_precede_every_judgement() -> None:
    assert schedule.EVIDENCE_PRIORITY < schedule.IDENTITY_PRIORITY < schedule.job_priority(due(Priority.HIGH), 0.0)


def test_the_plan_asks_with_the_priority_of_its_policy() -> None:
    rig = Rig(spec(Criteria("x"), Policy(priority=Priority.LOW))).start()
    assert rig.wait.requests.jobs[JobKind.JUDGE].priority == schedule.LOW_PRIORITY
