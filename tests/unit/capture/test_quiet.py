"""What blinks in step with its grabs is not quiet, whoever is late; repaints of the same pixels are."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.capture.frame_rate import MOST_PAINTS, PROMPT_NS, GrabSchedule, PaintEffect, QuietWatch, painted_ns
from acud.types import Rect

BOX = Rect(16, 16, 32, 32)
S = 1_000_000_000


class Stage:
    """A box that is painted every half `period_s`, its capture with the real schedule, and a wait for quiet."""

    def __init__(self, period_s: float, *, blinks: bool, chance: random.Random, late: float) -> None:
        self.half_s, self.blinks, self.chance, self.late = period_s / 2, blinks, chance, late
        self.quiet, self.schedule = QuietWatch(), GrabSchedule(30, 30)
        self.quiet.watch_boxes([BOX])
        self.schedule.apply_demand(10, 0)
        self.now = 0.0
        self.phase = self.newest = False
        self.reported = False
        self.since_s: float | None = None

    def quiet_at(self, quiet_s: float, until_s: float) -> float | None:
        """Return when the wait sees quiet, None for not until then."""
        paint_s, quiet_from, asked, stall_s = self.half_s, 0.0, 0, self._stall()
        while self.now < until_s:
            grab_s = self._due_s(until_s) + stall_s
            ask_s = quiet_from + quiet_s if not self.schedule.is_asked else until_s
            self.now = max(self.now, min(paint_s, grab_s, ask_s, until_s))
            if self.now == paint_s:
                self._paint()
                paint_s += self.half_s
            elif self.now == grab_s:
                number, stall_s, self.since_s = self.schedule.begin_grab(self.now), self._stall(), None
                changed = self._grab()
                doubts = self.quiet.doubts() if changed or number else []
                if changed or doubts:
                    quiet_from = self.now
                elif number and self.now >= quiet_from + quiet_s:
                    return self.now
            elif self.now == ask_s:
                asked += 1
                self.schedule.apply_demand(10, asked)
        return None

    def _due_s(self, never_s: float) -> float:
        due = self.schedule.due_s()
        if due is None or due > self.now:
            return never_s if due is None else due
        self.since_s = self.now if self.since_s is None else self.since_s
        return self.since_s

    def _stall(self) -> float:
        return self.chance.uniform(0.005, 0.08) if self.chance.random() < self.late else 0.001

    def _paint(self) -> None:
        self.phase ^= self.blinks
        if not self.reported:  # the server tells of a box once until it is subtracted
            self.reported = self.schedule.damaged = True
            self.schedule.hurried |= self.quiet.note_painted(BOX, int(self.now * S))

    def _grab(self) -> bool:
        paints, self.reported = self.quiet.take_paints(), False
        changed, self.newest = self.phase != self.newest, self.phase
        self.quiet.examine(lambda box: PaintEffect.TILES if changed else PaintEffect.SAME, paints, int(self.now * S))
        return changed


@settings(max_examples=150, deadline=None)
@given(
    period_s=st.floats(0.02, 0.5), times=st.floats(1.0, 4.0), late=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    seed=st.integers(0, 2**32),
)  # fmt: skip
def test_what_blinks_is_never_quiet_for_its_period(period_s: float, times: float, late: float, seed: int) -> None:
    stage = Stage(period_s, blinks=True, chance=random.Random(seed), late=late)
    assert stage.quiet_at(period_s * times, 8.0) is None


@settings(max_examples=60, deadline=None)
@given(
    period_s=st.floats(0.02, 0.5), quiet_s=st.floats(0.05, 2.0), late=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 2**32),
)  # fmt: skip
def test_repaints_of_the_same_pixels_are_quiet(period_s: float, quiet_s: float, late: float, seed: int) -> None:
    stage = Stage(period_s, blinks=False, chance=random.Random(seed), late=late)
    seen = stage.quiet_at(quiet_s, 60.0)
    assert seen is not None
    assert seen <= 20 * quiet_s + 5


def make_watch() -> QuietWatch:
    quiet = QuietWatch()
    quiet.watch_boxes([BOX])
    return quiet


def grab(quiet: QuietWatch, now_ns: int, seen: PaintEffect = PaintEffect.SAME) -> None:
    quiet.examine(lambda box: seen, quiet.take_paints(), now_ns)


def test_paint_beside_the_box_is_nothing() -> None:
    quiet = make_watch()
    assert not quiet.note_painted(Rect(48, 16, 5, 5), 0)
    grab(quiet, 10 * PROMPT_NS)
    assert quiet.doubts() == []


def test_late_paint_is_a_doubt_that_is_told_once() -> None:
    quiet = make_watch()
    quiet.note_painted(BOX, 0)
    grab(quiet, PROMPT_NS + 1)
    assert quiet.doubts() == [BOX]
    assert quiet.doubts() == []


def test_two_prompt_grabs_in_a_row_settle_a_doubt_and_one_does_not() -> None:
    quiet = make_watch()
    quiet.note_painted(BOX, 0)
    grab(quiet, S // 2)
    assert quiet.note_painted(BOX, S), "more paint that changes nothing is looked into at once"
    grab(quiet, S + 1)
    quiet.note_painted(BOX, S + 2)
    grab(quiet, S + 3)
    assert quiet.doubts() == []
    quiet.note_painted(BOX, 2 * S)
    grab(quiet, 3 * S)
    quiet.note_painted(BOX, 3 * S)
    grab(quiet, 3 * S + 1)
    assert quiet.doubts() == [BOX]


@pytest.mark.parametrize(("seen", "told"), [(PaintEffect.TILES, []), (PaintEffect.PIXELS, [BOX])])
def test_a_change_is_told_where_tiles_do_not_tell_it(seen: PaintEffect, told: list[Rect]) -> None:
    quiet = make_watch()
    grab(quiet, S, seen)
    assert quiet.doubts() == told


def test_much_paint_is_kept_as_one_box_of_its_earliest_moment() -> None:
    quiet = make_watch()
    for at in range(MOST_PAINTS + 1):
        quiet.note_painted(BOX, at)
    assert quiet.take_paints() == [(BOX, 0)]


def test_a_servers_time_is_taken_where_its_clock_is_ours() -> None:
    now_ns = (2**32 + 700) * 1_000_000
    assert painted_ns(650, now_ns) == now_ns - 50_000_000
    assert painted_ns(800, now_ns) == now_ns
    assert painted_ns(123_456_789, now_ns) == now_ns
