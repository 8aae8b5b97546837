"""`acud daemon start` and its children: it waits for them, within a bound, and names who is late."""

from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from acud.protocol.requests.daemon import ChildStatus, StatusReply
from acud.types import DisplayState
from acud_cli.daemon_process import await_children, list_unready
from tests.unit.clients.test_top import DISPLAYS, reading


def answers(*states: str) -> tuple[Any, StatusReply]:
    """Return a client whose daemon has one evaluator in these states, one a question, and its first status."""
    up = tuple(replace(one, state=DisplayState.UP) for one in DISPLAYS)
    status = replace(reading().status, displays=up)
    told = [replace(status, children=(ChildStatus("1", "evaluator", state, 7, 0, reason="x"),)) for state in states]
    left = iter(told[1:])
    return SimpleNamespace(status=lambda: next(left, told[-1])), told[0]


def test_a_start_waits_for_its_children() -> None:
    client, first = answers("starting", "starting", "backoff", "starting", "ready")
    assert list_unready(await_children(client, first)) == []


def test_a_start_that_takes_too_long_names_what_is_late() -> None:
    client, first = answers("starting", "backoff")
    assert list_unready(await_children(client, first, within_s=0.2)) == ["evaluator 1 (backoff: x)"]


def test_a_child_that_is_given_up_is_not_waited_for() -> None:
    client, first = answers("failed")
    assert await_children(client, first) is first
