"""`acud usage`: what judges and models cost."""

from __future__ import annotations

import click

from acud.protocol.requests.daemon import UsageReply
from acud_cli.plain import plain
from acud_cli.render import bare_table
from acud_cli.session import Session, json_option, pass_session, print_table, say
from acud_cli.words import cost, count


@click.command(short_help="Show what judges and models cost.")
@click.option(
    "--days", type=click.IntRange(1, 3650), default=7, show_default=True, help="Today and the days before it."
)
@click.option("--task", "task_id", default="", metavar="ID", help="Of this task alone.")
@json_option
@pass_session
def usage(session: Session, *, days: int, task_id: str) -> None:
    """Show answers, tokens and dollars by day (UTC), purpose, judge, model and task.

    Purposes: wait (a condition), effect (of what was done), find, agent, annotate, commentary.
    """
    with session.client() as client:
        reply = client.usage(days=days, task_id=task_id)
    session.show(reply, lambda: _print(reply))


def _print(reply: UsageReply) -> None:
    if not reply.rows:
        say("nothing was asked")
        return
    table = bare_table(
        "day", "purpose", "judge", "model", "task", "answers", "tokens in", "tokens out", "cost", "unpriced"
    )
    for row in reply.rows:
        tokens = ["-" if amount is None else str(amount) for amount in (row.tokens_in, row.tokens_out)]
        counts = (str(row.evaluations), *tokens, cost(row.cost_usd), str(row.unpriced))
        names = (row.purpose, plain(row.judge), plain(row.model) or "-", row.task_id or "-")
        table.add_row(row.day, *names, *counts)
    print_table(table)
    unpriced = f", {count(reply.unpriced, 'answer')} of unknown cost" if reply.unpriced else ""
    say(f"{count(reply.evaluations, 'answer')}, {cost(reply.cost_usd)}{unpriced}; kept for {reply.kept_days:g} days")
