"""Every request has one declaration, one handler and a documented type; nobody else keeps a list of requests."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest

from acud.features.supervisors import FEATURES
from acud.protocol import requests
from acud.protocol.requests import BY_NAME, REQUESTS
from acud.protocol.requests.command import FleetRoute
from acud.protocol.requests.daemon import Status
from acud.supervisor.control import handles
from acud.supervisor.handlers import HANDLERS
from acud_fleet.merged_replies import MERGERS
from acud_fleet.request_router import OWN
from scripts.house import nodes_of
from tests.contract.test_house import ROOT

for feature in FEATURES:
    importlib.import_module(feature.module)


def test_a_request_is_handled_in_the_feature_that_it_names() -> None:
    for name, handler in HANDLERS.items():
        feature = BY_NAME[name].feature
        home = f"acud.features.{feature}.supervisor" if feature else "acud.supervisor.handlers"
        assert handler.__module__.startswith(home), name


def test_every_request_has_exactly_one_handler() -> None:
    assert HANDLERS.keys() == BY_NAME.keys()
    with pytest.raises(ValueError, match="status has two handlers"):
        handles(Status)(HANDLERS["status"])


def test_a_request_is_declared_in_the_file_that_holds_its_type() -> None:
    for noun in pkgutil.iter_modules(requests.__path__, f"{requests.__name__}."):
        for command in getattr(importlib.import_module(noun.name), "COMMANDS", ()):
            assert command.request.__module__ == noun.name


def test_every_request_and_reply_is_documented() -> None:
    for spec in REQUESTS:
        assert spec.request.__doc__
        assert spec.reply.__doc__


def test_a_handler_takes_its_request() -> None:
    for name, handler in HANDLERS.items():
        assert handler.__annotations__["request"] == BY_NAME[name].request.__name__


def _of(route: FleetRoute) -> set[str]:
    return {command.name for command in REQUESTS if command.fleet is route}


def test_the_fleet_answers_as_declared() -> None:
    assert MERGERS.keys() == _of(FleetRoute.ALL)
    assert OWN.keys() == _of(FleetRoute.ENDPOINT) - {"shutdown", "events_since"}  # the endpoint itself and its events


# ---- no list of requests but the declarations ----

MANY = 3
DECLARATIONS = ("acud/protocol/requests/", "clients/acud_client/request_methods.py")
COMMANDS_OF_THE_CLI = ("clients/acud_cli/app.py", "clients/acud_mcp/next_steps.py")
"""Names the groups of commands, some of which are called as a request is; they load late, so nothing lists them."""


def names_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, set[str]]]:
    """Find each list, set, dict, union and match, with the requests that it names by their tag or their class."""
    for node in nodes:
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                yield node.lineno, _named(parts)
            case ast.Dict(keys=keys, values=values):
                yield node.lineno, _named([key for key in keys if key is not None])
                yield node.lineno, _named(values)
            case ast.Match(cases=cases):
                patterns = [case.pattern for case in cases]
                yield node.lineno, _named([inner for one in patterns for inner in ast.walk(one)])
            case ast.BinOp(op=ast.BitOr()):
                yield node.lineno, _named(ast.walk(node))


CLASSES = {command.request.__name__: command.name for command in REQUESTS}


def _named(parts: Iterable[ast.AST]) -> set[str]:
    found = set()
    for part in parts:
        match part:
            case ast.Constant(value=str(word)) if word in BY_NAME:
                found.add(word)
            case ast.Name(id=word) | ast.Attribute(attr=word) if word in CLASSES:
                found.add(CLASSES[word])
    return found


def test_no_module_keeps_a_list_of_requests() -> None:
    kept = [
        f"{path.relative_to(ROOT)}:{line}: {', '.join(sorted(names))}"
        for part in ("acud", "clients", "scripts")
        for path in sorted((ROOT / part).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith((*DECLARATIONS, *COMMANDS_OF_THE_CLI))
        for line, names in names_in(nodes_of(path))
        if len(names) >= MANY
    ]
    assert kept == []


@pytest.mark.parametrize("source", [
    "['look', 'status', 'wait_list']", "{Look: 1, Status: 2, WaitList: 3}", "isinstance(x, Look | Status | WaitList)",
    "match x:\n case Look(): pass\n case Status(): pass\n case WaitList(): pass",
])  # fmt: skip
def test_what_a_list_of_requests_is(source: str) -> None:
    assert {"look", "status", "wait_list"} in [names for _, names in names_in(ast.walk(ast.parse(source)))]


def _patterns(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node
        for inner in node.values():
            yield from _patterns(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _patterns(inner)


def test_a_text_of_a_form_says_which() -> None:
    """Else an error could only show a regular expression."""
    _, components = msgspec.json.schema_components([spec.request for spec in REQUESTS])
    found = list(_patterns(components))
    assert found
    assert [node["pattern"] for node in found if "description" not in node] == []
