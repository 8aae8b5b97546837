"""`acud fleet`: more than one host: the endpoint, hosts, streams, workers, and an agent's wakes."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from acud.config.fleet import FleetSettings
from acud.protocol.wakes import SharedWake
from acud.protocol.worker import WorkerAsk
from acud_cli.fleet_access import fleet_settings, grant, grants, init, revoke
from acud_cli.formatting import local_time
from acud_cli.options import WholeNumber
from acud_cli.session import Session, as_json, pass_session, say, say_all

if TYPE_CHECKING:
    from acud.features.fleet.connection import NatsConnection
    from acud.protocol.requests.fleet import HostInfo
    from acud_fleet.wakes import TakenWake


@click.command(short_help="Judge views of all hosts with this machine's models.")
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Backend to ask, by its name in the settings. Several are a chain.",
)
@click.option("--kind", default="", help="Jobs of this kind alone.  [default: [jobs] kind, vision]")
@click.option("--concurrency", type=WholeNumber(1, 10_000), help="Jobs at once.  [default: [jobs] worker_concurrency]")
@click.option("--ray", is_flag=True, help="Ask actors of Ray, as [ray] says.")
@pass_session
def worker(_: Session, *, backends: tuple[str, ...], kind: str, concurrency: int | None, ray: bool) -> None:
    """Take jobs of the fleet and judge them, until Ctrl-C or SIGTERM; what is in hand is finished first.

    It needs [fleet] url and the backends' own settings and keys; no daemon and no display. Its log, with a line of
    figures a minute, is on standard error.

    \b
      acud fleet worker --backend ollama
      acud fleet worker --backend vllm --backend openrouter --concurrency 32
      acud fleet worker --ray
    """
    if not backends and not ray:
        raise click.UsageError("name a --backend, or say --ray")
    ask = msgspec.json.encode(WorkerAsk(backends, kind, concurrency or 0, ray)).decode()
    # This process becomes the worker: signals reach it, and its parent watches it.
    os.execv(sys.executable, [sys.executable, "-m", "acud.features.fleet.worker", ask])  # noqa: S606 - no shell is wanted


_NO_MORE_S = 2.0
"""Without --follow: after so long without a wake there is none."""
_CONNECT_S = 10.0


class _WakeLine(Struct, frozen=True):
    """What is printed of one wake with --json."""

    wake: SharedWake
    deliveries: int


@click.command(short_help="Take an agent's wakes from the fleet's stream.")
@click.option("--agent", default="", metavar="NAME", help="Whose (default: main, those that name no agent).")
@click.option("--follow", "-f", is_flag=True, help="Wait for more, also while the servers are away.")
@click.option("--limit", "-n", type=WholeNumber(1), metavar="N", help="At most this many.")
@pass_session
def wakes(session: Session, *, agent: str, follow: bool, limit: int | None) -> None:
    """Take the wakes of an agent, whichever host they came from, and print them: the host may be dead by now.

    Each is acknowledged once it is printed: it counts as seen, its host is told, and it does not come again. With
    --json: one wake a line. If this command is killed before that, the next one gets the wake, with the same id.

    \b
    acud fleet wakes --follow
    """
    settings = fleet_settings(session)
    try:
        count = asyncio.run(_print_wakes(session, settings, agent, follow, limit))
    except KeyboardInterrupt:
        return
    if not count and not session.json:
        say(f"no wakes for {agent or 'main'}")


async def _print_wakes(session: Session, settings: FleetSettings, agent: str, follow: bool, limit: int | None) -> int:
    from acud.features.fleet.connection import NatsConnection
    from acud.features.fleet.names import key_of
    from acud_fleet.wakes import ANYBODY, AgentWakes

    count = 0
    inbox = f"agent-{key_of(agent or ANYBODY)}"
    async with NatsConnection(settings, "acud fleet wakes", on_warning=_print_warnings, inbox=inbox) as connection:
        await _wait_for_server(connection, follow)
        async with AgentWakes(connection, agent) as taking:
            while limit is None or count < limit:
                taken = await taking.next(None if follow else _NO_MORE_S)
                if taken is None:
                    break
                _print_wake(session, taken)
                await taken.ack()
                count += 1
    return count


def _print_warnings(warnings: dict[str, tuple[str, str]]) -> None:
    for text, fix in warnings.values():
        click.echo(f"acud: {text} ({fix})", err=True)


async def _wait_for_server(connection: NatsConnection, follow: bool) -> None:
    """Wait for a server. Raises: Unavailable when none answers soon and waiting is not wanted."""
    try:
        async with asyncio.timeout(None if follow else _CONNECT_S):
            await connection.ready()
    except TimeoutError as fault:
        raise connection.down() from fault


def _print_wake(session: Session, taken: TakenWake) -> None:
    if session.json:
        print(as_json(_WakeLine(taken.wake, taken.deliveries)), flush=True)
        return
    again = f" (given out {taken.deliveries} times)" if taken.deliveries > 1 else ""
    wake = taken.wake
    say(f"{local_time(wake.created_utc_s)}  {wake.host}  {wake.id}{again}  {wake.text}")


@click.group(short_help="More than one host: serve, list, place, drain.")
def fleet() -> None:
    """More than one host as one: `acud fleet serve` runs the endpoint, `acud --fleet COMMAND` speaks to it.

    Each host joins by `[fleet] url` in its acud.toml; see docs/scaling.md.
    """


fleet.add_command(wakes)
fleet.add_command(worker)
fleet.add_command(init)
fleet.add_command(grant)
fleet.add_command(grants)
fleet.add_command(revoke)


@fleet.command(short_help="Run the endpoint that speaks for all hosts.")
@click.option("--processes", type=WholeNumber(1, 64), default=1, help="Processes that share the work.  [default: 1]")
@click.option("--debug", is_flag=True, help="Log every step.")
@pass_session
def serve(session: Session, *, processes: int, debug: bool) -> None:
    """Run the endpoint in the foreground, until Ctrl-C. Hosts and NATS servers may come and go meanwhile.

    One process uses one core. Several answer at the same socket: each client's connection is that of one of them.

    \b
    acud fleet serve
    acud fleet serve --processes 4
    """
    settings = fleet_settings(session)  # first: it reports a missing library of the endpoint
    from acud_fleet import endpoint

    endpoint.serve(settings, session.home.of_fleet(), processes, debug=debug)


@fleet.command(short_help="List the hosts, lost ones too.")
@pass_session
def hosts(session: Session) -> None:
    """List every host that ever joined: whether it lives, its displays and room, its labels.

    \b
    acud fleet hosts
    """
    reply = session.fleet_client().fleet_hosts()
    session.show(reply, lambda: _print_hosts(reply.hosts))


@fleet.command(short_help="Tell where something lives, or would be placed.")
@click.argument("name", metavar="[ID]", default="")
@click.option("--label", "labels", multiple=True, metavar="NAME=VALUE", help="What the host must carry.")
@pass_session
def place(session: Session, *, name: str, labels: tuple[str, ...]) -> None:
    """Print the host on which the task, wait, run or recording ID lives; without one, where a new display would go now.

    \b
    acud fleet place
    acud fleet place --label gpu=yes
    """
    from acud_cli.options import labels_of

    reply = session.fleet_client().fleet_place(name, labels=labels_of(labels))
    others = [f"  not {host}: {why}" for host, why in reply.others.items()]
    session.show(reply, lambda: say_all([reply.host, *others]))


@fleet.command(short_help="Have a host take nothing new.")
@click.argument("host")
@click.option("--resume", is_flag=True, help="Take that back.")
@pass_session
def drain(session: Session, *, host: str, resume: bool) -> None:
    """Have HOST take nothing new; what is there goes on. It holds until --resume, over restarts too.

    \b
    acud fleet drain h1
    """
    reply = session.fleet_client().fleet_drain(host, "resume" if resume else "drain")
    words = "takes new displays again" if resume else f"takes nothing new; {reply.host.displays} displays go on"
    session.show(reply, lambda: say(f"{host} {words}"))


@fleet.command(short_help="Forget a host that will not come back.")
@click.argument("host")
@pass_session
def forget(session: Session, *, host: str) -> None:
    """Forget HOST and what is known of its tasks. Its live waits end as failed, and wake. Refused while it lives.

    \b
    acud fleet forget h1
    """
    reply = session.fleet_client().fleet_drain(host, "forget")
    session.show(reply, lambda: say(f"forgot {host}, with {reply.host.live_waits} waits when it was last heard"))


@fleet.command(short_help="Tell whether this host is in a fleet, and what the endpoint sees.")
@pass_session
def status(session: Session) -> None:
    """Show whether this host's daemon is in a fleet, and whether an endpoint here answers.

    \b
    acud fleet status
    """
    from acud.base.errors import AcudError

    told: dict[str, object] = {}
    try:
        told["daemon"] = session.daemon_client().status().fleet or {"state": "in no fleet: [fleet] url is empty"}
    except AcudError as fault:
        told["daemon"] = {"state": str(fault)}
    try:
        reply = session.fleet_client().fleet_hosts()
        told["endpoint"] = {
            "processes": len(reply.processes),
            "server": reply.server,
            "hosts": {one.host: one.life for one in reply.hosts},
        }
    except AcudError as fault:
        told["endpoint"] = {"state": str(fault)}
    session.show(told, lambda: say_all(f"{part}: {_format_line(words)}" for part, words in told.items()))


def _format_line(words: object) -> str:
    pairs = words.items() if isinstance(words, dict) else ()
    return ", ".join(f"{name} {_format_line(value) if isinstance(value, dict) else value}" for name, value in pairs)


def _print_hosts(hosts: tuple[HostInfo, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    from acud_cli.session import print_table

    table = Table(box=None, pad_edge=False)
    for title in ("HOST", "LIFE", "DISPLAYS", "WAITS", "LOAD", "LABELS", "VERSION", "SAID", "WHY"):
        table.add_column(title)
    for one in hosts:
        life = f"{one.life}, draining" if one.draining else one.life
        labels = ",".join(f"{name}={value}" for name, value in one.labels.items())
        ago = f"{max(0.0, time.time() - one.last_utc_s):.0f} s ago"
        cells = (one.host, life, f"{one.displays}/{one.room}", str(one.live_waits), f"{one.load:g}", labels)
        table.add_row(*(Text(cell) for cell in (*cells, one.version, ago, one.reason)))
    print_table(table)
