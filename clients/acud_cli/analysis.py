"""`acud analysis`: the running commentary: its words, what they are made from, and what to feed it."""

from __future__ import annotations

import time
from typing import Any

import click

from acud.protocol.requests.commentary import AnalysisConfigReply, AnalysisStatusReply
from acud.types.commentary import AnalysisResult, SenseMeta
from acud_cli.formatting import FittedTable, cost, count, local_time, milliseconds, plain, shorten
from acud_cli.options import DURATION, Number, WholeNumber, limit_option
from acud_cli.session import Session, pass_session, print_table, say, say_all

_SHOWN = 100


@click.group(short_help="The running commentary, its feed and its senses.")
def analysis() -> None:
    """The running commentary: what is going on, by the words and pictures of a feed. Set up in [analysis]."""


@analysis.command(short_help="Show how it is doing, and what it said last.")
@pass_session
def show(session: Session) -> None:
    """Show the commentary's state and its newest words.

    \b
    acud analysis show
    """
    reply = session.client().analysis_status()
    session.show(reply, lambda: _print_status(reply))


def _print_status(reply: AnalysisStatusReply) -> None:
    state = "on" if reply.config.enabled else "off"
    say(f"{state}, {reply.model}, every {milliseconds(reply.interval_ms)} while something is new")
    say(f"{count(reply.messages, 'message')} in the feed, {count(reply.sense_events, 'sense event')}")
    unpriced = f", {count(reply.unpriced, 'call')} of unknown cost" if reply.unpriced else ""
    say(
        f"{count(reply.calls, 'call')}, {reply.tokens_in} tokens in, {reply.tokens_out} out, "
        f"{cost(reply.cost_usd)}{unpriced}"
    )
    if reply.fault:
        say(f"fault: {reply.fault}")
    if reply.last is not None:
        say(_format_result(reply.last))


def _format_result(result: AnalysisResult) -> str:
    mark = "🧠" if result.pushed else " "
    return f"{local_time(result.ts / 1000)} {mark} {result.analysis}"


@analysis.command(short_help="List what it said, newest first.")
@limit_option(50, 10)
@pass_session
def history(session: Session, *, limit: int) -> None:
    """List the newest results; 🧠 marks what was put into the feed.

    \b
    acud analysis history
    """
    reply = session.client().analysis_history(limit)
    session.show(
        reply, lambda: say_all(map(_format_result, reply.results) if reply.results else ["nothing was said yet"])
    )


@analysis.command(short_help="Show what it would be made from now.")
@pass_session
def context(session: Session) -> None:
    """Show the words that a model would be sent now.

    \b
    acud analysis context
    """
    reply = session.client().analysis_context()
    session.show(reply, lambda: say_all(reply.prompt.splitlines()))


@analysis.command(short_help="Show how it is set up, or change that.")
@click.option("--on/--off", "enabled", default=None, help="Analyse, or do not.")
@click.option("--interval", type=DURATION, help="Between two analyses (at least 5s).")
@click.option("--cadence", type=click.Choice(["interval", "event"]), help="At intervals, or soon after news.")
@click.option("--backend", metavar="NAME", help='Backend whose model comments; "" for the embedded commentary.')
@click.option("--model", metavar="NAME", help="Its model.")
@click.option("--max-age", type=DURATION, help="What is older is not looked at (at least 10s).")
@click.option("--max-tokens", type=WholeNumber(1, 4000), help="The longest answer.")
@click.option("--temperature", type=Number(0, 2), help="0 to 2.")
@click.option("--push/--no-push", "push_to_feed", default=None, help="Put what is worth saying into the feed.")
@click.option("--verbose/--no-verbose", "log_verbose", default=None, help="Log prompts and answers.")
@pass_session
def config(session: Session, *, interval: float | None, max_age: float | None, **options: Any) -> None:
    """Show how the commentary is set up; what is given is changed, until the daemon ends.

    \b
    acud analysis config
    acud analysis config --on --interval 30s
    """
    reply = session.client().analysis_config(interval_ms=_to_ms(interval), max_age_ms=_to_ms(max_age), **options)
    session.show(reply, lambda: _print_config(reply))


def _to_ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _print_config(reply: AnalysisConfigReply) -> None:
    table = FittedTable("setting, value")
    for name in reply.config.__struct_fields__:
        table.add_row(name, plain(str(getattr(reply.config, name))))
    table.add_row("has_key", str(reply.has_key))
    print_table(table)


@analysis.command(short_help="List the feed.")
@click.option("--after", type=WholeNumber(0), default=0, metavar="ID", help="Only what is newer than this number.")
@pass_session
def feed(session: Session, *, after: int) -> None:
    """List the messages of the feed, oldest first.

    \b
    acud analysis feed --after 120
    """
    reply = session.client().feed_list(after)

    def human() -> None:
        for one in reply.messages:
            say(f"{one.id:>6} {local_time(one.ts / 1000)} {shorten(one.text, _SHOWN)}")
        if not reply.messages:
            say("the feed is empty")

    session.show(reply, human)


@analysis.command(short_help="Put a message into the feed.")
@click.argument("text")
@click.option("--priority", default="normal", show_default=True, metavar="WORD", help="For readers of the feed.")
@click.option("--source", default="", metavar="WORD", help="Who says it.")
@pass_session
def post(session: Session, *, text: str, priority: str, source: str) -> None:
    """Put TEXT into the feed. A transcript is a line such as `[1s ago, openrouter] words`.

    \b
    acud analysis post "the meeting begins" --priority high
    """
    reply = session.client().feed_post(text, priority=priority, source=source)
    session.show(reply, lambda: say(f"message {reply.id}"))


@analysis.command(short_help="List what was seen, or tell of something seen.")
@click.option("--after", type=WholeNumber(0), default=0, metavar="ID", help="Only what is newer than this number.")
@click.option("--kind", type=click.Choice(["text", "visual", "context"]), help="Tell of something seen of this kind.")
@click.option("--text", "ocr", default="", metavar="TEXT", help="With --kind: what was read.")
@click.option("--app", default="", metavar="NAME", help="With --kind: where.")
@click.option("--title", default="", metavar="TEXT", help="With --kind: the window's title.")
@pass_session
def sense(session: Session, *, after: int, **options: Any) -> None:
    """List what was seen, oldest first; with --kind add to it.

    \b
    acud analysis sense
    acud analysis sense --kind text --text "Unread: 3" --app mail
    """
    if options["kind"]:
        _post_sense(session, **options)
        return
    reply = session.client().sense_list(after, meta_only=True)

    def human() -> None:
        for one in reply.events:
            seen = shorten(one.ocr, _SHOWN) if one.ocr else shorten(one.meta.windowTitle, _SHOWN)
            say(f"{one.id:>6} {local_time(one.receivedAt / 1000)} {one.type} [{one.meta.app}] {seen}")
        if not reply.events:
            say("nothing was seen")

    session.show(reply, human)


def _post_sense(session: Session, *, kind: Any, ocr: str, app: str, title: str) -> None:
    reply = session.client().sense_post(kind, int(time.time() * 1000), ocr, meta=SenseMeta(app=app, windowTitle=title))
    session.show(reply, lambda: say(f"sense event {reply.id}"))
