"""Every tool, called by the official client over stdio and HTTP, in both eras, against a real daemon."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import types
from mcp.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from PIL import Image

from acud.base.errors import Conflict
from acud.types import Budget, Criteria, DisplayInfo, Policy, Priority, Rect, Stable, WaitState, WakeState, WindowTitle
from acud_mcp.look_tools import MAX_IMAGE_BYTES
from tests.e2e.desktop import Desk
from tests.e2e.mcp_support import ERAS, HttpServer, fault, pictured, stdio, text, until, value
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.asyncio

NEVER = "the moon is made of cheese"
CORE = {
    "smart_wait", "wait_result", "wait_status", "wait_update", "wait_cancel", "wait_for_change", "desktop_look",
    "display_list", "health_check", "desktop_action", "gui_find", "gui_do",
    "commentary",
}  # fmt: skip
MEMORY = {"memory_search", "memory_read", "memory_append"}


def mode_of(path: str) -> int:
    return Path(path).stat().st_mode & 0o777


def content_of(path: str) -> bytes:
    return Path(path).read_bytes()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def http(daemon: Daemon) -> Iterator[HttpServer]:
    with HttpServer(daemon.home) as server:
        yield server


@pytest.fixture(params=[f"{way}-{era}" for way in ("stdio", "http") for era in ERAS])
def connect_each_way(request: pytest.FixtureRequest, daemon: Daemon, http: HttpServer, display: DisplayInfo) -> Any:
    """What makes a connected client, over each way in each era."""
    return _make_connect(*request.param.split("-"), daemon, http)


@pytest.fixture
def connect(daemon: Daemon, http: HttpServer, display: DisplayInfo) -> Any:
    """What makes a connected client, for what is the same over each way in each era."""
    return _make_connect("http", "auto", daemon, http)


def _make_connect(way: str, era: str, daemon: Daemon, http: HttpServer) -> Any:
    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        async with http.client(era) if way == "http" else stdio(daemon.home, mode=era) as client:
            assert (client.protocol_version == "2026-07-28") == (era == "auto")
            yield client

    return connected


async def test_a_wait_from_first_to_last(connect_each_way: Any) -> None:
    async with connect_each_way() as client:
        armed = value(
            await client.call_tool("smart_wait", {"wake_when": NEVER, "timeout": 500, "target": "region:0,0,64,64"})
        )
        wait_id = armed["wait_id"]
        assert armed | {"status": "watching", "criteria": NEVER, "target": "region:0,0,64,64", "timeout": 500} == armed
        listed = value(await client.call_tool("wait_status", {}))
        assert wait_id in [wait["wait_id"] for wait in listed["waits"]]
        assert listed["count"] >= 1
        shown = value(await client.call_tool("wait_status", {"wait_id": wait_id}))
        assert 0 < shown["remaining_s"] <= 500
        changed = value(await client.call_tool("wait_update", {"wait_id": wait_id, "criteria": "x", "timeout": 700}))
        assert (changed["criteria"], changed["timeout"]) == ("x", 700)
        still = value(await client.call_tool("wait_result", {"wait_id": wait_id[:24], "block": 0}))
        assert still["status"] == "watching"
        assert "wait_result" in still["next"]
        gone = value(await client.call_tool("wait_cancel", {"wait_id": wait_id, "reason": "tried"}))
        assert gone["status"] == "cancelled"
        assert value(await client.call_tool("wait_result", {"wait_id": wait_id, "block": 45}))["status"] == "cancelled"
        assert "cancelled" in fault(await client.call_tool("wait_cancel", {"wait_id": wait_id}))


async def test_seeing(connect: Any, display: DisplayInfo) -> None:
    async with connect() as client:
        looked = value(await client.call_tool("desktop_look", {}))
        assert "untrusted" in looked
        with Image.open(looked["path"]) as picture:
            assert picture.size == (looked["width"], looked["height"]) == (320, 240)
        assert mode_of(looked["path"]) == 0o600
        shown = await client.call_tool("desktop_look", {"image": True, "format": "png", "max_side": 100})
        facts, image = pictured(shown)
        assert float(facts["scale"]) == pytest.approx(3.2, abs=0.01)
        assert base64.b64decode(image.data) == content_of(facts["path"])
        assert base64.b64decode(image.data).startswith(b"\x89PNG")
        assert len(image.data) < MAX_IMAGE_BYTES * 4 / 3
        asked = {"timeout": 0.2, "baseline": looked["baseline"]}
        unchanged = value(await client.call_tool("wait_for_change", asked))
        assert unchanged["changed"] is False
        assert mode_of(unchanged["picture"]["path"]) == 0o600
        displays = value(await client.call_tool("display_list", {}))
        assert displays["default"] == display.name
        assert [one["state"] for one in displays["displays"] if one["name"] == display.name] == ["up"]
        health = value(await client.call_tool("health_check", {}))
        assert health["status"] in {"ok", "warning", "fault"}
        assert health["parts"] >= len(health["findings"])


async def test_a_session_that_was_told_a_scene_is_told_what_changes(
    connect_each_way: Any, http: HttpServer, request: pytest.FixtureRequest
) -> None:
    async with connect_each_way() as client, http.client("auto") as other:
        await client.call_tool("scene", {})
        moved = {"action": "mouse_move", "x": 5, "y": 5}
        told = value(await client.call_tool("desktop_action", moved))
        untold = value(await other.call_tool("desktop_action", moved))
    has_session = not request.node.callspec.id.endswith("http-auto")
    assert ("scene" in told) is has_session
    assert "scene" not in untold, "another client's scene is not its own"


async def test_a_display_is_made_and_a_program_started_on_it_and_waited_for(daemon: Daemon, connect: Any) -> None:
    async with connect() as client:
        made = value(await client.call_tool("display_create", {"width": 400, "height": 300}))
        assert (made["state"], made["width"], made["height"]) == ("up", 400, 300)
        asked = {"action": "launch", "text": "xterm -T Console", "display": made["name"], "picture": False}
        done = value(await client.call_tool("desktop_action", asked | {"until": {"window": "Console"}, "timeout": 30}))
        assert "Console" in str(done)
        fault_words = fault(await client.call_tool("display_create", {"width": -1}))
        assert "width" in fault_words
    daemon.client.display_remove(made["name"], force=True)


async def test_the_lists(connect: Any) -> None:
    async with connect() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) >= CORE
        assert not set(listed) & MEMORY
        assert listed["wait_result"].meta == {"anthropic/alwaysLoad": True}
        assert client.server_capabilities.prompts is None
        assert "smart_wait" in (client.instructions or "")
        templates = (await client.list_resource_templates()).resource_templates
        assert "acud://wait/{id}" in [one.uri_template for one in templates]


async def test_what_can_be_mended_is_an_error_of_one_line(connect_each_way: Any) -> None:
    async with connect_each_way() as client:
        assert "nothing to wait for" in fault(await client.call_tool("smart_wait", {}))
        assert "no argument 'foo'" in fault(await client.call_tool("smart_wait", {"criteria": "x", "foo": 1}))
        assert "smart_wait" in fault(await client.call_tool("no_such_tool", {}))
        assert "no_such_wait" in fault(await client.call_tool("wait_result", {"wait_id": "no_such_wait"}))
        assert "target" in fault(await client.call_tool("smart_wait", {"criteria": "x", "target": "nonsense"}))
        assert "wait_cancel: wait_id is missing" in fault(await client.call_tool("wait_cancel", {}))


async def test_a_wait_is_a_resource(connect: Any, daemon: Daemon) -> None:
    wait = daemon.client.wait_create(Criteria(NEVER), timeout_s=3000).wait
    uri = f"acud://wait/{wait.wait_id}"
    async with connect() as client:
        assert uri in [str(one.uri) for one in (await client.list_resources()).resources]
        content = (await client.read_resource(uri)).contents[0]
        assert isinstance(content, types.TextResourceContents)
        assert NEVER in content.text
        for bad in ("acud://wait/none", "acud://wait/", "acud://wait/../x", "acud://else/1"):
            with pytest.raises(MCPError):
                await client.read_resource(bad)
    daemon.client.wait_cancel(wait.wait_id)


async def test_notes(daemon: Daemon, tmp_path: Path) -> None:
    async with stdio(daemon.home, env={"ACU_WORKSPACE": str(tmp_path)}) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= MEMORY
        assert value(await client.call_tool("memory_append", {"note": "the build needs ten minutes"}))["ok"]
        assert value(await client.call_tool("memory_read", {}))["content"] == "the build needs ten minutes"
        found = value(await client.call_tool("memory_search", {"query": "build minutes"}))["snippets"]
        assert found == [{"path": "MEMORY.md", "line": 1, "text": "the build needs ten minutes"}]
        assert "outside" in fault(await client.call_tool("memory_append", {"note": "x", "path": "../x.md"}))


async def test_a_result_comes_when_the_wait_ends_with_progress_before(daemon: Daemon, display: DisplayInfo) -> None:
    told: list[float] = []

    with Desk(display.name, display.auth_file) as desk:

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)
            desk.fill(Rect(0, 0, 64, 64), 0x336699)  # what it waits for

        patient = types.Implementation(name="claude-code", version="1")
        async with stdio(daemon.home, client_info=patient) as client:
            armed = value(await client.call_tool("smart_wait", {"change": True}))
            asked = {"wait_id": armed["wait_id"], "block": 45}
            done = value(await client.call_tool("wait_result", asked, progress_callback=hear))
    assert done["status"] == "resolved"
    assert done["answer"] == "yes"
    assert "untrusted" in done
    assert mode_of(done["evidence_path"]) == 0o600
    assert told == sorted(told)
    assert told


async def test_beyond_one_call_a_wait_goes_on(daemon: Daemon, display: DisplayInfo) -> None:
    from acud_mcp.sdk_server import build
    from acud_mcp.tool import Options

    async with Client(build(Options(daemon.paths, block_s=0.3)), mode="legacy") as client:
        left = value(await client.call_tool("wait_for_change", {"timeout": 60}))
        refused = fault(await client.call_tool("desktop_action", {"action": "wait", "duration": 1}))
    assert "at most 0.3 s" in refused
    assert left["changed"] is False
    wait = daemon.client.wait_show(left["wait_id"]).wait
    assert wait.state is WaitState.WATCHING
    assert wait.spec.timeout_s == pytest.approx(59.7)
    daemon.client.wait_cancel(wait.wait_id)


async def test_a_picture_in_an_answer_has_a_bound(
    daemon: Daemon, display: DisplayInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    from acud_mcp.sdk_server import build
    from acud_mcp.tool import Options

    monkeypatch.setattr("acud_mcp.look_tools.MAX_IMAGE_BYTES", 10)
    async with Client(build(Options(daemon.paths)), mode="legacy") as client:
        words = fault(await client.call_tool("desktop_look", {"image": True}))
        assert "without image" in words
        value(await client.call_tool("desktop_look", {}))


async def test_a_wait_has_a_budget_and_a_priority(connect: Any, daemon: Daemon, display: DisplayInfo) -> None:
    async with connect() as client:
        asked = {"criteria": NEVER, "timeout": 3000, "max_cost_usd": 0.25, "max_evaluations": "0", "priority": "low"}
        armed = value(await client.call_tool("smart_wait", asked))
        first = daemon.client.wait_show(armed["wait_id"]).wait.spec
        assert any("0 of 0 evaluations are spent" in note for note in armed["notes"])
        assert "max_cost_usd must be between 0 and 1000000" in fault(
            await client.call_tool("smart_wait", {"criteria": NEVER, "max_cost_usd": 1e9})
        )
        value(await client.call_tool("wait_update", {"wait_id": armed["wait_id"], "timeout": 50, "priority": "high"}))
        kept = daemon.client.wait_show(armed["wait_id"]).wait.spec
        assert (kept.timeout_s, kept.policy) == (50, Policy(priority=Priority.HIGH))
        assert first.policy == Policy(priority=Priority.LOW)
    assert kept.budget == Budget(0.25, 0)
    daemon.client.wait_cancel(armed["wait_id"])


@pytest.mark.parametrize(("name", "block_s"), [("claude-code", 45), ("Visual Studio Code", 45), ("mcp", 4), ("", 4)])
async def test_a_call_blocks_as_long_as_its_host_is_known_to_wait(
    daemon: Daemon, display: DisplayInfo, monkeypatch: pytest.MonkeyPatch, name: str, block_s: float
) -> None:
    from acud_mcp.sdk_server import build
    from acud_mcp.tool import Options
    from acud_mcp.tool_calls import DaemonCall

    asked: list[float] = []

    async def ask_slowly(call: DaemonCall, request: Any, seconds: float) -> Any:
        asked.append(seconds)
        return await call.ask(msgspec.structs.replace(request, block_s=0))

    monkeypatch.setattr(DaemonCall, "ask_slowly", ask_slowly)
    wait = daemon.client.wait_create(Criteria(NEVER), timeout_s=3000).wait
    info = types.Implementation(name=name, version="1")
    async with Client(build(Options(daemon.paths)), mode="legacy", client_info=info) as client:
        await client.call_tool("wait_result", {"wait_id": wait.wait_id, "block": 100})
    assert asked == [block_s]
    daemon.client.wait_cancel(wait.wait_id)


# ---- being left ----


async def test_a_cancelled_call_cancels_no_wait(connect_each_way: Any, daemon: Daemon) -> None:
    async with connect_each_way() as client:
        armed = value(await client.call_tool("smart_wait", {"criteria": NEVER, "timeout": 3000}))
        asked = {"wait_id": armed["wait_id"], "block": 45}
        with pytest.raises((MCPError, TimeoutError)):
            await client.call_tool("wait_result", asked, read_timeout_seconds=0.3)
        assert value(await client.call_tool("wait_status", {"wait_id": armed["wait_id"]}))["status"] == "watching"
    assert daemon.client.wait_show(armed["wait_id"]).wait.state is WaitState.WATCHING
    daemon.client.wait_cancel(armed["wait_id"])


@pytest.mark.parametrize("tool", ["wait_status", "wait_cancel"])
async def test_an_agent_that_names_a_wait_that_ended_is_not_reminded(
    daemon: Daemon, display: DisplayInfo, connect: Any, tool: str
) -> None:
    wait = daemon.client.wait_create(WindowTitle("nothing of that name", gone=True), timeout_s=3000).wait
    await until(lambda: daemon.client.wait_show(wait.wait_id).wait.state is not WaitState.WATCHING)
    assert [wake.state for wake in daemon.client.wake_list(wait_id=wait.wait_id).wakes] != [WakeState.SEEN]
    async with connect() as client:
        await client.call_tool(tool, {"wait_id": wait.wait_id})
    (wake,) = daemon.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
    assert wake.state is WakeState.SEEN


async def test_a_server_that_ends_cancels_no_wait(daemon: Daemon, display: DisplayInfo) -> None:
    wait = daemon.client.wait_create(Criteria(NEVER), timeout_s=3000).wait
    async with stdio(daemon.home) as client:
        asking = asyncio.ensure_future(client.call_tool("wait_result", {"wait_id": wait.wait_id, "block": 45}))
        await asyncio.sleep(0.5)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
    assert daemon.client.wait_show(wait.wait_id).wait.state is WaitState.WATCHING
    daemon.client.wait_cancel(wait.wait_id)


# ---- updates ----


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_a_legacy_subscriber_is_told(daemon: Daemon, display: DisplayInfo, http: HttpServer, way: str) -> None:
    wait = daemon.client.wait_create(Criteria(NEVER), timeout_s=3000).wait
    uri = f"acud://wait/{wait.wait_id}"
    told: list[str] = []

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.append(str(message.params.uri))

    given = {"message_handler": hear}
    async with http.client("legacy", **given) if way == "http" else stdio(daemon.home, **given) as client:
        with pytest.warns(MCPDeprecationWarning):
            await client.subscribe_resource(uri)
        daemon.client.wait_cancel(wait.wait_id)
        await until(lambda: told)
    assert set(told) == {uri}


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_a_modern_listener_is_told(daemon: Daemon, display: DisplayInfo, http: HttpServer, way: str) -> None:
    wait = daemon.client.wait_create(Stable(3600), timeout_s=3000).wait
    uri = f"acud://wait/{wait.wait_id}"
    link = http.client("auto") if way == "http" else stdio(daemon.home, mode="auto")
    async with link as client, client.listen(resource_subscriptions=[uri]) as heard:
        daemon.client.wait_cancel(wait.wait_id)
        event = await asyncio.wait_for(anext(aiter(heard)), 60)
    assert getattr(event, "uri", "") == uri


# ---- whatever is sent ----

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=30)
    | st.sampled_from(["../../etc/passwd", "window:", "region:0,0,0,0", "x" * 5000, "\0"]),
    "number": st.floats(0, 0.2) | st.sampled_from([-1, 1e300, "0.1", "x"]),
    "integer": st.integers(-5, 20000),
    "boolean": st.booleans() | st.just("maybe"),
}
ODD = st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2) | st.just({"a": [{}]})


async def test_hostile_arguments_get_clean_answers(daemon: Daemon, display: DisplayInfo, tmp_path: Path) -> None:
    drawn: list[tuple[str, dict[str, Any]]] = []
    async with stdio(daemon.home, env={"ACU_WORKSPACE": str(tmp_path / "ws")}) as client:
        (tmp_path / "ws").mkdir()
        tools = (await client.list_tools()).tools

        @settings(max_examples=75, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(tool=st.sampled_from(tools), data=st.data())
        def draw(tool: types.Tool, data: st.DataObject) -> None:
            arguments = {}
            for name, node in tool.input_schema["properties"].items():
                if data.draw(st.booleans()):
                    arguments[name] = data.draw(VALUES.get(node.get("type", ""), ODD) | ODD)
            drawn.append((tool.name, arguments))

        draw()
        for name, arguments in drawn:
            bounded = arguments | ({"block": 0.1} if name == "wait_result" else {})
            bounded |= {"timeout": 0.1} if name == "wait_for_change" else {}
            result = await client.call_tool(name, bounded)
            if result.is_error:
                fault(result)
            else:
                read = text if name in ("scene", "help") else pictured if len(result.content) > 1 else value
                read(result)
    assert names_in(tmp_path) == ["ws"]
    for wait in daemon.client.wait_list(limit=1000).waits:
        with contextlib.suppress(Conflict):  # it has just ended by itself
            daemon.client.wait_cancel(wait.wait_id)
