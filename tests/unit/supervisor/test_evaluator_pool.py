"""Places, order, leases and second tries of the evaluator pool; the keeper and the clock are fakes, no process runs."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from acud.base.paths import Paths
from acud.config import EvaluatorSettings, OcrSettings, Settings
from acud.process.event_loop import EventLoop
from acud.protocol.children import Heartbeat
from acud.protocol.evaluation import EvaluatorHello, Job, JobResult, WaitsOver
from acud.protocol.questions import View
from acud.supervisor.children import Child, ChildState
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.job_queues import Lane
from acud.supervisor.judge_metrics import JudgeMetrics
from tests.fixtures.manual_clock import ManualClock


class Keeper:
    """Stands for the child keeper: takes what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[Child, Job]] = []
        self.killed: list[tuple[Child, str]] = []
        self.reachable = True
        self.on_absence: list[Callable[[float], None]] = []

    def receive_all(self) -> bool:
        return True

    def start(self, child: Child, options: Any) -> None:
        """Take note of nothing: the tests say hello themselves."""

    def send(self, child: Child, message: Any) -> bool:
        if self.reachable:
            self.sent.append((child, message))
        return self.reachable

    def kill(self, child: Child, reason: str) -> None:
        """Note whom and why; the tests say themselves that it ended."""
        self.killed.append((child, reason))


class Item:
    """A work that records what becomes of it."""

    def __init__(self, lane: Lane = Lane.JUDGE, display: str = ":1", priority: int = 2, wanted: bool = True) -> None:
        self.lane, self.display, self.priority, self.wanted = lane, display, priority, wanted
        self.built: list[str] = []
        self.parts: list[JobResult] = []
        self.results: list[JobResult] = []
        self.losses: list[str] = []

    def build(self, job_id: str) -> Job | None:
        self.built.append(job_id)
        return Job(job_id, View(self.display), "/ring", 1, 0) if self.wanted else None

    def on_part(self, result: JobResult) -> None:
        self.parts.append(result)

    def on_result(self, result: JobResult) -> None:
        self.results.append(result)

    def on_lost(self, reason: str) -> None:
        self.losses.append(reason)


class Rig:
    """A pool of two evaluators, both ready; `readers` of them may read text."""

    def __init__(self, readers: int = 1) -> None:
        self.clock = ManualClock()
        self.loop = EventLoop(self.clock.monotonic_s)
        self.keeper = Keeper()
        settings = Settings(
            evaluator=EvaluatorSettings(workers=2, jobs_per_worker=2, lease_s=30), ocr=OcrSettings(workers=readers)
        )
        home = Paths(Path("/nowhere"), Path("/nowhere/run"), Path("/dev/shm/acud-0-x"))
        self.pool = EvaluatorPool(
            self.keeper,  # type: ignore[arg-type]
            self.loop,
            settings,
            home,
            cores=2,
            keys={},
            events=cast(Any, Mock()),
            judge_metrics=JudgeMetrics(),
            sources=cast(Any, SimpleNamespace(can_have_frame=lambda source, frame: True)),
            watched_displays=cast(Any, SimpleNamespace(end_damaged=lambda source: False)),
        )
        for worker in self.pool.workers:
            self.hello(worker.child)

    def hello(self, child: Child) -> None:
        self.pool.handle_message(child, EvaluatorHello(pid=1, ocr=child.name == "0"))

    def submit(self, *items: Item) -> None:
        for item in items:
            self.pool.submit(item)
        self.pool.dispatch()

    def answer(self, index: int) -> None:
        """Let the worker of the `index`-th sent job answer it."""
        child, job = self.keeper.sent[index]
        self.pool.handle_message(child, JobResult(job.job_id, "done"))
        self.pool.dispatch()

    def later(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.clock.advance(1.0)
            self.loop.turn(0)
        self.pool.dispatch()


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_ocr_goes_to_its_engine_which_holds_some_and_in_order_of_priority(rig: Rig) -> None:
    held, late, urgent = [Item(Lane.OCR), Item(Lane.OCR)], Item(Lane.OCR, priority=5), Item(Lane.OCR, priority=1)
    rig.submit(*held)
    rig.submit(late, urgent)
    assert [child.name for child, _ in rig.keeper.sent] == ["0", "0"]
    rig.answer(0)
    assert (urgent.built != [], late.built) == (True, [])
    rig.answer(1)
    assert late.built


def test_another_display_is_read_by_an_engine_that_reads_nothing() -> None:
    rig = Rig(readers=2)
    rig.submit(Item(Lane.OCR, ":7"), Item(Lane.OCR, ":8"))
    assert [child.name for child, _ in rig.keeper.sent] == ["0", "1"]
    rig.later(1)
    rig.answer(1)
    rig.answer(0)
    rig.submit(Item(Lane.OCR, ":8"))
    assert rig.keeper.sent[-1][0].name == "1", "it knows the views of that display"
    rig.answer(2)
    rig.submit(Item(Lane.OCR, ":9"))
    assert rig.keeper.sent[-1][0].name == "1", "it read last: the other may rest"


def test_one_engine_alone_is_loaded_while_displays_are_read_one_after_the_other() -> None:
    rig = Rig(readers=2)
    for number in range(4):
        rig.submit(Item(Lane.OCR, f":{number}"))
        rig.answer(number)
        rig.later(1)
    assert {child.name for child, _ in rig.keeper.sent} == {"0"}


def test_what_a_dead_engine_read_goes_to_the_one_that_reads() -> None:
    rig = Rig(readers=2)
    rig.submit(Item(Lane.OCR, ":7"), Item(Lane.OCR, ":8"))
    rig.pool.child_ended(rig.pool.workers[0].child, "killed")
    rig.pool.dispatch()
    assert [child.name for child, _ in rig.keeper.sent] == ["0", "1", "1"]
    rig.hello(rig.pool.workers[0].child)
    rig.answer(1)
    rig.answer(2)
    rig.submit(Item(Lane.OCR, ":7"))
    assert rig.keeper.sent[-1][0].name == "1"


def test_an_evaluator_takes_what_all_its_places_together_hold(rig: Rig) -> None:
    rig.submit(*[Item(lane, ":7") for lane in Lane for _ in range(5)])
    held = sum(child.name == "0" for child, _ in rig.keeper.sent)
    assert held == rig.pool._build_options(rig.pool.workers[0]).max_jobs == 3 * 2


def test_a_running_ocr_leaves_the_places_of_judges_free(rig: Rig) -> None:
    judges = [Item() for _ in range(4)]
    rig.submit(Item(Lane.OCR), *judges)
    assert all(item.built for item in judges)


def test_what_is_redacted_goes_to_the_engine_but_leaves_its_place_free(rig: Rig) -> None:
    redacted = [Item(Lane.REDACT) for _ in range(9)]
    reading = Item(Lane.OCR)
    rig.submit(*redacted, reading)
    assert {child.name for child, _ in rig.keeper.sent} == {"0"}
    assert reading.built
    assert sum(bool(item.built) for item in redacted) == 2


def test_a_display_keeps_its_evaluator_while_there_is_room(rig: Rig) -> None:
    rig.submit(Item(display=":7"))
    rig.answer(0)
    rig.submit(Item(display=":7"))
    rig.submit(Item(display=":8"))
    names = [child.name for child, _ in rig.keeper.sent]
    assert names[0] == names[1] != names[2]


def test_a_job_is_built_when_there_is_room_and_not_before(rig: Rig) -> None:
    items = [Item() for _ in range(5)]
    rig.submit(*items)
    assert [bool(item.built) for item in items] == [True, True, True, True, False]
    assert rig.pool.queued == 1
    rig.answer(0)
    assert items[4].built
    assert items[0].results


def test_a_work_that_nobody_wants_takes_no_place(rig: Rig) -> None:
    rig.submit(*[Item(wanted=False) for _ in range(8)], item := Item())
    assert item.built


def test_a_dead_workers_job_goes_to_another_and_after_the_second_death_is_lost(rig: Rig) -> None:
    item = Item()
    rig.submit(item)
    child, job = rig.keeper.sent[0]
    rig.pool.child_ended(child, "killed by signal 9")
    rig.pool.dispatch()
    other, again = rig.keeper.sent[1]
    assert (other is not child, again.job_id) == (True, job.job_id)
    rig.pool.child_ended(other, "killed by signal 9")
    assert item.losses == ["evaluator " + other.name + " ended: killed by signal 9"]
    assert item.results == []


def test_a_lease_is_renewed_by_heartbeats_that_list_the_job_and_lost_without(rig: Rig) -> None:
    item = Item()
    rig.submit(item)
    child, job = rig.keeper.sent[0]
    for _ in range(4):
        rig.later(20)
        rig.pool.handle_message(child, Heartbeat(jobs=(job.job_id,)))
    assert len(rig.keeper.sent) == 1
    rig.later(32)
    assert len(rig.keeper.sent) == 2


def test_a_worker_in_which_a_job_hangs_is_killed_and_what_else_it_had_goes_to_another(rig: Rig) -> None:
    hung, other = Item(display=":7"), Item(display=":7")
    rig.submit(hung)
    child, _ = rig.keeper.sent[0]
    for beat in range(32):
        rig.later(29)
        if beat == 29:
            rig.submit(other)
        rig.pool.handle_message(child, Heartbeat(jobs=tuple(job.job_id for _, job in rig.keeper.sent)))
    assert [(killed.name, "job_max_s" in why) for killed, why in rig.keeper.killed] == [(child.name, True)]
    assert (len(hung.built), len(other.built)) == (1, 2)
    rig.pool.child_ended(child, "killed")
    rig.pool.dispatch()
    assert (len(hung.built), hung.losses, other.losses) == (2, [], [])


def test_a_display_whose_job_was_handed_over_gets_no_more_credit_than_others(rig: Rig) -> None:
    moved = Item(display=":7")
    rig.submit(moved)
    home = next(worker for worker in rig.pool.workers if worker.running)
    rig.pool.retire(home)
    assert rig.pool.hand_over(home) == 1
    rig.pool.dispatch()
    rig.answer(1)
    assert len(moved.results) == 1
    assert not any(rig.pool._queue[Lane.JUDGE]._busy.values())


def test_a_supervisor_that_stood_still_takes_no_lease_away(rig: Rig) -> None:
    rig.submit(Item())
    rig.later(20)
    for told in rig.keeper.on_absence:
        told(600.0)
    rig.clock.advance(600.0)
    rig.later(9)
    assert len(rig.keeper.sent) == 1
    rig.later(3)
    assert len(rig.keeper.sent) == 2


def test_a_late_result_of_a_lost_lease_is_not_taken_twice(rig: Rig) -> None:
    item = Item()
    rig.submit(item)
    rig.later(32)
    rig.answer(1)
    rig.pool.handle_message(rig.keeper.sent[0][0], JobResult(rig.keeper.sent[0][1].job_id, "done"))
    assert len(item.results) == 1


def test_a_part_leaves_the_job_with_its_worker(rig: Rig) -> None:
    item = Item()
    rig.submit(item)
    child, job = rig.keeper.sent[0]
    rig.pool.handle_message(child, JobResult(job.job_id, "part"))
    rig.answer(0)
    assert (len(item.parts), len(item.results)) == (1, 1)


def test_an_evaluator_that_cannot_be_reached_loses_the_work_loudly(rig: Rig) -> None:
    rig.keeper.reachable = False
    item = Item()
    rig.submit(item)
    assert item.losses == ["the evaluator could not be reached"]


def test_when_every_evaluator_was_given_up_the_queue_is_lost_loudly(rig: Rig) -> None:
    item = Item(Lane.OCR)
    rig.submit(Item(Lane.OCR), item)
    for worker in rig.pool.workers:
        worker.child.state = ChildState.FAILED
        rig.pool.child_ended(worker.child, "exit code 1")
    rig.submit(later := Item())
    assert item.losses
    assert later.losses


def test_a_quiet_display_is_read_before_the_backlog_of_a_busy_one(rig: Rig) -> None:
    busy = [Item(Lane.OCR, ":1") for _ in range(4)]
    rig.submit(*busy)
    rig.later(2)
    quiet = Item(Lane.OCR, ":2")
    rig.submit(quiet)
    rig.answer(0)
    assert (quiet.built != [], [item.built != [] for item in busy]) == (True, [True, True, False, False])


def test_a_work_that_became_urgent_in_the_queue_goes_first(rig: Rig) -> None:
    running, held, first, second = (Item(Lane.OCR) for _ in range(4))
    rig.submit(running, held, first, second)
    second.priority = 0
    rig.answer(0)
    assert (first.built, second.built != []) == ([], True)


def test_every_ready_evaluator_is_told_once_a_turn_which_waits_are_over(rig: Rig) -> None:
    rig.pool.workers[1].ready = False
    rig.pool.wait_over("w1")
    rig.pool.wait_over("w2")
    rig.pool.dispatch()
    rig.pool.dispatch()
    assert [(child.name, message) for child, message in rig.keeper.sent] == [("0", WaitsOver(("w1", "w2")))]


def test_a_work_in_the_queue_knows_what_is_before_it_and_how_long_a_picture_takes(rig: Rig) -> None:
    works = [Item(Lane.OCR) for _ in range(5)]
    rig.submit(*works)
    assert rig.pool.describe_queue(works[4]) == "4 before it in the queue"
    rig.later(8)
    rig.answer(0)
    assert rig.pool.describe_queue(works[4]) == "3 before it in the queue, 8 s a picture"
