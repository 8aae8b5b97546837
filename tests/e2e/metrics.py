"""The figures of a daemon as a scrape gets them, read by Prometheus' own parser."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from acud.metrics.catalogue import BY_NAME
from acud_client.exposition import text
from tests.fixtures.daemon import Daemon

Labels = frozenset[tuple[str, str]]


class Scrape:
    """The samples of one moment."""

    def __init__(self, exposition: str) -> None:
        self._values: dict[str, dict[Labels, float]] = {}
        self.names: set[str] = set()
        for family in text_string_to_metric_families(exposition):
            name = family.name + ("_total" if family.type == "counter" else "")
            assert (family.type, family.documentation) == (BY_NAME[name].kind.value, BY_NAME[name].help)
            self.names.add(name)
            for one in family.samples:
                self._values.setdefault(one.name, {})[frozenset(one.labels.items())] = one.value

    def of(self, series: str, /, **labels: str) -> float:
        """Return the value of a series; 0 for one that is not there, as nothing of the kind happened."""
        return self._values.get(series, {}).get(frozenset(labels.items()), 0.0)

    def has(self, series: str, /, **labels: str) -> bool:
        """Tell whether there is such a series."""
        return frozenset(labels.items()) in self._values.get(series, {})

    def labels(self, label: str) -> set[str]:
        """Return every value of `label` in any series."""
        return {dict(found)[label] for series in self._values.values() for found in series if label in dict(found)}

    def counters(self) -> dict[tuple[str, Labels], float]:
        """Return every series that may only grow."""
        growing = ("_total", "_count", "_sum", "_bucket")
        named = [(name, series) for name, series in self._values.items() if name.endswith(growing)]
        return {(name, labels): value for name, series in named for labels, value in series.items()}


def scrape(daemon: Daemon) -> Scrape:
    """Return the daemon's figures as of now."""
    return Scrape(text(daemon.client.metrics().metrics))
