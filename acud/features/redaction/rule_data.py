"""The rules that are data: files of TOML beside the code, each read when a text first needs it."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def rule_data(name: str) -> dict[str, Any]:
    """Return the content of `name`, a file of this folder without its suffix."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
