"""A host's part in the fleet: it says that it lives, and answers for its daemon."""

from __future__ import annotations

import asyncio
from pathlib import Path

from acud.errors import AcudError
from acud.jetstream.connection import Connection
from acud_client.aio import AsyncClient
from acud_fleet.answering import Answering
from acud_fleet.carrying import Carrying
from acud_fleet.forwarding import Forwarding
from acud_fleet.joining import Joining
from acud_fleet.seeing import Seeing
from acud_fleet.telling import Telling
from acud_fleet.vacancy import Vacancy
from acud_fleet.waking import Waking

_LEAVE_S = 2.0


class Host:
    """The host `name`, over `connection`, for the daemon behind `client`. `run` until cancelled, then `leave`."""

    def __init__(
        self, name: str, connection: Connection, client: AsyncClient, home: Path, carry: tuple[str, ...] = ()
    ) -> None:
        self._connection = connection
        vacancy = Vacancy(name, connection.settings.room, client)
        self._answering = Answering(name, connection, client, vacancy)
        self._joining = Joining(name, connection, client, vacancy, home)
        self._telling = Telling(name, connection, client)
        self.waking = Waking(name, connection)
        self._forwarding = Forwarding(name, connection, client)
        self._seeing = Seeing(name, connection, client)
        self._carrying = [Carrying(agent, connection, client) for agent in carry]

    async def run(self) -> None:
        """Join, answer and tell until cancelled; servers may come and go meanwhile. Raises: ConfigError when another
        daemon has its name, or the fleet is set up differently.
        """
        await self._connection.ready()
        await self._joining.enter()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._answering.run())
            group.create_task(self._joining.run())
            group.create_task(self._joining.watch())
            group.create_task(self._telling.run())
            group.create_task(self._forwarding.run())
            group.create_task(self._seeing.run())
            for one in self._carrying:
                group.create_task(one.run())

    async def leave(self) -> None:
        """Tell the others that this host ends in good order; what can't be told, its lease will."""
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._joining.leave()
        except (AcudError, TimeoutError):
            return

    def counters(self) -> dict[str, float]:
        """Return how much was answered and told since the start."""
        return {
            "requests": float(self._answering.answered),
            "events": float(self._forwarding.forwarded),
            "wakes": float(self.waking.sent),
            "carried": float(sum(one.carried for one in self._carrying)),
        }
