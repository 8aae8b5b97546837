"""Waits as MCP task handles (SEP-2663): the official client with and without the extension, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Literal

import pytest
from mcp import types
from mcp.client import ClaimContext, Client, ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError

from acud.types import DisplayInfo, Rect, Text, WaitState, WakeState
from tests.e2e.desktop import Desk, emptied, until
from tests.e2e.mcp_support import HttpServer, fault, stdio, value
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.asyncio

EXTENSION = "io.modelcontextprotocol/tasks"
OFF = "--no-tasks-extension"
NEVER = {"text": "the moon is made of cheese", "timeout": 3000}


class Ack(types.Result):
    """An acknowledgement."""

    result_type: Literal["complete"]


class Task(types.Result):
    """A task as the specification draws it."""

    result_type: Literal["task", "complete"] = "complete"
    task_id: str
    status: Literal["working", "input_required", "completed", "cancelled", "failed"]
    status_message: str | None = None
    created_at: datetime
    last_updated_at: datetime
    ttl_ms: int | None
    poll_interval_ms: int
    result: dict[str, Any] | None = None


class Handle(Task):
    """What `tools/call` answers in place of its result."""

    result_type: Literal["task"] = "task"


class Ask(types.Request[types.RequestParams, str]):
    """A request of the extension; over HTTP its task's id goes into the header that routers read."""

    params: Any
    name_param = "taskId"


async def ask(session: Any, method: str, task_id: str, **more: Any) -> Any:
    """Return a `Task` for `get`, an `Ack` for the others."""
    asked = Ask(method=f"tasks/{method}", params={"taskId": task_id, **more})
    return await session.send_request(asked, Task if method == "get" else Ack)


class TasksExtension(ClientExtension):
    """The client's side: it asks for the task until that has ended. `taken`: called with each handle before."""

    identifier = EXTENSION

    def __init__(self, taken: Callable[[Handle], object] = lambda _: None) -> None:
        self.handles: list[Handle] = []
        self._taken = taken

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Take handles from `tools/call`."""
        return [ResultClaim(result_type="task", model=Handle, resolve=self._resolve)]

    async def _resolve(self, handle: Handle, context: ClaimContext) -> types.CallToolResult:
        self.handles.append(handle)
        self._taken(handle)
        task = await ask(context.session, "get", handle.task_id)
        while task.status == "working":
            await asyncio.sleep(0.1)
            task = await ask(context.session, "get", handle.task_id)
        assert task.result_type == "complete"
        assert task.result is not None
        return types.CallToolResult.model_validate(task.result)


@pytest.fixture(scope="module")
def http(daemon: Daemon) -> Iterator[HttpServer]:
    with HttpServer(daemon.home) as server:
        yield server


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, daemon: Daemon, http: HttpServer, display: DisplayInfo) -> Any:
    """What makes a client of a server that has the extension."""

    @asynccontextmanager
    async def connected(mode: str = "auto", **given: Any) -> AsyncIterator[Client]:
        over_http = request.param == "http"
        link = http.client(mode, **given) if over_http else stdio(daemon.home, mode=mode, **given)
        async with link as client:
            yield client

    return connected


async def armed(client: Client) -> Handle:
    """Arm a wait that nothing ends and return its handle."""
    handle = await client.session.call_tool("smart_wait", NEVER, allow_claimed=True)
    assert isinstance(handle, Handle)
    return handle


async def test_a_handle_becomes_the_result(connect: Any, daemon: Daemon, display: DisplayInfo) -> None:
    emptied(daemon.client, display.name)
    with Desk(display.name, display.auth_file) as desk:
        extension = TasksExtension(lambda _: desk.window(Rect(0, 0, 64, 64), title="Ready"))
        async with connect(extensions=[extension]) as client:
            assert client.server_capabilities.extensions == {EXTENSION: {}}
            done = value(await client.call_tool("smart_wait", {"window": "Ready"}))
            assert (done["status"], done["answer"]) == ("resolved", "yes")
            assert "untrusted" in done
            value(await client.call_tool("wait_status", {}))
            assert "nothing to wait for" in fault(await client.call_tool("smart_wait", {}))
    (handle,) = extension.handles
    assert handle.task_id == done["wait_id"]
    assert handle.status == "working"
    assert handle.ttl_ms is None
    assert daemon.client.wait_show(handle.task_id).wait.state is WaitState.RESOLVED
    (wake,) = daemon.client.wake_list(seen=True, wait_id=handle.task_id).wakes
    assert wake.state is WakeState.SEEN


async def test_a_time_that_ran_out_is_a_result(connect: Any) -> None:
    async with connect(extensions=[TasksExtension()]) as client:
        assert value(await client.call_tool("smart_wait", NEVER | {"timeout": 0.3}))["status"] == "timeout"


async def test_only_its_cancel_ends_a_task(connect: Any, daemon: Daemon) -> None:
    async with connect(extensions=[TasksExtension()]) as client:
        handle = await armed(client)
    assert daemon.client.wait_show(handle.task_id).wait.state is WaitState.WATCHING
    async with connect(extensions=[TasksExtension()]) as client:
        working = await ask(client.session, "get", handle.task_id)
        assert (working.task_id, working.status, working.result) == (handle.task_id, "working", None)
        await ask(client.session, "update", handle.task_id, inputResponses={})
        for _ in range(2):  # an end that is there already is acknowledged too
            await ask(client.session, "cancel", handle.task_id)
        cancelled = await ask(client.session, "get", handle.task_id)
        assert (cancelled.status, cancelled.result) == ("cancelled", None)
        assert cancelled.last_updated_at >= cancelled.created_at
    assert daemon.client.wait_show(handle.task_id).wait.state is WaitState.CANCELLED


@pytest.mark.parametrize("method", ["get", "update", "cancel"])
async def test_an_unknown_task_is_an_error_of_the_protocol(connect: Any, method: str) -> None:
    async with connect(extensions=[TasksExtension()]) as client:
        for task_id in ("wait-none", "../x", "x" * 500):
            with pytest.raises(MCPError) as refused:
                await ask(client.session, method, task_id)
            assert refused.value.code == types.INVALID_PARAMS


async def test_a_client_that_did_not_declare_it_gets_no_handle(connect: Any, daemon: Daemon) -> None:
    async with connect() as client:
        told = value(await client.call_tool("smart_wait", NEVER))
        assert told["status"] == "watching"
        for method in ("get", "update", "cancel"):
            with pytest.raises(MCPError) as refused:
                await ask(client.session, method, told["wait_id"])
            assert refused.value.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
            assert refused.value.data == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    assert daemon.client.wait_show(told["wait_id"]).wait.state is WaitState.WATCHING


async def test_a_client_that_listens_is_told_of_the_end(daemon: Daemon, display: DisplayInfo) -> None:
    declared = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}}}
    named = {"io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", **declared, **named}
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "acud_cli", "mcp"),
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "ACU_HOME": str(daemon.home)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert host.stdin is not None
    assert host.stdout is not None
    waits = [daemon.client.wait_create(Text("never seen")).wait.wait_id for _ in range(2)]
    listen = {"notifications": {"taskIds": [waits[0], "wait-none", waits[1]]}, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": listen}
    host.stdin.write(json.dumps(asked).encode() + b"\n")
    begun = json.loads(await host.stdout.readline())
    assert begun["method"] == "notifications/subscriptions/acknowledged"
    assert begun["params"]["notifications"] == {"taskIds": waits}
    daemon.client.wait_cancel(waits[0])
    daemon.client.wait_update(waits[1], timeout_s=0.1)
    told = [json.loads(await host.stdout.readline()) for _ in range(2)]
    assert {one["method"] for one in told} == {"notifications/tasks"}
    tasks = {one["params"]["taskId"]: Task.model_validate(one["params"]) for one in told}
    assert [tasks[one].status for one in waits] == ["cancelled", "completed"]
    assert tasks[waits[1]].result is not None
    assert tasks[waits[1]].result["structuredContent"]["status"] == "timeout"
    assert all(one["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 7} for one in told)

    def is_seen() -> bool:
        (wake,) = daemon.client.wake_list(seen=True, wait_id=waits[1]).wakes
        return wake.state is WakeState.SEEN

    until(is_seen, "its wake is not needed any more")
    host.stdin.close()
    assert await host.wait() == 0


async def test_an_older_protocol_has_no_handles(connect: Any) -> None:
    async with connect("legacy", extensions=[TasksExtension()]) as client:
        told = value(await client.call_tool("smart_wait", NEVER))
        with pytest.raises(MCPError) as refused:
            await ask(client.session, "get", told["wait_id"])
        assert refused.value.code == types.METHOD_NOT_FOUND


@pytest.mark.parametrize("arguments", [(OFF,), ("--read-only",)])
async def test_where_it_is_off_and_without_smart_wait_there_is_no_extension(
    daemon: Daemon, display: DisplayInfo, arguments: tuple[str, ...]
) -> None:
    async with stdio(daemon.home, *arguments, mode="auto", extensions=[TasksExtension()]) as client:
        assert not client.server_capabilities.extensions
        with pytest.raises(MCPError) as refused:
            await ask(client.session, "get", "wait-none")
        assert refused.value.code == types.METHOD_NOT_FOUND
        if arguments == (OFF,):
            assert value(await client.call_tool("smart_wait", NEVER))["status"] == "watching"


async def test_the_flag_has_a_twin_in_the_environment(daemon: Daemon) -> None:
    async with stdio(daemon.home, env={"ACU_MCP_TASKS_EXTENSION": "0"}, mode="auto") as client:
        assert not client.server_capabilities.extensions
