"""The rules that are data: files of TOML beside the code, each read when a text first needs it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def rule_data(name: str) -> dict[str, Any]:
    """Return the content of `name`, a file of this folder without its suffix."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def compile_rule(pattern: str, *, any_case: bool = False) -> re.Pattern[str]:
    """Return a pattern of `rules.toml` compiled, each @NAME@ replaced by that part."""
    parts: dict[str, str] = rule_data("rules")["parts"]
    while (name := next((name for name in parts if f"@{name}@" in pattern), None)) is not None:
        pattern = pattern.replace(f"@{name}@", parts[name])
    return re.compile(pattern, re.IGNORECASE if any_case else 0)


@cache
def forms() -> dict[str, re.Pattern[str]]:
    """Return the forms of values in `rules.toml` by their names: kinds of labels, terms, and others."""
    return {name: compile_rule(written) for name, written in rule_data("rules")["forms"].items()}


def has_form(value: str, name: str) -> bool:
    """Return whether the whole of `value` has the form called `name`: `has_form("4711", "digits")`."""
    return forms()[name].fullmatch(value) is not None
