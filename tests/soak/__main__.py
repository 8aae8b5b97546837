"""`scripts/soak`: work and faults by a seed, judged from outside; exit code 1 when a promise was broken."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from acud.errors import AcudError
from tests.e2e.faults import nothing_left
from tests.soak.namespace import enter, prepare
from tests.soak.report import figures, table
from tests.soak.rounds import Soak
from tests.soak.sampling import Sampling
from tests.soak.world import FAKETIME, World

GROWTH_MB_H = 64.0
"""Growth that a run of at least `_LONG_MIN` minutes must not show with 95 % confidence."""
_LONG_MIN = 15.0


@click.command()
@click.option("--minutes", type=click.FloatRange(min=0.1), default=3.0, show_default=True, help="Begin rounds so long.")
@click.option("--seed", type=int, default=1, show_default=True, help="Decides work, faults and their order.")
@click.option("--round", "only", type=click.IntRange(min=0), help="Run only this round of the seed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on one line.")
@click.option("--ledger", type=click.Path(path_type=Path), help="Write what was asked and broken to this file.")
def main(minutes: float, seed: int, only: int | None, as_json: bool, ledger: Path | None) -> None:
    """Put a daemon through work and faults for some minutes and compare what it promised with what it did."""
    closed = enter(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left of a run that is ended
    folder = Path(tempfile.mkdtemp(prefix="acud-soak-"))
    try:
        found = _run(folder, minutes, seed, only, ledger, _skipped(closed), namespaced=not closed)
    finally:
        _clear(folder, namespaced=not closed)
    click.echo(json.dumps(found) if as_json else table(found))
    sys.exit(1 if found["violations"] else 0)


def _skipped(closed: str) -> dict[str, str]:
    """Return the faults that cannot be made here, and why."""
    if closed:
        return dict.fromkeys(("fill disk", "fill shm", "step clock"), closed)
    return {} if FAKETIME.exists() else {"step clock": f"no {FAKETIME}: apt-get install faketime"}


def _run(
    folder: Path, minutes: float, seed: int, only: int | None, ledger: Path | None, skipped: dict[str, str], *,
    namespaced: bool,
) -> dict[str, Any]:  # fmt: skip
    (folder / "home").mkdir()
    if namespaced:
        prepare(folder / "home")
    began_s = time.monotonic()
    with World(folder, namespaced=namespaced) as world, Sampling(world) as sampling:
        soak = Soak(world, sampling, seed, frozenset(skipped))
        soak.settle_first()
        for index in [only] if only is not None else range(10_000):
            soak.round(index, _say)
            if time.monotonic() - began_s >= 60 * minutes:
                break
        _check_growth(soak, (time.monotonic() - began_s) / 60)
        paths, names = world.daemon.paths, list(world.managed())
        found = figures(soak, seed=seed, minutes=(time.monotonic() - began_s) / 60, skipped=skipped)
        if ledger:
            ledger.write_text(json.dumps(world.ledger.as_dict()))
    found["violations"] += _left_behind(paths, names)
    return found


def _check_growth(soak: Soak, minutes: float) -> None:
    for kind, slope in soak.sampling.slopes().items():
        if minutes >= _LONG_MIN and slope.low is not None and slope.low > GROWTH_MB_H:
            soak.ledger.violate("memory grows", f"{kind}: {slope.per_hour} MiB/h ({slope.low} to {slope.high})")


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
