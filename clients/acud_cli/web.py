"""`acud web`: the dashboard and its passes; the HTTP listeners in the foreground."""

from __future__ import annotations

import os
import webbrowser
from typing import Any, TypeVar

import click
import msgspec

from acud import config
from acud.errors import Unavailable, UsageError
from acud.http_listeners import ListenerSettings, WebSettings
from acud.protocol.web import Pass, Scope, digest_of, new_secret
from acud_cli.session import Session, json_option, pass_session, say, say_all, warn
from acud_cli.web_token import limits, print_passes, token

Listener = TypeVar("Listener", ListenerSettings, WebSettings)

_OFF = "[web] enabled = true in acud.toml and acud daemon restart; or acud web serve, and --url with what it prints"


@click.group(short_help="The dashboard over HTTP: serve, log in, tokens.", invoke_without_command=True)
@click.pass_context
def web(ctx: click.Context) -> None:
    """The dashboard and /api over HTTP. With `[web] enabled` the daemon serves them itself; without a command this
    serves them in the foreground (acud web serve).
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(serve)


web.add_command(token)


@web.command(short_help="Serve the dashboard and /api in the foreground.")
@click.option("--host", help="Where to listen.  [default: [web] host, 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes any free one.  [default: [web] port, 18790]")
@json_option
@pass_session
def serve(session: Session, **given: str | int | None) -> None:
    """Serve the dashboard and /api in the foreground, until Ctrl-C; the daemon may come and go meanwhile.

    The address is printed on standard error.
    """
    from acud_web.foreground import serve_gateway

    serve_gateway(_with(config.load(session.paths.config, os.environ).web, given, "docs/web.md"), session.paths)


@web.command(short_help="Serve /feed, /sense, /health and /agent/* in the foreground.")
@click.option("--host", help="Where to listen.  [default: [relay] host, 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes any free one.  [default: [relay] port, 18791]")
@click.option("--allow-tokenless", is_flag=True, default=None, help="Serve also those who send no token.")
@click.option("--allow-remote", is_flag=True, default=None, help="Let other machines in (unencrypted).")
@json_option
@pass_session
def relay(session: Session, **given: str | int | bool | None) -> None:
    """Serve the endpoints of docs/relay.md in the foreground, until Ctrl-C.

    The daemon serves them itself with `[relay] enabled = true`; this is for a daemon that does not. The address and
    the place of the token are printed on standard error.
    """
    from acud_web.foreground import serve_relay

    serve_relay(_with(config.load(session.paths.config, os.environ).relay, given, "docs/relay.md"), session.paths)


@web.command(short_help="Print a link that logs a browser in, once.")
@limits(Scope.ADMIN)
@click.option("--url", default="", metavar="URL", help="Of a gateway that the daemon does not serve itself.")
@click.option("--open", "opened", is_flag=True, help="Open it in this machine's browser too.")
@json_option
@pass_session
def login(session: Session, *, url: str, opened: bool, **given: Any) -> None:
    """Print a link that logs a browser in. It is good for two minutes, and works once."""
    code = new_secret()
    with session.client() as client:
        served = url or client.status().web.get("gateway", "")
        if not served:
            raise Unavailable("the daemon serves no dashboard", hint=_OFF)
        reply = client.web_login(digest_of(code), **given)
    address = f"{served.rstrip('/')}/login#{code}"  # browsers send nobody what comes after #
    session.show({"url": address, "expires_utc_s": reply.expires_utc_s}, lambda: say(address))
    if opened and not webbrowser.open(address):
        warn("no browser could be opened here: copy the link")


@web.command(short_help="Log browsers out.")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Every session, and links that nobody has used yet.")
@json_option
@pass_session
def logout(session: Session, *, session_id: str | None, every: bool) -> None:
    """Log one session out (acud web status lists them), or all of them."""
    if bool(session_id) == every:
        raise UsageError("name a session, or say --all", hint="acud web status lists them")
    with session.client() as client:
        gone = client.web_token_revoke(session_id or "", every="session" if every else "").passes
    session.show({"passes": gone}, lambda: say_all([f"logged out {one.pass_id}" for one in gone] or ["none"]))


@web.command(short_help="Tell where the dashboard is, and who is let in.")
@json_option
@pass_session
def status(session: Session) -> None:
    """Tell where the dashboard is served, and who is let in."""
    with session.client() as client:
        served, passes = client.status().web, client.web_token_list().passes
    session.show({"web": served, "passes": passes}, lambda: _print_status(served, passes))


def _print_status(served: dict[str, str], passes: tuple[Pass, ...]) -> None:
    say(f"dashboard: {served.get('gateway', 'not served by the daemon')}")
    if "relay" in served:
        say(f"relay endpoints: {served['relay']}")
    print_passes(passes)


def _with(settings: Listener, given: dict[str, Any], page: str) -> Listener:
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | chosen, type(settings))
    except msgspec.ValidationError as fault:
        raise UsageError(str(fault), hint=f"see {page}") from fault
