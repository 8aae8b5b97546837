"""Settings of the routes that wake agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from acud.base.errors import ConfigError
from acud.types import Count, Positive, RouteName

COMMAND_PLACEHOLDERS = ("{id}", "{kind}", "{wait_id}")
"""The placeholders in `[wake] command`: words that acud itself makes, never from a screen or a client."""


_BY_COMMAND = (RouteName.OPENCLAW_CLI, RouteName.COMMAND)
"""Routes that start a program."""

CarriedAgent = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="an id of letters, digits, '.', '_', '-'")
]


class WakeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[wake]`"""

    routes: tuple[RouteName, ...] = ()
    openclaw_url: str = "http://127.0.0.1:18789/hooks"
    openclaw_token: str = ""
    openclaw_token_file: str = ""
    openclaw_cli: str = "openclaw"
    webhook_url: str = ""
    webhook_secret: str = ""
    webhook_secret_file: str = ""
    command: tuple[str, ...] = ()
    http_timeout_s: Positive = 10
    command_timeout_s: Positive = 30
    http_concurrency: Count = 8
    command_concurrency: Count = 2
    retry_first_s: Positive = 1
    retry_max_s: Positive = 300
    retry_for_s: Positive = 86_400
    remind_after_s: Annotated[float, Meta(ge=0)] = 300
    max_reminders: Annotated[int, Meta(ge=0, le=100)] = 2
    carry: tuple[CarriedAgent, ...] = ()

    def __post_init__(self) -> None:
        """Refuse routes that could never deliver, or would expose a secret."""
        for name in ("openclaw_url", "webhook_url"):
            _check_url(name, getattr(self, name))
        for word in self.command:
            rest = word
            for known in COMMAND_PLACEHOLDERS:
                rest = rest.replace(known, "")
            if "{" in rest or "}" in rest:
                raise ValueError(f"command may hold only {', '.join(COMMAND_PLACEHOLDERS)} in braces")
        if self.carry and not self.own_routes:
            raise ValueError("carry needs routes besides fleet: by them the wakes are brought on")
        for route in self.routes:
            missing = self.missing(route)
            if missing:
                raise ValueError(f"route {route.value} needs {missing}")

    @property
    def own_routes(self) -> tuple[RouteName, ...]:
        """The routes by which this host itself reaches agents."""
        return tuple(route for route in self.routes if route is not RouteName.FLEET)

    def places(self, route: RouteName) -> int:
        return self.command_concurrency if route in _BY_COMMAND else self.http_concurrency

    def limit_s(self, route: RouteName) -> float:
        return self.command_timeout_s if route in _BY_COMMAND else self.http_timeout_s

    def missing(self, route: RouteName) -> str:
        """Return which settings `route` lacks ("" for none)."""
        needs: dict[RouteName, dict[str, str]] = {
            RouteName.OPENCLAW: {
                "openclaw_token (or openclaw_token_file)": self.openclaw_token + self.openclaw_token_file
            },
            RouteName.OPENCLAW_CLI: {"openclaw_cli": self.openclaw_cli},
            RouteName.WEBHOOK: {
                "webhook_url": self.webhook_url,
                "webhook_secret (or webhook_secret_file)": self.webhook_secret + self.webhook_secret_file,
            },
            RouteName.COMMAND: {"command": "".join(self.command)},
        }  # not all routes need one; for the url of `fleet` see `Settings.lacks`
        return " and ".join(name for name, value in needs.get(route, {}).items() if not value)


def _check_url(name: str, url: str) -> None:
    if not url:
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{name} is not an http or https URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"{name} carries more than host and path; secrets have keys of their own")


def secret(name: str, value: str, file: str) -> str:
    """Return the secret `name`: its value, else the content of `file`, else "".

    Raises: ConfigError naming the file, never its content.
    """
    if value or not file:
        return value
    try:
        found = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"cannot read {file}: {type(fault).__name__}", hint=f"wake.{name}_file names it") from fault
    if not found:
        raise ConfigError(f"{file} is empty", hint=f"wake.{name}_file names it")
    return found
