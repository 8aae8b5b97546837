"""Other people's clients from npm: the MCP Inspector, mcporter; and a count of tokens.

test_agent_hosts.py has the hosts of agents.

Skipped where npm can't install them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acud.base.paths import resolve
from acud.types import DisplayInfo
from acud_mcp.server import TOOLS, describe_tool, select_tools
from acud_mcp.tool import Options
from tests.e2e.mcp_support import COMMAND
from tests.e2e.npm_support import install
from tests.fixtures.daemon import Daemon

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

PACKAGES = ["node@26.10.0", "@modelcontextprotocol/inspector@2.12.0", "mcporter@0.12.3", "gpt-tokenizer@3"]
CALLS: dict[str, dict[str, Any]] = {
    "smart_wait": {"criteria": "x", "timeout": 3000}, "wait_status": {}, "wait_for_change": {"timeout": 0.1},
    "desktop_look": {}, "display_list": {}, "health_check": {}, "memory_append": {"note": "n"}, "memory_read": {},
    "memory_search": {"query": "n"},
}  # fmt: skip
"""Arguments of the calls that need no wait; the others get the id of the first."""
WITH_ID = ("wait_update", "wait_result", "wait_cancel")
TASK_CALLS: dict[str, dict[str, Any]] = {
    "task_item_update": {"item": 1, "status": "active"}, "task_plan_append": {"items": '["pay"]'},
    "task_log_action": {"action_type": "gui", "summary": "clicked"}, "task_summary": {}, "task_drill_down": {"item": 1},
    "task_thread": {}, "task_update": {"status": "completed"},
}  # fmt: skip
"""Arguments of the calls about a task, beside its id."""
NOT_CALLED = {
    "scene", "desktop_action", "gui_find", "gui_do", "commentary", "video_record", "help", "display_create", "terminal",
}  # fmt: skip
"""Tools that need a screen with something on it, or a model, or answer with text; tests of their own call them."""


class Npm:
    """A folder with the packages and a node that can run them."""

    def __init__(self, folder: Path, daemon: Daemon) -> None:
        self.folder = folder
        workspace = folder / "workspace"
        workspace.mkdir(exist_ok=True)
        bins = folder / "node_modules" / ".bin"
        self.env = daemon.env | {
            "PATH": f"{bins}:{os.environ['PATH']}",
            "HOME": str(folder),
            "ACU_WORKSPACE": str(workspace),
        }
        self.server = {"command": COMMAND[0], "args": COMMAND[1:], "env": self.own_env}

    @property
    def own_env(self) -> dict[str, str]:
        """What the server must be told, since clients strip the environment."""
        return {name: self.env[name] for name in ("ACU_HOME", "ACU_WORKSPACE")}

    def run(self, *command: str, code: int | None = 0, stdin: str = "") -> str:
        """Run a command of a package and return its standard output."""
        done = subprocess.run(
            command, env=self.env, cwd=self.folder, capture_output=True, text=True, input=stdin, timeout=180
        )
        assert code is None or done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory, daemon: Daemon, display: DisplayInfo) -> Npm:
    folder = tmp_path_factory.mktemp("npm")
    install(folder, *PACKAGES)
    return Npm(folder, daemon)


@pytest.fixture(params=["legacy", "modern"])
def inspector(request: pytest.FixtureRequest, npm: Npm) -> list[str]:
    """The Inspector's command line for acud, in one era."""
    config = npm.folder / f"{request.param}.json"
    config.write_text(json.dumps({"mcpServers": {"acud": npm.server | {"protocolEra": request.param}}}))
    return ["mcp-inspector", "--cli", "--config", str(config), "--server", "acud"]


def test_the_inspector_lists_and_calls_every_tool(npm: Npm, inspector: list[str]) -> None:
    listed = json.loads(npm.run(*inspector, "--method", "tools/list", "--strict", "--format", "json"))
    names = {tool["name"] for tool in _found(listed, "tools")}
    assert names == {*CALLS, *WITH_ID, *TASK_CALLS, *NOT_CALLED, "task_register", "task_list"}

    def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        words = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
        told = npm.run(*inspector, "--method", "tools/call", "--tool-name", name, *words, "--format", "json")
        content: dict[str, Any] = _found(json.loads(told), "structuredContent")
        return content

    answers = {name: call(name, arguments) for name, arguments in CALLS.items()}
    wait_id = answers["smart_wait"]["wait_id"]
    assert call("wait_update", {"wait_id": wait_id, "timeout": 2000})["timeout"] == 2000
    assert call("wait_result", {"wait_id": wait_id, "block": 0})["status"] == "watching"
    assert call("wait_cancel", {"wait_id": wait_id})["status"] == "cancelled"
    npm.run(*inspector, "--method", "tools/call", "--tool-name", "wait_result", "--tool-arg", "wait_id=none", code=5)
    made = call("task_register", {"name": "Book", "plan": '["open"]', "isolated_display": "false"})
    task_id = made["view"]["task"]["task_id"]
    assert call("task_list", {})["total"] == 1
    told = {name: call(name, {"task_id": task_id} | arguments) for name, arguments in TASK_CALLS.items()}
    assert told["task_update"]["view"]["task"]["status"] == "completed"
    assert len(told["task_update"]["view"]["items"]) == 2


def _found(document: Any, key: str) -> Any:
    """Return the value of `key`, wherever the client put it."""
    if isinstance(document, dict):
        if key in document:
            return document[key]
        document = list(document.values())
    if isinstance(document, list):
        for inner in document:
            value = _found(inner, key)
            if value is not None:
                return value
    return None


def test_mcporter_lists_and_calls(npm: Npm) -> None:
    config = npm.folder / "mcporter.json"
    config.write_text(json.dumps({"mcpServers": {"acud": npm.server}}))
    mcporter = ["mcporter", "--config", str(config)]
    listed = npm.run(*mcporter, "list", "acud", "--schema")
    assert all(name in listed for name in (*CALLS, *WITH_ID))
    told = npm.run(*mcporter, "call", "acud.smart_wait", "criteria=x", "timeout=3000", "--output", "json")
    wait_id = _found(json.loads(told), "wait_id")
    assert "watching" in npm.run(*mcporter, "call", "acud.wait_status", f"wait_id={wait_id}", "--output", "json")
    assert "cancelled" in npm.run(*mcporter, "call", "acud.wait_cancel", f"wait_id={wait_id}", "--output", "json")
    npm.run(*mcporter, "call", "acud.wait_result", "wait_id=none", "--output", "json", code=1)


def test_all_tools_fit_the_budget_in_tokens(npm: Npm) -> None:
    options = Options(resolve({"ACU_HOME": "/nowhere"}), workspace=Path("/nowhere"))
    listed = [describe_tool(tool) for tool in select_tools(options)]
    script = npm.folder / "count.mjs"
    script.write_text(
        "import {encode} from 'gpt-tokenizer/encoding/o200k_base'; import fs from 'node:fs';"
        "console.log(encode(fs.readFileSync(0, 'utf8')).length);"
    )
    tokens = int(npm.run("node", str(script), stdin=json.dumps(listed, separators=(",", ":"))))
    sys.stdout.write(f"\n{len(listed)} tools, {tokens} tokens\n")
    assert tokens <= 3000
    assert len(TOOLS) <= 30
