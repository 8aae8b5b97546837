"""At most so many in any minute, and none is forgotten silently."""

from hypothesis import given
from hypothesis import strategies as st

from acud.features.notifications.notice import Rate


def test_a_storm_is_held_back_and_counted() -> None:
    rate = Rate(2)
    assert [rate.try_pass(float(now)) for now in (0, 1, 2, 3, 59)] == [0, 0, None, None, None]
    assert rate.try_pass(60.0) == 3
    assert rate.try_pass(60.5) is None
    assert rate.try_pass(61.0) == 1


def test_one_that_was_not_sent_after_all_is_counted() -> None:
    rate = Rate(2)
    rate.try_pass(0.0)
    rate.count_held()
    assert rate.try_pass(1.0) == 1


@given(st.integers(1, 5), st.lists(st.floats(0, 30), max_size=60))
def test_no_minute_has_more_and_the_sums_agree(per_minute: int, gaps: list[float]) -> None:
    rate, now, through, told = Rate(per_minute), 0.0, [], 0
    for gap in gaps:
        now += gap
        held = rate.try_pass(now)
        if held is not None:
            through.append(now)
            told += held
    assert all(sum(at <= one < at + 60.0 for one in through) <= per_minute for at in through)
    assert len(through) + told <= len(gaps)
    assert told == 0 or len(gaps) > per_minute
