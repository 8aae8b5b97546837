"""A small area that changes on and on, in place or step by step: judged with a pause, and nothing else is."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.types import Cadence, Criteria, GateKind, Policy, Target, Text, WaitSpec
from acud.waits import effects as out
from acud.waits.restless_area import LONGEST_PAUSE_S
from tests.fixtures.wait_replay import DISPATCH_S, GRAB_S, NOTICE_S, Key, Replay

COLUMNS, ROWS = 40, 22
CLOCK = 30
"""The clock's tile; other changes come in tiles of their own, below."""
JUDGE_S = 0.3
SENTENCE = Criteria("the build is done")
SLACK_S = 2 * (GRAB_S + NOTICE_S + DISPATCH_S) + 0.001


class Desktop:
    """A film of `area` tiles that change at `ticks`, and of other tiles, each of which changes once, at `news`."""

    width, height = 16 * COLUMNS, 16 * ROWS

    def __init__(self, ticks: list[float], news: list[float] | None = None, area: int = 1) -> None:
        self._area = ((1 << area) - 1) << CLOCK
        self.changes: list[tuple[float, Key]] = [(0.0, (0, 0))]
        ticked = told = 0
        for when, is_news in sorted([(when, False) for when in ticks] + [(when, True) for when in news or []]):
            ticked, told = ticked + (not is_news), told + is_news
            self.changes.append((when, (ticked, told)))

    def tiles(self, before: Key, after: Key) -> int:
        assert isinstance(before, tuple)
        assert isinstance(after, tuple)
        (ticked, told), (now_ticked, now_told) = before, after
        found = self._area if ticked != now_ticked else 0
        return found | sum(1 << (COLUMNS * 4 + 3 * number) for number in range(told, now_told))

    def identity(self, key: Key) -> str:
        return repr(key)


class Work(Desktop):
    """A film of letters typed at `keys`, a bar that moves at `moves`, and the other tiles of a `Desktop`.

    `stride`: tiles from one letter to the next, half of one as in a line of text.
    """

    def __init__(
        self, keys: list[float], moves: list[float] | None = None, news: list[float] | None = None, stride: float = 0.5
    ) -> None:
        self._stride = stride
        moments = (
            [(when, 0) for when in keys] + [(when, 1) for when in news or []] + [(when, 2) for when in moves or []]
        )
        self.changes = [(0.0, (0, 0, 0))]
        counts = [0, 0, 0]
        for when, part in sorted(moments):
            counts[part] += 1
            self.changes.append((when, tuple(counts)))

    def tiles(self, before: Key, after: Key) -> int:
        assert isinstance(before, tuple)
        assert isinstance(after, tuple)
        found = sum(1 << (COLUMNS * 4 + 3 * number) for number in range(before[1], after[1]))
        for key in range(before[0], after[0]):
            found |= 1 << (COLUMNS * 8 + int(key * self._stride) % (COLUMNS * 8))
        for move in range(before[2], after[2]):
            found |= 1 << (COLUMNS * 18 + move // 8)
        return found


def play(
    film: Desktop,
    until_s: float,
    policy: Policy | None = None,
    *,
    longest_pause_s: float = LONGEST_PAUSE_S,
    leaf: Criteria | Text = SENTENCE,
) -> Replay:
    """Play to a wait whose judge never says yes."""
    spec = WaitSpec(leaf, Target(), until_s, policy or Policy())
    return Replay(film, spec, lambda: JUDGE_S, longest_pause_s=longest_pause_s).run(until_s)


def seconds(count: int, first: float = 0.37) -> list[float]:
    return [first + number for number in range(count)]


def list_seen(played: Replay, part: int) -> dict[int, float]:
    first: dict[int, float] = {}
    for look in sorted(played.looks, key=lambda look: look.answered_at):
        assert isinstance(look.key, tuple)
        for count in range(1, look.key[part] + 1):
            first.setdefault(count, look.answered_at)
    return first


def notes(played: Replay) -> list[str]:
    return [effect.text for _, effect in played.effects if isinstance(effect, out.NoteChanged)]


def test_a_clock_costs_at_most_fifteen_calls_a_minute_and_the_note_says_so() -> None:
    played = play(Desktop(seconds(120)), 120)
    assert len(played.looks) <= 30
    gaps = [later.asked_at - earlier.asked_at for earlier, later in pairwise(played.looks)]
    assert max(gaps) <= LONGEST_PAUSE_S + SLACK_S
    [note] = notes(played)
    assert "16x16 pixels at 480,0" in note
    assert "every 5 s" in note


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(0.05, 2.5), min_size=10, max_size=50),
    st.lists(st.floats(0.5, 60.0), min_size=1, max_size=12, unique=True),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_all_but_the_area_is_never_later_than_fixed(
    gaps: list[float], news: list[float], min_interval_s: float
) -> None:
    ticks = [sum(gaps[: number + 1]) for number in range(len(gaps))]
    film = Desktop(ticks, news)
    end = film.changes[-1][0] + 12.0
    fixed = play(film, end, Policy(cadence=Cadence.FIXED))
    event = play(film, end, Policy(min_interval_s=min_interval_s))
    busy = JUDGE_S if min_interval_s < 2 * JUDGE_S else 0.0
    for count, when in list_seen(fixed, 1).items():
        assert list_seen(event, 1)[count] <= when + busy + SLACK_S
    for count, when in list_seen(fixed, 0).items():
        assert list_seen(event, 0)[count] <= when + LONGEST_PAUSE_S + busy + SLACK_S, (
            "nor is the area later than its pause"
        )


def test_an_area_that_stands_still_at_last_is_judged_soon() -> None:
    film = Desktop([0.2 * number for number in range(1, 100)])
    ended = film.changes[-1][0]
    looks = play(film, ended + 20).looks
    assert min(look.answered_at for look in looks if look.key == film.changes[-1][1]) < ended + 1.5


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(0.05, 0.9), min_size=40, max_size=120),
    st.lists(st.floats(0.1, 1.2), min_size=1, max_size=40),
    st.lists(st.floats(0.5, 60.0), min_size=1, max_size=12, unique=True),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_all_but_what_moves_on_is_never_later_than_fixed(
    keys: list[float], moves: list[float], news: list[float], min_interval_s: float
) -> None:
    film = Work(list(accumulate(keys)), list(accumulate(moves)), news)
    end = film.changes[-1][0] + 12.0
    fixed = play(film, end, Policy(cadence=Cadence.FIXED))
    event = play(film, end, Policy(min_interval_s=min_interval_s))
    busy = JUDGE_S if min_interval_s < 2 * JUDGE_S else 0.0
    for count, when in list_seen(fixed, 1).items():
        assert list_seen(event, 1)[count] <= when + busy + SLACK_S
    for part in (0, 2):
        for count, when in list_seen(fixed, part).items():
            assert list_seen(event, part)[count] <= when + LONGEST_PAUSE_S + busy + SLACK_S


def test_what_moves_on_costs_a_fifth_and_the_note_says_so() -> None:
    film = Work([0.2 * number for number in range(1, 500)], [0.5 * number for number in range(1, 200)])
    played = play(film, 100)
    assert len(played.looks) <= 30
    assert len(play(film, 100, longest_pause_s=0.0).looks) >= 99
    assert any("moves on in small steps" in note for note in notes(played))


def test_a_bar_that_is_full_is_judged_soon_though_somebody_types_on() -> None:
    film = Work([0.2 * number for number in range(1, 300)], [0.37 * number for number in range(1, 100)])
    full = 0.37 * 99
    assert list_seen(play(film, 60), 2)[99] < full + 1.5


def test_what_ocr_answers_is_judged_as_often_while_something_moves_on() -> None:
    film = Work([0.2 * number for number in range(1, 300)])
    assert len(play(film, 60, leaf=Text("Done")).looks) >= 59
    assert len(play(film, 60).looks) <= 25


def test_what_jumps_is_judged_at_once() -> None:
    film = Work([0.4 * number for number in range(1, 46)], stride=7.0)
    assert len(play(film, 18).looks) >= 17


def test_large_steps_are_judged_at_once() -> None:
    lines = [(0.2 * number, (number, 0)) for number in range(300)]
    film = Desktop([])
    film.changes = list(lines)
    film.tiles = lambda before, after: ((1 << COLUMNS) - 1) << COLUMNS * (8 + after[0] % 8)  # type: ignore[method-assign, index]
    assert len(play(film, 60).looks) >= 59


@pytest.mark.parametrize(
    "policy", [Policy(cadence=Cadence.FIXED), Policy(gate=GateKind.NONE), Policy(cadence=Cadence.ADAPTIVE)]
)
def test_other_policies_are_as_they_were(policy: Policy) -> None:
    film = Desktop(seconds(60), [20.2, 40.7])
    paused, plain = play(film, 60, policy), play(film, 60, policy, longest_pause_s=0.0)
    assert [look.asked_at for look in paused.looks] == [look.asked_at for look in plain.looks]
    assert not notes(paused)


def test_neither_a_large_area_nor_one_without_a_pause_is_paused() -> None:
    film = Desktop(seconds(60), area=COLUMNS)
    assert len(play(film, 60).looks) >= 59
    assert len(play(Desktop(seconds(60)), 60, longest_pause_s=0.0).looks) >= 59


def test_what_the_memo_answers_is_not_learnt() -> None:
    film = Desktop(seconds(60))
    film.changes = [(when, (number % 2, 0)) for number, (when, _) in enumerate(film.changes)]
    played = play(film, 29)
    assert (len(played.looks), notes(played)) == (2, []), "a caret costs two calls, and delays nothing"
