"""The dashboard and the alert rules for Grafana ask for what there is, in the form that Grafana reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from acud.metrics.catalogue import BY_NAME
from acud.types.metrics import Kind

_FOLDER = Path(__file__).parents[2] / "conf" / "grafana"
_DASHBOARD = json.loads((_FOLDER / "acud.json").read_text(encoding="utf-8"))
_ALERTS = json.loads((_FOLDER / "acud-alerts.json").read_text(encoding="utf-8"))
_RULES = [rule for group in _ALERTS["groups"] for rule in group["rules"]]
_SCHEMA = json.loads(Path(__file__).with_name("grafana.schema.json").read_text(encoding="utf-8"))
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
        assert _named(target["expr"]) <= _labels(names)
        assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= _labels(names)


def _labels(names: list[str]) -> set[str]:
    """Return the labels of these series; `instance` is added by the scrape."""
    return {label for name in names for label in _SERIES[name].labels} | {"le", "instance"}


def _named(query: str) -> set[str]:
    """Return the labels by which a query groups or matches."""
    grouped = re.findall(r"(?:by|on) \(([^)]*)\)", query)
    return {label.strip() for group in grouped for label in group.split(",")}


@pytest.mark.parametrize("panel", _PANELS, ids=lambda panel: panel["title"])
def test_each_series_is_of_the_instances_and_displays_that_are_chosen(panel: dict[str, Any]) -> None:
    for query in _queries(panel):
        for name, given in re.findall(r"(acud_\w+)(\{[^}]*\})?", query):
            assert 'instance=~"$instance"' in given
            assert ('display=~"$display"' in given) is ("display" in _SERIES[name].labels)


def test_the_variables_ask_for_series_that_have_the_label() -> None:
    queries = {one["name"]: one["query"] for one in _DASHBOARD["templating"]["list"] if one["type"] == "query"}
    assert list(queries) == ["instance", "display"]
    for name, query in queries.items():
        series, label = re.fullmatch(r"label_values\((acud_\w+)[^,]*, (\w+)\)", query["query"]).groups()  # type: ignore[union-attr]
        assert label == name
        assert label in _labels([series])


@pytest.mark.parametrize(("part", "found"), [("dashboard", _DASHBOARD), ("alerts", _ALERTS)])
def test_the_files_have_the_form_that_grafana_reads(part: str, found: Any) -> None:
    schema = {"$ref": f"#/$defs/{part}", **_SCHEMA}
    Draft202012Validator.check_schema(schema)
    assert [fault.message for fault in Draft202012Validator(schema).iter_errors(found)] == []
    assert list(Draft202012Validator(schema).iter_errors({**found, "unheard": 1}))


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule["uid"])
def test_an_alert_rule(rule: dict[str, Any]) -> None:
    value, above = rule["data"]
    assert (rule["condition"], above["model"]["expression"]) == (above["refId"], value["refId"])
    assert all(one["refId"] == one["model"]["refId"] for one in rule["data"])
    names = re.findall(r"acud_\w+", value["model"]["expr"])
    assert names
    assert set(names) <= _SERIES.keys()
    assert _named(value["model"]["expr"]) <= _labels(names)
    assert "$" not in value["model"]["expr"]  # no variable of the dashboard is known to a rule
    if "panelId" not in rule:
        return
    shown = next(one for one in _PANELS if one["id"] == rule["panelId"])
    assert rule["dashboardUid"] == _DASHBOARD["uid"]
    assert set(re.findall(r"acud_\w+", " ".join(_queries(shown)))) & set(names) or "absent" in value["model"]["expr"]


def test_no_two_rules_have_one_name() -> None:
    for field in ("uid", "title"):
        assert len({rule[field] for rule in _RULES}) == len(_RULES)


@pytest.mark.parametrize("panel", _PANELS, ids=lambda panel: panel["title"])
def test_only_what_grows_is_asked_for_its_rate(panel: dict[str, Any]) -> None:
    _check_rates(_queries(panel))


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule["uid"])
def test_a_rule_asks_only_what_grows_for_its_rate(rule: dict[str, Any]) -> None:
    _check_rates([rule["data"][0]["model"]["expr"]])


def _check_rates(queries: list[str]) -> None:
    for query in queries:
        for name in re.findall(r"acud_\w+", query):
            grows = name.endswith(("_total", "_bucket", "_sum", "_count"))
            assert bool(re.search(rf"(?:rate|increase)\({name}(?:\{{[^}}]*\}})?\[", query)) is grows, query


def test_panels_do_not_lie_over_each_other() -> None:
    places = [panel["gridPos"] for panel in _DASHBOARD["panels"]]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in _DASHBOARD["panels"]}) == len(_DASHBOARD["panels"])
