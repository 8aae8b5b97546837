"""Metrics as text for Prometheus (exposition format 0.0.4), written by its own client library."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from acud.types import metrics as metric_types

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


def text(metrics: Sequence[metric_types.Metric]) -> str:
    """Return the daemon's `metrics` as the text that a scrape gets."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_FixedMetrics(metrics))
    return generate_latest(registry).decode("utf-8")


class _FixedMetrics(Collector):
    """The daemon's metrics, as a registry's collector; nothing of this process itself is added."""

    def __init__(self, metrics: Sequence[metric_types.Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return map(_make_family, self._metrics)


def _make_family(metric: metric_types.Metric) -> Metric:
    family, samples = metric.family, metric.samples
    match family.kind:
        case metric_types.Kind.COUNTER:
            counter = CounterMetricFamily(family.name, family.help, labels=family.labels)
            for sample in samples:
                counter.add_metric(sample.labels, sample.value)
            return counter
        case metric_types.Kind.GAUGE:
            gauge = GaugeMetricFamily(family.name, family.help, labels=family.labels)
            for sample in samples:
                gauge.add_metric(sample.labels, sample.value)
            return gauge
        case metric_types.Kind.SUMMARY:
            summary = SummaryMetricFamily(family.name, family.help, labels=family.labels)
            for sample in samples:
                summary.add_metric(sample.labels, sample.count, sample.value)
            return summary
        case metric_types.Kind.HISTOGRAM:
            histogram = HistogramMetricFamily(family.name, family.help, labels=family.labels)
            for sample in samples:
                histogram.add_metric(sample.labels, _list_buckets(family, sample), sample.value)
            return histogram


def _list_buckets(family: metric_types.Family, sample: metric_types.Sample) -> list[tuple[str, float]]:
    """Return (upper end, how many values are at most that), as the format counts: the lower buckets included."""
    ends = [*map(floatToGoString, family.bounds), "+Inf"]
    return list(zip(ends, map(float, itertools.accumulate(sample.buckets)), strict=True))
