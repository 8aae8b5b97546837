"""The web process among the daemon's children: started, restarted, told of when it can't serve, never in the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.protocol.requests.daemon import Finding
from acud_client import Client
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.e2e.listener_support import SETTINGS, Foreground, Http, child, finding, served
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port


@pytest.fixture(scope="module")
def host() -> Iterator[Daemon]:
    with Daemon(settings=SETTINGS) as running:
        yield running


def test_it_is_off_until_asked_for(shared: Daemon) -> None:
    assert not [one for one in shared.client.status().children if one.kind == "web"]
    assert finding(shared) is None
    assert not (shared.home / "relay-token").exists()


def test_a_kill_is_mended_on_the_same_port(host: Daemon) -> None:
    daemon = host
    with served(daemon) as http:
        status, posted = http.post("/feed", {"text": "before"})
        assert status == 200
        killed = child(daemon).pid
        os.kill(killed, signal.SIGKILL)
        until(lambda: child(daemon).pid not in (0, killed) and child(daemon).state == "ready", "a new process")
        again = until(lambda: finding(daemon), "its address")
        assert again.text.split()[1].rstrip(",") == http.url
        with served(daemon) as after:
            assert after.get("/feed")[1]["messages"][0]["id"] == posted["id"]
        until(lambda: daemon.client.status().degraded == (), "nothing amiss")


def test_a_kill_of_the_daemon_takes_it_along_and_the_token_stays(host: Daemon) -> None:
    with served(host) as http:
        kept, web = http.token, child(host).pid
    host.kill()
    until(lambda: not Path(f"/proc/{web}").exists(), "the end of the web process")
    host.start()
    with served(host) as again:
        assert again.token == kept
        assert again.get("/health")[0] == 200


def test_a_taken_port_is_a_clear_fault_and_the_daemon_goes_on() -> None:
    port = free_port()  # nobody else gets it while it is free
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with Daemon(settings=BARE + f"[http_endpoints]\nenabled = true\nport = {port}\n") as daemon:
            found = until(lambda: finding(daemon), "the fault")
            assert found.level == "fault"
            assert f"port {port}" in found.text
            assert "ACU_HTTP_ENDPOINTS_PORT" in found.fix
            assert [text for text in daemon.client.status().degraded if f"port {port}" in text]
            assert daemon.client.feed_post("the daemon goes on").id == 1
            taken.close()
            with served(daemon) as http:  # it tries again by itself
                assert http.port == port
                assert http.get("/feed")[1]["messages"][0]["text"] == "the daemon goes on"
            until(lambda: daemon.client.status().degraded == (), "nothing amiss")


def test_a_token_that_others_can_read_is_a_clear_fault(host: Daemon) -> None:
    kept = host.home / "relay-token"
    with served(host):
        kept.chmod(0o644)
    os.kill(child(host).pid, signal.SIGKILL)

    def fault() -> Finding | None:
        found = finding(host)
        return found if found is not None and found.level == "fault" else None

    assert "can be read by others" in until(fault, "the fault").text
    kept.chmod(0o600)
    with served(host) as again:  # it tries again by itself
        assert again.get("/health")[0] == 200
    until(lambda: host.client.status().degraded == (), "nothing amiss")


def test_without_a_daemon_the_answer_is_503_with_the_reason(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Foreground(home) as running:
        http = running.http
        paths = ("/feed", "/sense", "/health", "/agent/last", "/agent/history", "/agent/context", "/agent/config")
        for path in paths:
            status, told = http.get(path)
            assert (status, told["ok"], told["code"]) == (503, False, "daemon_down"), path
            assert "not running" in told["error"]
            assert "acud daemon start" in told["hint"]
        assert http.post("/feed", {"text": "x"})[0] == 503
        assert http.get("/nowhere") == (404, {"error": "not found"})
        with Daemon(settings=BARE, home=home):
            assert http.post("/feed", {"text": "x"})[0] == 200
            assert http.get("/health")[0] == 200
        assert http.get("/health")[0] == 503
    assert running.process.returncode == 0
    assert http.token not in running.log


def test_a_second_listener_on_the_port_says_so(tmp_path: Path) -> None:
    with Foreground(tmp_path) as running:
        done = subprocess.run(
            [sys.executable, "-m", "acud_cli", "web", "relay", "--port", str(running.http.port)],
            env=os.environ | {"ACU_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode != 0
    assert f"port {running.http.port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_token_and_no_backends_key_reaches_answers_log_events_or_status() -> None:
    secret, key = "a-token-that-nobody-may-see", "sk-or-nobody-may-see-this-one"
    backend = f'[backends.openrouter]\napi_key = "{key}"\n[analysis]\nenabled = false\nbackend = "openrouter"\n'
    with Daemon(settings=SETTINGS + f'token = "{secret}"\n[daemon]\ndebug = true\n' + backend) as daemon:
        with served_with(daemon, secret) as http:
            status, told = http.post("/agent/config", {"openrouterApiKey": "sk-or-another", "maxTokens": 50})
            assert (status, told["config"]["hasApiKey"], told["config"]["maxTokens"]) == (200, True, 50)
            answers = [http.raw.get(path).text for path in ("/agent/config", "/health", "/agent/context")]
            http.raw.headers["Authorization"] = f"Bearer {secret}x"
            assert http.get(f"/feed?token={secret}")[0] == 401
        answers += [str(told), daemon.log(), str(daemon.client.status())]
        answers += [str(daemon.client.doctor()), str(events(daemon.client))]
        assert not [text for text in answers if secret in text or "sk-or" in text]
        command = Path(f"/proc/{child(daemon).pid}/cmdline").read_text()
        assert secret not in command


def served_with(daemon: Daemon, secret: str) -> Http:
    """Return a client for a token that stands in the settings."""
    found = until(lambda: finding(daemon), "the listener")
    assert "the settings" in found.text
    return Http(found.text.split()[1].rstrip(","), secret)


def events(client: Client) -> object:
    return client.events_since().events
