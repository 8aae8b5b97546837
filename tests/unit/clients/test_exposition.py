"""The text for Prometheus, read back by Prometheus' own parser."""

from prometheus_client.parser import text_string_to_metric_families

from acud.types.metrics import Family, Kind, Metric, Sample
from acud_client.exposition import text


def _read(metric: Metric) -> dict[tuple[str, ...], float]:
    (family,) = text_string_to_metric_families(text([metric]))
    assert (family.type, family.documentation) == (metric.family.kind.value, metric.family.help)
    return {(one.name, *one.labels.values()): one.value for one in family.samples}


def test_a_counter() -> None:
    family = Family("acud_frames_total", Kind.COUNTER, "Frames.", ("display",))
    samples = (Sample((":1",), 3), Sample((":2",), 0))
    assert _read(Metric(family, samples)) == {("acud_frames_total", ":1"): 3, ("acud_frames_total", ":2"): 0}


def test_a_gauge_with_odd_label_values() -> None:
    family = Family("acud_wakes", Kind.GAUGE, 'Words with "quotes"\nand \\ more.', ("state",))
    odd = 'a"b\\c\nd'
    assert _read(Metric(family, (Sample((odd,), 1.5),))) == {("acud_wakes", odd): 1.5}


def test_a_histogram_counts_the_lower_buckets_too() -> None:
    family = Family("acud_turn_seconds", Kind.HISTOGRAM, "Turns.", ("display",), (0.001, 1.0))
    read = _read(Metric(family, (Sample((":1",), 4.5, 6, (3, 2, 1)),)))
    assert read == {
        ("acud_turn_seconds_bucket", ":1", "0.001"): 3,
        ("acud_turn_seconds_bucket", ":1", "1.0"): 5,
        ("acud_turn_seconds_bucket", ":1", "+Inf"): 6,
        ("acud_turn_seconds_count", ":1"): 6,
        ("acud_turn_seconds_sum", ":1"): 4.5,
    }


def test_a_summary() -> None:
    family = Family("acud_request_seconds", Kind.SUMMARY, "Requests.", ("request",))
    read = _read(Metric(family, (Sample(("status",), 0.5, 2),)))
    assert read == {("acud_request_seconds_count", "status"): 2, ("acud_request_seconds_sum", "status"): 0.5}


def test_a_family_without_samples_is_told_of() -> None:
    assert _read(Metric(Family("acud_wakes", Kind.GAUGE, "Wakes."), ())) == {}
