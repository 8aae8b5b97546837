"""`scripts/bench NAME [--json]`: measure one part of acud; figures are medians, ratios come from one run.

Each module beside this one is a benchmark: `run() -> dict` measures, `table(figures) -> str` is what a person reads.
"""

from __future__ import annotations

import importlib
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
def main(name: str, as_json: bool) -> None:
    """Run the benchmark NAME."""
    module = importlib.import_module(f"tests.bench.{name}")
    figures = module.run()
    sys.stdout.write((json.dumps(figures) if as_json else module.table(figures)) + "\n")


if __name__ == "__main__":
    main()
