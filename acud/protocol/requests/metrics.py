"""`metrics`: what the daemon measures."""

from __future__ import annotations

from msgspec import Struct

from acud.metrics.nouns import Metric
from acud.protocol.requests.spec import RequestSpec


class Metrics(Struct, frozen=True, tag="metrics", forbid_unknown_fields=True):
    """Ask for every figure that the daemon measures; docs/metrics.md lists them. `acud metrics` prints them as text."""


class MetricsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Every family with its samples as of now."""

    metrics: tuple[Metric, ...]


SPEC = RequestSpec(Metrics, MetricsReply)
