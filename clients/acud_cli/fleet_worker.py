"""`acud fleet worker`: judge the views of a fleet's hosts with this machine's models."""

from __future__ import annotations

import os
import sys

import click
import msgspec

from acud.protocol.worker import WorkerAsk
from acud_cli.session import Session, json_option, pass_session


@click.command(short_help="Judge views of all hosts with this machine's models.")
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Who is asked, in turn: ollama, vllm, openrouter, claude. Several are a chain.",
)
@click.option("--kind", default="", help="Jobs of this kind alone.  [default: [jobs] kind, vision]")
@click.option(
    "--concurrency", type=click.IntRange(1, 10_000), help="Jobs at once.  [default: [jobs] worker_concurrency]"
)
@click.option("--ray", is_flag=True, help="Ask actors of Ray, as [ray] says.")
@json_option
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
    # This process becomes the worker: signals reach it, and whoever started it watches it.
    os.execv(sys.executable, [sys.executable, "-m", "acud.features.fleet.worker", ask])  # noqa: S606 - no shell is wanted
