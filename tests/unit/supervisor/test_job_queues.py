"""Whose turn it is: rank first, then the display that was worked for least; nobody saves up, nobody starves."""

import pytest

from acud.supervisor.job_queues import FairQueue


def queue() -> FairQueue[int]:
    return FairQueue(lambda item: item)


def test_a_lower_rank_goes_first_whoever_was_worked_for_more() -> None:
    line = queue()
    line.push("busy", 5)
    line.charge("busy", 100.0) if line.pop() else None
    line.push("quiet", 5)
    line.push("busy", 4)
    assert [line.pop(), line.pop()] == [4, 5]


def test_a_quiet_display_goes_before_fifteen_that_were_queued_earlier() -> None:
    line = queue()
    busy = [f":{n}" for n in range(15)]
    for _ in range(3):
        for name in busy:
            line.push(name, 4)
    for _ in range(20):
        name = line.next()
        line.pop()
        line.charge(name, 1.0)
    line.push("quiet", 4)
    assert line.next() == "quiet"


def test_time_is_shared_not_turns() -> None:
    line, served = queue(), {"slow": 0, "fast": 0}
    costs = {"slow": 1.0, "fast": 0.25}
    for name in served:
        line.push(name, 4)
    for _ in range(100):
        name = line.next()
        line.pop()
        line.push(name, 4)
        line.charge(name, costs[name])
        served[name] += 1
    assert served["fast"] == pytest.approx(4 * served["slow"], rel=0.1)


def test_a_display_that_slept_cannot_hold_up_the_others_for_what_it_did_not_use() -> None:
    line = queue()
    line.push("busy", 4)
    for _ in range(100):
        line.pop()
        line.push("busy", 4)
        line.charge("busy", 1.0)
    order = []
    line.push("woken", 4)
    for _ in range(10):
        name = line.next()
        line.pop()
        line.push(name, 4)
        line.charge(name, 1.0)
        order.append(name)
    assert order[0] == "woken"
    assert order[3:].count("busy") >= 3


def test_one_job_that_took_long_does_not_put_a_display_behind_for_as_long() -> None:
    line = queue()
    for name in ("unlucky", "busy", "other"):
        line.push(name, 4)
        line.pop()
        line.charge(name, 60.0 if name == "unlucky" else 0.1)
    waited_s = 0.0
    for name in ("unlucky", "busy", "other"):
        line.push(name, 4)
    while (name := line.next()) != "unlucky":
        line.pop()
        line.push(name, 4)
        line.charge(name, 0.1)
        waited_s += 0.1
    assert 1.0 < waited_s < 2.5  # a second of each of the two others


def test_jobs_sent_at_once_take_turns_before_any_is_done() -> None:
    line = queue()
    for name in ("a", "a", "a", "b", "b", "b"):
        line.push(name, 4)
    order = []
    while line:
        order.append(line.next())
        line.pop()
    assert order == ["a", "b", "a", "b", "a", "b"]


def test_ranks_are_asked_for_anew() -> None:
    ranks = {"first": 1, "second": 2}
    line: FairQueue[str] = FairQueue(lambda item: ranks[item])
    line.push(":1", "first")
    line.push(":1", "second")
    ranks["second"] = 0
    line.rerank()
    assert [line.pop(), line.pop()] == ["second", "first"]


def test_equals_keep_their_order() -> None:
    line: FairQueue[str] = FairQueue(lambda _: 0)
    for item in ("first", "second", "third"):
        line.push(":1", item)
    assert [line.pop() for _ in range(3)] == ["first", "second", "third"]


def test_what_is_cleared_is_charged_to_nobody_and_an_empty_queue_says_so() -> None:
    line = queue()
    line.push(":1", 4)
    line.push(":2", 5)
    assert line.clear() == [4, 5]
    assert len(line) == 0
    with pytest.raises(IndexError):
        line.next()


def test_accounts_of_displays_that_are_gone_are_dropped() -> None:
    line = queue()
    for n in range(3000):
        line.push(f":{n}", 4)
        line.pop()
        line.charge(f":{n}", 0.1)
    assert len(line._used_s) <= 1025
