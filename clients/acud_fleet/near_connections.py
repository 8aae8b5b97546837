"""The shorter way to a host: over a connection to the server that the host is connected to.

Any server passes a question on to the one where its host is, and the answer comes back in the same way: two hops more,
and the work of a second server. What is known here may be old; then the servers pass on as ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace
from nats.aio.msg import Msg

from acud.base import log
from acud.base.errors import AcudError
from acud.features.fleet.connection import NatsConnection

_LOG = log.logger("fleet")
_PORT = 4222
"""Where nats-server listens by default."""


class AnswerInbox(NamedTuple):
    """A connection, and the subject below which answers come over it."""

    connection: NatsConnection
    subject: str


class NearConnections:
    """Connections to the servers that `main`, which is connected to any of them, knows by its settings; each is made
    when it is first asked for. `came` is called with messages to the inboxes. `run` until cancelled.
    """

    def __init__(self, main: NatsConnection, came: Callable[[Msg], None]) -> None:
        self._main = main
        self._came = came
        self._urls = {_parse_place(url): url for url in main.settings.urls}
        self._wanted: asyncio.Queue[str] = asyncio.Queue()
        self._begun: set[str] = set()
        self._inboxes: dict[str, AnswerInbox] = {}

    async def run(self) -> None:
        """Make connections that are wanted, and keep them, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(self._keep_connection(await self._wanted.get()))

    def to(self, server: str) -> AnswerInbox | None:
        """Return the inbox of a connection to `server` (host and port, "": not known); None where there is no better
        one than the main connection now.
        """
        near = self._inboxes.get(server)
        if near is not None and near.connection.connected:
            return near
        if server in self._urls and server not in self._begun and server != self._main.server:
            self._begun.add(server)
            self._wanted.put_nowait(server)
        return None

    async def _keep_connection(self, server: str) -> None:
        """Hold a connection until it comes to be one to another server, after this one was away."""
        strayed = asyncio.Event()

        def news(connected: bool, at: str) -> None:
            if connected and at != server:
                strayed.set()

        settings = replace(self._main.settings, url=self._urls[server])
        try:
            async with NatsConnection(settings, "acud fleet endpoint", news, inbox="endpoint") as connection:
                await connection.ready()
                self._inboxes[server] = await open_inbox(connection, self._came)
                await strayed.wait()
        except AcudError as fault:
            _LOG.warning("fleet.not_near", server=server, fault=fault.message)
        finally:
            self._inboxes.pop(server, None)
            self._begun.discard(server)


async def open_inbox(connection: NatsConnection, on_message: Callable[[Msg], None]) -> AnswerInbox:
    """Return a new inbox of `connection`; `on_message` is called with each message there."""
    inbox = AnswerInbox(connection, connection.nats.new_inbox())
    await connection.nats.subscribe_directly(f"{inbox.subject}.*", on_message)
    return inbox


def _parse_place(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc if parts.port else f"{parts.netloc}:{_PORT}"
