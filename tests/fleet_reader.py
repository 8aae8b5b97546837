"""A reader of wakes in a process of its own, to be killed: `python -m tests.fleet_reader URL AGENT ack|keep`.

Says one line for each wake it takes, its id and how often it was given out; acknowledges it, or keeps it in hand.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud_fleet.wakes import AgentWakes

ACK_WAIT_S = 1.0
"""How long it may be silent on servers that are made for it (`FleetServers`)."""


def start(url: str, agent: str, manner: str) -> subprocess.Popen[str]:
    """Begin one; read its lines from its standard output."""
    command = [sys.executable, "-m", "tests.fleet_reader", url, agent, manner]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def _read(url: str, agent: str, manner: str) -> None:
    async with NatsConnection(FleetSettings(url=url), "reader") as connection:
        await connection.ready()
        async with AgentWakes(connection, agent) as wakes:
            async for taken in wakes:
                print(taken.wake.id, taken.deliveries, flush=True)
                if manner == "ack":
                    await taken.ack()


if __name__ == "__main__":
    asyncio.run(_read(*sys.argv[1:4]))
