"""Growth is found with its confidence, also over processes that came and went."""

import random

import pytest

from tests.soak.slopes import slope


def _life(began_s: int, for_s: int, level: float, per_hour: float, noise: float = 0.0) -> list[tuple[float, float]]:
    chance = random.Random(began_s)
    return [
        (began_s + at, level + per_hour * at / 3600 + chance.uniform(-noise, noise)) for at in range(0, for_s, 2)
    ]  # fmt: skip


def test_growth_is_found_over_processes_of_different_sizes() -> None:
    lives = {1: _life(0, 300, 40, 120), 2: _life(300, 300, 90, 120), 3: _life(100, 400, 10, 120)}
    assert slope(lives).per_hour == pytest.approx(120, abs=1)


def test_replaced_processes_are_no_growth() -> None:
    found = slope({1: _life(0, 300, 40, 0, 0.5), 2: _life(300, 300, 90, 0, 0.5)})
    assert found.per_hour == pytest.approx(0, abs=10)  # the jump from 40 to 90 would be hundreds
    assert (found.processes, found.points) == (2, 30)


def test_noise_widens_the_interval() -> None:
    quiet, loud = (slope({1: _life(0, 1200, 40, 60, noise)}) for noise in (0.1, 5.0))
    assert quiet.low is not None
    assert quiet.low > 50
    assert loud.high - loud.low > 5 * (quiet.high - quiet.low)  # type: ignore[operator]


@pytest.mark.parametrize("lives", [{}, {1: []}, {1: [(0.0, 1.0)]}, {1: _life(0, 15, 1, 1)}])
def test_too_little_is_told_as_too_little(lives: dict[int, list[tuple[float, float]]]) -> None:
    assert slope(lives).per_hour is None


def test_what_comes_and_goes_is_no_growth() -> None:
    chance = random.Random(1)
    life = [(float(at), 200 + (0 if at % 12 == 0 else chance.uniform(0, 100))) for at in range(0, 600, 2)]
    found = slope({1: life})
    assert found.low is not None
    assert found.high is not None
    assert abs(found.low) < 5
    assert abs(found.high) < 5
