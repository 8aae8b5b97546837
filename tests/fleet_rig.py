"""A fleet on one machine for tests and benchmarks: NATS servers, daemons as hosts, and the endpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acud.base.errors import Unavailable
from acud.base.paths import resolve
from acud_client import Client
from acud_fleet.access import Grants
from tests.daemon import Daemon
from tests.fixtures.patience import LONG_S
from tests.fleet_servers import FleetServers

BARE = '[display]\nwindow_manager = "none"\nsession_bus = false\n[evaluator]\nworkers = 1\n'
LEASE_S = 6
"""Short, for those that wait for a loss: a host that a loaded machine keeps from its work for 4 s is lost as well."""
CALM_S = 9
"""For those to whom every loss would be one too many."""


def until(check: Callable[[], object], what: str, within_s: float = LONG_S) -> None:
    """Return once `check()` is true; fails naming `what`. An endpoint that lost its server for a moment cannot tell."""
    end_s = time.monotonic() + within_s
    while True:
        fault = ""
        try:
            if check():
                return
        except Unavailable as unanswered:
            fault = f": {unanswered.message}"
        assert time.monotonic() < end_s, f"{what} did not come within {within_s:g} s{fault}"
        time.sleep(0.05)


def settings(
    url: str,
    host: str,
    *,
    labels: str = "",
    room: int = 4,
    replicas: int = 1,
    more: str = "",
    login: str = "",
    lease_s: float = LEASE_S,
) -> str:
    """Return the acud.toml of a host. `login`: lines of `[fleet]` that say who it is; `more`: further sections."""
    return (
        f'[fleet]\nurl = "{url}"\nhost = "{host}"\nlease_s = {lease_s if replicas == 1 else 10}\n'
        f"room = {room}\nreplicas = {replicas}\n"
        f"labels = {{ {labels} }}\n{login}" + BARE + more
    )


class EndpointProcess:
    """`acud fleet serve` in a process of its own, with `processes` that share its work."""

    def __init__(
        self, url: str, replicas: int = 1, login: str = "", lease_s: float = LEASE_S, processes: int = 1
    ) -> None:
        self._processes = processes
        self._folder = tempfile.TemporaryDirectory(prefix="acud-test-")
        self.home = Path(self._folder.name)
        text = settings(url, "endpoint", replicas=replicas, login=login, lease_s=lease_s)
        (self.home / "acud.toml").write_text(text, encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.env = {**kept, "ACU_HOME": str(self.home)}
        self.paths = resolve(self.env)
        self.client = Client(self.paths, fleet=True, timeout_s=60, patience_s=30)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return once all its processes have read the hosts."""
        command = [sys.executable, "-m", "acud_cli", "fleet", "serve", "--processes", str(self._processes)]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(command, env=self.env, stdout=log, stderr=log)
        until(self._answers, "the endpoint")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log()
        return len(self.client.fleet_hosts().processes) == self._processes

    def log(self) -> str:
        return (self.home / "log").read_text(encoding="utf-8")

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(LONG_S)
            finally:
                self.process.kill()
                self.process.wait()
            self.process = None

    def close(self) -> None:
        self.stop()
        self.client.close()
        self._folder.cleanup()


class Fleet:
    """Hosts by name with the text of their labels, on `servers` NATS servers, and an endpoint. Use in `with`.

    `url_of`: what a host's `[fleet] url` says, where that is not the servers' own. `login_of`: lines of `[fleet]` by
    which a host, or the one named "endpoint", says who it is. `prefix_of`: see `Daemon`. `address`: the servers'.
    `lease_s`: how long a host may be silent; on three servers 10 s. `admin`: the administrator's settings of `[fleet]`;
    `jobs`: of `[jobs]`. `grants`: whose keys the administrator lists. `processes`: the endpoint's.
    """

    def __init__(
        self,
        hosts: dict[str, str],
        *,
        servers: int = 1,
        room: int = 4,
        more: str = "",
        extra: str = 'ping_interval: "2s"\nping_max: 2\n',
        url_of: Callable[[str, FleetServers], str] = lambda host, nats: nats.url,
        login_of: Callable[[str], str] = lambda name: "",
        prefix_of: Callable[[str], tuple[str, ...]] = lambda host: (),
        address: str = "127.0.0.1",
        lease_s: float = LEASE_S,
        admin: dict[str, Any] | None = None,
        jobs: dict[str, Any] | None = None,
        grants: Grants | None = None,
        processes: int = 1,
    ) -> None:
        self._stack = ExitStack()
        self._replicas = 3 if servers == 3 else 1
        lease_s = lease_s if self._replicas == 1 else 10
        self.nats = FleetServers(servers, extra, address, lease_s=lease_s, login=admin, jobs=jobs, grants=grants)
        self._hosts = hosts
        self._processes = processes
        self._room = room
        self._more = more
        self._lease_s = lease_s
        self._url_of = url_of
        self._login_of = login_of
        self._prefix_of = prefix_of
        self.daemons: dict[str, Daemon] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.nats)
            for host, labels in self._hosts.items():
                text = settings(
                    self._url_of(host, self.nats),
                    host,
                    labels=labels,
                    room=self._room,
                    replicas=self._replicas,
                    more=self._more,
                    login=self._login_of(host),
                    lease_s=self._lease_s,
                )
                self.daemons[host] = stack.enter_context(Daemon(settings=text, prefix=self._prefix_of(host)))
            self.endpoint = self.another_endpoint(self._processes)
            stack.callback(self.endpoint.close)
            self.endpoint.start()
            until(lambda: self.lives() == dict.fromkeys(self._hosts, "up"), "every host")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def another_endpoint(self, processes: int = 1) -> EndpointProcess:
        """Return a further endpoint of this fleet, not started yet; whoever asks closes it."""
        return EndpointProcess(self.nats.url, self._replicas, self._login_of("endpoint"), self._lease_s, processes)

    @property
    def client(self) -> Client:
        return self.endpoint.client

    def lives(self) -> dict[str, str]:
        return {one.host: one.life for one in self.client.fleet_hosts().hosts}
