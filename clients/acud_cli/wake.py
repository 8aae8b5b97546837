"""`acud wake` and `acud notify`: what became of wakes, and whether routes and notifications work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from acud.base.untrusted_text import wake_words
from acud.types import RouteName, WakeInfo, WakeState
from acud_cli.exit_codes import Exit
from acud_cli.formatting import FittedTable, duration, in_words, local_time, milliseconds, moment, plain, shorten
from acud_cli.options import EnumChoice, limit_option, read_list
from acud_cli.session import Session, complete_ids, pass_session, print_table, say, say_all
from acud_cli.wait_options import address_options, make_address
from acud_cli.wait_text import name_wait

if TYPE_CHECKING:
    from acud.protocol.requests.wakes import RouteHealth, WakeListReply, WakeTestReply


@click.group(short_help="List, retry and test wakes.")
def wake() -> None:
    """List, retry and test wakes: the messages that bring the ends of waits to agents.

    A wake is `pending` until a route took it (`sent`) and `seen` once its agent fetched the result; `undelivered` when
    no route took it.
    """


_complete_wait = complete_ids(
    lambda client: ((one.wait_id, name_wait(one)) for one in client.wait_list(ended=True).waits)
)
_complete_id = complete_ids(lambda client: ((one.wake_id, one.state.value) for one in client.wake_list().wakes))


@wake.command("list", short_help="List wakes, newest first.")
@click.option("--all", "seen", is_flag=True, help="Seen ones too.")
@click.option(
    "--state", "states", multiple=True, type=EnumChoice(WakeState), help="Only those in this state (may be repeated)."
)
@click.option(
    "--wait", "wait_id", default="", metavar="ID", shell_complete=_complete_wait, help="Only the wake of this wait."
)
@limit_option(1000, 100)
@pass_session
def list_wakes(session: Session, *, seen: bool, states: tuple[WakeState, ...], wait_id: str, limit: int) -> None:
    """List the wakes not seen yet, newest first; with --all or --state others too.

    \b
    acud wake list
    acud wake list --state undelivered
    acud wake list --wait x8fgvb
    """
    client = session.client()

    def read(most: int, offset: int) -> WakeListReply:
        return client.wake_list(states=states, seen=seen or bool(wait_id), wait_id=wait_id, limit=most, offset=offset)

    reply = read_list(session, read, "wakes", limit, 1000, lambda wake: wake.wake_id)
    session.show(reply, lambda: _print_list(reply))


def _print_list(reply: WakeListReply) -> None:
    routes = ", ".join(_route_words(name, reply.failing) for name in reply.routes)
    say(f"routes: {routes or 'none (results wait to be fetched; see [wake] in acud.toml)'}")
    say_all([_health_words(one) for one in reply.health if one.sent or one.failures])
    if not reply.wakes:
        say("no wakes" if reply.total == 0 else f"none shown of {reply.total}")
        return
    table = FittedTable("state, text+, reason+, made-, route-, tries-, next-, id")
    for one in reply.wakes:
        table.add_row(*wake_row(one))
    print_table(table)
    if reply.total > len(reply.wakes):
        say(f"… and {reply.total - len(reply.wakes)} more (--limit)")


def _route_words(name: RouteName, failing: dict[str, str]) -> str:
    reason = failing.get(name.value)
    return f"{name.value} (fails: {shorten(reason, 80)})" if reason else name.value


def _health_words(one: RouteHealth) -> str:
    place = f"{one.host}/{one.route.value}" if one.host else one.route.value
    failed = f"{one.failures} failed in a row" if one.failures else ""
    if not one.sent:
        return f"  {place}: nothing sent yet, {failed}"
    took = f"{milliseconds(one.last_ms)}, median {milliseconds(one.median_ms)} of {min(one.sent, 64)}"
    words = f"  {place}: {one.sent} sent, the last at {local_time(one.sent_utc_s)} in {took}"
    return f"{words}; {failed}" if failed else words


def wake_row(one: WakeInfo) -> list[str]:
    """Return a wake's cells: state, text, reason, made, route, tries, next, id."""
    reminded = f" +{one.reminders}" if one.reminders else ""
    following = duration(max(0.0, one.next_utc_s - time.time())) if one.next_utc_s else "-"
    made = moment(one.created_utc_s)
    text, reason = shorten(wake_words(one.text), 160), shorten(in_words(one.reason), 120)
    way = [one.sent_by or "-", str(one.attempts), following]
    return [one.state.value + reminded, text, reason, made, *way, one.wake_id]


@wake.command("retry", short_help="Send wakes again.")
@click.argument("wake_ids", metavar="[ID]...", nargs=-1, shell_complete=_complete_id)
@click.option("--undelivered", is_flag=True, help="Every undelivered one.")
@pass_session
def retry_wakes(session: Session, *, wake_ids: tuple[str, ...], undelivered: bool) -> None:
    """Try wakes again now, over the routes that are set up now. One that was sent before goes out as a reminder.

    \b
    acud wake retry 1kahan
    acud wake retry --undelivered
    """
    if undelivered == bool(wake_ids):
        raise click.UsageError("name the wakes to try again, or give --undelivered")
    reply = session.client().wake_retry(wake_ids, undelivered=undelivered)
    session.show(reply, lambda: _print_retried(reply.wakes))


def _print_retried(wakes: tuple[WakeInfo, ...]) -> None:
    for one in wakes:
        say(f"{one.state.value} {one.wake_id}" + (f": {plain(one.reason)}" if one.reason else ""))
    if not wakes:
        say("no undelivered wakes")


@wake.command("test", short_help="Try the routes with a message that asks for nothing.")
@address_options
@pass_session
def test_routes(session: Session, *, routes: tuple[str, ...], session_key: str, agent_id: str) -> int:
    """Send a test over each route and print the result.

    Exit code: 0 every route took it, 1 one did not.

    \b
    acud wake test
    acud wake test --route openclaw
    """
    address = make_address({"routes": routes, "session_key": session_key, "agent_id": agent_id})
    reply = session.client().wake_test(address.routes or (), address=address)
    session.show(reply, lambda: _print_tests(reply))
    return Exit.OK if all(one.result == "sent" for one in reply.tests) else Exit.ERROR


def _print_tests(reply: WakeTestReply) -> None:
    for one in reply.tests:
        words = f": {one.reason}" if one.reason else ""
        say(f"{one.route.value}: {one.result} in {milliseconds(one.ms)}{words}")


@click.group(short_help="Test notifications on the desktop.")
def notify() -> None:
    """Test notifications on the desktop, which [notify] in acud.toml switches on."""


@notify.command("test", short_help="Show a notification.")
@pass_session
def test_notification(session: Session) -> None:
    """Show a notification and name the server that took it.

    \b
    acud notify test
    """
    reply = session.client().notify_test()
    session.show(reply, lambda: say(f"shown by {plain(reply.server)}"))
