"""`acud fleet wakes`: an agent's wakes from the fleet's stream."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from acud import config, paths
from acud.errors import ConfigError
from acud.fleet import FleetSettings
from acud.protocol.wakes import SharedWake
from acud_cli.session import Session, as_json, json_option, pass_session, say
from acud_cli.words import local_time

if TYPE_CHECKING:
    from acud.features.fleet.connection import Connection
    from acud_fleet.wakes import TakenWake

_NO_MORE_S = 2.0
"""Without --follow: when nothing has come for so long there is nothing."""
_CONNECT_S = 10.0


class _Line(Struct, frozen=True):
    """What is printed of one wake with --json."""

    wake: SharedWake
    deliveries: int


@click.command(short_help="Take an agent's wakes from the fleet's stream.")
@click.option("--agent", default="", metavar="NAME", help="Whose (default: main, those that name no agent).")
@click.option("--follow", "-f", is_flag=True, help="Wait for more, also while the servers are away.")
@click.option("--limit", "-n", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@json_option
@pass_session
def wakes(session: Session, *, agent: str, follow: bool, limit: int | None) -> None:
    """Take the wakes of an agent, whichever host they came from, and print them: the host may be dead by now.

    Each is acknowledged once it is printed: it counts as seen, its host is told, and it does not come again. With
    --json: one wake a line. Whoever is killed before that leaves it to the next, with the same id.
    """
    settings = _settings()
    try:
        count = asyncio.run(_take(session, settings, agent, follow, limit))
    except KeyboardInterrupt:
        return
    if not count and not session.json:
        say(f"no wakes for {agent or 'main'}")


def _settings() -> FleetSettings:
    file = paths.resolve(os.environ).config
    settings = config.load(file, os.environ).fleet
    if not settings.urls:
        raise ConfigError("[fleet] url names no NATS server", hint=f"set it in {file}; docs/scaling.md")
    return settings


async def _take(session: Session, settings: FleetSettings, agent: str, follow: bool, limit: int | None) -> int:
    from acud.features.fleet import require_nats

    require_nats()
    from acud.features.fleet.connection import Connection
    from acud.features.fleet.naming import key_of
    from acud_fleet.wakes import ANYBODY, AgentWakes

    count = 0
    inbox = f"agent-{key_of(agent or ANYBODY)}"
    async with Connection(settings, "acud fleet wakes", inbox=inbox) as connection:
        await _reached(connection, follow)
        async with AgentWakes(connection, agent) as taking:
            while limit is None or count < limit:
                taken = await taking.next(None if follow else _NO_MORE_S)
                if taken is None:
                    break
                _print(session, taken)
                await taken.ack()
                count += 1
    return count


async def _reached(connection: Connection, follow: bool) -> None:
    """Wait for a server. Raises: Unavailable where none answers soon and nobody wants to wait."""
    try:
        async with asyncio.timeout(None if follow else _CONNECT_S):
            await connection.ready()
    except TimeoutError as fault:
        raise connection.down() from fault


def _print(session: Session, taken: TakenWake) -> None:
    if session.json:
        print(as_json(_Line(taken.wake, taken.deliveries)), flush=True)
        return
    again = f" (given out {taken.deliveries} times)" if taken.deliveries > 1 else ""
    wake = taken.wake
    say(f"{local_time(wake.created_utc_s)}  {wake.host}  {wake.id}{again}  {wake.text}")
