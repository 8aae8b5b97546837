"""Frames shared out: those that want little get all of it, the others the same."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from acud.supervisor.frame_rate_limits import LEAST_FPS, compute_caps, compute_level

rates = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 240), min_size=1, max_size=70)


def test_nobody_is_held_back_while_all_fit_in() -> None:
    assert compute_level({"a": 30.0, "b": 70.0}, 100.0) is None
    assert compute_caps({"a": 30.0, "b": 70.0}, {}, {}, 100.0) == {}


def test_a_quiet_display_loses_nothing_to_fifteen_that_play() -> None:
    playing = {f"p{n}": 20.0 for n in range(15)}
    held = compute_caps(playing | {"quiet": 2.0}, {}, {}, 152.0)
    assert "quiet" not in held
    assert held == pytest.approx(dict.fromkeys(playing, 10.0))


def test_what_is_held_back_stays_so_while_it_would_take_more() -> None:
    playing = {f"p{n}": 20.0 for n in range(10)}
    first = compute_caps(playing, playing, {}, 100.0)
    again = compute_caps(first, playing, first, 100.0)
    assert again == first == pytest.approx(dict.fromkeys(playing, 10.0))


def test_what_stopped_playing_gives_its_part_to_the_others() -> None:
    playing = {f"p{n}": 20.0 for n in range(10)}
    held = compute_caps(playing, playing, {}, 100.0)
    half = {name: (10.0 if n < 5 else 0.0) for n, name in enumerate(playing)}
    assert compute_caps(half, playing, held, 100.0) == {}
    assert compute_caps(half, playing, held, 80.0) == pytest.approx({f"p{n}": 16.0 for n in range(5)})


@given(rates, st.floats(1, 1000))
def test_the_total_is_used_and_not_gone_over_but_for_the_least(offered: dict[str, float], total: float) -> None:
    common = compute_level(offered, total)
    if common is None:
        assert sum(offered.values()) <= total
        return
    given_out = sum(min(rate, common) for rate in offered.values())
    assert given_out <= max(total, LEAST_FPS * len(offered)) * 1.000001
    assert given_out >= total * 0.999999
