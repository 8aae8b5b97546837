"""Why settings are refused: the file and line, or the variable; the setting; the reason; the next step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from acud.base.errors import ConfigError, suggest
from acud.base.value_errors import ValueFault

_NAMED = re.compile(r"\[([\w.-]+)\] (\w+)")
_PLACE = re.compile(r"(\w+)(?:\.(\w+))?")
_TOML_LINE = re.compile(r"\(at line (\d+), ")
_EVERY_KEY = "see conf/acud.toml for every key"


class SettingsText(NamedTuple):
    """The source of settings: the file `path` with its `text`, and `overrides` (section, key, value by variable)."""

    path: Path
    text: str
    overrides: Mapping[str, tuple[str, str, str]]

    def of(self, section: str, key: str = "") -> str:
        """Return the file and line, or the variable, of a setting."""
        variable = next((name for name, given in self.overrides.items() if given[:2] == (section, key)), "")
        line = _line_of(self.text, section, key)
        if variable or line or not self.overrides:
            return variable or f"{self.path}{line}"
        return f"{self.path} with {', '.join(self.overrides)}"


def config_error(
    fault: ValueFault, source: SettingsText, known: Mapping[str, Sequence[str]], table: str = ""
) -> ConfigError:
    """Return the error for `fault` of the settings from `source`, or of its `table`. `known`: keys by section."""
    section, key, within = (table, *_split_field(fault.field, r"(\w+)")) if table else _split_place(fault.field)
    hint, reason = _EVERY_KEY, fault.reason
    if fault.unknown:
        section, key = (section, fault.unknown) if section else (fault.unknown, "")
        reason = f"there is no {'setting' if key else 'section'} of this name"
        hint = f"{suggest(key or section, known.get(section, ()) if key else list(known))}{_EVERY_KEY}"
    elif fault.missing:
        reason = f"{fault.missing} is missing"
    elif not key and (named := _NAMED.search(reason)):
        section, key = named[1], named[2]
    setting = f"[{section}] {key}{within}" if key else f"[{section}]{within}" if section else "the file"
    joint = " " if reason.startswith("must ") else ": "
    return ConfigError(f"{source.of(section, key)}: {setting}{joint}{reason}", hint=hint)


def _split_place(field: str) -> tuple[str, str, str]:
    at = _PLACE.match(field)
    return (at[1], at[2] or "", field[at.end() :]) if at is not None else ("", "", field)


def _split_field(field: str, first: str) -> tuple[str, str]:
    at = re.match(first, field)
    return (at[1], field[at.end() :]) if at is not None else ("", field)


def toml_line(fault: str, text: str) -> str:
    """Return `:<line>` from tomllib's message, "" if the message names no line."""
    found = _TOML_LINE.search(fault)
    if found is not None:
        return f":{found[1]}"
    return f":{text.count(chr(10)) + 1}" if fault.endswith("(at end of document)") else ""


def _line_of(text: str, section: str, key: str) -> str:
    """Return `:<line>` of the setting in the file, else of its section, "" for neither."""
    now, header = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"\s*\[+\s*([\w.\"-]+)\s*\]+", line):
            now = found[1].strip('"')
            mine = now == section or now.startswith(f"{section}.")
            header = number if mine and not header else header
        elif key and now == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return f":{number}"
    return f":{header}" if header else ""
