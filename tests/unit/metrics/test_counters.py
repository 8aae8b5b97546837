"""Counters and histograms."""

from hypothesis import given, settings
from hypothesis import strategies as some

from acud.metrics.counters import Histogram, Histograms, Summaries, Tally, Totals
from acud.types.metrics import Sample


def test_a_tally_counts_by_labels() -> None:
    tally = Tally()
    tally.add("a", "x")
    tally.add("a", "x", amount=2)
    tally.add("b", "x")
    assert list(tally.samples()) == [Sample(("a", "x"), 3), Sample(("b", "x"), 1)]
    assert (tally.of("a", "x"), tally.of("never")) == (3, 0)


def test_an_end_of_a_bucket_belongs_to_it() -> None:
    histogram = Histogram((1.0, 10.0))
    for value in (0.5, 1.0, 1.1, 10.0, 11.0):
        histogram.observe(value)
    assert histogram.sample("d") == Sample(("d",), 23.6, 5, (2, 2, 1))


def test_a_negative_value_counts_as_zero() -> None:
    histogram = Histogram((1.0,))
    histogram.observe(-3.0)
    assert histogram.sample() == Sample((), 0.0, 1, (1, 0))


@settings(deadline=None)
@given(some.lists(some.floats(0, 100), max_size=50))
def test_no_value_is_lost(values: list[float]) -> None:
    histogram = Histogram((0.1, 1.0, 10.0))
    for value in values:
        histogram.observe(value)
    sample = histogram.sample()
    assert sum(sample.buckets) == sample.count == len(values)
    assert abs(sample.value - sum(values)) < 1e-6
    assert sum(sample.buckets[:2]) == sum(value <= 1.0 for value in values)


def test_histograms_and_summaries_by_labels() -> None:
    histograms, summaries = Histograms((1.0,)), Summaries()
    for value, name in ((0.5, "a"), (2.0, "a"), (0.25, "b")):
        histograms.observe(value, name)
        summaries.observe(value, name)
    assert list(histograms.samples()) == [Sample(("a",), 2.5, 2, (1, 1)), Sample(("b",), 0.25, 1, (1, 0))]
    assert list(summaries.samples()) == [Sample(("a",), 2.5, 2), Sample(("b",), 0.25, 1)]


def test_totals_go_on_over_restarts() -> None:
    totals = Totals()
    totals.restart()
    totals.note_counters({"grabs": 3.0})
    totals.note_counters({"grabs": 5.0, "fps": 2.0})
    totals.restart()
    assert (totals.of("grabs"), totals.newest("fps")) == (5.0, 0)
    totals.note_counters({"grabs": 1.0})
    assert (totals.of("grabs"), totals.of("never")) == (6.0, 0)
