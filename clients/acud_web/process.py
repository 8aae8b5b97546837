"""The web process: its listeners, under the supervisor or in the foreground (acud web serve, acud web relay)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import ssl
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from acud.base import log, paths
from acud.base.errors import AcudError, ConfigError
from acud.base.extras import install_command, is_installed
from acud.base.paths import Paths
from acud.config.http_listeners import ListenerSettings, WebSettings, check_token
from acud.process import child_process
from acud.process.async_child import AsyncChild
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud.protocol.children import Heartbeat, ToWeb, WebHello
from acud_client.token import kept_token
from acud_http.request_filter import ENDPOINTS, GATEWAY
from acud_http.server import Listener, run_in_foreground
from acud_web.application import Serving

_LOG = log.logger("traces")
_AGAIN_S = 10.0
"""How long until another try for a listener that could not be had."""


def listen_endpoints(settings: ListenerSettings, paths: Paths, fd: int = -1) -> Listener:
    """Listen for the HTTP endpoints. Raises: Refused when host and port can't be bound, or the kept token's file is
    open to others; ConfigError when the token's own file can't be read.
    """
    token, token_file = _read_token(settings, paths)
    return Listener(ENDPOINTS, settings, fd, token=token, token_file=token_file)


def listen_gateway(settings: WebSettings, fd: int = -1) -> Listener:
    """Listen for the gateway. Raises: Refused when host and port can't be bound; ConfigError when certificate or key
    can't be used.
    """
    certificate = (_check_file(settings.tls_cert), _check_file(settings.tls_key))
    if certificate[0]:
        _check_pair(*certificate)
    return Listener(GATEWAY, settings, fd, certificate=certificate)


def _read_token(settings: ListenerSettings, paths: Paths) -> tuple[str, str]:
    """Return the token ("": none is asked for), and the file that it lies in ("": none)."""
    if settings.allow_tokenless:
        return "", ""
    if settings.token:
        return settings.token, ""
    if settings.token_file:
        return _read_token_file(Path(settings.token_file).expanduser()), settings.token_file
    made = paths.home / "relay-token"
    return kept_token(made), str(made)


def _read_token_file(path: Path) -> str:
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


def _check_file(path: str) -> str:
    return str(Path(path).expanduser()) if path else ""


def _check_pair(cert: str, key: str) -> None:
    try:
        # An empty passphrase: a key that asks for one is a fault, not a prompt on a terminal that nobody sees.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as fault:
        reason = fault.strerror or str(fault) if isinstance(fault, OSError) else str(fault)
        raise ConfigError(f"[web] tls_cert and tls_key: {reason}", hint="PEM files without a passphrase") from fault


class Listeners:
    """The HTTP endpoints and the gateway, each where `options` asks for it. `stack` closes their sockets.

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
        opened = self._open_wanted()
        if not opened and self._faults:
            raise next(iter(self._faults.values()))

    @property
    def hello(self) -> WebHello:
        """Return the open listeners, and why a listener is not open."""
        relay, gateway = (self._opened.get(one.table) for one in (ENDPOINTS, GATEWAY))
        fault = next(iter(self._faults.values()), None)
        return WebHello(
            os.getpid(),
            url=relay.url if relay is not None else "",
            token_file=relay.token_file if relay is not None else "",
            gateway_url=gateway.url if gateway is not None else "",
            fault=fault.message if fault is not None else "",
            fix=fault.hint if fault is not None else "",
        )

    async def run(self, on_open: Callable[[], object]) -> None:
        """Serve until `stop`; call `on_open` when another listener could be had."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._stopping.wait())  # a process that only sends traces has no listener
            for serving in self._servings:
                group.create_task(serving.run())
            while self._faults and not await self._wait_until_stopped(_AGAIN_S):
                for serving in self._open_wanted():
                    group.create_task(serving.run())
                    on_open()

    def stop(self) -> None:
        """End in good order."""
        self._stopping.set()
        for serving in self._servings:
            serving.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused, since the start."""
        told = [serving.counters() for serving in self._servings]
        return {name: sum(one[name] for one in told) for name in ("requests", "refused")}

    def _open_wanted(self) -> list[Serving]:
        options = self._options
        wanted: dict[str, Callable[[], Listener]] = {}
        if options.listener.enabled:
            wanted[ENDPOINTS.table] = partial(listen_endpoints, options.listener, self._paths, options.listener_fd)
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

    async def _wait_until_stopped(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False


async def serve(bootstrap: Bootstrap, options: WebOptions) -> None:
    """Serve until `Stop` or SIGTERM. Raises: Refused or ConfigError when nothing that is asked for can be served: a
    port is taken, the token's file is open to others, a file that is named can't be used.
    """
    places = paths.resolve({"ACU_HOME": options.home})
    async with AsyncChild[ToWeb](bootstrap, ToWeb) as child:
        with contextlib.ExitStack() as stack:
            listeners = Listeners(options, places, stack)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, listeners.stop)
            await child.send(listeners.hello)
            await _until_stopped(child, listeners, _send_traces(options, places))


async def _send_traces(options: WebOptions, places: paths.Paths) -> None:
    """Send spans if a URL is set; without the SDK nothing is sent, which doctor reports too."""
    if not options.otel.url:
        return
    if not is_installed("otel"):
        _LOG.error("traces.missing", fix=install_command("otel"))
        return
    from acud_web import trace_export

    await trace_export.run(options.otel.url, places, direct=options.otel.is_here)


async def _until_stopped(child: AsyncChild[ToWeb], listeners: Listeners, traces: Coroutine[None, None, None]) -> None:
    async with asyncio.TaskGroup() as group:
        work = [_handle_orders(child, listeners), child.send_beats(lambda: _make_heartbeat(listeners)), traces]
        tasks = [group.create_task(one) for one in work]
        await listeners.run(lambda: group.create_task(child.send(listeners.hello)))
        for task in tasks:
            task.cancel()


async def _handle_orders(child: AsyncChild[ToWeb], listeners: Listeners) -> None:
    async for _ in child.messages():  # Stop is all there is
        listeners.stop()


def _make_heartbeat(listeners: Listeners) -> Heartbeat:
    return Heartbeat(rss_mb=child_process.rss_mb(), counters=listeners.counters())


def serve_relay(settings: ListenerSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken or the token's file is open to others."""
    log.configure("web", debug=False)
    with listen_endpoints(settings, paths) as listening:
        told = f"acud web: {listening.url}, {listening.credentials}"
        serving = Serving(listening, paths)
        asyncio.run(run_in_foreground(serving.run, serving.stop, told))


def serve_gateway(settings: WebSettings, paths: Paths) -> None:
    """Serve until SIGINT or SIGTERM. Raises: Refused when the port is taken; ConfigError when certificate or key
    can't be used.
    """
    log.configure("web", debug=False)
    with listen_gateway(settings) as listening:
        told = f"acud web: {listening.url}; acud web login --url {listening.url}"
        serving = Serving(listening, paths)
        asyncio.run(run_in_foreground(serving.run, serving.stop, told))
