"""`acud web`: the dashboard, its sessions and tokens; the HTTP listeners in the foreground."""

from __future__ import annotations

import html
import os
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from acud import config
from acud.base.errors import Unavailable, UsageError
from acud.base.ids import is_id
from acud.base.paths import Paths
from acud.base.private_files import open_regular
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.config.http_listeners import ListenerSettings, WebSettings
from acud.protocol.web import AccessToken, Scope, digest_of, new_secret
from acud_cli.formatting import FittedTable, local_moment, moment, plain
from acud_cli.options import DURATION, Command, EnumChoice, WholeNumber, complete_displays, complete_tasks, together
from acud_cli.session import Session, pass_session, print_table, say, say_all, warn
from acud_client.sync import Client


def token_limits(scope: Scope) -> Callable[[Command], Command]:
    """Return the options of what an access token is good for; `scope` is the default."""
    return together(
        click.option(
            "--scope",
            type=EnumChoice(Scope),
            default=scope.value,
            show_default=True,
            help="read: view; wait: also arm waits; act: also act; admin: also delete.",
        ),
        click.option("--name", default="", metavar="TEXT", help="What it is called in lists."),
        click.option(
            "--display",
            "-d",
            "displays",
            multiple=True,
            metavar="NAME",
            shell_complete=complete_displays,
            help="Only for this display (repeat).",
        ),
        click.option(
            "--task",
            "tasks",
            multiple=True,
            metavar="ID",
            shell_complete=complete_tasks,
            help="Only for this task (repeat).",
        ),
    )


@click.group(short_help="Tokens for programs: create, list, revoke.")
def token() -> None:
    """Tokens for programs, sent as `Authorization: Bearer …`. The daemon keeps their digests only."""


@token.command("create", short_help="Make a token and print it, this once.")
@token_limits(Scope.READ)
@click.option(
    "--for", "for_s", type=DURATION, default=0.0, metavar="DURATION", help="Good for so long (30d); default: for ever."
)
@pass_session
def create_token(session: Session, **options: Any) -> None:
    """Make a token and print it: it can't be shown again.

    \b
    acud web token create --scope read --name grafana --for 30d
    """
    secret, client = new_secret(), session.client()
    made = client.web_token_create(digest_of(secret), **_with_whole_ids(client, options)).found
    session.show({"token": secret, "pass": made}, lambda: _print_made(secret, made))


def _with_whole_ids(client: Client, options: dict[str, Any]) -> dict[str, Any]:
    """Return the request with whole ids of tasks: a token's ids are compared as they are."""
    tasks = (one if is_id(one, "task") else client.task_summary(one).task_id for one in options["tasks"])
    return options | {"tasks": tuple(tasks)}


def _print_made(secret: str, token: AccessToken) -> None:
    say(secret)
    warn(f"{token.pass_id}: {_good_for(token)}, {_format_expiry(token)}")


@token.command("list", short_help="List tokens and sessions.")
@pass_session
def list_passes(session: Session) -> None:
    """List tokens and sessions that are good now, newest first.

    \b
    acud web token list
    """
    reply = session.client().web_token_list()
    session.show(reply, lambda: print_tokens(reply.passes))


@token.command("revoke", short_help="Revoke tokens or sessions.")
@click.argument("pass_ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every token; sessions end with acud web logout --all.")
@pass_session
def revoke_token(session: Session, *, pass_ids: tuple[str, ...], every: bool) -> None:
    """Revoke tokens or sessions; what they have open ends within a second. Unique beginnings of ids are enough.

    \b
    acud web token revoke 3hq9vn
    acud web token revoke --all
    """
    if bool(pass_ids) == every:
        raise UsageError("name tokens, or say --all", hint="acud web token list")
    client = session.client()
    replies = [client.web_token_revoke(every="token")] if every else list(map(client.web_token_revoke, pass_ids))
    gone = tuple(one for reply in replies for one in reply.passes)
    session.show({"passes": gone}, lambda: say_all([f"revoked {one.pass_id}" for one in gone] or ["none"]))


def print_tokens(tokens: tuple[AccessToken, ...]) -> None:
    if not tokens:
        say("no tokens, no sessions")
        return
    table = FittedTable("name+, good for+, until-, used-, made-, id")
    for one in tokens:
        used = moment(one.used_utc_s) if one.used_utc_s else "never"
        made = moment(one.created_utc_s)
        table.add_row(plain(one.name) or "-", plain(_good_for(one)), _format_expiry(one), used, made, one.pass_id)
    print_table(table)


def _good_for(one: AccessToken) -> str:
    places = (*(f"display {name}" for name in one.displays), *(f"task {task_id}" for task_id in one.tasks))
    return f"{one.scope.value} of {', '.join(places)}" if places else one.scope.value


def _format_expiry(one: AccessToken) -> str:
    return f"until {local_moment(one.expires_utc_s)}" if one.expires_utc_s else "until revoked"


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
@click.option("--port", type=WholeNumber(0, 65535), help="0 takes any free one.  [default: [web] port, 18790]")
@pass_session
def serve(session: Session, **options: str | int | None) -> None:
    """Serve the dashboard and /api in the foreground, until Ctrl-C; the daemon may come and go meanwhile.

    The address is printed on standard error.

    \b
    acud web serve --port 18790
    """
    from acud_web.process import serve_gateway

    serve_gateway(
        _replace_settings(config.load(session.paths.config, os.environ).web, options, "docs/web.md"), session.paths
    )


@web.command(short_help="Serve /feed, /sense, /health and /agent/* in the foreground.")
@click.option("--host", help="Where to listen.  [default: [http_endpoints] host, 127.0.0.1]")
@click.option(
    "--port", type=WholeNumber(0, 65535), help="0 takes any free one.  [default: [http_endpoints] port, 18791]"
)
@click.option("--allow-tokenless", is_flag=True, default=None, help="Serve also those who send no token.")
@click.option("--allow-remote", is_flag=True, default=None, help="Let other machines in (unencrypted).")
@pass_session
def relay(session: Session, **options: str | int | bool | None) -> None:
    """Serve the endpoints of docs/relay.md in the foreground, until Ctrl-C.

    The daemon serves them itself with `[http_endpoints] enabled = true`; this is for a daemon that does not. The
    address and the place of the token are printed on standard error.

    \b
    acud web relay --port 18791
    """
    from acud_web.process import serve_relay

    serve_relay(
        _replace_settings(config.load(session.paths.config, os.environ).http_endpoints, options, "docs/relay.md"),
        session.paths,
    )


@web.command(short_help="Print a link that logs a browser in, once.")
@token_limits(Scope.ADMIN)
@click.option("--url", default="", metavar="URL", help="Of a gateway that the daemon does not serve itself.")
@click.option("--open", "opened", is_flag=True, help="Open it in this machine's browser too.")
@pass_session
def login(session: Session, *, url: str, opened: bool, **options: Any) -> None:
    """Print a link that logs a browser in. It is good for two minutes, and works once.

    \b
    acud web login
    acud web login --scope act --name phone
    """
    code = new_secret()
    client = session.client()
    served = url or client.status().web.get("gateway", "")
    if not served:
        raise Unavailable("the daemon serves no dashboard", hint=_OFF)
    reply = client.web_login(digest_of(code), **_with_whole_ids(client, options))
    address = f"{served.rstrip('/')}/login#{code}"  # browsers do not send what comes after #
    session.show({"url": address, "expires_utc_s": reply.expires_utc_s}, lambda: say(address))
    if opened and not webbrowser.open(_write_redirect(session.paths, address).as_uri()):
        warn("no browser could be opened here: copy the link")


@click.command(short_help="Open the dashboard in a browser, logged in.")
@pass_session
def dashboard(session: Session) -> None:
    """Open the dashboard in this machine's browser, and print its link: the same as `acud web login --open`.

    \b
    acud dashboard
    """
    click.get_current_context().invoke(login, opened=True)


def _write_redirect(paths: Paths, address: str) -> Path:
    """Write a page of this user's alone that leads to `address`: every user of the machine can read a browser's
    command line, and with it a link's code.
    """
    page = paths.home / "login.html"
    with suppress(FileNotFoundError):
        page.unlink()
    with os.fdopen(open_regular(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">\n')
    return page


@web.command(short_help="Log browsers out.")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Every session, and unused links.")
@pass_session
def logout(session: Session, *, session_id: str | None, every: bool) -> None:
    """Log one session out (acud web status lists them), or all of them.

    \b
    acud web logout --all
    """
    if bool(session_id) == every:
        raise UsageError("name a session, or say --all", hint="acud web status lists them")
    gone = session.client().web_token_revoke(session_id or "", every="session" if every else "").passes
    session.show({"passes": gone}, lambda: say_all([f"logged out {one.pass_id}" for one in gone] or ["none"]))


@web.command(short_help="Tell where the dashboard is, and who is let in.")
@pass_session
def status(session: Session) -> None:
    """Show where the dashboard is served, and its tokens and sessions.

    \b
    acud web status
    """
    client = session.client()
    served, tokens = client.status().web, client.web_token_list().passes
    session.show({"web": served, "passes": tokens}, lambda: _print_status(served, tokens))


def _print_status(addresses: dict[str, str], tokens: tuple[AccessToken, ...]) -> None:
    say(f"dashboard: {addresses.get('gateway', 'not served by the daemon')}")
    if "relay" in addresses:
        say(f"HTTP endpoints: {addresses['relay']}")
    print_tokens(tokens)


def _replace_settings(settings: Listener, options: dict[str, Any], page: str) -> Listener:
    chosen = {name: value for name, value in options.items() if value is not None}
    try:
        return convert(msgspec.to_builtins(settings) | chosen, type(settings))
    except msgspec.ValidationError as fault:
        raise UsageError(value_fault(fault, type(settings)).of("the listener"), hint=f"see {page}") from fault
