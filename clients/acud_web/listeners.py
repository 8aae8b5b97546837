"""The listeners of one process: their sockets, TLS, and another try for what cannot be had now."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acud.errors import AcudError, ConfigError
from acud.http_listeners import ListenerSettings, WebSettings, bind, check_token, url_of
from acud.paths import Paths
from acud.protocol.bootstrap import WebOptions
from acud.protocol.children import WebHello
from acud_client.aio import AsyncClient
from acud_client.token import kept_token
from acud_web import applications
from acud_web.access import Revocations
from acud_web.api.hub import EventHub
from acud_web.authentication import Authenticator
from acud_web.connections import ConnectionLimit
from acud_web.daemon_gateway import DaemonGateway
from acud_web.live.displays import DisplayHub
from acud_web.middleware import GATEWAY, RELAY, RequestFilter, Surface
from acud_web.server import Server


class Listener:
    """A listening socket, which it owns, and what it is for. `settings` are checked ones. `fd`: a listening socket that
    was inherited; -1: one is bound. `certificate`: the paths of certificate and key; ("", "") for plain HTTP. `token`:
    what every request needs ("": none), and `token_file` where it lies ("": in the settings).
    Raises: Refused when host and port can't be bound.
    """

    def __init__(
        self,
        surface: Surface,
        settings: ListenerSettings | WebSettings,
        fd: int,
        *,
        token: str = "",
        token_file: str = "",
        certificate: tuple[str, str] = ("", ""),
    ) -> None:
        self.surface, self.settings = surface, settings
        self.token, self.token_file, self.certificate = token, token_file, certificate
        table = surface.table
        self.socket = socket.socket(fileno=os.dup(fd)) if fd >= 0 else bind(settings.host, settings.port, table)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """Return where clients find it."""
        return url_of(self.settings.host, self.port, tls=bool(self.certificate[0]))

    @property
    def credentials(self) -> str:
        """Return in words how clients of the relay endpoints get in."""
        return f"token in {self.token_file or 'the settings'}" if self.token else "no token asked for"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()


def listen_relay(settings: ListenerSettings, paths: Paths, fd: int = -1) -> Listener:
    """Listen for the relay endpoints. Raises: Refused when host and port can't be bound, or the kept token's file is
    open to others; ConfigError when the token's own file can't be read.
    """
    token, token_file = _token(settings, paths)
    return Listener(RELAY, settings, fd, token=token, token_file=token_file)


def listen_gateway(settings: WebSettings, fd: int = -1) -> Listener:
    """Listen for the gateway. Raises: Refused when host and port can't be bound; ConfigError when certificate or key
    can't be used.
    """
    certificate = (_checked(settings.tls_cert), _checked(settings.tls_key))
    if certificate[0]:
        _check_pair(*certificate)
    return Listener(GATEWAY, settings, fd, certificate=certificate)


def _token(settings: ListenerSettings, paths: Paths) -> tuple[str, str]:
    """Return the token ("": none is asked for), and the file that it lies in ("": none)."""
    if settings.allow_tokenless:
        return "", ""
    if settings.token:
        return settings.token, ""
    if settings.token_file:
        return _read(Path(settings.token_file).expanduser()), settings.token_file
    made = paths.home / "relay-token"
    return kept_token(made), str(made)


def _read(path: Path) -> str:
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(
            f"cannot read {path}: {type(fault).__name__}", hint="[http_endpoints] token_file names it"
        ) from fault
    try:
        check_token(token)
    except ValueError as fault:
        raise ConfigError(f"{path}: {fault}", hint="[http_endpoints] token_file names it") from fault
    return token


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
        self._opened: dict[str, Listener] = {}
        self._faults: dict[str, AcudError] = {}
        self._servings: list[Serving] = []
        self._stopping = asyncio.Event()
        opened = self._open()
        if not opened and self._faults:
            raise next(iter(self._faults.values()))

    @property
    def hello(self) -> WebHello:
        """Return what is served as of now, and why something is not."""
        relay, gateway = (self._opened.get(one.table) for one in (RELAY, GATEWAY))
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
            group.create_task(self._stopping.wait())  # a process that only sends traces has no listener
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
        options = self._options
        wanted: dict[str, Callable[[], Listener]] = {}
        if options.listener.enabled:
            wanted[RELAY.table] = partial(listen_relay, options.listener, self._paths, options.listener_fd)
        if options.gateway.enabled:
            wanted[GATEWAY.table] = partial(listen_gateway, options.gateway, options.gateway_fd)
        made: list[Serving] = []
        for table, listen in wanted.items():
            if table in self._opened:
                continue
            try:
                opened = self._stack.enter_context(listen())
            except AcudError as fault:
                self._faults[table] = fault
                continue
            self._faults.pop(table, None)
            self._opened[table] = opened
            made.append(Serving(opened, self._paths))
        self._servings += made
        return made

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False


_RELAY_CONNECTIONS = 400
"""Connections and answers at once; more are told 503. A process may open 1,024 files, and the gateway has its own."""


class Serving:
    """One run of what `listener` is for, for the daemon of `paths`. Borrows the socket; run once."""

    def __init__(self, listener: Listener, paths: Paths) -> None:
        self._listener, self._paths = listener, paths
        application = applications.GATEWAY if listener.surface is GATEWAY else applications.RELAY
        self._filter = RequestFilter(application, listener.surface, listener.settings, listener.token)
        self._server = _server(self._filter, listener)

    async def run(self) -> None:
        """Serve until `stop`."""
        async with (
            AsyncClient(self._paths) as client,
            contextlib.AsyncExitStack() as stack,
            asyncio.TaskGroup() as beside,
        ):
            gateway = DaemonGateway(client)
            listening: list[asyncio.Task[None]] = []
            if isinstance(self._listener.settings, WebSettings):
                live = await stack.enter_async_context(DisplayHub(gateway, self._paths, self._listener.settings))
                state = gateway_state(gateway, live, self._listener.settings)
                listening.append(beside.create_task(state["revocations"].run(client)))
            else:
                state = {"desk": gateway}
            self._filter.state.update(state)
            await self._server.run()
            for task in listening:
                task.cancel()

    def stop(self) -> None:
        """End in good order: no new connections, answers under way finished."""
        self._server.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused, since the start."""
        return {"requests": float(self._filter.passed), "refused": float(self._filter.refused)}


def gateway_state(gateway: DaemonGateway, live: DisplayHub, settings: WebSettings) -> dict[str, Any]:
    """Return what requests to the gateway find as their state; run its "revocations" beside the server."""
    admission = Authenticator(gateway)
    return {
        "desk": gateway,
        "admission": admission,
        "revocations": Revocations(admission),
        "hub": EventHub(gateway),
        "live": live,
        "metrics_open": settings.metrics_open,
    }


def _server(application: RequestFilter, listener: Listener) -> Server:
    wanted = listener.settings
    if not isinstance(wanted, WebSettings):
        return Server(application, listener.socket, _RELAY_CONNECTIONS)
    limit = ConnectionLimit(wanted.max_connections, wanted.max_connections_per_address)
    most = wanted.max_connections + 1  # the limit's own refusal comes first, and makes room
    return Server(application, listener.socket, most, limit, websockets=True, certificate=listener.certificate)
