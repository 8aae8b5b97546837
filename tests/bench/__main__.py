"""`scripts/bench NAME [--json] [--quick]`: measure one part of acud; figures are medians, ratios come from one run.

Each module beside this one is a benchmark: `run() -> dict` measures (`run(quick=…)` where there is a quick form),
`table(figures) -> str` is what a person reads.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path

import click


def names() -> list[str]:
    """Return the benchmarks there are."""
    folder = Path(__file__).parent
    return sorted(m.name for m in pkgutil.iter_modules([str(folder)]) if not m.name.startswith("_"))


@click.command()
@click.argument("name", type=click.Choice(names()))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on one line.")
@click.option("--quick", is_flag=True, help="Fewer points and samples, where the benchmark has such.")
def main(name: str, as_json: bool, quick: bool) -> None:
    """Run the benchmark NAME."""
    module = importlib.import_module(f"tests.bench.{name}")
    if quick and "quick" not in inspect.signature(module.run).parameters:
        raise click.UsageError(f"{name} has no quick form")
    figures = module.run(quick=True) if quick else module.run()
    sys.stdout.write((json.dumps(figures) if as_json else module.table(figures)) + "\n")


if __name__ == "__main__":
    main()
