"""What programs on displays inherit of the daemon's environment: everything but secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAMED = re.compile(
    r"API_?KEY|ACCESS_?KEY|PASSWORD|PASSWD|PASSPHRASE|(?:^|_)(?:SECRETS?|CREDENTIALS?|TOKEN)(?:_|$)|_(?:KEY|PWD)$",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"://[^/@\s]*:[^/@\s]+@")
"""A password in an address."""

_PROXY = re.compile(r"_PROXY$", re.IGNORECASE)
"""A proxy's own login is for every program that goes through it."""


def without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` without variables that are named like a key, token or password, or hold an address with a login.

    A program on a display shows what it inherits to whoever looks at the display, the model included.
    """
    return {name: value for name, value in env.items() if not _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    return bool(_NAMED.search(name)) or (bool(_LOGIN.search(value)) and not _PROXY.search(name))
