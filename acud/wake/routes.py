"""The routes that the settings set up, by name."""

from __future__ import annotations

from collections.abc import Mapping

from acud.protocol.bootstrap import RelayOptions
from acud.types import RouteName
from acud.wake.command import CommandRoute, OpenClawCliRoute
from acud.wake.openclaw import OpenClawRoute
from acud.wake.outcome import Route
from acud.wake.webhook import WebhookRoute


def make(options: RelayOptions, env: Mapping[str, str]) -> dict[RouteName, Route]:
    """Return every route whose settings are complete. `env`: what commands inherit."""
    wake = options.wake
    secrets = (options.openclaw_token, options.webhook_secret)
    routes: dict[RouteName, Route] = {}
    for name in RouteName:
        if wake.missing(name):
            continue
        match name:
            case RouteName.OPENCLAW:
                routes[name] = OpenClawRoute(wake, options.openclaw_token)
            case RouteName.OPENCLAW_CLI:
                routes[name] = OpenClawCliRoute(wake, secrets, env)
            case RouteName.WEBHOOK:
                routes[name] = WebhookRoute(wake, options.webhook_secret)
            case RouteName.COMMAND:
                routes[name] = CommandRoute(wake, secrets, env)
            case RouteName.FLEET:
                continue  # the fleet process has the connection
    return routes
