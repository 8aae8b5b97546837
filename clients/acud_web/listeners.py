"""The listeners of one process: their sockets, TLS, and another try for what cannot be had now."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from acud.errors import AcudError, ConfigError
from acud.http_listeners import ListenerSettings, WebSettings, bind, check_token, url_of
from acud.paths import Paths
from acud.protocol.bootstrap import WebOptions
from acud.protocol.children import WebHello
from acud_client.aio import AsyncClient
from acud_client.token import kept_token
from acud_web import app, gateway
from acud_web.connections import ConnectionLimit
from acud_web.daemon_gateway import DaemonGateway
from acud_web.live.displays import Hub
from acud_web.middleware import Gate, Guard
from acud_web.server import Server


class Listening:
    """Owns the socket. `settings` are checked ones. `fd`: a listening socket that was inherited; -1: one is bound.
    Raises: Refused when host and port can't be bound, or the kept
    token's file is open to others; ConfigError when the token's own file can't be read.
    """

    def __init__(self, settings: ListenerSettings, paths: Paths, fd: int = -1) -> None:
        self.settings = settings
        self.token_file = ""
        """Where the token lies; "" when it is in the settings or none is asked for."""
        self.token = self._token(paths)
        self.socket = socket.socket(fileno=os.dup(fd)) if fd >= 0 else bind(settings.host, settings.port, "relay")
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """Return where clients find it."""
        return url_of(self.settings.host, self.port)

    @property
    def credentials(self) -> str:
        """Return in words how clients get in."""
        if not self.token:
            return "no token asked for"
        return f"token in {self.token_file or 'the settings'}"

    def _token(self, paths: Paths) -> str:
        if self.settings.allow_tokenless:
            return ""
        if self.settings.token:
            return self.settings.token
        if self.settings.token_file:
            self.token_file = self.settings.token_file
            return _read(Path(self.settings.token_file).expanduser())
        made = paths.home / "relay-token"
        self.token_file = str(made)
        return kept_token(made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()


def _read(path: Path) -> str:
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"cannot read {path}: {type(fault).__name__}", hint="relay.token_file names it") from fault
    try:
        check_token(token)
    except ValueError as fault:
        raise ConfigError(f"{path}: {fault}", hint="relay.token_file names it") from fault
    return token


class GatewayListening:
    """Owns the socket. `settings` are checked ones. `fd`: a listening socket that was inherited; -1: one is bound.
    Raises: Refused when host and port can't be bound; ConfigError when certificate or key can't be used.
    """

    def __init__(self, settings: WebSettings, fd: int = -1) -> None:
        self.settings = settings
        self.cert, self.key = _checked(settings.tls_cert), _checked(settings.tls_key)
        if self.cert:
            _check_pair(self.cert, self.key)
        self.socket = socket.socket(fileno=os.dup(fd)) if fd >= 0 else bind(settings.host, settings.port, "web")
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """Return where browsers find it."""
        return url_of(self.settings.host, self.port, tls=bool(self.cert))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()


def _checked(path: str) -> str:
    return str(Path(path).expanduser()) if path else ""


def _check_pair(cert: str, key: str) -> None:
    try:
        # An empty passphrase: a key that asks for one is a fault, not a prompt on a terminal that nobody sees.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as fault:
        reason = fault.strerror or str(fault) if isinstance(fault, OSError) else str(fault)
        raise ConfigError(f"[web] tls_cert and tls_key: {reason}", hint="PEM files without a passphrase") from fault


_AGAIN_S = 10.0


class Listeners:
    """The relay endpoints and the gateway, each where `options` asks for it. `stack` closes their sockets.

    Raises: Refused or ConfigError when none of those that are asked for can be had.
    """

    def __init__(self, options: WebOptions, paths: Paths, stack: ExitStack) -> None:
        self._options = options
        self._paths = paths
        self._stack = stack
        self._relay: Listening | None = None
        self._gateway: GatewayListening | None = None
        self._faults: dict[str, AcudError] = {}
        self._servings: list[Serving] = []
        self._stopping = asyncio.Event()
        opened = self._open()
        if not opened and self._faults:
            raise next(iter(self._faults.values()))

    @property
    def hello(self) -> WebHello:
        """Return what is served as of now, and why something is not."""
        relay, gateway = self._relay, self._gateway
        fault = next(iter(self._faults.values()), None)
        return WebHello(
            os.getpid(),
            url=relay.url if relay is not None else "",
            token_file=relay.token_file if relay is not None else "",
            gateway_url=gateway.url if gateway is not None else "",
            fault=fault.message if fault is not None else "",
            fix=fault.hint if fault is not None else "",
        )

    async def run(self, opened: Callable[[], object]) -> None:
        """Serve until `stop`; tell `opened` when something could be had at last."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._stopping.wait())  # a process that only sends traces has no door
            for serving in self._servings:
                group.create_task(serving.run())
            while self._faults and not await self._stopped_within(_AGAIN_S):
                for serving in self._open():
                    group.create_task(serving.run())
                    opened()

    def stop(self) -> None:
        """End in good order."""
        self._stopping.set()
        for serving in self._servings:
            serving.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused, since the start."""
        told = [serving.counters() for serving in self._servings]
        return {name: sum(one[name] for one in told) for name in ("requests", "refused")}

    def _open(self) -> list[Serving]:
        wanted, door = self._options.listener, self._options.gateway
        made: list[Serving] = []
        if wanted.enabled and self._relay is None:
            with _Trying("relay", self._faults):
                self._relay = self._stack.enter_context(Listening(wanted, self._paths, self._options.listener_fd))
                made.append(Serving(self._relay, None, self._paths))
        if door.enabled and self._gateway is None:
            with _Trying("gateway", self._faults):
                self._gateway = self._stack.enter_context(GatewayListening(door, self._options.gateway_fd))
                made.append(Serving(None, self._gateway, self._paths))
        self._servings += made
        return made

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False


class _Trying:
    """Notes under `name` why its block failed, or that it did not."""

    def __init__(self, name: str, faults: dict[str, AcudError]) -> None:
        self._name = name
        self._faults = faults

    def __enter__(self) -> None:
        self._faults.pop(self._name, None)

    def __exit__(self, kind: object, fault: BaseException | None, at: object) -> bool:
        if isinstance(fault, AcudError):
            self._faults[self._name] = fault
            return True
        return False


_RELAY_CONNECTIONS = 400
"""Connections and answers at once; more are told 503. A process may open 1,024 files, and the gateway has its own."""


class Serving:
    """One run of what is listened for (None: not served), for the daemon of `paths`. Borrows the sockets; run once."""

    def __init__(self, relay: Listening | None, dashboard: GatewayListening | None, paths: Paths) -> None:
        self._paths = paths
        self._guard = Guard(app.application, relay.settings, relay.token) if relay is not None else None
        self._gate = Gate(gateway.application, dashboard.settings) if dashboard is not None else None
        self._servers: list[Server] = []
        if relay is not None and self._guard is not None:
            self._servers.append(Server(self._guard, relay.socket, _RELAY_CONNECTIONS))
        if dashboard is not None and self._gate is not None:
            self._servers.append(_gateway_server(self._gate, dashboard))

    async def run(self) -> None:
        """Serve until `stop`."""
        async with (
            AsyncClient(self._paths) as client,
            contextlib.AsyncExitStack() as stack,
            asyncio.TaskGroup() as beside,
        ):
            desk = DaemonGateway(client)
            hearing: list[asyncio.Task[None]] = []
            if self._gate is not None:
                live = await stack.enter_async_context(Hub(desk, self._paths, self._gate.settings))
                hearing.append(beside.create_task(self._gate.open(desk, live).run(client)))
            if self._guard is not None:
                self._guard.desk = desk
            async with asyncio.TaskGroup() as serving:
                for server in self._servers:
                    serving.create_task(server.run())
            for task in hearing:
                task.cancel()

    def stop(self) -> None:
        """End in good order: no new connections, answers under way finished."""
        for server in self._servers:
            server.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused at the doors, since the start."""
        doors = [door for door in (self._guard, self._gate) if door is not None]
        return {
            "requests": float(sum(door.passed for door in doors)),
            "refused": float(sum(door.refused for door in doors)),
        }


def _gateway_server(gate: Gate, dashboard: GatewayListening) -> Server:
    wanted = dashboard.settings
    crowd = ConnectionLimit(wanted.max_connections, wanted.max_connections_per_address)
    certificate = (dashboard.cert, dashboard.key)
    most = wanted.max_connections + 1  # the crowd's own limit comes first, and makes room
    return Server(gate, dashboard.socket, most, crowd, websockets=True, certificate=certificate)
