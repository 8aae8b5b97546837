"""The gateway as a process: its port, its TLS, a daemon that comes and goes, and the command line."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from acud.config import http_listeners
from acud.protocol.web import Scope
from tests.e2e.cli_support import CommandLine, acud
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.e2e.gateway_support import SETTINGS, Browser, Foreground, code, served, token
from tests.e2e.listener_support import child
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port


def told_of(daemon: Daemon, port: int) -> str:
    """Return why the daemon says that it is not well for want of `port`; "" when it does not."""
    return next((reason for reason in daemon.client.status().degraded if f"port {port}" in reason), "")


def test_it_is_off_until_asked_for(shared: Daemon) -> None:
    assert shared.client.status().web == {}
    assert [one for one in shared.client.status().children if one.kind == "web"] == []
    said = acud(shared, "web", "login")
    assert said.returncode != 0
    assert "enabled = true" in said.stderr


def test_a_taken_port_is_told_and_no_other_one_is_used() -> None:
    port = free_port(3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with Daemon(settings=BARE + f"[web]\nenabled = true\nport = {port}\n") as daemon:
            assert "a program of yours" in until(lambda: told_of(daemon, port), "the fault")
            assert daemon.client.status().web == {}
            assert [one for one in (port + 1, port + 2) if http_listeners.listener_uid(one) != -1] == []
            said = acud(daemon, "web", "login")
            assert (said.returncode != 0, said.stdout) == (True, "")
        said = acud(daemon, "web", "serve", "--port", str(port))
        assert said.returncode != 0
        assert f"port {port}" in said.stderr


_STRANGER = 65_534
_LISTEN = (
    "import socket, sys; one = socket.create_server(('127.0.0.1', int(sys.argv[1]))); "
    "print(flush=True); sys.stdin.read()"
)


@contextlib.contextmanager
def listening(port: int, uid: int) -> Iterator[None]:
    """Somebody else has the port, in the block."""
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("the system has no Python of its own")
    line = [python, "-c", _LISTEN, str(port)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=uid, cwd="/") as stranger:
        assert stranger.stdout.readline() == b"\n"
        yield
        stranger.kill()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_where_another_user_took_the_port_every_session_ends() -> None:
    port = free_port()
    with Daemon(settings=BARE + f"[web]\nenabled = true\nport = {port}\n") as daemon:
        with Browser(served(daemon)) as browser:
            assert browser.login(code(daemon.client)).status_code == 200
        token(daemon.client, Scope.READ)

        def kinds() -> list[str]:
            return sorted(one.kind for one in daemon.client.web_token_list().passes)

        for uid, left in ((os.getuid(), ["session", "token"]), (_STRANGER, ["token"])):
            daemon.kill()
            until(lambda: http_listeners.listener_uid(port) == -1, "the end of the web process")
            with listening(port, uid):
                daemon.start()
                told = until(lambda: told_of(daemon, port), "the fault")
                assert ("every session was ended" in told) == (uid == _STRANGER)
                assert ("uid 65534" in told) == (uid == _STRANGER)
                assert kinds() == left
                assert daemon.client.status().web == {}


def bound_by_us(port: int, ended: threading.Event) -> int:
    """Try to take the port a thousand times a second; return how often that was possible."""
    taken = 0
    while not ended.wait(0.001):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            taken += 1
    return taken


def test_the_port_is_never_free_over_a_restart_and_a_death_of_who_serves() -> None:
    with Daemon(settings=BARE + f"[web]\nenabled = true\nport = {free_port()}\n") as daemon:
        url = served(daemon)
        port = int(url.rpartition(":")[2])
        ended = threading.Event()
        with Browser(url) as browser:
            assert browser.login(code(daemon.client)).status_code == 200
            kept = dict(browser.raw.cookies)

        def is_known() -> bool:
            with Browser(url) as fresh:
                fresh.raw.cookies.update(kept)
                return fresh.ask("GET", "/api/me")[0] == 200

        with ThreadPoolExecutor(1) as beside:
            trying = beside.submit(bound_by_us, port, ended)
            try:
                killed = child(daemon).pid
                os.kill(killed, signal.SIGKILL)
                assert is_known()  # who connects while nobody accepts waits in the queue of the socket that is held
                assert child(daemon).pid != killed
                for forced in ([], ["--force"]):
                    assert CommandLine(daemon.home).run("daemon", "restart", *forced)
                    assert is_known()
                    assert served(daemon) == url
            finally:
                ended.set()
            assert trying.result() == 0
        assert acud(daemon, "daemon", "stop").returncode == 0
        assert http_listeners.listener_uid(port) == -1


@pytest.mark.long  # acud tries every 10 s
def test_one_that_could_not_listen_does_later_and_the_other_goes_on() -> None:
    port = free_port()  # nobody else gets it while it is free
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with Daemon(settings=SETTINGS + f"[http_endpoints]\nenabled = true\nport = {port}\n") as daemon:
            url = served(daemon)
            taken.close()
            until(lambda: "relay" in daemon.client.status().web, "the HTTP endpoints")
            until(lambda: daemon.client.status().degraded == (), "nothing amiss")
            assert daemon.client.status().web == {"gateway": url, "relay": f"http://127.0.0.1:{port}"}


def test_a_daemon_that_comes_and_goes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Daemon(settings=BARE, home=home) as daemon:
        bearer, _ = token(daemon.client, Scope.READ)
    with Foreground(home) as running, Browser(running.url, bearer) as program, Browser(running.url) as nobody:

        def is_down() -> None:
            until(
                lambda: program.ask("GET", "/api/me")[0] == 503,
                "that it is noticed: an access token is good for a second",
            )
            status, told = program.ask("GET", "/api/me")
            assert (status, told["ok"], told["code"]) == (503, False, "daemon_down")
            assert "acud daemon start" in told["hint"]
            assert nobody.ask("GET", "/api/me")[0] == 401
            assert nobody.login("any").status_code == 503
            assert all(nobody.raw.get(path).status_code == 200 for path in ("/dashboard", "/login"))

        is_down()
        with Daemon(home=home) as daemon:
            assert program.ask("GET", "/api/me")[0] == 200
            assert nobody.login(code(daemon.client)).status_code == 200
            daemon.kill()
            until(lambda: program.ask("GET", "/api/me")[0] == 503, "that it is noticed")
            daemon.start()
            assert program.ask("GET", "/api/me")[0] == 200
            assert nobody.ask("GET", "/api/me")[0] == 200  # the session outlives the daemon
        nobody.raw.cookies.clear()
        is_down()


@pytest.mark.parametrize(
    ("settings", "named"), [('host = "0.0.0.0"', "allow_remote"), ('host = "0.0.0.0"\nallow_remote = true', "tls_cert")]
)
def test_other_machines_need_tls(tmp_path: Path, settings: str, named: str) -> None:
    (tmp_path / "acud.toml").write_text(f"[web]\n{settings}\n")
    _, said = CommandLine(tmp_path).capture("web", "serve", "--port", "0", code=2)
    assert named in said


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for localhost, signed by itself, and its key."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(["openssl", *made, *names, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


def test_tls(certificate: tuple[Path, Path]) -> None:
    """Also beside HTTP endpoints that can't listen."""
    cert, key = certificate
    with socket.create_server(("127.0.0.1", 0)) as taken:
        other = taken.getsockname()[1]
        settings = SETTINGS + f'host = "0.0.0.0"\nallow_remote = true\ntls_cert = "{cert}"\ntls_key = "{key}"\n'
        with Daemon(settings=settings + f"[http_endpoints]\nenabled = true\nport = {other}\n") as daemon:
            url = served(daemon)
            assert url.startswith("https://127.0.0.1:")
            trusted = ssl.create_default_context(cafile=str(cert))
            port = int(url.rpartition(":")[2])
            with httpx.Client(base_url=url, verify=trusted, trust_env=False, timeout=60) as client:
                page = {"X-Acud": "1", "Origin": url}
                opened = client.post("/api/login", json={"code": code(daemon.client)}, headers=page)
                assert opened.status_code == 200
                assert "secure" in opened.headers["set-cookie"].lower()
                assert client.get("/api/me").status_code == 200
                assert client.get("/api/me", headers={"Host": f"192.168.1.5:{port}"}).status_code == 421
            with pytest.raises(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/dashboard", trust_env=False, timeout=60)
            until(lambda: told_of(daemon, other), "the fault")


def test_a_certificate_that_can_not_be_used_is_a_clear_fault(certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    key.write_text(cert.read_text())
    with Daemon(settings=SETTINGS + f'tls_cert = "{cert}"\ntls_key = "{key}"\n') as daemon:

        def found() -> str:
            return next((one.text for one in daemon.client.doctor().findings if one.part == "web"), "")

        assert "tls_cert and tls_key" in until(found, "the fault")
        assert daemon.client.status().degraded
