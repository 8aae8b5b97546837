"""The judge from outside: compares what the soak asked for with what was told, received, stored and left behind.

Pure: facts go in, broken promises come out, so that the oracle itself is tested with invented facts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from tests.soak.ledger import Armed, Asked, Broken, Violation

LATE_S = 10.0
"""What a deadline may be late on a machine that is shared and loaded; a judge that hangs would delay it for ever."""
EARLY_S = 0.05
SLACK_S = 3.0
"""What a fault may work on after it was mended: retries, restarts, replies on their way."""
REPEATERS = (
    "kill supervisor", "stop supervisor", "kill relay", "stop relay", "kill receiver", "stop receiver", "fill disk",
    "lock store",
)  # fmt: skip
"""Faults after which a wake may come twice: somebody had not acknowledged, or could not note it."""
DELAYERS = ("kill supervisor", "stop supervisor", "fill disk", "lock store")
"""Faults during which nobody can fire a deadline, or commit that it fired."""
EXCUSES = {
    "store_unavailable": ("fill disk", "lock store"),
    "shm_full": ("fill shm",),
    "daemon_down": ("kill supervisor", "stop supervisor"),
    "outcome_unknown": (
        "kill supervisor", "stop supervisor", "kill capture", "stop capture", "kill display", "stop display",
        "kill adopted display",
    ),
}  # fmt: skip
"""Errors that only some faults explain. Every other typed error but `internal` and `protocol` may be an answer."""
FORBIDDEN = ("internal", "protocol", "untyped")

END_STATES = {"wait.resolved": "resolved", "wait.timeout": "timeout", "wait.cancelled": "cancelled",
              "wait.failed": "failed"}  # fmt: skip
WAKING = ("resolved", "timeout", "failed")


class Stored(Struct, frozen=True):
    """What the store says of a wait. `detail`: of its newest verdict."""

    wait_id: str
    state: str
    detail: str = ""


class Wake(Struct, frozen=True):
    """What the store says of a wake."""

    wake_id: str
    wait_id: str
    state: str


class Taken(Struct, frozen=True):
    """One wake as the receiver took it."""

    wake_id: str
    at_s: float
    reminder: int = 0


class Facts(Struct, frozen=True):
    """Everything about the waits of a run once nothing is under way any more."""

    armed: Sequence[Armed]
    told: Sequence[tuple[float, str, str]]
    stored: Sequence[Stored]
    stored_ends: Sequence[tuple[str, str]]
    """Stored events of ends: topic, wait id."""
    wakes: Sequence[Wake]
    taken: Sequence[Taken]
    broken: Sequence[Broken]
    asked: Sequence[Asked]
    stalls: Sequence[tuple[float, float]] = ()
    """When this process itself was not run by the machine, and for how long."""


def judge(facts: Facts) -> list[Violation]:
    """Return every promise about waits, wakes, deadlines and answers that `facts` show broken."""
    return [
        *_lost_waits(facts), *_ends_told(facts), *_forged(facts), *_deadlines(facts), *_wakes(facts),
        *_repeats(facts), *_answers(facts),
    ]  # fmt: skip


# ---- waits ---------------------------------------------------------------------------------------------------------


def _lost_waits(facts: Facts) -> Iterable[Violation]:
    states = {one.wait_id: one.state for one in facts.stored}
    for armed in facts.armed:
        state = states.get(armed.wait_id)
        if state is None:
            yield _bad("lost wait", f"{armed.wait_id} was armed and is not in the store", armed)
        elif state == "watching":
            yield _bad("wait without an end", f"{armed.wait_id} ({armed.kind}) still watches", armed)
        elif state == "failed":
            yield _bad("failed wait", f"{armed.wait_id} ({armed.kind}) failed", armed)
        elif state == "cancelled" and not armed.cancelled:
            yield _bad("cancelled by nobody", f"{armed.wait_id} ({armed.kind})", armed)


def _ends_told(facts: Facts) -> Iterable[Violation]:
    states = {one.wait_id: one.state for one in facts.stored}
    known = {armed.wait_id: armed for armed in facts.armed}
    kept = Counter(wait_id for _, wait_id in facts.stored_ends)
    heard = Counter(wait_id for _, _, wait_id in facts.told)
    topics = {wait_id: topic for topic, wait_id in facts.stored_ends}
    for wait_id, armed in known.items():
        if states.get(wait_id, "watching") == "watching":
            continue
        if kept[wait_id] != 1 or heard[wait_id] != 1:
            yield _bad("end not told once", f"{wait_id}: {kept[wait_id]} stored, {heard[wait_id]} heard", armed)
        elif END_STATES[topics[wait_id]] != states[wait_id]:
            yield _bad("end told wrong", f"{wait_id}: {topics[wait_id]}, stored {states[wait_id]}", armed)


def in_doubt(facts: Facts) -> set[str]:
    """Return the changes that may be told without one: /dev/shm was full when a successor of the supervisor came.

    Then the frames from before make room, and what cannot be compared counts as changed; see docs/soak.md.
    """
    full = [one for one in facts.broken if one.kind == "fill shm"]
    kills = [one for one in facts.broken if one.kind == "kill supervisor"]
    blind = [kill.began_s for kill in kills if any(_overlap(kill, one) for one in full)]
    changes = (armed for armed in facts.armed if armed.kind == "change")
    return {armed.wait_id for armed in changes if any(kill_s >= armed.armed_s - 1 for kill_s in blind)}


def _overlap(one: Broken, other: Broken) -> bool:
    return one.began_s <= other.ended_s + SLACK_S and other.began_s <= one.ended_s + SLACK_S


def _forged(facts: Facts) -> Iterable[Violation]:
    ends = {wait_id: (at_s, topic) for at_s, topic, wait_id in facts.told}
    doubtful = in_doubt(facts)
    details = {one.wait_id: one.detail for one in facts.stored}
    for armed in facts.armed:
        if armed.wait_id in doubtful:
            continue
        at_s, topic = ends.get(armed.wait_id, (0.0, ""))
        needs_paint = armed.kind in ("lamp", "text") or (armed.kind == "change" and not armed.uprooted)
        if topic == "wait.resolved" and (armed.kind == "timeout" or (needs_paint and not 0 < armed.lit_s <= at_s)):
            words = f"{armed.wait_id} ({armed.kind}) resolved, its cause was never painted"
            yield _bad("forged yes", f"{words}: {details.get(armed.wait_id, '')}", armed)


def _deadlines(facts: Facts) -> Iterable[Violation]:
    known = {armed.wait_id: armed for armed in facts.armed}
    for at_s, topic, wait_id in facts.told:
        armed = known.get(wait_id)
        if topic != "wait.timeout" or armed is None:
            continue
        if at_s < armed.due_from_s - EARLY_S:
            yield _bad("early deadline", f"{wait_id}: {armed.due_from_s - at_s:.2f} s early", armed)
        late_s = late(facts, armed.due_to_s, at_s)
        if late_s > LATE_S:
            yield _bad("late deadline", f"{wait_id}: {late_s:.1f} s late beside every fault", armed)


def late(facts: Facts, due_s: float, at_s: float) -> float:
    """Return by how much `at_s` is after `due_s`, without the time in which a fault kept everybody from firing."""
    excused = [(one.began_s, one.ended_s + SLACK_S) for one in facts.broken if one.kind in DELAYERS]
    excused += [(began_s, began_s + for_s) for began_s, for_s in facts.stalls]
    free_s, edge_s = 0.0, due_s
    for began_s, ended_s in sorted(excused):
        if ended_s > edge_s and began_s < at_s:
            free_s += max(0.0, min(began_s, at_s) - edge_s)
            edge_s = max(edge_s, min(ended_s, at_s))
    return free_s + max(0.0, at_s - edge_s)


# ---- wakes ---------------------------------------------------------------------------------------------------------


def _wakes(facts: Facts) -> Iterable[Violation]:
    known = {armed.wait_id: armed for armed in facts.armed}
    by_wait: dict[str, list[Wake]] = {}
    for wake in facts.wakes:
        by_wait.setdefault(wake.wait_id, []).append(wake)
    came = {taken.wake_id for taken in facts.taken}
    for one in facts.stored:
        armed = known.get(one.wait_id)
        found = by_wait.get(one.wait_id, [])
        wanted = 1 if one.state in WAKING else 0
        if armed is not None and len(found) != wanted:
            yield _bad("wakes committed", f"{one.wait_id} ({one.state}) has {len(found)} instead of {wanted}", armed)
        for wake in found:
            if armed is not None and wake.wake_id not in came and wake.state != "undelivered":
                yield _bad("lost wake", f"{wake.wake_id} is {wake.state} and was never received", armed)
    for wake_id in sorted(came - {wake.wake_id for wake in facts.wakes}):
        yield Violation("forged wake", f"{wake_id} was received and is of no wait in the store")


def _repeats(facts: Facts) -> Iterable[Violation]:
    for wake_id, rows in _by_wake(facts.taken).items():
        for first, second in itertools.pairwise(rows):
            if not second.reminder and not _excused(facts.broken, REPEATERS, first.at_s, second.at_s):
                yield Violation("doubled wake", f"{wake_id}: again after {second.at_s - first.at_s:.1f} s, no fault")


def doubled(taken: Sequence[Taken]) -> int:
    """Return how many wakes came more than once."""
    return sum(len(rows) > 1 for rows in _by_wake(taken).values())


def _by_wake(taken: Sequence[Taken]) -> dict[str, list[Taken]]:
    found: dict[str, list[Taken]] = {}
    for one in sorted(taken, key=lambda one: one.at_s):
        found.setdefault(one.wake_id, []).append(one)
    return found


# ---- answers -------------------------------------------------------------------------------------------------------


def _answers(facts: Facts) -> Iterable[Violation]:
    for asked in facts.asked:
        kinds = EXCUSES.get(asked.code)
        if asked.code in FORBIDDEN:
            yield Violation("fault of acud", f"{asked.request}: {asked.code}: {asked.words}", step=asked.step)
        elif kinds is not None and not _excused(facts.broken, kinds, asked.began_s, asked.ended_s):
            words = f"{asked.request}: {asked.code}: {asked.words}"
            yield Violation("error without its fault", words, step=asked.step)


def _excused(broken: Sequence[Broken], kinds: Sequence[str], from_s: float, to_s: float) -> bool:
    return any(b.kind in kinds and b.began_s <= to_s and b.ended_s + SLACK_S >= from_s for b in broken)


# ---- what is left when nothing is under way ------------------------------------------------------------------------


class Rest(Struct, frozen=True):
    """The machine between two rounds: processes by kind, files by place, descriptors and zombies."""

    processes: Mapping[str, int]
    rings: int
    spool: int
    zombies: int
    supervisor_fds: int
    supervisor_threads: int


def leaks(found: Rest, wanted: Rest, fd_slack: int = 24) -> list[Violation]:
    """Return what there is more (or less) of than there should be. `fd_slack`: descriptors of clients that come and
    go."""
    bad = [
        Violation("leaked process" if have > want else "missing process", f"{kind}: {have} instead of {want}")
        for kind in sorted({*found.processes, *wanted.processes})
        if (have := found.processes.get(kind, 0)) != (want := wanted.processes.get(kind, 0))
    ]
    for what in ("rings", "spool", "zombies"):
        if getattr(found, what) != getattr(wanted, what):
            words = f"{what}: {getattr(found, what)} instead of {getattr(wanted, what)}"
            bad.append(Violation("leaked segment" if what == "rings" else f"leaked {what}", words))
    if found.supervisor_fds > wanted.supervisor_fds + fd_slack:
        bad.append(Violation("leaked descriptors", f"{found.supervisor_fds}, {wanted.supervisor_fds} at first"))
    if found.supervisor_threads > wanted.supervisor_threads:
        bad.append(Violation("leaked threads", f"{found.supervisor_threads}, {wanted.supervisor_threads} at first"))
    return bad


def _bad(what: str, words: str, armed: Armed) -> Violation:
    return Violation(what, words, step=armed.step, wait_id=armed.wait_id)
