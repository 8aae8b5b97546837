"""`acud fleet init`, `grant`, `grants` and `revoke`: the work of the administrator of a fleet's servers."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from acud import config
from acud.base.errors import ConfigError
from acud.base.extras import require
from acud.config.fleet import FleetSettings
from acud_cli.exit_codes import Exit
from acud_cli.session import Session, pass_session, say_all

if TYPE_CHECKING:
    from acud_fleet.access import Grant

_ROLES = ("admin", "host", "endpoint", "worker", "agent")
_FOLDER = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("fleet-access"),
    show_default=True,
    help="The administrator's folder of grants.",
)


def fleet_settings(session: Session) -> FleetSettings:
    """Return the settings of the fleet. Raises: ConfigError when it has no server, NotInstalled."""
    settings = config.load(session.home.config, os.environ).fleet
    if not settings.urls:
        raise ConfigError("[fleet] url names no NATS server", hint=f"set it in {session.home.config}; docs/scaling.md")
    require("fleet", "acud fleet")
    return settings


@click.command(short_help="Make the streams, buckets and consumers on the servers.")
@click.option("--check", is_flag=True, help="Change nothing: tell what is missing or differs.")
@_FOLDER
@click.option("--nkey-seed-file", metavar="FILE", help="The administrator's seed (default: [fleet] nkey_seed_file).")
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="A further host to make a consumer for.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="A further agent that takes wakes.")
@click.option("--kind", "kinds", multiple=True, metavar="NAME", help="A further kind of jobs that workers take.")
@pass_session
def init(session: Session, *, check: bool, folder: Path, nkey_seed_file: str | None, **more: tuple[str, ...]) -> None:
    """Make what is missing on the NATS servers and change what differs. Run it again after each grant and each update.

    It makes consumers for each role in the folder; without such a folder, for this host, the agent main and [jobs]
    kind. No other command makes or changes anything there: it needs the administrator's key where the servers ask for
    one.

    \b
    acud fleet init
    acud fleet init --nkey-seed-file fleet-access/admin.nk
    acud fleet init --check
    """
    settings = fleet_settings(session)
    from acud.features.fleet.names import own_host
    from acud_fleet import access, initialisation

    if nkey_seed_file is not None:
        settings = replace(settings, nkey_seed_file=nkey_seed_file, credentials_file="")
    jobs = config.load(session.home.config, os.environ).jobs
    held = access.read_grants(folder, settings.prefix)
    granted = held.list_roles()
    if not held.grants:
        granted = initialisation.FleetRoles((own_host(settings),), ("main",), (jobs.kind,))
    roles = granted.with_more(**more)
    keys = held.key_list() if held.grants else b""
    found = asyncio.run(initialisation.check_parts(settings, jobs, roles, change=not check, grants=keys))
    lines = [f"{one.name}: {one.state}{one.differs and ': '}{one.differs}" for one in found]
    session.show(found, lambda: say_all(lines))
    if check and any(one.state != "well" for one in found):
        sys.exit(Exit.ERROR)


@click.command(short_help="Let a host, endpoint, worker or agent in.")
@click.argument("role", type=click.Choice(_ROLES))
@click.argument("name", metavar="[NAME]", default="")
@_FOLDER
@click.option("--public-key", default="", metavar="KEY", help="A key that was made elsewhere, instead of a new one.")
@click.option("--kind", "kinds", multiple=True, metavar="NAME", help="Of a host: jobs that it asks.  [default: vision]")
@click.option("--carry", "carries", multiple=True, metavar="AGENT", help="Of a host: the agent whose wakes it carries.")
@click.option("--rotate", is_flag=True, help="Add a key; former ones stay good until `revoke --old-keys`.")
@pass_session
def grant(session: Session, *, role: str, name: str, folder: Path, public_key: str, **options: Any) -> None:
    """Write into the folder what ROLE NAME may do on the servers, with a new key for it, and print the next step.

    permissions.conf there is for the servers. It gives each role an account of its own, which shares with the others
    only what the role needs. A seed (.nk) goes to its machine: [fleet] nkey_seed_file. Begin with admin.

    \b
    acud fleet grant admin
    acud fleet grant host h1
    acud fleet grant host h1 --rotate
    """
    settings = fleet_settings(session)
    from acud_fleet import access

    held = access.read_grants(folder, settings.prefix)
    key = access.check_key(public_key) if public_key else ""
    changed = access.make_grant(held, access.Role(role), name, key=key, **options)
    seed = None
    if not changed.keys:
        seed, key = access.new_seed(folder, changed)
    before = held.find(changed.role, changed.name)
    kept = before.keys if before is not None else ()
    changed = replace(changed, keys=(key, *kept) if key else kept)
    held = held.with_grant(changed)
    access.write_grants(folder, held)
    admin_key = "" if changed.role is access.Role.ADMIN else held.admin_key()
    trusts = f', which belongs together with [fleet] admin_key = "{admin_key}"' if admin_key else ""
    _show_next_step(session, folder, f"{_format_grant(changed)}{f', with the seed {seed}' if seed else ''}{trusts}")


@click.command(short_help="List who is granted what.")
@_FOLDER
@pass_session
def grants(session: Session, *, folder: Path) -> None:
    """List each role in the administrator's folder, with the beginnings of its keys.

    \b
    acud fleet grants
    """
    settings = fleet_settings(session)
    from acud_fleet import access

    held = access.read_grants(folder, settings.prefix)
    session.show(
        held,
        lambda: say_all([_format_grant(one) for one in held.grants] or [f"nobody is granted anything in {folder}"]),
    )


@click.command(short_help="Take a grant back, or old keys alone.")
@click.argument("role", type=click.Choice(_ROLES))
@click.argument("name", metavar="[NAME]", default="")
@_FOLDER
@click.option("--old-keys", is_flag=True, help="Take every key back but the newest.")
@pass_session
def revoke(session: Session, *, role: str, name: str, folder: Path, old_keys: bool) -> None:
    """Take back what ROLE NAME may do, or with --old-keys every key but its newest.

    \b
    acud fleet revoke host h1
    acud fleet revoke host h1 --old-keys
    """
    settings = fleet_settings(session)
    from acud_fleet import access

    held = access.read_grants(folder, settings.prefix)
    found = held.must_find(access.Role(role), access.check_name(access.Role(role), name))
    if old_keys:
        newest = replace(found, keys=found.keys[:1])
        access.write_grants(folder, held.with_grant(newest))
        _show_next_step(session, folder, _format_grant(newest))
        return
    access.write_grants(folder, held.without(found))
    _show_next_step(session, folder, f"{found.role} {found.name} may do nothing any more")


def _format_grant(one: Grant) -> str:
    more = f", asks jobs of kind {', '.join(one.kinds)}" if one.kinds else ""
    more += f", carries wakes of {', '.join(one.carries)}" if one.carries else ""
    return f"{one.role} {one.name}: {', '.join(key[:9] + '…' for key in one.keys)}{more}"


def _show_next_step(session: Session, folder: Path, words: str) -> None:
    path = folder.resolve() / "permissions.conf"
    after = f"put {path} beside each server's configuration (with the line: include permissions.conf)"
    told = {"done": words, "next": f"{after}, restart the servers one after the other, then: acud fleet init"}
    session.show(told, lambda: say_all([words, f"next: {told['next']}"]))
