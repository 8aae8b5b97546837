"""`python -m tests.fuzz --minutes N [DECODER]`: fuzz for a while; what breaks a decoder is kept as a file.

atheris guides by coverage where it is installed; without it inputs are mutated blindly, and that is said.
"""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

import click

from tests.fuzz.all import DECODERS
from tests.fuzz.decoder import Decoder
from tests.fuzz.mutation import MOST_REPEATS, Change, Op, changed

_FOUND = Path(".state") / "fuzz"
_SLOW_S = 2.0
_ATHERIS = importlib.util.find_spec("atheris") is not None


@click.command()
@click.option("--minutes", default=10.0, show_default=True, help="How long in all, shared evenly by the decoders.")
@click.option("--seed", default=0, show_default=True, help="Of the mutations.")
@click.argument("name", required=False, type=click.Choice(sorted(DECODERS)))
def main(minutes: float, seed: int, name: str | None) -> None:
    chosen = [DECODERS[name]] if name else list(DECODERS.values())
    engine = "atheris (coverage-guided)" if _ATHERIS else "blind mutations (atheris is not installed)"
    click.echo(f"engine: {engine}")
    for_s = minutes * 60 / len(chosen)
    faults = sum((_guided if _ATHERIS else _blind)(decoder, for_s, seed) for decoder in chosen)
    sys.exit(1 if faults else 0)


def _blind(decoder: Decoder, for_s: float, seed: int) -> int:
    """Mutate seeds and earlier regressions for a while; return how many kinds of fault were found."""
    chance = random.Random(f"{seed}/{decoder.name}")
    bases = [*decoder.seeds(), *decoder.corpus().values()]
    found: Counter[str] = Counter()
    runs, end = 0, time.monotonic() + for_s
    while time.monotonic() < end:
        data = changed(chance.choice(bases), [_change(chance) for _ in range(chance.randrange(1, 6))])
        fault = _fault(decoder, data)
        runs += 1
        if fault and not found[fault]:
            click.echo(f"  {decoder.name}: {fault}: {_kept(decoder, data)}")
        found[fault] += bool(fault)
    found = +found
    click.echo(f"{decoder.name}: {runs} inputs, {len(found)} kinds of fault")
    return len(found)


def _change(chance: random.Random) -> Change:
    return Change(
        chance.choice(list(Op)),
        chance.randrange(65536),
        chance.choice((chance.randrange(8), chance.randrange(MOST_REPEATS))),
        chance.randbytes(chance.randrange(16)),
    )


def _fault(decoder: Decoder, data: bytes) -> str:
    """Return what went wrong with `data`, one name for all that go wrong at the same place; "" for nothing."""
    started = time.monotonic()
    try:
        decoder.feed(data)
    except Exception as fault:  # noqa: BLE001 - whatever it is, it is what is looked for
        last = fault.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        place = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last is not None else "?"
        return f"{type(fault).__name__} at {place}"
    return "slow" if time.monotonic() - started > _SLOW_S else ""


def _kept(decoder: Decoder, data: bytes) -> Path:
    folder = _FOUND / decoder.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def _guided(decoder: Decoder, for_s: float, seed: int) -> int:
    """Run atheris, which never returns, in a process of its own; return 1 when it found something."""
    folder = _FOUND / decoder.name
    inputs = folder / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for data in [*decoder.seeds(), *decoder.corpus().values()]:
        (inputs / sha256(data).hexdigest()[:16]).write_bytes(data)
    command = [sys.executable, "-m", "tests.fuzz.guided", decoder.name, str(inputs), f"-artifact_prefix={folder}/"]
    limits = [f"-max_total_time={max(1, round(for_s))}", f"-seed={seed + 1}", "-rss_limit_mb=2048", "-timeout=10"]
    ended = subprocess.run([*command, *limits, "-max_len=65536", "-print_final_stats=1"], check=False)
    click.echo(f"{decoder.name}: {'ended with a fault, see ' + str(folder) if ended.returncode else 'no fault'}")
    return 1 if ended.returncode else 0


if __name__ == "__main__":
    main()
