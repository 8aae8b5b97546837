"""`acud web token`: passes for programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from acud.errors import UsageError
from acud.protocol.web import Pass, Scope, digest_of, new_secret
from acud_cli.plain import plain
from acud_cli.render import bare_table
from acud_cli.session import Session, json_option, pass_session, print_table, say, say_all, warn
from acud_cli.values import DURATION
from acud_cli.words import local_moment

Command = Callable[..., Any]


def limits(scope: Scope) -> Callable[[Command], Command]:
    """Give a command the options of what a pass is good for; `scope` is the default."""
    options = (
        click.option(
            "--scope",
            type=click.Choice([one.value for one in Scope]),
            callback=lambda _ctx, _param, value: Scope(value),
            default=scope.value,
            show_default=True,
            help="read sees, act also does, admin also deletes.",
        ),
        click.option("--name", default="", metavar="TEXT", help="What it is called in lists."),
        click.option("--display", "displays", multiple=True, metavar="NAME", help="Only for this display (repeat)."),
        click.option("--task", "tasks", multiple=True, metavar="ID", help="Only for this task (repeat)."),
    )

    def given(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return given


@click.group(short_help="Tokens for programs: create, list, revoke.")
def token() -> None:
    """Tokens for programs, sent as `Authorization: Bearer …`. The daemon keeps their digests only."""


@token.command(short_help="Make a token and print it, this once.")
@limits(Scope.READ)
@click.option(
    "--for", "for_s", type=DURATION, default=0.0, metavar="TIME", help="Good for so long (30d); default: for ever."
)
@json_option
@pass_session
def create(session: Session, **given: Any) -> None:
    """Make a token and print it: it can't be shown again."""
    secret = new_secret()
    with session.client() as client:
        made = client.web_token_create(digest_of(secret), **given).found
    session.show({"token": secret, "pass": made}, lambda: _print_made(secret, made))


def _print_made(secret: str, made: Pass) -> None:
    say(secret)
    warn(f"{made.pass_id}: {_good_for(made)}, {_until(made)}")


@token.command("list", short_help="List tokens and sessions.")
@json_option
@pass_session
def list_passes(session: Session) -> None:
    """List tokens and sessions that are good now, newest first."""
    with session.client() as client:
        reply = client.web_token_list()
    session.show(reply, lambda: print_passes(reply.passes))


@token.command(short_help="Revoke tokens or sessions.")
@click.argument("pass_ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every token; sessions end with acud web logout --all.")
@json_option
@pass_session
def revoke(session: Session, *, pass_ids: tuple[str, ...], every: bool) -> None:
    """Revoke tokens or sessions; what they have open ends within a second. Unique beginnings of ids are enough."""
    if bool(pass_ids) == every:
        raise UsageError("name tokens, or say --all", hint="acud web token list")
    with session.client() as client:
        replies = [client.web_token_revoke(every="token")] if every else list(map(client.web_token_revoke, pass_ids))
    gone = tuple(one for reply in replies for one in reply.passes)
    session.show({"passes": gone}, lambda: say_all([f"revoked {one.pass_id}" for one in gone] or ["none"]))


def print_passes(passes: tuple[Pass, ...]) -> None:
    """Print a table of passes."""
    if not passes:
        say("no tokens, no sessions")
        return
    table = bare_table("id", "name", "good for", "made", "until", "used", flexible=("name", "good for"))
    for one in passes:
        used = local_moment(one.used_utc_s) if one.used_utc_s else "never"
        made = local_moment(one.created_utc_s)
        table.add_row(one.pass_id, plain(one.name) or "-", plain(_good_for(one)), made, _until(one), used)
    print_table(table)


def _good_for(one: Pass) -> str:
    places = (*(f"display {name}" for name in one.displays), *(f"task {task_id}" for task_id in one.tasks))
    return f"{one.scope.value} of {', '.join(places)}" if places else one.scope.value


def _until(one: Pass) -> str:
    return f"until {local_moment(one.expires_utc_s)}" if one.expires_utc_s else "until revoked"
