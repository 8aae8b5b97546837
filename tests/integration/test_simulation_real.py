"""The simulation against what it simulates: jobs of three hosts and two workers, and what a small fleet writes."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from tests.sim.__main__ import FIGURES
from tests.sim.disk import bytes_of_a_wait
from tests.sim.figures import Measured
from tests.sim.real import compare
from tests.sim.small_fleet import small_fleet


@pytest.mark.long
def test_it_tells_what_a_small_fleet_does_within_a_quarter() -> None:
    found = asyncio.run(compare(30, load=0.7))
    assert found.jobs > 500
    assert found.error < 0.25, found


@pytest.mark.long
def test_a_small_fleet_writes_what_the_figures_say() -> None:
    """Else measure anew: `scripts/simulate --measure --plot`."""
    figures = msgspec.json.decode(FIGURES.read_bytes(), type=Measured)
    with small_fleet() as fleet:
        leases = fleet.lease_writes_per_s()
        wait = fleet.per_wait(20, leases)
    assert leases == pytest.approx(figures.lease_writes_per_s, rel=0.25)
    assert wait.writes == pytest.approx(figures.writes_per_wait, rel=0.25)
    assert bytes_of_a_wait(signed=True, waits=400).held == pytest.approx(figures.bytes_per_wait, rel=0.25)
