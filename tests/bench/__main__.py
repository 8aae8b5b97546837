"""`scripts/bench NAME [--json] [--quick]`: measure one part of acud; figures are medians, ratios come from one run.

Each module beside this one is a benchmark: `run() -> dict` measures (`run(quick=…)`, `run(closed=…)` where there are
such forms), `table(figures) -> str` is what a person reads. Some also have `plot(figures) -> str`, an SVG, and
`page(figures) -> str`, their part of a page of the docs.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path

import click


def names() -> list[str]:
    folder = Path(__file__).parent
    return sorted(m.name for m in pkgutil.iter_modules([str(folder)]) if not m.name.startswith("_"))


def refreshed(text: str, name: str, part: str) -> str:
    """Return the page with `part` between the marks of the benchmark. Raises: click.UsageError without marks."""
    begin, end = f"<!-- scripts/bench {name} -->", f"<!-- end of scripts/bench {name} -->"
    if begin not in text or end not in text:
        raise click.UsageError(f"the page has no lines {begin} and {end}")
    return f"{text.partition(begin)[0]}{begin}\n\n{part}\n\n{end}{text.partition(end)[2]}"


@click.command()
@click.argument("name", type=click.Choice(names()))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on one line.")
@click.option("--quick", is_flag=True, help="Fewer points and samples, where the benchmark has such.")
@click.option("--closed", is_flag=True, help="The closed half of a quality set, where the benchmark has one.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the figures into this SVG file, if NAME can.")
@click.option("--page", type=click.Path(path_type=Path, exists=True), help="Write them into this page, if NAME can.")
@click.option("--figures", type=click.File(), help="Take the figures from this file of --json; measure nothing.")
def main(
    name: str, as_json: bool, quick: bool, closed: bool, plot: Path | None, page: Path | None, figures: object
) -> None:
    """Run the benchmark NAME."""
    module = importlib.import_module(f"tests.bench.{name}")
    for asked, what in ((plot, "plot"), (page, "page")):
        if asked and not hasattr(module, what):
            raise click.UsageError(f"{name} has no {what}")
    flags = {flag: True for flag, given in (("quick", quick), ("closed", closed)) if given}
    for flag in flags:
        if flag not in inspect.signature(module.run).parameters:
            raise click.UsageError(f"{name} has no {flag} form")
    measure = functools.partial(module.run, **flags)
    found = json.load(figures) if figures else measure()  # type: ignore[arg-type]
    if plot:
        plot.write_text(module.plot(found), encoding="utf-8")
    if page:
        page.write_text(refreshed(page.read_text(encoding="utf-8"), name, module.page(found)), encoding="utf-8")
    sys.stdout.write((json.dumps(found) if as_json else module.table(found)) + "\n")
    if found.get("failed"):
        sys.exit(1)


if __name__ == "__main__":
    main()
