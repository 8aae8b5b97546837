"""Backends by name, as in the file: `[backends.NAME] kind = "…"`; and settings that name one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import fields

from acud.base.errors import ConfigError
from acud.base.typed_values import convert
from acud.base.value_errors import ValueFault, value_fault
from acud.config import setting_errors
from acud.config.backends import (
    KINDS,
    PREDEFINED,
    AnthropicSettings,
    AnyBackend,
    GeminiSettings,
    OllamaSettings,
    OpenAiSettings,
    OpenRouterSettings,
    predefined_backends,
)
from acud.config.setting_errors import SettingsText
from acud.types import JUDGE_NAME, JudgeName

_TYPES: Mapping[str, type[AnyBackend]] = {
    "openai": OpenAiSettings,
    "anthropic": AnthropicSettings,
    "ollama": OllamaSettings,
    "gemini": GeminiSettings,
    "openrouter": OpenRouterSettings,
}
_RESERVED = frozenset(JudgeName) - PREDEFINED.keys()
_EVERY_KIND = ", ".join(KINDS)
_PAGE = "docs/backends.md"


class BackendChoice(NamedTuple):
    """The values of a setting: the judges `more`, and backends of the `kinds`. "" is none, where `more` has it."""

    more: tuple[str, ...] = ("",)
    kinds: tuple[str, ...] = KINDS


JUDGES = BackendChoice((JudgeName.AUTO, JudgeName.OCR, JudgeName.FLEET, JudgeName.SCRIPTED, JudgeName.PASSTHROUGH))
CHAINABLE = BackendChoice((JudgeName.FLEET, JudgeName.SCRIPTED))
"""Judges that can fail, after which acud asks the next one."""
CHAT = BackendChoice()
UITARS = BackendChoice(kinds=("ollama", "openai", "openrouter"))


def kind_of(backend: AnyBackend) -> str:
    return str(type(backend).__struct_config__.tag)


def names(tables: Mapping[str, Any]) -> list[str]:
    given = tables.get("backends", {})
    return [name for name in given if re.fullmatch(JUDGE_NAME, name)] if isinstance(given, dict) else []


def read(given: Any, source: SettingsText) -> dict[str, AnyBackend]:
    """Return the backends of the table `backends`, including the predefined ones. Raises: ConfigError."""
    if not isinstance(given, dict):
        raise ConfigError(f"{source.of('backends')}: backends must be a table", hint="write [backends.NAME]")
    return predefined_backends() | {name: _make_backend(name, table, source) for name, table in given.items()}


def _make_backend(name: str, table: Any, source: SettingsText) -> AnyBackend:
    section = f"backends.{name}"
    at = f"{source.of(section)}: [{section}]"
    if not re.fullmatch(JUDGE_NAME, name):
        raise ConfigError(
            f"{at}: a backend's name has a-z, 0-9 and -, begins with a letter and has at most 32 characters",
            hint="give it another name",
        )
    if name in _RESERVED:
        raise ConfigError(f"{at}: acud has a judge of its own of this name", hint="give the backend another name")
    if not isinstance(table, dict):
        raise ConfigError(f"{at} must be a table", hint=f"write [{section}] and its keys below")
    kind = _check_kind(name, table, source)
    table = {**(msgspec.to_builtins(PREDEFINED[name]) if name in PREDEFINED else {}), **table, "kind": kind}
    try:
        made = convert(table, _TYPES[kind])
    except msgspec.ValidationError as fault:
        known = {section: [one.name for one in fields(_TYPES[kind])]}
        raise setting_errors.config_error(value_fault(fault, _TYPES[kind]), source, known, section) from None
    if not made.model and name not in PREDEFINED:
        raise ConfigError(f"{at}: model is missing", hint='name the model as its server knows it: model = "…"')
    return made


def _check_kind(name: str, table: Mapping[str, Any], source: SettingsText) -> str:
    section = f"backends.{name}"
    own = kind_of(PREDEFINED[name]) if name in PREDEFINED else ""
    kind = table.get("kind", own)
    if not kind:
        raise ConfigError(
            f"{source.of(section)}: [{section}]: kind is missing", hint=f"say which API it speaks: {_EVERY_KIND}"
        )
    at = source.of(section, "kind")
    if kind not in KINDS:
        raise ConfigError(f"{at}: [{section}] kind must be one of {_EVERY_KIND}", hint=f"see {_PAGE}")
    if own and kind != own:
        raise ConfigError(
            f"{at}: [{section}] kind must be {own}: acud has this backend already",
            hint=f"give the backend of kind {kind} another name",
        )
    return str(kind)


def check_named(
    place: str,
    named: str | Iterable[str],
    choice: BackendChoice,
    backends: Mapping[str, AnyBackend],
    source: SettingsText,
) -> None:
    """Raise ConfigError where the setting at `place` (`section.key`) has a forbidden or unknown name."""
    usable = [name for name, one in backends.items() if kind_of(one) in choice.kinds]
    allowed = [*choice.more, *usable]
    for name in (named,) if isinstance(named, str) else named:
        if name not in allowed:
            there = ", ".join(one or '""' for one in allowed)
            fault = ValueFault(place, f"must be one of {there}, not {name!r}")
            found = setting_errors.config_error(fault, source, {})
            hint = f"name one of them, or add a table [backends.{name}]: see {_PAGE}"
            raise ConfigError(found.message, hint=hint if name not in backends else f"see {_PAGE}")
