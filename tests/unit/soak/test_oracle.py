"""The oracle of the soak finds what is put before it: each broken promise is invented here and has to be named."""

import pytest
from msgspec import structs

from tests.soak import oracle
from tests.soak.ledger import Armed, Asked, Broken
from tests.soak.oracle import Facts, Rest, Stored, Taken, Wake

RESOLVED = Armed("w1", "lamp", ":1", 7, armed_s=100, due_from_s=3700, due_to_s=3700, lamp=3, lit_s=110)
TIMED = Armed("w2", "timeout", ":1", 8, armed_s=100, due_from_s=105, due_to_s=105.1)
CANCELLED = Armed("w3", "holds", ":1", 9, armed_s=100, due_from_s=3700, due_to_s=3700, cancelled=True)
GOOD = Facts(
    armed=[RESOLVED, TIMED, CANCELLED],
    told=[(111, "wait.resolved", "w1"), (105.2, "wait.timeout", "w2"), (120, "wait.cancelled", "w3")],
    stored=[Stored("w1", "resolved"), Stored("w2", "timeout"), Stored("w3", "cancelled")],
    stored_ends=[("wait.resolved", "w1"), ("wait.timeout", "w2"), ("wait.cancelled", "w3")],
    wakes=[Wake("k1", "w1", "sent"), Wake("k2", "w2", "sent")],
    taken=[Taken("k1", 111.1), Taken("k2", 105.3)],
    broken=[],
    asked=[Asked(1, "look", 100, 101), Asked(2, "look", 100, 101, "display_down", "it is down")],
)
REST = Rest({"supervisor": 1, "capture": 2}, rings=2, spool=0, zombies=0, supervisor_fds=40, supervisor_threads=3)


def find_violations(**changes: object) -> list[str]:
    return [violation.what for violation in oracle.judge(structs.replace(GOOD, **changes))]


def _fault(kind: str, began_s: float, ended_s: float) -> list[Broken]:
    return [Broken(1, kind, began_s, ended_s)]


def test_a_good_run_breaks_nothing() -> None:
    assert oracle.judge(GOOD) == []


def test_a_lost_wait_is_found() -> None:
    assert "lost wait" in find_violations(stored=GOOD.stored[:2])


def test_a_wait_that_never_ends_is_found() -> None:
    stored = [Stored("w1", "watching"), *GOOD.stored[1:]]
    assert find_violations(stored=stored, wakes=GOOD.wakes[1:], taken=GOOD.taken[1:]) == ["wait without an end"]


def test_a_wait_that_failed_is_found() -> None:
    told = [(111.0, "wait.failed", "w1"), *GOOD.told[1:]]
    ends = [("wait.failed", "w1"), *GOOD.stored_ends[1:]]
    assert find_violations(stored=[Stored("w1", "failed"), *GOOD.stored[1:]], told=told, stored_ends=ends) == [
        "failed wait"
    ]


def test_a_wait_that_nobody_cancelled_is_found() -> None:
    assert find_violations(armed=[RESOLVED, TIMED, structs.replace(CANCELLED, cancelled=False)]) == [
        "cancelled by nobody"
    ]


@pytest.mark.parametrize("changes", [
    {"told": [*GOOD.told, GOOD.told[0]]}, {"told": GOOD.told[1:]},
    {"stored_ends": [*GOOD.stored_ends, GOOD.stored_ends[0]]}, {"stored_ends": GOOD.stored_ends[1:]},
])  # fmt: skip
def test_an_end_that_is_not_told_once_is_found(changes: dict[str, object]) -> None:
    assert find_violations(**changes) == ["end not told once"]


def test_an_end_that_is_told_otherwise_than_stored_is_found() -> None:
    assert find_violations(stored_ends=[("wait.timeout", "w1"), *GOOD.stored_ends[1:]]) == ["end told wrong"]


@pytest.mark.parametrize("lit_s", [0.0, 112.0])
def test_a_yes_to_what_was_not_painted_is_found(lit_s: float) -> None:
    assert find_violations(armed=[structs.replace(RESOLVED, lit_s=lit_s), TIMED, CANCELLED]) == ["forged yes"]


def test_a_change_may_be_that_of_a_new_x_server() -> None:
    change = structs.replace(RESOLVED, kind="change", lit_s=0.0)
    assert find_violations(armed=[change, TIMED, CANCELLED]) == ["forged yes"]
    assert find_violations(armed=[structs.replace(change, uprooted=True), TIMED, CANCELLED]) == []


def test_a_change_is_in_doubt_only_when_the_supervisor_died_with_shared_memory_full() -> None:
    armed = [structs.replace(RESOLVED, kind="change", lit_s=0.0), TIMED, CANCELLED]
    killed, full = _fault("kill supervisor", 104, 106), _fault("fill shm", 103, 105)
    assert find_violations(armed=armed, broken=[*killed, *full]) == []
    assert find_violations(armed=armed, broken=killed) == ["forged yes"]
    assert find_violations(armed=armed, broken=full) == ["forged yes"]
    assert find_violations(armed=armed, broken=[*killed, *_fault("fill shm", 80, 90)]) == ["forged yes"]


def test_an_early_deadline_is_found() -> None:
    assert find_violations(told=[GOOD.told[0], (104.5, "wait.timeout", "w2"), GOOD.told[2]]) == ["early deadline"]


def test_a_late_deadline_is_found_unless_nobody_could_fire_it() -> None:
    told = [GOOD.told[0], (125.0, "wait.timeout", "w2"), GOOD.told[2]]
    assert find_violations(told=told) == ["late deadline"]
    assert find_violations(told=told, broken=_fault("kill supervisor", 104, 120)) == []
    assert find_violations(told=told, broken=_fault("delay judge", 104, 120)) == ["late deadline"]
    assert find_violations(told=told, broken=_fault("kill supervisor", 90, 101)) == ["late deadline"]
    assert find_violations(told=told, stalls=[(106.0, 15.0)]) == []


def test_lateness_counts_only_time_in_which_somebody_could_have_fired() -> None:
    broken = [Broken(1, "stop supervisor", 100, 104), Broken(2, "lock store", 103, 107), Broken(3, "garbage", 100, 200)]
    assert oracle.late(structs.replace(GOOD, broken=broken), due_s=98, at_s=112) == pytest.approx(2 + 2)
    assert oracle.late(GOOD, due_s=98, at_s=97) == 0


def test_a_lost_wake_is_found_and_a_listed_one_is_none() -> None:
    assert find_violations(taken=GOOD.taken[1:]) == ["lost wake"]
    assert find_violations(taken=GOOD.taken[1:], wakes=[Wake("k1", "w1", "undelivered"), GOOD.wakes[1]]) == []


def test_wakes_that_are_not_committed_once_are_found() -> None:
    assert find_violations(wakes=[*GOOD.wakes, Wake("k3", "w1", "undelivered")]) == ["wakes committed"]
    assert find_violations(wakes=[*GOOD.wakes, Wake("k3", "w3", "undelivered")]) == ["wakes committed"]
    assert find_violations(wakes=GOOD.wakes[1:], taken=GOOD.taken[1:]) == ["wakes committed"]


def test_a_wake_that_nobody_committed_is_found() -> None:
    assert find_violations(taken=[*GOOD.taken, Taken("k9", 120)]) == ["forged wake"]


def test_a_doubled_wake_is_found_unless_somebody_died_or_it_is_a_reminder() -> None:
    taken = [*GOOD.taken, Taken("k1", 115)]
    assert find_violations(taken=taken) == ["doubled wake"]
    assert find_violations(taken=taken, broken=_fault("kill relay", 111.5, 112)) == []
    assert find_violations(taken=taken, broken=_fault("step clock", 111.5, 112)) == ["doubled wake"]
    assert find_violations(taken=taken, broken=_fault("kill relay", 90, 91)) == ["doubled wake"]
    assert find_violations(taken=[*GOOD.taken, Taken("k1", 115, reminder=1)]) == []


def test_errors_that_no_fault_explains_are_found() -> None:
    for code in ("internal", "protocol", "untyped"):
        assert find_violations(asked=[Asked(1, "look", 100, 101, code, "oh")]) == ["fault of acud"]
    full = [Asked(1, "wait_create", 100, 101, "store_unavailable", "full")]
    assert find_violations(asked=full) == ["error without its fault"]
    assert find_violations(asked=full, broken=_fault("fill disk", 100.5, 103)) == []
    assert find_violations(asked=full, broken=_fault("fill shm", 100.5, 103)) == ["error without its fault"]


@pytest.mark.parametrize(("change", "what"), [
    ({"rings": 3}, "leaked segment"), ({"rings": 1}, "leaked segment"), ({"spool": 1}, "leaked spool"),
    ({"zombies": 1}, "leaked zombies"), ({"processes": {"supervisor": 1, "capture": 3}}, "leaked process"),
    ({"processes": {"supervisor": 1, "capture": 2, "recorder": 1}}, "leaked process"),
    ({"processes": {"supervisor": 1, "capture": 1}}, "missing process"),
    ({"supervisor_fds": 90}, "leaked descriptors"), ({"supervisor_threads": 4}, "leaked threads"),
])  # fmt: skip
def test_leaks_are_found(change: dict[str, object], what: str) -> None:
    assert oracle.leaks(REST, REST) == []
    assert [leak.what for leak in oracle.leaks(structs.replace(REST, **change), REST)] == [what]
