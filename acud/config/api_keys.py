"""The keys of model backends: from the environment, acud.toml, a file or the desktop's keyring, read once at the start.

An unreadable key stops nothing: its backend is down, with the reason. Nothing here shows a key.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from acud.base.extras import install_command, is_installed
from acud.config import key_variable
from acud.config.backends import KEY_PLACE, AnyBackend

_KEYRING_S = 5.0
"""A keyring may ask a person to unlock it; a starting daemon does not wait for that."""


class ApiKey(Struct, frozen=True, forbid_unknown_fields=True):
    """A key and its source (both "" for none), or the `fault` of reading it; and the `headers` of the backend, which
    may hold secrets, too. `{api_key}` in one is replaced by the key.
    """

    value: str = ""
    source: str = ""
    fault: str = ""
    headers: dict[str, str] = {}

    @property
    def is_set(self) -> bool:
        """Whether there is a key, or a fault or headers instead of one."""
        return self != ApiKey()

    def secrets(self) -> tuple[str, ...]:
        """Return the values that must not be shown."""
        return (self.value, *self.sent_headers().values())

    def sent_headers(self) -> dict[str, str]:
        return {name: value.replace(KEY_PLACE, self.value) for name, value in self.headers.items()}

    def sent_alone(self) -> str:
        """Return the key to send in the vendor's own header, or "" if another header has the key."""
        return "" if any(KEY_PLACE in value for value in self.headers.values()) else self.value

    def __repr__(self) -> str:
        return f"Key(source={self.source!r}, fault={self.fault!r}, headers={sorted(self.headers)!r})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("source", self.source), ("fault", self.fault)]


def read_all(backends: Mapping[str, AnyBackend], env: Mapping[str, str]) -> dict[str, ApiKey]:
    """Return the key of each backend by name; `env` only decides which of them came from the environment.

    Blocks on the disk, and on the keyring where a setting names one.
    """
    return {
        name: replace(_check_key(_read_key(name, settings, env)), headers=settings.headers)
        for name, settings in backends.items()
    }


def _read_key(name: str, settings: AnyBackend, env: Mapping[str, str]) -> ApiKey:
    if settings.api_key:
        twin = key_variable(name)
        return ApiKey(settings.api_key, twin if env.get(twin) else "acud.toml")
    if settings.api_key_file:
        return _from_file(settings.api_key_file)
    if settings.api_key_keyring:
        return _from_keyring(settings.api_key_keyring, name)
    return ApiKey()


def _from_file(file: str) -> ApiKey:
    try:
        return ApiKey(Path(file).expanduser().read_text(encoding="utf-8").strip(), file)
    except (OSError, UnicodeDecodeError) as fault:
        return ApiKey(fault=f"cannot read {file}: {type(fault).__name__}")


def _from_keyring(service: str, name: str) -> ApiKey:
    found: list[ApiKey] = []
    # A thread that exit does not wait for: a keyring that hangs must not keep the daemon from ending.
    asking = threading.Thread(target=lambda: found.append(_ask_keyring(service, name)), daemon=True)
    asking.start()
    asking.join(_KEYRING_S)
    return found[0] if found else ApiKey(fault=f"the keyring gave no answer within {_KEYRING_S:g} s")


def _ask_keyring(service: str, name: str) -> ApiKey:
    if not is_installed("keyring"):
        return ApiKey(fault=f"acud[keyring] is not installed: {install_command('keyring')}")
    import keyring
    from keyring.errors import KeyringError

    try:
        value = keyring.get_password(service, name)
    except (KeyringError, OSError, RuntimeError) as fault:
        return ApiKey(fault=f"the keyring cannot be read: {type(fault).__name__}")
    if not value:
        return ApiKey(fault=f"the keyring has no password of {name} under {service}")
    return ApiKey(value.strip(), f"keyring {service}")


def _check_key(key: ApiKey) -> ApiKey:
    if key.source and not key.value:
        return ApiKey(fault=f"{key.source} is empty")
    if not key.value.isascii() or not key.value.isprintable() or " " in key.value:
        return ApiKey(fault=f"what {key.source} holds cannot go into an HTTP header")
    return key
