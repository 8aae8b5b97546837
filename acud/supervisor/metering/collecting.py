"""Every figure at one moment, family by family."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from acud.metrics.catalogue import BY_NAME
from acud.metrics.nouns import Metric, Sample
from acud.supervisor.metering import watching, working

if TYPE_CHECKING:
    from acud.supervisor.app import App

_PARTS = (
    working.daemon,
    watching.displays,
    working.judges,
    watching.waits,
    watching.wakes,
    working.children,
    working.pool,
    working.store,
    working.recordings,
    working.requests,
)


def collect(app: App) -> tuple[Metric, ...]:
    """Return every family of the catalogue with its samples, in its order."""
    found: defaultdict[str, list[Sample]] = defaultdict(list)
    for part in _PARTS:
        for name, sample in part(app):
            found[BY_NAME[name].name].append(sample)
    return tuple(Metric(family, tuple(found[family.name])) for family in BY_NAME.values())
