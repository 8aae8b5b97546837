"""`acud fleet`: more than one host."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from acud_cli.fleet_wakes import wakes
from acud_cli.fleet_worker import worker
from acud_cli.session import Session, json_option, pass_session, say, say_all

if TYPE_CHECKING:
    from acud.protocol.requests.fleet import HostInfo


@click.group(short_help="More than one host: serve, list, place, drain.")
def fleet() -> None:
    """More than one host as one: `acud fleet serve` runs the endpoint, `acud --fleet COMMAND` speaks to it.

    Each host joins by `[fleet] url` in its acud.toml; see docs/scaling.md.
    """


fleet.add_command(wakes)
fleet.add_command(worker)


@fleet.command(short_help="Run the endpoint that speaks for all hosts.")
@click.option("--debug", is_flag=True, help="Log every step.")
@json_option
@pass_session
def serve(session: Session, *, debug: bool) -> None:
    """Run the endpoint in the foreground, until Ctrl-C. Hosts and NATS servers may come and go meanwhile."""
    from acud import config
    from acud.errors import ConfigError
    from acud.features.fleet import require_nats

    settings = config.load(session.home.config, os.environ).fleet
    if not settings.urls:
        raise ConfigError("[fleet] url names no NATS server", hint=f"set it in {session.home.config}; docs/scaling.md")
    require_nats()
    from acud_fleet import endpoint

    endpoint.serve(settings, session.home.of_fleet(), debug=debug)


@fleet.command(short_help="List the hosts, lost ones too.")
@json_option
@pass_session
def hosts(session: Session) -> None:
    """List every host that ever joined: whether it lives, its displays and room, its labels."""
    with session.fleet_client() as client:
        reply = client.fleet_hosts()
    session.show(reply, lambda: _print(reply.hosts))


@fleet.command(short_help="Tell where something lives, or would be placed.")
@click.argument("name", metavar="[ID]", default="")
@click.option("--label", "labels", multiple=True, metavar="NAME=VALUE", help="What the host must carry.")
@json_option
@pass_session
def place(session: Session, *, name: str, labels: tuple[str, ...]) -> None:
    """Tell on which host the task, wait, run or recording ID lives; without one, where a new display would go now."""
    from acud_cli.values import labels_of

    with session.fleet_client() as client:
        reply = client.fleet_place(name, labels=labels_of(labels))
    others = [f"  not {host}: {why}" for host, why in reply.others.items()]
    session.show(reply, lambda: say_all([reply.host, *others]))


@fleet.command(short_help="Have a host take nothing new.")
@click.argument("host")
@click.option("--resume", is_flag=True, help="Take that back.")
@json_option
@pass_session
def drain(session: Session, *, host: str, resume: bool) -> None:
    """Have HOST take nothing new; what is there goes on. It holds until --resume, over restarts too."""
    with session.fleet_client() as client:
        reply = client.fleet_drain(host, "resume" if resume else "drain")
    words = "takes new displays again" if resume else f"takes nothing new; {reply.host.displays} displays go on"
    session.show(reply, lambda: say(f"{host} {words}"))


@fleet.command(short_help="Forget a host that will not come back.")
@click.argument("host")
@json_option
@pass_session
def forget(session: Session, *, host: str) -> None:
    """Forget HOST and what is known of its tasks and waits. Refused while it lives."""
    with session.fleet_client() as client:
        reply = client.fleet_drain(host, "forget")
    session.show(reply, lambda: say(f"forgot {host}, with {reply.host.live_waits} waits when it was last heard"))


@fleet.command(short_help="Tell how the servers' streams are set up, or set them up.")
@click.option("--set", "change", is_flag=True, help="Make what is missing and change what differs.")
@click.option("--nkey-seed-file", metavar="FILE", help="The administrator's seed (default: [fleet] nkey_seed_file).")
@json_option
@pass_session
def streams(session: Session, *, change: bool, nkey_seed_file: str | None) -> None:
    """Tell where the fleet's streams and buckets differ from what [fleet] here asks for; --set changes them.

    Run it with the administrator's key: hosts may make what is missing, and change nothing.
    """
    import asyncio

    from msgspec.structs import replace

    from acud import config
    from acud.errors import ConfigError
    from acud.features.fleet import require_nats

    settings = config.load(session.home.config, os.environ).fleet
    if not settings.urls:
        raise ConfigError("[fleet] url names no NATS server", hint=f"set it in {session.home.config}; docs/scaling.md")
    require_nats()
    from acud_fleet import streams

    if nkey_seed_file is not None:
        settings = replace(settings, nkey_seed_file=nkey_seed_file, credentials_file="")
    found = asyncio.run(streams.look(settings, change=change))
    lines = [f"{one.name}: {one.state}{one.differs and ': '}{one.differs}" for one in found]
    session.show(found, lambda: say_all(lines))


@fleet.command(short_help="Tell whether this host is in a fleet, and what the endpoint sees.")
@json_option
@pass_session
def status(session: Session) -> None:
    """Tell whether this host's daemon is in a fleet, and whether an endpoint here answers."""
    from acud.errors import AcudError

    told: dict[str, object] = {}
    try:
        with session.daemon_client() as client:
            told["daemon"] = client.status().fleet or {"state": "in no fleet: [fleet] url is empty"}
    except AcudError as fault:
        told["daemon"] = {"state": str(fault)}
    try:
        with session.fleet_client() as client:
            reply = client.fleet_hosts()
        told["endpoint"] = {"server": reply.server, "hosts": {one.host: one.life for one in reply.hosts}}
    except AcudError as fault:
        told["endpoint"] = {"state": str(fault)}
    session.show(told, lambda: say_all(f"{part}: {_line(words)}" for part, words in told.items()))


def _line(words: object) -> str:
    pairs = words.items() if isinstance(words, dict) else ()
    return ", ".join(f"{name} {_line(value) if isinstance(value, dict) else value}" for name, value in pairs)


def _print(found: tuple[HostInfo, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    from acud_cli.session import print_table

    table = Table(box=None, pad_edge=False)
    for title in ("HOST", "LIFE", "DISPLAYS", "WAITS", "LOAD", "LABELS", "VERSION", "SAID", "WHY"):
        table.add_column(title)
    for one in found:
        life = f"{one.life}, draining" if one.draining else one.life
        labels = ",".join(f"{name}={value}" for name, value in one.labels.items())
        ago = f"{max(0.0, time.time() - one.last_utc_s):.0f} s ago"
        cells = (one.host, life, f"{one.displays}/{one.room}", str(one.live_waits), f"{one.load:g}", labels)
        table.add_row(*(Text(cell) for cell in (*cells, one.version, ago, one.reason)))
    print_table(table)
