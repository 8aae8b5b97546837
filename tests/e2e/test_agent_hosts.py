"""Hosts of agents from npm, as `acud mcp install` sets them up: Codex and Goose with a model whose words the test
decides, Cursor's agent (its SDK) with such a vendor, and VS Code as code-server serves it.

Skipped where npm can't install them. test_mcp_hosts.py has the clients that have no model.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from acud.types import DisplayInfo
from acud_mcp.hosts import HOSTS
from tests.e2e.calling_model import Body, CallingModel, call, item, message, paths, pictures, words
from tests.e2e.chromium import Chromium, is_there
from tests.e2e.faults import until
from tests.e2e.mcp_support import COMMAND
from tests.e2e.npm_support import INSTALL, install, run
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

NODE = "node@24.21.0"
PACKAGES = [NODE, "@openai/codex@0.169.0", "@aaif/goose-binary-linux-x64@1.52.0", "@cursor/sdk@1.0.32"]
VSCODE = "code-server@4.139.1"
NATIVE = ("@vscode/spdlog", "@parcel/watcher", "@vscode/native-watchdog", "@vscode/sqlite3", "@vscode/fs-copyfile")
"""What VS Code's server needs built; the rest of its packages need libraries that it can do without."""

LOOK = "take a screenshot of the screen"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the hosts' programs."""
    bins = install(tmp_path_factory.mktemp("npm"), *PACKAGES)
    (bins / "goose").symlink_to("goose-binary-linux-x64")
    return bins


class Home:
    """A user's home, in which `acud mcp install` has told a host of acud."""

    def __init__(self, folder: Path, programs: Path, daemon: Daemon) -> None:
        self.folder = folder
        self.programs = programs
        nowhere = f"http://127.0.0.1:{free_port()}"  # whatever else the host would fetch, it shall not
        self.env = {
            "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "LANG": "C.UTF-8",
            "ACU_HOME": str(daemon.home), "HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "NO_PROXY": "127.0.0.1",
        }  # fmt: skip

    def install(self, host: str) -> Path:
        """Return the host's file, as acud writes it."""
        self.run([*COMMAND, "install", host])
        return self.folder / HOSTS[host].file

    def run(self, command: list[str], **more: str) -> str:
        """Run a program to its end and return its standard output."""
        done = subprocess.run(
            command, env=self.env | more, cwd=self.folder, capture_output=True, text=True, timeout=200,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout


@pytest.fixture
def home(tmp_path: Path, programs: Path, daemon: Daemon) -> Home:
    return Home(tmp_path, programs, daemon)


def tapped(home: Home, host: str) -> Path:
    """Install acud for a host that keeps JSON, and have all that they say to each other kept: return the file of what
    acud says.
    """
    file = home.install(host)
    document = json.loads(file.read_text())
    (section,) = HOSTS[host].section
    entry = document[section]["acud"]
    kept = file.with_name("tap")
    entry["args"] = ["-c", 'tee "$0.in" | "$@" | tee "$0"', str(kept), entry["command"], *entry["args"]]
    entry["command"] = "/bin/sh"
    file.write_text(json.dumps(document))
    return kept


def listed(kept: Path) -> set[str]:
    """Return the names of the tools that acud listed, once the host has asked for them."""
    found: set[str] = set()

    def told() -> bool:
        said = kept.read_text() if kept.exists() else ""
        answers = [json.loads(line) for line in said[: said.rfind("\n") + 1].splitlines()]  # the last may be half there
        for answer in answers:
            found.update(tool["name"] for tool in answer.get("result", {}).get("tools", ()))
        return bool(found)

    until(told, "the tools to be listed", 200)
    return found


def introduced(kept: Path) -> str:
    """Return the name with which the host introduced itself."""
    first = json.loads(kept.with_name("tap.in").read_text().splitlines()[0])
    name: str = first["params"]["clientInfo"]["name"]
    return name


# Codex

CODEX = """model = "{model}"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"

"""
TURN = ["codex", "exec", "--skip-git-repo-check", "--json", LOOK]


def codex(home: Home, served: CallingModel, model: str, more: str = "") -> None:
    """Let Codex take one turn, with `more` lines in acud's entry."""
    file = home.install("codex")
    entry = file.read_text().replace("[mcp_servers.acud]\n", f"[mcp_servers.acud]\n{more}", 1)
    file.write_text(CODEX.format(model=model, url=served.url) + entry)
    home.run(TURN)


SCRIPT = (
    "const told = await tools.mcp__acud__desktop_look(%s);"
    "for (const one of told.content) one.type === 'image' ? image(one) : text(one.text)"
)
CODEX_CALLS = {
    # Models that Codex knows nothing of, as those of a provider of one's own, get acud's tools as one namespace.
    "unknown": lambda look: [item("function_call", name="desktop_look", namespace="mcp__acud", arguments=look)],
    # Some of OpenAI's get the name of the namespace alone, and search.
    "gpt-5.5": lambda look: [
        item("tool_search_call", execution="client", arguments={"query": LOOK}),
        item("function_call", name="desktop_look", namespace="mcp__acud", arguments=look),
    ],
    # The newer ones get it too, and call tools in scripts alone, which choose what the model is shown.
    "gpt-6-sol": lambda look: [item("custom_tool_call", name="exec", namespace="functions", input=SCRIPT % look)],
}
"""How the models of Codex call a tool of acud."""


@pytest.mark.parametrize("model", CODEX_CALLS)
def test_codex_shows_its_model_a_picture(model: str, home: Home, display: DisplayInfo) -> None:
    steps = CODEX_CALLS[model](json.dumps({"target": f"display:{display.name}", "image": True, "max_side": 0}))

    def say(_: Body) -> Body:
        return steps.pop(0) if steps else message("I see it.")

    with CallingModel(say) as served:
        codex(home, served, model)
    first, last = served.asked[0], served.asked[-1]
    assert any("desktop_look" in one for one in words(first)) == (model == "unknown")
    # All that a model is told of hidden tools is the beginning of what acud says of itself.
    told = next(one for one in words(first) if "acud watches" in one)
    assert all(name in told for name in ("smart_wait", "screenshot", "click"))
    (file,) = set(paths(last))
    assert pictures(last) == [file.read_bytes()]


@pytest.mark.parametrize(("more", "acts"), [("", False), ('default_tools_approval_mode = "approve"\n', True)])
def test_codex_exec_acts_only_where_its_user_approved_before(
    more: str, acts: bool, home: Home, display: DisplayInfo, daemon: Daemon
) -> None:
    move = {"action": "mouse_move", "coordinate": [30, 20], "display": display.name}
    steps = [item("function_call", name="desktop_action", namespace="mcp__acud", arguments=json.dumps(move))]

    def say(_: Body) -> Body:
        return steps.pop(0) if steps else message("I did it.")

    with CallingModel(say) as served:
        codex(home, served, "unknown", more)
    told = list(words(served.asked[-1]))
    assert any("cursor: [30, 20]" in one or '"cursor":[30,20]' in one for one in told) == acts
    assert any("requires approval" in one for one in told) != acts


def test_codex_exec_waits_without_asking(home: Home, display: DisplayInfo) -> None:
    wait = json.dumps({"window": "Report", "target": f"display:{display.name}", "timeout": 60})
    steps = [item("function_call", name="smart_wait", namespace="mcp__acud", arguments=wait)]

    def say(_: Body) -> Body:
        return steps.pop(0) if steps else message("I wait.")

    with CallingModel(say) as served:
        codex(home, served, "unknown")
    assert any('"status":"watching"' in one for one in words(served.asked[-1]))


# Goose


@pytest.mark.parametrize(("model", "sees"), [("gpt-4o", True), ("unknown", False)])
def test_goose_shows_its_model_a_picture(model: str, sees: bool, home: Home, display: DisplayInfo) -> None:
    home.install("goose")
    look = {"target": f"display:{display.name}", "image": True, "max_side": 0}

    def say(asked: Body) -> Body:
        if not asked.get("tools") or paths(asked):
            return {"content": "I see it."}
        return call("acud__desktop_look", look)

    with CallingModel(say) as served:
        home.run(
            ["goose", "run", "--no-session", "-t", LOOK], GOOSE_PROVIDER="openai", GOOSE_MODEL=model,
            OPENAI_HOST=served.url, OPENAI_API_KEY="none", GOOSE_DISABLE_KEYRING="1",
        )  # fmt: skip
    (last,) = [asked for asked in served.asked if paths(asked)]
    (file,) = paths(last)
    assert file.is_file()
    assert pictures(last) == ([file.read_bytes()] if sees else [])


# Cursor

CURSOR = """
import { Agent } from "@cursor/sdk";
const local = { cwd: process.cwd(), settingSources: ["user"] };
const agent = await Agent.create({ apiKey: "none", model: { id: "auto" }, local });
await agent.send("look");
process.stdin.resume();
"""


VENDOR: dict[str, Any] = {
    "/v1/models": {"items": [{"id": "auto", "displayName": "Auto", "aliases": [], "parameters": [], "variants": []}]},
    "/auth/exchange_user_api_key": {"accessToken": "e30.e30.x", "refreshToken": "e30.e30.x"},
}
"""What Cursor's agent has to be told before it starts its MCP servers."""


class _Vendor(BaseHTTPRequestHandler):
    """Says that; all else is not found."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = self.path in VENDOR
        body = json.dumps(VENDOR.get(self.path, {})).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def running(command: list[str], env: dict[str, str], cwd: Path) -> Iterator[None]:
    """Run a program until the test has seen what it wants."""
    with (cwd / "said").open("w") as said:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=said, stderr=said)
        try:
            yield
        finally:
            process.terminate()
            process.communicate(timeout=60)


def test_cursors_agent_lists_the_tools(home: Home) -> None:
    kept = tapped(home, "cursor")
    (home.programs.parent.parent / "look.mjs").write_text(CURSOR)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Vendor) as vendor:
        threading.Thread(target=vendor.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{vendor.server_address[1]}"
        env = home.env | {"CURSOR_API_BASE_URL": url, "CURSOR_BACKEND_URL": url}
        with running(["node", str(home.programs.parent.parent / "look.mjs")], env, home.folder):
            assert {"smart_wait", "desktop_look"} <= listed(kept)
        vendor.shutdown()
    assert introduced(kept) == "Cursor"


# VS Code


@pytest.fixture(scope="module")
def vscode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with VS Code's server and a node that runs it; ACU_TEST_CODE_SERVER may name one.

    Its own script of installation wants every native part, Kerberos among them; here those are built that it can't do
    without.
    """
    if not is_there():
        pytest.skip("there is no Chromium to drive")
    given = os.environ.get("ACU_TEST_CODE_SERVER", "")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("vscode")
    bins = install(folder, "--ignore-scripts", VSCODE, NODE)
    env = os.environ | {"PATH": f"{bins}:{os.environ['PATH']}"}
    run(folder, "npm", "rebuild", "node", "argon2", env=env)
    server = folder / "node_modules" / "code-server" / "lib" / "vscode"
    run(server, *INSTALL, "--omit=dev", "--ignore-scripts", env=env)
    run(server, "npm", "rebuild", *NATIVE, env=env)
    run(server / "node_modules" / "node-pty", "npx", "--yes", "node-gyp@12.4.0", "rebuild", env=env)
    (server / "node_modules.asar").symlink_to("node_modules")
    return folder


class Workbench:
    """VS Code's window, worked by its keyboard."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def command(self, name: str) -> None:
        """Run a command by its name."""
        self._page.keyboard.press("F1")
        self.choose(name)

    def choose(self, words: str) -> None:
        """Choose what says `words` in the list that is open."""
        box = self._page.locator(".quick-input-widget input.input")
        box.wait_for()
        self._page.keyboard.type(words)
        self.row(words)
        self._page.keyboard.press("Enter")

    def row(self, words: str) -> str:
        """Wait until that list has a row with `words`, and return all of it."""
        row = self._page.locator(".quick-input-list .monaco-list-row", has_text=words).first
        row.wait_for()
        return row.inner_text()

    def trust(self) -> None:
        """Say to the question that is open that the server can be trusted."""
        self._page.get_by_role("button", name="Trust", exact=True).click()

    def lens(self, words: str) -> None:
        """Wait until the editor says `words` above a line."""
        self._page.locator(".codelens-decoration", has_text=words).first.wait_for()


@contextmanager
def workbench(home: Home, vscode: Path) -> Iterator[Workbench]:
    """Serve the home's VS Code and open it."""
    port = free_port()
    settings = home.folder / ".config" / "Code"
    bins = vscode / "node_modules" / ".bin"
    command = [
        "node", str(vscode / "node_modules" / "code-server" / "out" / "node" / "entry.js"), "--auth", "none",
        "--bind-addr", f"127.0.0.1:{port}", "--user-data-dir", str(settings), "--disable-telemetry",
        "--disable-update-check", "--disable-workspace-trust", str(home.folder),
    ]  # fmt: skip
    env = home.env | {"PATH": f"{bins}:{os.environ['PATH']}"}
    with running(command, env, home.folder), Chromium() as chromium:
        until(lambda: "HTTP server listening" in (home.folder / "said").read_text(), "VS Code to serve", 200)
        page = chromium.browser.new_page(viewport={"width": 1200, "height": 800})
        page.set_default_timeout(60_000)
        page.goto(f"http://127.0.0.1:{port}/")
        page.locator(".monaco-workbench .part.editor").wait_for()
        yield Workbench(page)


@pytest.mark.parametrize(("host", "found"), [("vscode", "127.0.0.1"), ("claude-desktop", "Claude Desktop on")])
def test_vs_code_runs_what_is_written_for_it_and_for_claude_desktop(
    host: str, found: str, home: Home, vscode: Path
) -> None:
    """Claude Desktop itself runs nowhere here: VS Code reads its file when it is told to."""
    kept = tapped(home, host)
    settings = home.folder / ".config" / "Code" / "User" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"chat.mcp.discovery.enabled": {"claude-desktop": True}}))
    with workbench(home, vscode) as window:
        window.command("MCP: List Servers")
        assert found in window.row("acud")
        window.choose("acud")
        window.choose("Start Server")
        if host == "claude-desktop":
            window.trust()
        assert {"smart_wait", "desktop_look"} <= listed(kept)
        if host == "vscode":
            window.command("MCP: Open User Configuration")
            window.lens(f"{len(listed(kept))} tools")
    assert introduced(kept) == "code-server"
