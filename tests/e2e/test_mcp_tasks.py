"""Every task tool, called by the official client over stdio in both eras, on a task with a display of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client import Client

from acud.base.errors import NotFound
from acud.types import WaitState
from tests.e2e.mcp_support import fault, stdio, value
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.asyncio

SMALL = {"display_width": 320, "display_height": 240}
NEVER = {"window": "nowhere to be seen", "timeout": 3000}


class Tools:
    """The tools of one client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return value(await self._client.call_tool(tool, arguments))

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Return the one line of an error."""
        return fault(await self._client.call_tool(tool, arguments))


@pytest.fixture
def connect(daemon: Daemon) -> Any:
    """What makes the tools of a connected client."""

    @asynccontextmanager
    async def connected() -> AsyncIterator[Tools]:
        async with stdio(daemon.home, "--caps", "core,tasks", mode="auto") as client:
            yield Tools(client)

    return connected


@pytest.fixture(autouse=True)
def _nothing_is_left(daemon: Daemon) -> Any:
    yield
    for view in daemon.client.task_list(ended=True, limit=200).tasks:
        daemon.client.task_delete(view.task.task_id)


async def test_a_task_from_first_to_last(connect: Any, daemon: Daemon) -> None:
    async with connect() as tool:
        made = await tool("task_register", name="Book a flight", plan=["open", "pay"], metadata={"ticket": 7}, **SMALL)
        task = made["view"]["task"]
        task_id = task["task_id"]
        assert task["metadata"] == {
            "ticket": 7,
            "display": task["display"],
            "display_num": int(task["display"][1:]),
            "display_resolution": "320x240",
        }

        begun = await tool("task_item_update", task_id=task_id, item=1, status="active", note="begun")
        assert [item["status"] for item in begun["view"]["items"]] == ["active", "pending"]
        looked = await tool("desktop_look", task_id=task_id)
        assert (looked["display"], looked["width"], looked["height"]) == (task["display"], 320, 240)
        wait = await tool("smart_wait", task_id=task_id, **NEVER)
        assert wait["target"] == f"display:{task['display']}"

        action = {"action_type": "gui", "summary": "clicked Pay", "input_data": {"x": None}, "duration_ms": "12"}
        logged = await tool("task_log_action", task_id=task_id, item=2, **action)
        assert logged["action"]["duration_ms"] == 12
        assert (logged["action"]["item"], logged["action"]["input_data"]) == (2, {"x": None})
        more = await tool("task_plan_append", task_id=task_id, items=["print"], note="a ticket on paper")
        assert [item["title"] for item in more["view"]["items"]] == ["open", "pay", "print"]

        summary = await tool("task_summary", task_id=task_id, detail_level="actions")
        assert (summary["status"], summary["view"]) == ("active", None)
        assert "clicked Pay" in summary["summary"]
        assert "never instructions" in summary["untrusted"]
        assert len((await tool("task_summary", task_id=task_id, as_data=True))["view"]["items"]) == 3
        short = await tool("task_summary", task_id=task_id, detail_level="full", max_tokens=60)
        assert short["tokens"] <= 60
        assert short["left_out"]
        item = await tool("task_drill_down", task_id=task_id, item=1)
        assert [one["action"]["action_type"] for one in item["actions"]] == ["vision", "wait"]
        assert item["actions"][1]["action"]["subject"] == wait["wait_id"]
        thread = await tool("task_thread", task_id=task_id)
        assert thread["total"] == len(thread["messages"]) == 2
        assert [one["task"]["task_id"] for one in (await tool("task_list"))["tasks"]] == [task_id]
        asked = await tool("task_update", task_id=task_id, query="how far is it?")
        assert asked["answer"]

        done = await tool("task_update", task_id=task_id, message="booked", status="completed")
        assert done["view"]["task"]["status"] == "completed"
        assert daemon.client.wait_show(wait["wait_id"]).wait.state is WaitState.CANCELLED
        assert await tool("task_list") == {"tasks": [], "total": 0}
        assert (await tool("task_list", ended=True))["total"] == 1
        assert (await tool("task_list", statuses=["completed"]))["total"] == 1


async def test_what_can_be_mended_is_one_line_with_the_next_step(connect: Any, daemon: Daemon) -> None:
    async with connect() as tool:
        made = await tool("task_register", name="t", plan=["one"], isolated_display=False)
        task_id = made["view"]["task"]["task_id"]
        assert "name" in await tool.refused("task_register", name="")
        assert "name" in await tool.refused("task_register")
        assert "give message, query, status or budget" in await tool.refused("task_update", task_id=task_id)
        assert "status" in await tool.refused("task_update", task_id=task_id, status="nope")
        assert "items are" in await tool.refused("task_item_update", task_id=task_id, item=7, status="active")
        assert "items are 1 to 1" in await tool.refused("task_drill_down", task_id=task_id, item=7)
        zero = await tool.refused("task_item_update", task_id=task_id, item=0, status="active")
        assert "item must be between 1 and 100000" in zero
        former = await tool.refused("task_item_update", task_id=task_id, ordinal=1, status="active")
        assert "no argument 'ordinal'" in former
        assert "arguments: task_id, item," in former
        assert "items" in await tool.refused("task_plan_append", task_id=task_id, items=[])
        assert "action_type" in await tool.refused("task_log_action", task_id=task_id, action_type="fly", summary="x")
        assert "max_tokens" in await tool.refused("task_summary", task_id=task_id, max_tokens=1)
        assert "limit" in await tool.refused("task_thread", task_id=task_id, limit=0)
        assert "statuses" in await tool.refused("task_list", statuses=["nope"])
        for name in ("task_summary", "task_thread"):
            for unknown in ("none", "../../etc/passwd"):
                assert "task_list" in await tool.refused(name, task_id=unknown)
        await tool("task_update", task_id=task_id, status="failed")
        assert "cannot become active" in await tool.refused("task_update", task_id=task_id, status="active")
        assert "task_register" in await tool.refused("task_item_update", task_id=task_id, item=1, status="active")
        assert "task_register" in await tool.refused("smart_wait", task_id=task_id, **NEVER)
        with pytest.raises(NotFound):
            daemon.client.task_summary("none")


async def test_pausing_lets_deadlines_run_on(connect: Any) -> None:
    async with connect() as tool:
        made = await tool("task_register", name="t", isolated_display=True, **SMALL)
        task_id = made["view"]["task"]["task_id"]
        wait = await tool("smart_wait", task_id=task_id, **(NEVER | {"timeout": 1}))
        await tool("task_update", task_id=task_id, status="paused")
        ended = await tool("wait_result", wait_id=wait["wait_id"], block=30)
        assert ended["status"] == "timeout"
        resumed = await tool("task_update", task_id=task_id, status="active")
        assert resumed["view"]["task"]["status"] == "active"
