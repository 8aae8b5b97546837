"""The server itself: without a daemon, selecting tools, over HTTP to those who may."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from acud_client import Client
from tests.e2e.cli_support import CommandLine, settings
from tests.e2e.mcp_support import COMMAND, ERAS, HttpServer, fault, stdio, value
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = settings()
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def _fitting(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Return a value that the schema takes."""
    if "$ref" in schema:
        return _fitting(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 1, "array": ["x"]}.get(schema.get("type", ""), "x")


@pytest.mark.asyncio
@pytest.mark.parametrize("era", ERAS)
async def test_without_a_daemon_the_list_is_there_and_calls_say_how_to_start_it(tmp_path: Path, era: str) -> None:
    async with stdio(tmp_path / "home", mode=era) as client:
        tools = (await client.list_tools()).tools
        for tool in (tool for tool in tools if tool.name != "help"):  # which asks the daemon nothing
            properties = tool.input_schema["properties"]
            needed = {"criteria", "instruction", "wait_id", *tool.input_schema.get("required", ())} & properties.keys()
            taken = {name: _fitting(properties[name], tool.input_schema) for name in needed}
            if tool.name != "help":
                assert "to start its daemon" in fault(await client.call_tool(tool.name, taken))
        with pytest.raises(MCPError, match="to start its daemon"):
            await client.list_resources()
    assert not (tmp_path / "home").exists()


@pytest.mark.asyncio
async def test_home_alone_is_enough(tmp_path: Path) -> None:
    async with stdio(tmp_path, env={"HOME": str(tmp_path), "ACU_HOME": ""}) as client:
        assert "not running" in fault(await client.call_tool("wait_status", {}))


@pytest.mark.asyncio
async def test_autostart_starts_the_daemon_once_and_it_outlives_the_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(0o700)
    (home / "acud.toml").write_text(settings())
    try:
        async with stdio(home, "--autostart", env={"PATH": os.environ["PATH"]}) as client:
            assert value(await client.call_tool("wait_status", {}))["count"] == 0
            armed = value(await client.call_tool("smart_wait", {"stable": 3000}))
        async with stdio(home) as client:
            assert value(await client.call_tool("wait_status", armed_id(armed)))["status"] == "watching"
    finally:
        CommandLine(home).run("daemon", "stop")


def armed_id(armed: dict[str, object]) -> dict[str, object]:
    return {"wait_id": armed["wait_id"]}


@pytest.mark.asyncio
async def test_toolsets_by_option_and_by_environment(tmp_path: Path) -> None:
    async with stdio(tmp_path, "--caps", "admin", "--tools", "smart_wait,wait_status") as client:
        assert {t.name for t in (await client.list_tools()).tools} == {"smart_wait", "wait_status", "health_check"}
        assert "no tool 'desktop_look' here" in fault(await client.call_tool("desktop_look", {}))
    async with stdio(tmp_path, env={"ACU_MCP_READ_ONLY": "1", "ACU_MCP_CAPS": "core"}) as client:
        tools = (await client.list_tools()).tools
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        assert "smart_wait" not in {tool.name for tool in tools}


@pytest.mark.asyncio
async def test_it_goes_on_with_a_daemon_that_was_restarted(daemon: Daemon) -> None:
    async with stdio(daemon.home) as client:
        value(await client.call_tool("wait_status", {}))
        daemon.stop()
        assert "not running" in fault(await client.call_tool("wait_status", {}))
        daemon.start()
        value(await client.call_tool("wait_status", {}))


@pytest.mark.asyncio
async def test_subscriptions_go_on_with_a_daemon_that_was_restarted(daemon: Daemon) -> None:
    async with stdio(daemon.home, mode="auto") as client:
        armed = value(await client.call_tool("smart_wait", {"stable": 3000}))
        uri = f"acud://wait/{armed['wait_id']}"
        async with client.listen(resource_subscriptions=[uri]) as heard:
            daemon.kill()
            daemon.start()
            value(await client.call_tool("wait_cancel", armed_id(armed)))
            event = await asyncio.wait_for(anext(aiter(heard)), 60)
    assert getattr(event, "uri", "") == uri


@pytest.mark.parametrize("arguments", [["--caps", "nope"], ["--tools", "nope"], ["--http", "--tools", "nope"]])
def test_unknown_names_end_it_with_one_line(tmp_path: Path, arguments: list[str]) -> None:
    env = {"PATH": os.environ["PATH"], "ACU_HOME": str(tmp_path)}
    done = subprocess.run([*COMMAND, *arguments], env=env, capture_output=True, text=True, input="", timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "known: " in done.stderr


def test_tools_are_listed_and_called_without_anything_heavy(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ACU_HOME": str(tmp_path)}
    with subprocess.Popen(COMMAND, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(number: int, method: str, **params: Any) -> dict[str, Any]:
            assert server.stdin is not None
            assert server.stdout is not None
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            assert answer["id"] == number
            result: dict[str, Any] = answer["result"]
            return result

        client = {"name": "test", "version": "1"}
        ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        listed = [tool["name"] for tool in ask(2, "tools/list")["tools"]]
        assert "gui_agent" not in listed  # no model is set for it
        assert "conditions" in ask(3, "tools/call", name="help", arguments={})["content"][0]["text"]
        assert [tool["name"] for tool in ask(4, "tools/list")["tools"]] == listed
        assert "pydantic_core" not in Path(f"/proc/{server.pid}/maps").read_text()  # the SDK's: 1.5 s of CPU time
        server.stdin.close()
        assert server.wait(60) == 0


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ACU_HOME": str(tmp_path)}
    done = subprocess.run(COMMAND, env=env, capture_output=True, text=True, input="not json\n{}\n", timeout=60)
    assert done.returncode == 0


# ---- HTTP ----


def test_who_may_not_use_the_http_server_that_keeps_its_port_and_ends_by_a_signal(tmp_path: Path) -> None:
    with HttpServer(tmp_path) as server, httpx2.Client(timeout=60) as web:
        headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {server.token}"}

        def status(**changed: str) -> int:
            sent = {name: text for name, text in (headers | changed).items() if text}
            return web.post(server.url, json=PING, headers=sent).status_code

        assert status(Authorization="") == 401
        assert status(Authorization=f"Bearer {server.token}x") == 401
        assert status(Host="evil.example") == 421
        assert status(Origin="https://evil.example") == 403
        assert web.get(server.url.replace("/mcp", "/"), headers=headers).status_code == 404
        assert web.post(f"{server.url}?token={server.token}", json=PING).status_code == 401
        assert status() not in (401, 403, 421)
        port = server.url.split(":")[2].partition("/")[0]
        out, err = CommandLine(tmp_path).capture("mcp", "--http", "--port", port, code=8)
        assert f"port {port}" in err
        assert (out, err.count("\n")) == ("", 1)
        server.process.send_signal(signal.SIGINT)
        said = server.said + server.process.communicate(timeout=60)[1]
        assert server.process.returncode == 0
    assert server.token not in said
    assert "mcp-token" in said
    assert (tmp_path / "mcp-token").stat().st_mode & 0o777 == 0o600


TELLS_AND_IS_ENDED = """
import os, signal, sys
from acud_cli.__main__ import main

class Stderr:
    def write(self, words):
        if "http://" in words:
            os.kill(os.getpid(), signal.SIGINT)
        return len(words)

    def flush(self): ...
    def reconfigure(self, **_): ...

sys.stderr = Stderr()
sys.argv = ["acud", *sys.argv[1:], "--port", "0"]
main()
"""


@pytest.mark.parametrize("words", ["mcp --http", "web serve"])
def test_a_signal_at_the_moment_in_which_the_address_is_told_ends_it_in_good_order(tmp_path: Path, words: str) -> None:
    """A KeyboardInterrupt there could be lost in an import; who reads the address may well be quick."""
    env = {"PATH": os.environ["PATH"], "ACU_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", TELLS_AND_IS_ENDED, *words.split()], env=env, timeout=60, check=False)
    assert done.returncode == 0


@pytest.mark.asyncio
async def test_two_servers_share_a_daemon(daemon: Daemon) -> None:
    with HttpServer(daemon.home) as server:
        async with server.client("auto") as one, stdio(daemon.home) as other:
            armed = value(await one.call_tool("smart_wait", {"stable": 3000}))
            value(await other.call_tool("wait_cancel", armed_id(armed)))
            assert value(await one.call_tool("wait_result", armed_id(armed)))["status"] == "cancelled"
        with Client(daemon.paths) as client:
            assert client.status().waits_live == 0
