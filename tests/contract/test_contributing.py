"""The diffs of docs/contributing.md, applied to a copy of the tree: every surface answers the request that one adds,
and takes the field and the kind of a condition that the others add.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud import config
from acud.protocol.web import Scope
from tests.contract.test_house import ROOT
from tests.e2e.dashboard_support import Visitor, chromium
from tests.e2e.gateway_support import SETTINGS, Browser, served, token
from tests.e2e.mcp_support import stdio, value
from tests.fixtures.daemon import Daemon

PAGE = ROOT / "docs" / "contributing.md"
PARTS = ("acud", "clients", "scripts", "docs", "conf")
CLIENTS = """
import asyncio, json, os
from acud.base.paths import resolve
from acud_client import AsyncClient, Client

async def ask():
    client = AsyncClient(resolve(os.environ))
    told = await client.daemon_clock(since_utc_s=1.0)
    await client.close()
    return told.passed_s

with Client(resolve(os.environ)) as client:
    print(json.dumps([client.daemon_clock(since_utc_s=1.0).passed_s, asyncio.run(ask())]))
"""
FLEET = """
import asyncio, json, os
from types import SimpleNamespace
from acud.base.paths import resolve
from acud.protocol.requests import find_command
from acud.protocol.requests.daemon import DaemonClock
from acud_client import AsyncClient
from acud_fleet import envelopes
from acud_fleet.registry import Life
from acud_fleet.request_router import RequestRouter

class HostClient:
    async def ask(self, host, request, request_id, within_s):
        client = AsyncClient(resolve(os.environ))
        told = await client.ask(request, find_command(type(request)).reply, request_id=request_id)
        await client.close()
        return told

async def ask():
    roster = SimpleNamespace(all=lambda: {"h1": SimpleNamespace(host="h1", life=Life.UP)})
    router = RequestRouter(SimpleNamespace(warnings={}), roster, HostClient(), None, None, "/")
    return await router.reply(envelopes.read(envelopes.write("req-1", DaemonClock(since_utc_s=1.0))))

print(json.dumps(asyncio.run(ask()).passed_s))
"""
"""What the endpoint does with it, with one host and without NATS."""


ARM = """
import os, sys
from acud.base.paths import resolve
from acud_client import Client, ClockTime, WindowTitle

with Client(resolve(os.environ)) as client:
    client.wait_create(WindowTitle("Save", exact=True), display=sys.argv[1])
    client.wait_create(ClockTime(4e9))
    waits = [one.spec.until for one in client.wait_list().waits]
    print([one.exact for one in waits if isinstance(one, WindowTitle)])
    print([one.utc_s for one in waits if isinstance(one, ClockTime)])
"""


def examples() -> list[str]:
    """Return the diffs that the page shows: a request, a field of a condition, a kind of condition."""
    return re.findall(r"^```diff\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def list_touched(diff: str) -> list[str]:
    return re.findall(r"^\+\+\+ (.*)$", diff, re.MULTILINE)


class Copy:
    """A copy of the tree in `root`, whose Python finds it before the installed one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = {"PYTHONPATH": f"{root}:{root / 'clients'}", "PYTHONSAFEPATH": "1"}
        for part in PARTS:
            shutil.copytree(ROOT / part, root / part)
        shutil.copy(ROOT / "pyproject.toml", root)

    def run(self, *command: str, env: dict[str, str] | None = None, given: str | None = None) -> str:
        done = subprocess.run(
            command, input=given, cwd=self.root, env=os.environ | self.env | (env or {}), capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(command)[:200]}: {done.stdout}{done.stderr}"
        return done.stdout

    def python(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        return self.run(sys.executable, *arguments, env=env)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The copy with the diffs, after what the page says to run."""
    copy = Copy(tmp_path_factory.mktemp("copy"))
    copy.run(
        "git", "apply", "-p0", "-", given="".join(examples()), env={"GIT_CEILING_DIRECTORIES": str(copy.root.parent)}
    )
    copy.python("-m", "scripts.client_methods")
    copy.python("-m", "scripts.reference")
    copy.python("-m", "scripts.reference", "--site", "docs")
    return copy


@pytest.fixture(scope="module")
def daemon(copy: Copy) -> Iterator[Daemon]:
    with Daemon(SETTINGS, env=copy.env) as daemon:
        yield daemon


def test_it_takes_three_files() -> None:
    assert list_touched(examples()[0]) == [
        "acud/protocol/requests/daemon.py",
        "acud/supervisor/handlers/daemon.py",
        "clients/acud_cli/daemon.py",
    ]


def test_both_python_clients_ask_it(copy: Copy, daemon: Daemon) -> None:
    sync, awaited = json.loads(copy.python("-c", CLIENTS, env=daemon.env))
    assert 1.7e9 < sync <= awaited


def test_the_cli_shows_it(copy: Copy, daemon: Daemon) -> None:
    told = json.loads(copy.python("-m", "acud_cli", "daemon", "clock", "--json", env=daemon.env))
    assert told["utc_s"] > 1.7e9


@pytest.mark.asyncio
async def test_a_model_has_it_as_a_tool(copy: Copy, daemon: Daemon) -> None:
    async with stdio(daemon.home, "--caps", "admin", env=copy.env) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["daemon_clock"].description == "Tell the daemon's time."
        annotations = tools["daemon_clock"].annotations
        assert annotations is not None
        assert annotations.read_only_hint
        assert value(await client.call_tool("daemon_clock", {"since_utc_s": 1}))["passed_s"] > 1.7e9


def test_the_web_api_answers_it(daemon: Daemon) -> None:
    secret, _ = token(daemon.client, Scope.READ)
    with Browser(served(daemon), secret) as browser:
        status, told = browser.ask("GET", "/api/clock", params={"since_utc_s": 1})
        assert status == 200
        assert told["passed_s"] > 1.7e9
        _, document = browser.ask("GET", "/api/openapi.json")
    assert document["paths"]["/api/clock"]["get"]["summary"] == "Ask what time the daemon has"


def test_a_limited_pass_is_refused(daemon: Daemon) -> None:
    secret, _ = token(daemon.client, Scope.READ, displays=(":7",))
    with Browser(served(daemon), secret) as browser:
        assert browser.ask("GET", "/api/clock")[0] == 403


def test_a_fleet_passes_it_to_a_host(copy: Copy, daemon: Daemon) -> None:
    assert json.loads(copy.python("-c", FLEET, env=daemon.env)) > 1.7e9


@pytest.mark.parametrize(("page", "words"), [
    ("protocol.md", "### daemon_clock\n\nPlain. Ask what time the daemon has."), ("cli.md", "acud daemon clock"),
    ("mcp-tools.md", "## daemon_clock\n\nTell the daemon's time."),
    ("openapi.md", "### `GET /api/clock`\n\nAsk what time the daemon has."),
])  # fmt: skip
def test_the_pages_tell_of_it(copy: Copy, page: str, words: str) -> None:
    assert words in (copy.root / "docs" / page).read_text(encoding="utf-8")


def test_a_field_of_a_condition_takes_two_files() -> None:
    assert list_touched(examples()[1]) == ["acud/types/conditions/window.py", "acud/waits/local_answers.py"]


def test_a_kind_of_condition_takes_four_files() -> None:
    assert list_touched(examples()[2]) == [
        "acud/types/conditions/clock.py",
        "acud/types/conditions/__init__.py",
        "acud/supervisor/host_conditions/clocks.py",
        "acud/supervisor/host_conditions/service.py",
    ]


def arm_by_the_form(daemon: Daemon, display: str) -> None:
    with chromium() as browser:
        visitor = Visitor(browser, served(daemon))
        visitor.login(daemon.client)
        visitor.go("waits/new")
        visitor.page.locator("select[name=display]").select_option(display)
        visitor.page.locator("select[name=kind]").select_option("clock")
        visitor.page.get_by_label("Seconds since 1970").fill("4e9")
        visitor.page.get_by_role("button", name="Start waiting").click()
        visitor.page.wait_for_url(re.compile(r"#/waits/wait-"))
        visitor.context.close()


@pytest.mark.asyncio
async def test_every_surface_takes_a_field_and_a_kind_of_condition(copy: Copy, daemon: Daemon) -> None:
    display = daemon.client.display_create(64, 64).display.name
    words = "--window", "Save", "--exact", "--display", display, "--detach"
    copy.python("-m", "acud_cli", "wait", *words, env=daemon.env)
    copy.python("-m", "acud_cli", "wait", "--clock", "4e9", "--detach", env=daemon.env)
    async with stdio(daemon.home, env=copy.env) as client:
        value(await client.call_tool("smart_wait", {"window": "Save", "exact": True, "display": display}))
        value(await client.call_tool("smart_wait", {"clock": "4e9"}))
        told = await client.call_tool("help", {"topic": "conditions"})
        assert "- exact: the window's title is no longer than that" in told.content[0].text
    secret, _ = token(daemon.client, Scope.ACT)
    until = {"type": "window", "title": "Save", "exact": True}
    clock = {"type": "clock", "utc_s": 4e9}
    with Browser(served(daemon), secret) as browser:
        assert browser.ask("POST", "/api/waits", json={"until": until, "display": display})[0] == 200
        assert browser.ask("POST", "/api/waits", json={"until": clock})[0] == 200
    await asyncio.to_thread(arm_by_the_form, daemon, display)
    assert copy.python("-c", ARM, display, env=daemon.env).splitlines() == [str([True] * 4), str([4e9] * 5)]


def test_every_section_of_the_settings_stands_beside_the_file_that_declares_it() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `[")]
    where = {name: row.split("|")[2] for row in rows for name in re.findall(r"`\[([\w.]+)\]`", row.split("|")[1])}
    assert where.keys() == {section.name for section in config.SECTIONS}
    for section in config.SECTIONS:
        file = section.type.__module__.replace(".", "/") + ".py"
        assert f"`{file}`" in where[section.name] or file.startswith("acud/features/")
