"""Wakes taken from the stream and brought over this host's own routes: `[wake] carry`. Several hosts may carry for one
agent; a wake that one of them took and did not bring is given to another.
"""

from __future__ import annotations

import asyncio

from acud import log
from acud.errors import AcudError
from acud.jetstream.connection import Connection
from acud.protocol.requests.wake_carry import WakeCarryReply
from acud_client.aio import AsyncClient
from acud_fleet.wakes import TakenWake, Wakes

_LOG = log.logger("fleet")
_AGAIN_S = 1.0
_PAUSE_MAX_S = 300.0


class Carrying:
    """Brings the wakes of `agent` over the routes of the daemon behind `client`."""

    def __init__(self, agent: str, connection: Connection, client: AsyncClient) -> None:
        self._agent = agent
        self._connection = connection
        self._client = client
        self.carried = 0

    async def run(self) -> None:
        """Carry until cancelled."""
        while True:
            try:
                async with Wakes(self._connection, self._agent) as wakes:
                    async for taken in wakes:
                        await self._carry(taken)
            except AcudError as fault:
                _LOG.warning("fleet.carrying_waits", agent=self._agent, fault=fault.message)
                await asyncio.sleep(_AGAIN_S)

    async def _carry(self, taken: TakenWake) -> None:
        reply = await self._brought(taken)
        if reply.result == "sent":
            # Not `ack`: a route took it, which is not yet an agent that saw it.
            await taken.drop()
            self.carried += 1
        else:
            await taken.release(pause_s(taken.deliveries))
        _LOG.info("fleet.carried", wake=taken.wake.id, result=reply.result, route=reply.route, reason=reply.reason)

    async def _brought(self, taken: TakenWake) -> WakeCarryReply:
        try:
            return await self._client.wake_carry(taken.wake)
        except AcudError as fault:
            return WakeCarryReply("retry", None, fault.message)


def pause_s(deliveries: int) -> float:
    """Return the pause before a wake that was given out so often is given out again: doubled each time."""
    return float(min(_PAUSE_MAX_S, 2.0 ** min(deliveries - 1, 60)))
