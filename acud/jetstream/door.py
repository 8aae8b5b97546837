"""What is demanded of a server before anything is said to it: TLS where it was asked for, names beyond loopback.

The NATS client encrypts if the server says so; whoever stands in the way could say otherwise, and be told everything.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any
from urllib.parse import ParseResult

import nats.aio.client
import nats.errors
from nats.aio.transport import TcpTransport

from acud.fleet import FleetSettings
from acud.http_listeners import is_loopback
from acud.jetstream.cancelling import ended

_CLOSE_S = 1.0
"""What the other side may take to end TLS in good order."""


class Turned(nats.errors.Error):
    """A server that is not taken: its message says why."""


def why_not(settings: FleetSettings, scheme: str, host: str, info: dict[str, Any]) -> str:
    """Return why the server at `host`, which introduced itself with `info`, is not to be talked to; "" when it is.

    Also servers that another one told of are asked: `scheme` is then that one's.
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


def words_of(fault: BaseException) -> str:
    """Return one line about a fault of NATS or of TLS, in words that tell what to mend."""
    if isinstance(fault, Turned):
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

    async def readline(self) -> bytes:
        """Return a line of the introduction. An end is an end: the client takes an empty line for a success."""
        line: bytes = await super().readline()  # type: ignore[no-untyped-call]
        if not line:
            raise Turned("the server closed the connection instead of letting this side in: its log says why")
        return line


class Client(nats.aio.client.Client):
    """The NATS client that looks at a server before it says who it is. Overrides private methods of the pinned release;
    the tests with real servers would tell if they were gone.
    """

    def __init__(self, settings: FleetSettings) -> None:
        super().__init__()
        self._fleet = settings
        self._transport: _Transport = _Transport()  # type: ignore[no-untyped-call]

    async def let_go(self) -> None:
        """Hold nothing open after `close`, which returns at once where the client closed itself for a fault, and leaves
        a try to connect alone that it could not cancel.
        """
        if self._reconnection_task is not None:
            await ended(self._reconnection_task)
        self._transport.close()  # type: ignore[no-untyped-call]
        closing = asyncio.ensure_future(self._transport.wait_closed())  # type: ignore[no-untyped-call]
        await asyncio.wait({closing}, timeout=_CLOSE_S)
        await ended(closing)

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and self._current_server is not None:
            at = self._current_server.uri
            fault = why_not(self._fleet, at.scheme, at.hostname or "", info)
            if fault:
                raise Turned(fault)
        await super()._process_info(info, initial_connection)
