"""The dashboard for Grafana asks for what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from acud.metrics.catalogue import BY_NAME
from acud.types.metrics import Kind

_DASHBOARD = json.loads((Path(__file__).parents[2] / "conf" / "grafana" / "acud.json").read_text(encoding="utf-8"))
_PANELS = [panel for panel in _DASHBOARD["panels"] if panel["type"] != "row"]
_SUFFIXES = {
    Kind.COUNTER: ("",),
    Kind.GAUGE: ("",),
    Kind.SUMMARY: ("_sum", "_count"),
    Kind.HISTOGRAM: ("_bucket", "_sum", "_count"),
}
_SERIES = {f"{name}{suffix}": family for name, family in BY_NAME.items() for suffix in _SUFFIXES[family.kind]}


def _queries(panel: dict[str, Any]) -> list[str]:
    return [target["expr"] for target in panel["targets"]]


@pytest.mark.parametrize("panel", _PANELS, ids=lambda panel: panel["title"])
def test_a_panel(panel: dict[str, Any]) -> None:
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert _queries(panel)
    for target in panel["targets"]:
        names = re.findall(r"acud_\w+", target["expr"])
        assert names
        assert set(names) <= _SERIES.keys()
        labels = {label for name in names for label in _SERIES[name].labels} | {"le"}
        grouped = re.findall(r"(?:by|on) \(([^)]*)\)", target["expr"])
        assert {label.strip() for group in grouped for label in group.split(",")} <= labels
        assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= labels


@pytest.mark.parametrize("panel", _PANELS, ids=lambda panel: panel["title"])
def test_only_what_grows_is_asked_for_its_rate(panel: dict[str, Any]) -> None:
    for query in _queries(panel):
        for name in re.findall(r"acud_\w+", query):
            grows = name.endswith(("_total", "_bucket", "_sum", "_count"))
            assert bool(re.search(rf"(?:rate|increase)\({name}\[", query)) is grows, query


def test_panels_do_not_lie_over_each_other() -> None:
    places = [panel["gridPos"] for panel in _DASHBOARD["panels"]]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in _DASHBOARD["panels"]}) == len(_DASHBOARD["panels"])
