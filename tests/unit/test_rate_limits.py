"""How often something may be done, whatever asks."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acud.base.rate_limits import RollingWindow, TokenBucket


def test_a_bucket_gives_its_burst_at_once_and_the_rest_in_time() -> None:
    bucket = TokenBucket(0.5, 2, 10.0)
    assert [bucket.take(10.0) for _ in range(3)] == [0.0, 0.0, 2.0]
    bucket.give_back()
    assert bucket.due_s(10.0) == 2.0
    assert bucket.due_s(10.0, ahead=1) == 4.0
    assert bucket.due_s(1000.0) == 0.0


def test_without_a_rate_there_is_no_bound() -> None:
    bucket = TokenBucket(0.0, 1, 0.0)
    assert not bucket.bounded
    assert [bucket.take(0.0) for _ in range(5)] == [0.0] * 5


@example(1, [3.499787678884382, 30.0, 30.0, 0.0])  # after 60 s by its sum, not by its difference
@given(st.integers(1, 5), st.lists(st.floats(0, 30), max_size=60))
def test_no_window_has_more_than_its_limit(limit: int, gaps: list[float]) -> None:
    window, now, taken = RollingWindow(limit), 0.0, []
    for gap in gaps:
        now += gap
        if window.free_in_s(now) == 0:
            window.take(now)
            taken.append(now)
    assert all(sum(at <= one < at + 60.0 for one in taken) <= limit for at in taken)


@pytest.mark.parametrize("limit", [0, 2])
def test_a_window_is_over_when_its_last_one_is(limit: int) -> None:
    window = RollingWindow(limit)
    assert window.is_over(0.0)
    window.take(0.0)
    assert window.is_over(59.0) is (limit == 0)
    assert window.is_over(60.0)
