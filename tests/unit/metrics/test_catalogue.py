"""The catalogue keeps to Prometheus' rules for names, and to few labels."""

import re

import pytest

from acud.metrics.catalogue import BY_NAME, FAMILIES
from acud.types.metrics import Family, Kind

FEW = {
    "answer", "code", "direction", "display", "fault", "file", "judge", "kind", "lane", "model", "name", "path",
    "protocol", "reason", "request", "result", "route", "source", "state", "status", "version",
}  # fmt: skip
"""Labels whose values are few; one that is not here needs a thought on how many there can be."""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family(family: Family) -> None:
    assert re.fullmatch(r"acud(_[a-z]+)+", family.name)
    assert family.name.endswith("_total") is (family.kind is Kind.COUNTER)
    assert bool(family.bounds) is (family.kind is Kind.HISTOGRAM)
    assert list(family.bounds) == sorted(set(family.bounds))
    assert set(family.labels) <= FEW
    assert family.help.endswith(".")
    assert not family.name.endswith("_ms")


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(FAMILIES)
