"""`acud metrics`: what the daemon measures."""

from __future__ import annotations

import click

from acud_cli.session import Session, json_option, pass_session


@click.command(short_help="Print what the daemon measures, as Prometheus reads it.")
@json_option
@pass_session
def metrics(session: Session) -> None:
    """Print what the daemon measures, as Prometheus reads it; docs/metrics.md explains each figure."""
    from acud_client.exposition import text

    with session.client() as client:
        reply = client.metrics()
    session.show(reply, lambda: print(text(reply.metrics), end="", flush=True))
