"""Every part of `acud` is either named as closed to clients in pyproject.toml, or listed here as open to them."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPEN = {"protocol", "types", "config", "process", "language", "base"}
"""Of `config`, `process` and `base` the contract closes single modules."""
MAX_EXCEPTIONS = 5


def test_each_part_of_acud_is_open_or_closed_to_clients() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    contract = next(one for one in contracts if one["name"] == "Clients know the protocol, not the daemon")
    closed = {name.removeprefix("acud.") for name in contract["forbidden_modules"]}
    parts = {path.stem for path in (ROOT / "acud").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert not closed & OPEN
    assert parts - {"__init__"} <= closed | OPEN
    assert len(contract["ignore_imports"]) <= MAX_EXCEPTIONS
