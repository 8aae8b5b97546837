"""`acud config`: what the settings say, before a daemon is started with them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from acud import config as settings
from acud import private_files
from acud.paths import Paths
from acud_cli.session import Session, json_option, pass_session, say, warn


def check_start(paths: Paths, env: Mapping[str, str]) -> None:
    """See whether a daemon would start with these settings and directories, before another one is ended for it.

    Raises: ConfigError, Refused.
    """
    private_files.check_instance(paths)
    settings.usable(paths.config, env)


@click.group(short_help="Check the settings.")
def config() -> None:
    """Check the settings: acud.toml in ACU_HOME, and the environment on top of it (docs/settings.md)."""


@config.command("check", short_help="Say whether a daemon would take the settings.")
@json_option
@pass_session
def check_config(session: Session) -> None:
    """Read acud.toml and the environment as the daemon does, and change nothing. It needs no running daemon, and does
    not touch one.

    A fault names the file and line, or the variable; the setting; the reason; and the next step.

    Exit code: 0 the settings are good (a variable that acud does not read is a warning), 2 they are not.
    """
    session.only_here("acud config check")
    paths = session.paths
    settings.usable(paths.config, os.environ)
    read = settings.environment_names().keys() | settings.former_variables().keys()
    given = sorted(name for name in read if os.environ.get(name, "") != "")
    unread = settings.unknown_variables(os.environ)
    for name in unread:
        warn(f"{name} is set, and acud does not read it: docs/differences.md")
    for former, name in settings.former_names(paths.config, os.environ):
        warn(f"{former} is the former name of {name}: rename it, the next release does not read it")
    told: dict[str, Any] = {
        "file": str(paths.config),
        "exists": paths.config.exists(),
        "variables": given,
        "unread": unread,
    }
    session.show(told, lambda: say(_words(told)))


def _words(told: dict[str, Any]) -> str:
    file = told["file"] if told["exists"] else f"no {told['file']}: defaults"
    variables = f"; set by the environment: {', '.join(told['variables'])}" if told["variables"] else ""
    return f"the settings are good: {file}{variables}"
