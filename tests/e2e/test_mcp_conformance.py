"""The MCP conformance suite from npm: the scenarios that apply to acud, over `acud mcp --http`.

docs/mcp.md lists the others with the reason. Skipped where npm can't install the suite.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.mcp_support import HttpServer
from tests.fixtures.daemon import Daemon

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".state" / "conformance"
PACKAGES = ["node@26.10.0", "@modelcontextprotocol/conformance@0.1.16"]
"""The suite does not run on node 20."""
SCENARIOS = [
    "server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams",
    "dns-rebinding-protection",
]  # fmt: skip


@pytest.fixture(scope="module")
def suite() -> dict[str, str]:
    """The environment in which `conformance` is a command."""
    if not (FOLDER / "node_modules" / ".bin" / "conformance").exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        FOLDER.mkdir(parents=True, exist_ok=True)
        asked = ["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix", str(FOLDER), *PACKAGES]
        try:
            done = subprocess.run(asked, cwd=FOLDER, capture_output=True, text=True, timeout=200)
        except subprocess.TimeoutExpired:
            pytest.skip("npm did not install the suite within 200 s")
        if done.returncode:
            pytest.skip(f"npm can't install the suite: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}")
    return os.environ | {"PATH": f"{FOLDER / 'node_modules' / '.bin'}:{os.environ['PATH']}"}


class _WithToken(BaseHTTPRequestHandler):
    """Passes each request on to the server, headers and all, with the token added: the suite can't send one."""

    protocol_version = "HTTP/1.1"
    port = 0
    token = ""

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as link:
            self._ask(link, body)
            # A reader that leaves in the middle of a stream ends it.
            with suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
                self._answer(link)

    def _ask(self, link: HTTPConnection, body: bytes) -> None:
        link.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            link.putheader(name, value)
        link.putheader("Authorization", f"Bearer {self.token}")
        link.endheaders(body)

    def _answer(self, link: HTTPConnection) -> None:
        reply = link.getresponse()
        self.send_response_only(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while part := reply.read1(65536):
            self.wfile.write(part)
            self.wfile.flush()
        self.close_connection = True

    do_GET = do_POST = do_DELETE = _pass_on

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def open_url(daemon: Daemon) -> Iterator[str]:
    """The server behind a proxy that holds the token."""
    with HttpServer(daemon.home) as server:
        _WithToken.port = int(server.url.split(":")[2].partition("/")[0])
        _WithToken.token = server.token
        proxy = ThreadingHTTPServer(("127.0.0.1", 0), _WithToken)
        proxy.daemon_threads = True
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}/mcp"
        proxy.shutdown()
        proxy.server_close()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_passes(suite: dict[str, str], open_url: str, tmp_path: Path, scenario: str) -> None:
    asked = ["conformance", "server", "--url", open_url, "--scenario", scenario, "-o", str(tmp_path)]
    done = subprocess.run(asked, env=suite, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Passed: ([1-9]\d*)/\1\b.* 0 failed", done.stdout), done.stdout


def test_every_scenario_is_run_or_has_a_reason(suite: dict[str, str]) -> None:
    done = subprocess.run(["conformance", "list", "--server"], env=suite, capture_output=True, text=True, timeout=60)
    there = set(re.findall(r"^  - ([a-z0-9-]+)", done.stdout, re.MULTILINE))
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    told = page.partition("## Conformance\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z0-9-]+)`", told))
    assert set(SCENARIOS) <= there
    assert there - set(SCENARIOS) == named & there - set(SCENARIOS)
