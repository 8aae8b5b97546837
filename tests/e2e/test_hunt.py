"""The hunt for missed and made-up changes, and what 64 waits on a still screen cost."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.fixtures.daemon import Daemon
from tests.fixtures.hunting import SETTINGS, hunt, jobs_per_s_still

MOST_PER_S = 2.0


@pytest.fixture(scope="module")
def ground() -> Iterator[Daemon]:
    with Daemon(settings=SETTINGS) as running:
        yield running


@pytest.mark.timeout(600)
@pytest.mark.parametrize("checks", [1_000, pytest.param(20_000, marks=[pytest.mark.long, pytest.mark.timeout(7_200)])])
def test_no_change_is_missed_or_made_up(ground: Daemon, checks: int) -> None:
    seed = random.SystemRandom().getrandbits(32)
    found = hunt(ground, checks, seed)
    assert (found.missed, found.false) == (0, 0), f"seed {seed}: {found}"
    assert found.checks >= checks


def test_many_waits_on_a_still_screen_cost_next_to_no_job(ground: Daemon) -> None:
    assert jobs_per_s_still(ground, 10.0) <= MOST_PER_S
