"""The simulation against what it simulates: three hosts, two workers, one server, the same due times."""

from __future__ import annotations

import asyncio

import pytest

from tests.sim.real import compare


@pytest.mark.long
@pytest.mark.timeout(240)
def test_it_tells_what_a_small_fleet_does_within_a_quarter() -> None:
    found = asyncio.run(compare(30, load=0.7))
    assert found.jobs > 500
    assert found.error < 0.25, found
