"""Real NATS servers with JetStream for tests and benchmarks: loopback, free ports, their stores in a folder that goes
with them. They end whatever happens.
"""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fixtures.patience import LONG_S
from tests.ports import free_port


class NatsServer:
    """One server. `extra`: text of its configuration besides ports and store. `kill` and `start` may be called in
    between: it keeps its ports and its store.
    """

    def __init__(self, folder: Path, name: str = "one", extra: str = "", address: str = "127.0.0.1") -> None:
        self.name = name
        self._address = address
        self._folder = folder / name
        self._folder.mkdir(parents=True)
        self.extra = extra
        """It counts from the next start on."""
        self.port = free_port(address=address)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://{self._address}:{self.port}"

    @property
    def store(self) -> Path:
        return self._folder / "store"

    def launch(self) -> None:
        config = self._folder / "nats.conf"
        config.write_text(
            f'server_name: {self.name}\nlisten: "{self._address}:{self.port}"\n'
            f'jetstream {{ store_dir: "{self.store}" }}\n' + self.extra
        )
        with (self._folder / "log").open("ab") as log:
            self.process = subprocess.Popen(["nats-server", "-c", str(config)], stdout=log, stderr=log)

    def start(self) -> None:
        self.launch()
        self.ready()

    def ready(self) -> None:
        """Return once it listens; raises with its log when it does not."""
        end_s = time.monotonic() + LONG_S
        while time.monotonic() < end_s:
            with socket.socket() as knocking:
                if knocking.connect_ex((self._address, self.port)) == 0:
                    return
            assert self.process is not None
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"nats-server did not start: {self.log()[-2000:]}")

    def log(self) -> str:
        return (self._folder / "log").read_text(encoding="utf-8")

    def pause(self) -> None:
        """Have it stand still, its connections open: what a cut wire looks like."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL it and reap it; twice is harmless."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def wipe(self) -> None:
        """Remove the store of a server that was killed: it comes back as with a new disk."""
        shutil.rmtree(self.store)


class Nats:
    """`count` servers, clustered where there are more than one. Use in `with`."""

    def __init__(self, count: int = 1, extra: str = "", address: str = "127.0.0.1") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="acud-test-nats-")
        ports = [free_port() for _ in range(count)] if count > 1 else []
        self.servers = [
            NatsServer(Path(self._folder.name), f"n{number}", extra + _cluster(ports, number), address)
            for number in range(count)
        ]

    @property
    def url(self) -> str:
        return ",".join(server.url for server in self.servers)

    def __enter__(self) -> Self:
        try:
            for server in self.servers:
                server.launch()
            for server in self.servers:
                server.ready()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        for server in self.servers:
            server.kill()
        self._folder.cleanup()


def _cluster(ports: list[int], number: int) -> str:
    if not ports:
        return ""
    routes = json.dumps([f"nats://127.0.0.1:{port}" for port in ports])
    return f'cluster {{ name: acud, listen: "127.0.0.1:{ports[number]}", routes: {routes} }}\n'


async def settled(client: Any) -> None:
    """Return once a server has had all that a plain `client` sent: its first ping may overtake what it collects."""
    for _ in range(2):
        await client.flush()
