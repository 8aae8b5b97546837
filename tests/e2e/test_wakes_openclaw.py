"""Wakes against the real OpenClaw gateway from npm: its hook and its command line. Skipped where it can't be had.

`ACU_TEST_OPENCLAW` may name a folder in which both packages are installed already.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.types import RouteName, WakeAddress, WakeState, WindowTitle
from tests.e2e import faults
from tests.e2e.npm_support import install
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port
from tests.fixtures.wake_receiver import TOKEN

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

# One after the other: the second one's own installation asks for the first.
PACKAGES = ("node@26.10.0", "openclaw@2026.9.6")
HOLDS = WindowTitle("there is no such window", gone=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a node that OpenClaw accepts, and OpenClaw."""
    given = os.environ.get("ACU_TEST_OPENCLAW", "")
    if given:
        return Path(given)
    made = tmp_path_factory.mktemp("openclaw")
    env = os.environ | {"PATH": f"{made}/node_modules/.bin:{os.environ['PATH']}"}
    for package in PACKAGES:  # the second needs the node of the first
        install(made, package, env=env)
    return made


class Gateway:
    """A running gateway with a home of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.port = free_port()
        self.program = folder / "node_modules" / ".bin" / "openclaw"
        bins = folder / "node_modules" / ".bin"
        self.env = {"PATH": f"{bins}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}
        self._log = home / "gateway.log"
        config = home / ".openclaw" / "openclaw.json"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps(self._config()))

    def _config(self) -> dict[str, Any]:
        hooks = {
            "enabled": True, "token": TOKEN, "path": "/hooks", "allowedAgentIds": ["main"],
            "allowRequestSessionKey": True, "allowedSessionKeyPrefixes": ["agent:main:", "hook:"],
        }  # fmt: skip
        auth = {"mode": "token", "token": "token-of-the-gateway"}
        return {"gateway": {"mode": "local", "port": self.port, "bind": "loopback", "auth": auth}, "hooks": hooks}

    def start(self) -> None:
        """Start it and return when it is ready."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "gateway", "run"], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end_s = time.monotonic() + 120
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > end_s:
                raise AssertionError(f"the gateway did not get ready: {self._log.read_text()[-2000:]}")
            time.sleep(0.5)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        """End it; killed when it does not end."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def gateway(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    made = Gateway(folder, tmp_path_factory.mktemp("home"))
    try:
        made.start()
        yield made
    finally:
        if hasattr(made, "process"):
            made.stop()


def test_the_real_gateway_takes_wakes(gateway: Gateway) -> None:
    wake = {
        "routes": ["openclaw", "openclaw_cli"],
        "openclaw_url": f"http://127.0.0.1:{gateway.port}/hooks",
        "openclaw_token": TOKEN,
        "openclaw_cli": str(gateway.program),
        "command_timeout_s": 60,
        "http_timeout_s": 20,
        "retry_first_s": 0.5,
        "retry_max_s": 2,
    }
    with Daemon(faults.settings(wake=wake), env=gateway.env) as daemon:
        client = daemon.client
        display = client.display_create(64, 64).display.name
        tests = client.wake_test().tests
        assert [(one.route.value, one.result) for one in tests] == [("openclaw", "sent"), ("openclaw_cli", "sent")], (
            tests
        )

        def woken(address: WakeAddress, state: WakeState = WakeState.SENT) -> Any:
            wait = client.wait_create(HOLDS, display=display, wake=address).wait
            faults.event(daemon, "wait.resolved", wait.wait_id)

            def found() -> Any:
                wakes = client.wake_list(seen=True, wait_id=wait.wait_id).wakes
                return wakes[0] if wakes and wakes[0].state is state else None

            return faults.until(found, f"a wake that is {state}", 90)

        assert woken(WakeAddress()).sent_by == "openclaw"
        assert woken(WakeAddress(session_key="agent:main:acud-test", agent_id="main")).sent_by == "openclaw"
        assert woken(WakeAddress((RouteName.OPENCLAW_CLI,))).sent_by == "openclaw_cli"
        # What the gateway does not allow is refused by it, and listed.
        refused = woken(WakeAddress((RouteName.OPENCLAW,), session_key="other:x"), WakeState.UNDELIVERED)
        assert "answered 4" in refused.reason

        gateway.stop()
        waiting = woken(WakeAddress((RouteName.OPENCLAW,)), WakeState.PENDING)
        gateway.start()
        faults.event(daemon, "wake.sent", waiting.wake_id)
