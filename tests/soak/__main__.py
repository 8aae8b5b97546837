"""`scripts/soak`: work and faults by a seed, judged from outside; exit code 1 when a promise was broken."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import click

from acud.base.errors import AcudError
from tests.e2e.faults import nothing_left
from tests.soak.calm import WARM_ROUNDS, judge_growth, warm_up
from tests.soak.namespace import enter, prepare
from tests.soak.plan import CALM_FROM
from tests.soak.report import figures, table
from tests.soak.rounds import Soak
from tests.soak.sampling import Sampling
from tests.soak.world import FAKETIME, World

_LONG_MIN = 15.0
"""From so long a run on, its last third is calm."""


@click.command()
@click.option("--minutes", type=click.FloatRange(min=0.1), default=3.0, show_default=True, help="Begin rounds so long.")
@click.option(
    "--calm",
    type=click.FloatRange(min=0),
    help=f"So many minutes at the end break no process: growth is measured. [default: a third, from {_LONG_MIN:g} on]",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Decides work, faults and their order.")
@click.option(
    "--round",
    "only",
    type=click.IntRange(min=0),
    help=f"Run only this round of the seed; from {CALM_FROM} on calm ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on one line.")
@click.option("--ledger", type=click.Path(path_type=Path), help="Write what was asked and broken to this file.")
@click.option("--keep", type=click.Path(path_type=Path), help="Copy log and database into this folder at the end.")
def main(
    minutes: float, calm: float | None, seed: int, only: int | None, as_json: bool, ledger: Path | None,
    keep: Path | None,
) -> None:  # fmt: skip
    """Put a daemon through work and faults for some minutes and compare what it promised with what it did."""
    closed = enter(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left of a run that is ended
    folder = Path(tempfile.mkdtemp(prefix="acud-soak-"))
    try:
        calm_min = min(minutes, calm if calm is not None else minutes / 3 if minutes >= _LONG_MIN else 0.0)
        length = Length(minutes - calm_min, calm_min, only)
        found = _run(folder, length, seed, ledger, _skipped(closed), namespaced=not closed)
    finally:
        if keep is not None:
            _keep(folder / "home", keep)
        _clear(folder, namespaced=not closed)
    click.echo(json.dumps(found) if as_json else table(found))
    sys.exit(1 if found["violations"] else 0)


def _skipped(closed: str) -> dict[str, str]:
    if closed:
        return dict.fromkeys(("fill disk", "fill shm", "step clock"), closed)
    return {} if FAKETIME.exists() else {"step clock": f"no {FAKETIME}: apt-get install faketime"}


class Length(NamedTuple):
    """How many minutes to begin rounds of each part, or the one round to run."""

    faulty_min: float
    calm_min: float
    only: int | None


def _run(
    folder: Path, length: Length, seed: int, ledger: Path | None, skipped: dict[str, str], *, namespaced: bool
) -> dict[str, Any]:
    (folder / "home").mkdir()
    if namespaced:
        prepare(folder / "home")
    began_s = time.monotonic()
    with World(folder, namespaced=namespaced) as world, Sampling(world) as sampling:
        soak = Soak(world, sampling, seed, frozenset(skipped))
        soak.settle_first()
        _rounds(soak, length)
        judge_growth(soak)
        paths, names = world.daemon.paths, list(world.managed())
        found = figures(soak, seed=seed, minutes=(time.monotonic() - began_s) / 60, skipped=skipped)
        if ledger:
            ledger.write_text(json.dumps(world.ledger.as_dict()))
    found["violations"] += _left_behind(paths, names)
    return found


def _rounds(soak: Soak, length: Length) -> None:
    if length.only is not None:
        soak.round(length.only, _say)
        return
    _part(soak, 0, length.faulty_min)
    if length.calm_min:
        end_s = time.monotonic() + 60 * length.calm_min
        warm_up(soak, _say)
        for index in range(CALM_FROM, CALM_FROM + WARM_ROUNDS):
            soak.round(index, _say)
        soak.sampling.begin_calm()
        _part(soak, CALM_FROM + WARM_ROUNDS, (end_s - time.monotonic()) / 60)


def _part(soak: Soak, first: int, minutes: float) -> None:
    """Begin rounds for so long, one at least where any are to be."""
    end_s = time.monotonic() + 60 * minutes
    for index in itertools.count(first):
        if time.monotonic() >= end_s:
            return
        soak.round(index, _say)


def _keep(home: Path, folder: Path) -> None:
    """Copy the daemon's logs and database, which nobody has open any more."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*home.rglob("*.log*"), *home.rglob("*.db*"), *home.rglob("*.sqlite*")):
        if path.is_file():
            shutil.copy2(path, folder / path.name)


def _left_behind(paths: Any, names: list[str]) -> list[dict[str, Any]]:
    try:
        nothing_left(paths, *names)
    except (AssertionError, AcudError) as fault:
        return [{"what": "left behind", "words": str(fault), "round": -1, "step": -1}]
    return []


def _clear(folder: Path, *, namespaced: bool) -> None:
    """Remove the folder; mounts in it are the namespace's and end with this process."""
    if namespaced:
        subprocess.run(["umount", "--lazy", str(folder / "home")], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


def _say(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    main()
