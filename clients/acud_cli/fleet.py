"""`acud fleet`: more than one host."""

from __future__ import annotations

import click

from acud_cli.fleet_wakes import wakes


@click.group(short_help="More than one host: serve, list, place, drain.")
def fleet() -> None:
    """More than one host as one; see docs/scaling.md."""


fleet.add_command(wakes)
