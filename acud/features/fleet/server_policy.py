"""TLS trust and client identity, checked before the first byte is sent.

TLS where it was asked for, names beyond loopback: the NATS client encrypts if the server offers it; an attacker in
between could deny that, and read everything. Credentials are files that `[fleet]` names, checked before a server is
asked.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import ParseResult

import nats.aio.client
import nats.errors
import nkeys
from nats.aio.msg import Msg
from nats.aio.transport import TcpTransport

from acud.base.errors import ConfigError
from acud.config.fleet import FleetSettings
from acud.config.http_listeners import is_loopback
from acud.features.fleet.cancellation import cancel_until_done

_CLOSE_S = 1.0
"""What the other side may take to end TLS in good order."""
_JWT = b"BEGIN NATS USER JWT"
_SEED = b"BEGIN USER NKEY SEED"


class ServerRejected(nats.errors.Error):
    """A server that is rejected, with the reason as its message."""


def rejection(settings: FleetSettings, scheme: str, host: str, info: dict[str, Any]) -> str:
    """Return why the server at `host`, which sent `info`, is rejected; "" if it is accepted.

    Also checks servers that another one announced: `scheme` is then that one's.
    """
    if (scheme == "tls" or settings.demands_tls) and not info.get("tls_required"):
        return f"the server {host} offers no TLS, which [fleet] asks for"
    if is_loopback(host):
        return ""
    if not settings.has_credentials:
        return f"the server {host} is not loopback, and this side has no credentials: nobody joins a fleet unknown"
    if not info.get("auth_required") and not info.get("tls_verify"):
        return f"the server {host} lets in whoever comes: set up authorization or tls {{ verify: true }} there"
    return ""


def fault_text(fault: BaseException) -> str:
    """Return one line about a fault of NATS or of TLS that names what to mend."""
    if isinstance(fault, ServerRejected):
        return str(fault)
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"the server's certificate is not accepted: {fault.verify_message} (see [fleet] tls_ca)"
    if isinstance(fault, ssl.SSLError) and "ALERT" in (fault.reason or ""):
        reason = str(fault.reason).lower().replace("_", " ")
        return f"the server does not accept this side's certificate: {reason} (see [fleet] tls_cert)"
    text = str(fault).strip().removeprefix("nats: ").splitlines()
    line = text[0][:200] if text else ""
    if "authorization violation" in line.lower():
        return f"the server does not let these credentials in ({line.strip(chr(39))})"
    return f"{type(fault).__name__}: {line}" if line else type(fault).__name__


class _Transport(TcpTransport):
    def __bool__(self) -> bool:
        """Hold before the first connection, too: the client puts one of its own in the place of a false one."""
        return True

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: int) -> None:
        """Connect anew. The connection of before is closed: the client forgets the one of a try that failed, and would
        hold a descriptor more with each.
        """
        self.close()  # type: ignore[no-untyped-call]
        async with asyncio.timeout(connect_timeout):  # `wait_for` of Python 3.11 loses one made as it is cancelled
            reader, writer = await asyncio.open_connection(uri.hostname, uri.port, limit=buffer_size)
        self._bare_io_reader = self._io_reader = reader
        self._bare_io_writer = self._io_writer = writer

    async def connect_tls(
        self, uri: str | ParseResult, ssl_context: ssl.SSLContext, buffer_size: int, connect_timeout: int
    ) -> None:
        """Encrypt the connection from now on, as asyncio's streams do: by the client's own way asyncio does not know
        that the stream is encrypted, and writes a warning to standard error at its end.
        """
        assert self._io_writer is not None
        host = uri if isinstance(uri, str) else uri.hostname
        async with asyncio.timeout(connect_timeout):
            await self._io_writer.start_tls(ssl_context, server_hostname=host)

    async def readline(self) -> bytes:
        """Return a line of the introduction. An end is an end: the client takes an empty line for a success."""
        line: bytes = await super().readline()  # type: ignore[no-untyped-call]
        if not line:
            raise ServerRejected("the server closed the connection instead of letting this side in: its log says why")
        return line


class CheckedClient(nats.aio.client.Client):
    """The NATS client that checks a server before it sends its credentials, and that passes messages on as they come.
    Overrides private methods of the pinned release; the tests with real servers fail if they are gone.
    """

    def __init__(self, settings: FleetSettings) -> None:
        super().__init__()
        self._fleet = settings
        self._transport: _Transport = _Transport()  # type: ignore[no-untyped-call]
        self._message_callbacks: dict[int, Callable[[Msg], None]] = {}

    async def subscribe_directly(self, subject: str, on_message: Callable[[Msg], None]) -> Callable[[], None]:
        """Call `on_message` with each message on `subject` as it is read; return a function that ends the subscription.
        `on_message` must neither wait nor raise. The client's own way, a queue and a task, is a turn of the loop later.
        """
        number = self._sid + 1  # the number that `subscribe` will use
        self._message_callbacks[number] = on_message
        await self.subscribe(subject)
        return lambda: self._message_callbacks.update({number: _ignore_message})

    def push(self) -> None:
        """Write what was published now, for a caller that publishes nothing more in this turn of the loop: the client's
        own way is to collect it, and to write it a turn later.
        """
        if self._pending and self.is_connected:
            self._transport.writelines(self._pending)  # type: ignore[no-untyped-call]
            self._pending: list[bytes] = []
            self._pending_data_size = 0

    async def flush(self, timeout: int = nats.aio.client.DEFAULT_FLUSH_TIMEOUT) -> None:
        """Return once the server has received everything sent. The client's own ping overtakes queued messages."""
        self.push()
        await super().flush(timeout)

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg | None:
        message: Msg = super()._build_message(sid, subject, reply, data, headers)
        on_message = self._message_callbacks.get(sid)
        if on_message is None:
            return message
        on_message(message)
        return None  # the client takes it for one that is not to be passed on

    async def let_go(self) -> None:
        """Hold nothing open after `close`, which returns at once where the client closed itself for a fault, and leaves
        a try to connect alone that it could not cancel.
        """
        if self._reconnection_task is not None:
            await cancel_until_done(self._reconnection_task)
        self._transport.close()  # type: ignore[no-untyped-call]
        closing = asyncio.ensure_future(self._transport.wait_closed())  # type: ignore[no-untyped-call]
        await asyncio.wait({closing}, timeout=_CLOSE_S)
        await cancel_until_done(closing)

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and self._nkeys_seed is not None:
            self._setup_nkeys_seed_connect()  # another key may lie there by now
        if initial_connection and self._current_server is not None:
            at = self._current_server.uri
            fault = rejection(self._fleet, at.scheme, at.hostname or "", info)
            if fault:
                raise ServerRejected(fault)
        await super()._process_info(info, initial_connection)


def _ignore_message(_: Msg) -> None:
    """Pass nothing on."""


def credential_options(settings: FleetSettings) -> dict[str, Any]:
    """Return the options for the NATS client. Raises: ConfigError for a file that can't be used, naming it."""
    found: dict[str, Any] = {}
    if settings.nkey_seed_file:
        found["nkeys_seed"] = str(_read_seed(settings.nkey_seed_file)[0])
    if settings.credentials_file:
        found["user_credentials"] = str(_find_credentials(settings.credentials_file))
    if settings.demands_tls or any(url.startswith("tls://") for url in settings.urls):
        found["tls"] = _make_tls_context(settings)
    return found


def own_seed(settings: FleetSettings) -> bytes | None:
    """Return this side's nkey seed, None without one. Raises: ConfigError for a file that can't be used, naming it."""
    return _read_seed(settings.nkey_seed_file)[1] if settings.nkey_seed_file else None


def _read_seed(file: str) -> tuple[Path, bytes]:
    path, data = _read_secret("nkey_seed_file", file)
    _check_seed(path, data.strip(), "nkey_seed_file")
    return path, data.strip()


def _find_credentials(file: str) -> Path:
    """Return the path of a .creds file that holds both parts; without one the client would look for it for ever."""
    path, data = _read_secret("credentials_file", file)
    lines = data.splitlines()
    places = {mark: number for number, line in enumerate(lines) for mark in (_JWT, _SEED) if mark in line}
    if len(places) < 2 or max(places.values()) + 1 >= len(lines):
        raise ConfigError(f"{path} holds no JWT with its seed", hint="[fleet] credentials_file names a .creds file")
    _check_seed(path, lines[places[_SEED] + 1].strip(), "credentials_file")
    return path


def _check_seed(path: Path, seed: bytes, name: str) -> None:
    try:
        nkeys.from_seed(bytearray(seed)).wipe()
    except (nkeys.NkeysError, ValueError, IndexError):
        # The cause is left out: the library's message may quote the seed.
        maker = "acud fleet grant" if name == "nkey_seed_file" else "nsc"
        raise ConfigError(f"{path} holds no nkey seed", hint=f"[fleet] {name} names it; {maker} makes one") from None


def _read_secret(name: str, file: str) -> tuple[Path, bytes]:
    path = Path(file).expanduser()
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"{path} is open to others", hint=f"chmod 600 {path}; [fleet] {name} names it")
        return path, path.read_bytes()
    except OSError as fault:
        raise ConfigError(f"cannot read {path}: {fault.strerror}", hint=f"[fleet] {name} names it") from fault


def _make_tls_context(settings: FleetSettings) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if settings.tls_ca:
        context = _load_ca(_find_cert("tls_ca", settings.tls_ca))
    if settings.tls_cert:
        _load_cert(context, _find_cert("tls_cert", settings.tls_cert), _read_secret("tls_key", settings.tls_key)[0])
    return context


def _find_cert(name: str, file: str) -> Path:
    path = Path(file).expanduser()
    try:
        path.read_bytes()
    except OSError as fault:
        raise ConfigError(f"cannot read {path}: {fault.strerror}", hint=f"[fleet] {name} names it") from fault
    return path


def _load_ca(ca: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca))
    except ssl.SSLError as fault:
        raise ConfigError(
            f"{ca} holds no certificate: {_explain_fault(fault)}", hint="[fleet] tls_ca is a PEM file"
        ) from fault


def _load_cert(context: ssl.SSLContext, cert: Path, key: Path) -> None:
    try:
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except ssl.SSLError as fault:
        raise ConfigError(
            f"{cert} and {key} are no certificate with its key: {_explain_fault(fault)}",
            hint="[fleet] tls_cert and tls_key",
        ) from fault


def _no_passphrase() -> str:
    # Without this OpenSSL would ask for it at a terminal that a daemon does not have.
    raise ConfigError("the key of [fleet] tls_key has a passphrase", hint="give a key without one, mode 600")


def _explain_fault(fault: ssl.SSLError) -> str:
    return (fault.reason or str(fault)).lower().replace("_", " ")
