"""A TCP proxy that can stop passing bytes while its connections stay open: a partition without a wire to cut."""

from __future__ import annotations

import selectors
import socket
import threading
from types import TracebackType
from typing import Self


class Proxy:
    """Listens on a free port of loopback and passes bytes to and from `port`; `cut` holds them, `heal` passes again.

    While it is cut, new connections are taken and hear nothing. `mute` holds what comes from `port` alone: what is sent
    there arrives, and its answer is lost for who waits for it.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._other: dict[socket.socket, socket.socket] = {}
        self._cut = threading.Event()
        self._muted = threading.Event()
        self._answering: set[socket.socket] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def cut(self) -> None:
        self._cut.set()

    def mute(self) -> None:
        self._muted.set()

    def heal(self) -> None:
        self._cut.clear()
        self._muted.clear()

    def __enter__(self) -> Self:
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        for one in [*self._other, self._listener]:
            one.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._cut.is_set():
                self._ended.wait(0.02)
                continue
            for key, _ in self._selector.select(0.02):
                if key.fileobj is self._listener:
                    self._accept()
                elif self._muted.is_set() and key.fileobj in self._answering:
                    self._ended.wait(0.01)
                else:
                    self._pass(key.fileobj)  # type: ignore[arg-type]

    def _accept(self) -> None:
        near, _ = self._listener.accept()
        far = socket.create_connection(("127.0.0.1", self._to))
        self._answering.add(far)
        for one, other in ((near, far), (far, near)):
            self._other[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass(self, one: socket.socket) -> None:
        if one not in self._other:
            return
        try:
            data = one.recv(65536)
            if data:
                self._other[one].sendall(data)
                return
        except OSError:
            data = b""
        other = self._other.pop(one)
        self._other.pop(other, None)
        for end in (one, other):
            self._selector.unregister(end)
            end.close()
