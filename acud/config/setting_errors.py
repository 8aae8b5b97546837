"""Why settings are refused, in words: the file and line, or the variable; the setting; the reason; the next step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from acud.errors import ConfigError
from acud.value_errors import ValueFault

_NAMED = re.compile(r"\[(\w+)\] (\w+)")
_PLACE = re.compile(r"(\w+)(?:\.(\w+))?")
_TOML_LINE = re.compile(r"\(at line (\d+), ")
_EVERY_KEY = "see conf/acud.toml for every key"


def config_error(
    fault: ValueFault,
    path: Path,
    text: str,
    overrides: Mapping[str, tuple[str, str, str]],
    known: Mapping[str, Sequence[str]],
) -> ConfigError:
    """Return the error for what is wrong with the tables in `text`, the file at `path`, with `overrides` (section,
    key and value by the variable's name) on top. `known`: the keys of each section.
    """
    at = _PLACE.match(fault.field)
    section, key = (at[1], at[2] or "") if at is not None else ("", "")
    within = fault.field[at.end() :] if at is not None else ""
    hint, reason = _EVERY_KEY, fault.reason
    if fault.unknown:
        section, key = (section, fault.unknown) if section else (fault.unknown, "")
        reason = f"there is no {'setting' if key else 'section'} of this name"
        hint = f"{_meant(key or section, known.get(section, ()) if key else list(known))}{_EVERY_KEY}"
    elif fault.missing:
        reason = f"{fault.missing} is missing"
    elif not key and (named := _NAMED.search(reason)):
        section, key = named[1], named[2]
    source = _source(path, text, overrides, section, key)
    setting = f"[{section}] {key}{within}" if key else f"[{section}]{within}" if section else "the file"
    return ConfigError(f"{source}: {setting}{' ' if reason.startswith('must ') else ': '}{reason}", hint=hint)


def _source(path: Path, text: str, overrides: Mapping[str, tuple[str, str, str]], section: str, key: str) -> str:
    variable = next((name for name, given in overrides.items() if given[:2] == (section, key)), "")
    line = _line(text, section, key)
    if variable or line or not overrides:
        return variable or f"{path}{line}"
    return f"{path} with {', '.join(overrides)}"


def toml_line(fault: str, text: str) -> str:
    """Return `:<line>` for what tomllib says, "" where it names none."""
    found = _TOML_LINE.search(fault)
    if found is not None:
        return f":{found[1]}"
    return f":{text.count(chr(10)) + 1}" if fault.endswith("(at end of document)") else ""


def _meant(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}? " if near else ""


def _line(text: str, section: str, key: str) -> str:
    """Return `:<line>` of the setting in the file, of its section where the key is not there, "" for neither."""
    now, header = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"\s*\[+\s*([\w.\"-]+)\s*\]+", line):
            now = found[1].strip('"').split(".")[0]
            header = number if now == section and not header else header
        elif key and now == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return f":{number}"
    return f":{header}" if header else ""
