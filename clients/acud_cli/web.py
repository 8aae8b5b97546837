"""`acud web`: the HTTP listener in the foreground."""

from __future__ import annotations

import os

import click
import msgspec

from acud import config
from acud.errors import UsageError
from acud.listener import ListenerSettings
from acud_cli.session import Session, json_option, pass_session


@click.command(short_help="Serve /feed, /sense, /health and /agent/* over HTTP.")
@click.option("--host", help="Where to listen.  [default: [relay] host, 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes any free one.  [default: [relay] port, 18791]")
@click.option("--allow-tokenless", is_flag=True, help="Serve also those who send no token.")
@click.option("--allow-remote", is_flag=True, help="Let other machines in (unencrypted).")
@json_option
@pass_session
def web(session: Session, **given: str | int | bool | None) -> None:
    """Serve the endpoints of docs/relay.md in the foreground, until Ctrl-C.

    The daemon serves them itself with `[relay] enabled = true`; this is for a daemon that does not. The address and
    the place of the token are printed on standard error.
    """
    from acud_web.foreground import serve

    settings = config.load(session.paths.config, os.environ).relay
    chosen = {name: value for name, value in given.items() if value is not None and value is not False}
    serve(_with(settings, chosen), session.paths)


def _with(settings: ListenerSettings, given: dict[str, str | int]) -> ListenerSettings:
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | given, ListenerSettings)
    except msgspec.ValidationError as fault:
        raise UsageError(str(fault), hint="see docs/relay.md") from fault
