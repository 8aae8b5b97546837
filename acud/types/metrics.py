"""Values of metrics: a family (what is measured) and its samples (one for each combination of labels)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What a family's samples mean; the words are those of Prometheus."""

    COUNTER = "counter"
    """Only grows; starts at 0 with the supervisor."""
    GAUGE = "gauge"
    """The present value."""
    HISTOGRAM = "histogram"
    """How many values fell into each bucket, and their sum."""
    SUMMARY = "summary"
    """How many values there were, and their sum."""


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """What is measured. A counter's `name` ends in `_total`; units are in names (`_seconds`, `_bytes`, `_usd`).

    `labels`: their names. `bounds`: upper ends of a histogram's buckets, ascending; a last bucket has no end.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


class Sample(Struct, frozen=True, forbid_unknown_fields=True):
    """One series. `labels`: values, in the order of the family's names.

    `value` of a histogram or summary is the sum of `count` values. `buckets`: how many values fell into each bucket
    alone (not cumulative), the endless one last.
    """

    labels: tuple[str, ...] = ()
    value: float = 0.0
    count: int = 0
    buckets: tuple[int, ...] = ()


def flag(so: bool, *labels: str) -> Sample:
    return Sample(labels, 1.0 if so else 0.0)


class Metric(Struct, frozen=True, forbid_unknown_fields=True):
    """A family with its samples; none when nothing of the kind has happened yet."""

    family: Family
    samples: tuple[Sample, ...]
