"""Invariants over whole sessions in virtual time: random films, random judges, every cadence."""

import random
from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.types import (
    AnyOf,
    Cadence,
    Change,
    Criteria,
    GateKind,
    Policy,
    Stable,
    Target,
    Until,
    Verdict,
    WaitSpec,
    no,
    yes,
)
from acud.waits import effects as out
from tests.fixtures.wait_replay import DISPATCH_S, GRAB_S, HASH_S, NOTICE_S, Key, Replay

PICTURE_S = NOTICE_S + DISPATCH_S + HASH_S + 0.001
"""From the last grab to a resolution with its picture."""
SLACK_S = 2 * (GRAB_S + NOTICE_S + DISPATCH_S) + 0.001
CAP_S = 0.2
"""A grab that finds what was there before is not notified: the rate cap behind it is not known to the rules."""


class Counting:
    """A film whose picture is a tuple of counters, one a tile: everything it ever says stays true."""

    width, height = 64, 16

    def __init__(self, gaps: list[tuple[float, int]]) -> None:
        self.changes: list[tuple[float, Key]] = [(0.0, (0, 0, 0, 0))]
        for gap, tile in gaps:
            when, key = self.changes[-1]
            assert isinstance(key, tuple)
            counters = tuple(count + (index == tile) for index, count in enumerate(key))
            self.changes.append((when + gap, counters))

    def tiles(self, before: Key, after: Key) -> int:
        assert isinstance(before, tuple)
        assert isinstance(after, tuple)
        return sum(1 << i for i in range(4) if before[i] != after[i])

    def identity(self, key: Key) -> str:
        return repr(key)


NEVER = Criteria("x")
films = st.lists(st.tuples(st.floats(0.001, 3.0), st.integers(0, 3)), min_size=1, max_size=25).map(Counting)
policies = st.builds(
    Policy,
    min_interval_s=st.sampled_from([0.2, 0.5, 1.0, 2.0, 5.0]),
    interval_s=st.sampled_from([0.5, 1.0]),
    gate=st.sampled_from([None, GateKind.NONE]),
)
judges = st.sampled_from([0.05, 0.3, 0.9, 2.5])


def play(film: Counting, policy: Policy, judge_s: float, until: Until = NEVER) -> Replay:
    """Play to the end of the film and somewhat longer; the judge never says yes."""
    end = film.changes[-1][0] + 12.0
    return Replay(film, WaitSpec(until, Target(), end, policy), lambda: judge_s).run(end)


def first_seen(played: Replay) -> dict[tuple[int, int], float]:
    """Return when a judgement that shows a counter at (tile, count) or beyond came back first."""
    seen: dict[tuple[int, int], float] = {}
    for look in sorted(played.looks, key=lambda look: look.answered_at):
        assert isinstance(look.key, tuple)
        for tile, count in enumerate(look.key):
            for reached in range(1, count + 1):
                seen.setdefault((tile, reached), look.answered_at)
    return seen


@settings(max_examples=25, deadline=None)
@given(films, policies, judges)
def test_the_newest_picture_is_judged_within_an_interval_or_one_call(
    film: Counting, policy: Policy, judge_s: float
) -> None:
    played = play(film, policy, judge_s)
    limit = max(policy.interval_s, judge_s) + judge_s + CAP_S + SLACK_S
    seen = first_seen(played)
    for when, key in film.changes[1:]:
        assert isinstance(key, tuple)
        for tile, count in enumerate(key):
            assert count == 0 or seen[tile, count] <= when + limit


@settings(max_examples=25, deadline=None)
@given(films, policies, st.sampled_from([0.05, 0.3, 0.45]))
def test_event_is_never_later_than_fixed(film: Counting, policy: Policy, judge_s: float) -> None:
    fixed = play(film, Policy(cadence=Cadence.FIXED, interval_s=policy.interval_s), judge_s)
    event = first_seen(play(film, policy, judge_s))
    # With short min_interval_s both calls may be in the air at a tick: then it is one call's rest later.
    busy = judge_s if policy.min_interval_s < 2 * judge_s or policy.interval_s < 2 * judge_s else 0.0
    for fact, when in first_seen(fixed).items():
        assert event[fact] <= when + busy + SLACK_S


@settings(max_examples=15, deadline=None)
@given(films, judges, st.sampled_from(list(Cadence)), st.integers(0, 2**32))
def test_trouble_ends_and_the_newest_picture_is_judged_all_the_same(
    film: Counting, judge_s: float, cadence: Cadence, seed: int
) -> None:
    chance = random.Random(seed)
    end = film.changes[-1][0] + 60.0
    spec = WaitSpec(Criteria("x"), Target(), end, Policy(cadence=cadence))
    losses = iter([chance.choice(["", "engine", "frame_gone"]) for _ in range(6)])
    played = Replay(film, spec, lambda: judge_s, lose=lambda: next(losses, "")).run(end)
    assert any(look.key == film.changes[-1][1] for look in played.looks)


@settings(max_examples=20, deadline=None)
@given(films, judges, st.integers(1, 3))
def test_a_yes_is_true_on_its_frame_and_comes_once(film: Counting, judge_s: float, confirm: int) -> None:
    wanted = film.changes[len(film.changes) // 2][1]

    def judge(leaf: int, key: Hashable) -> Verdict:
        assert isinstance(key, tuple)
        assert isinstance(wanted, tuple)
        there = all(a >= b for a, b in zip(key, wanted, strict=True))
        return yes("there") if there else no("not yet")

    end = film.changes[-1][0] + 30.0
    policy = Policy(confirm=confirm, min_interval_s=0.5)
    played = Replay(film, WaitSpec(Criteria("x"), Target(), end, policy), lambda: judge_s, judge).run(end)
    assert isinstance(played.ending, out.WaitResolved)
    assert judge(0, played.keys[played.ending.frame]).answer == "yes"
    assert len([e for _, e in played.effects if isinstance(e, out.WaitResolved)]) == 1
    said_yes = [look for look in played.looks if judge(0, look.key).answer == "yes"]
    assert len(said_yes) >= confirm


@settings(max_examples=20, deadline=None)
@given(films, st.sampled_from([0.3, 1.0, 2.5]))
def test_stable_resolves_when_and_only_when_it_is(film: Counting, quiet_s: float) -> None:
    played = play(film, Policy(), 0.1, Stable(quiet_s))
    assert isinstance(played.ending, out.WaitResolved)
    times = [when for when, _ in film.changes]
    ended = played.ending.at
    calm_since = max(when for when in times if when <= ended - PICTURE_S)
    assert ended - calm_since >= quiet_s - SLACK_S - PICTURE_S
    gaps = [(a, b) for a, b in zip(times, [*times[1:], times[-1] + 99], strict=True) if b - a > quiet_s + CAP_S]
    assert ended <= gaps[0][0] + quiet_s + CAP_S + SLACK_S + 0.01


@settings(max_examples=20, deadline=None)
@given(films)
def test_the_first_change_resolves_at_once(film: Counting) -> None:
    played = play(film, Policy(), 0.1, Change())
    assert isinstance(played.ending, out.WaitResolved)
    first = film.changes[1][0]
    assert played.ending.at <= max(first, GRAB_S + NOTICE_S) + 0.06 or first < GRAB_S
    assert played.keys[1] == film.changes[0][1] or first < 2 * GRAB_S


@pytest.mark.parametrize("until", [Criteria("x"), Stable(5.0), Change(), AnyOf((Criteria("x"), Stable(200.0)))])
def test_nothing_changes_nothing_happens(until: Until) -> None:
    film = Counting([(290.0, 0)])
    played = Replay(film, WaitSpec(until, Target(), 280.0, Policy()), lambda: 0.3).run(280.0)
    judged = [look for look in played.looks if look.asked_at > 1]
    assert len(judged) <= 280 // 30
    assert played.grabs <= 3 + 280 // 30
    assert len(played.effects) < 90
