"""The side of systemd in sd_notify(3): a socket that hears what a service says of itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

_PATIENCE_S = 100.0


class Systemd:
    """Takes what a service says as it comes: a queue that is full would make it wait (unix(7))."""

    def __init__(self, socket: socket.socket) -> None:
        self._socket = socket
        self._said: Queue[bytes] = Queue()
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _take(self) -> None:
        while words := self._socket.recv(200):
            self._said.put(words)

    def next(self) -> bytes:
        return self._said.get(timeout=_PATIENCE_S)


@contextmanager
def notified(folder: Path) -> Iterator[Systemd]:
    address = str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as taking:
        taking.bind(address)
        systemd = Systemd(taking)
        try:
            yield systemd
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
                last.sendto(b"", address)
            systemd.join()
