"""What smart_wait says comes next: woken where a route is set, else how the result is got."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.types import RouteName, Target, WaitInfo, WaitSpec, WaitState, unknown
from acud_mcp.wait_tools import SmartWait, smart_wait


class Asked:
    """A daemon that arms whatever it is asked for, with these wake routes."""

    def __init__(self, *routes: RouteName) -> None:
        self._routes = routes

    async def ask(self, request: WaitCreate) -> WaitReply:
        """Arm."""
        spec = WaitSpec(request.until, Target(), request.timeout_s or 0.0)
        info = WaitInfo(
            "wait-1", WaitState.WATCHING, spec, ":1", 0.0, 0.0, 0.0, unknown("not_judged", "not judged yet")
        )
        return WaitReply(info, (), self._routes)


@pytest.mark.parametrize(
    ("routes", "told"), [((RouteName.COMMAND,), "you are woken once"), ((), "no wake will come (no wake route is set)")]
)
def test_next_says_how_the_result_comes(routes: tuple[RouteName, ...], told: str) -> None:
    asked: Any = Asked(*routes)
    given = SmartWait(criteria="x", timeout=0)
    view = asyncio.run(smart_wait(asked, given))
    assert view.next.startswith(told)
    assert "wait_result" in view.next
