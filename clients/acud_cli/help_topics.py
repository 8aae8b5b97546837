"""`acud help`: what conditions, targets and durations are, with an example each, and the help of any command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap
from typing import Any

import click
from click.shell_completion import CompletionItem

from acud.base.errors import suggest
from acud_cli.session import Session, console, pass_session, say_all
from acud_cli.wait import wait
from acud_cli.wait_options import CONDITION_NAMES
from acud_client.help_tables import CONDITIONS, DURATIONS, TARGETS

_WIDEST = 100


def list_conditions() -> Iterator[str]:
    """Yield the lines about conditions."""
    yield from _wrap_words(
        "What to wait for, behind `acud wait`. Several must all hold at once, or with --any one of them."
    )
    for row in CONDITIONS:
        yield from ("", f"  acud wait {row.line}", *_wrap_words(row.words, "      "))
    yield from ("", "With these:")
    told = {row.name for row in CONDITIONS}
    for option in wait.params:
        if isinstance(option, click.Option) and option.name in CONDITION_NAMES - told:
            names = "/".join((*option.opts, *option.secondary_opts))
            yield from (f"  {names}", *_wrap_words(option.help or "", "      "))
    yield from ("", "Where: acud help targets. How long: acud help durations.")


def list_targets() -> Iterator[str]:
    """Yield the lines about targets."""
    yield from _wrap_words("TARGET: the part of a screen that a command looks at. Without one it is the whole display.")
    for row in TARGETS:
        yield from ("", f"  {row.form}", *_wrap_words(row.words, "      "), f"      acud look --target {row.example}")
    yield ""
    yield from _wrap_words(
        "--display NAME says on which display the window, region or monitor is; --region x,y,w,h is short for"
        " --target region:x,y,w,h. acud scene takes the id of an element as well, and shows what is in it."
    )


def list_durations() -> Iterator[str]:
    """Yield the lines about durations."""
    yield from _wrap_words("DURATION: seconds, or numbers with units.")
    yield ""
    for form, words in DURATIONS:
        yield f"  {form:<8}{words}"
    yield from ("", "  acud wait --text Done --timeout 1h30m")


_TOPICS: dict[str, tuple[Callable[[], Iterable[str]], str]] = {
    "conditions": (list_conditions, "what to wait for"),
    "targets": (list_targets, "where to look"),
    "durations": (list_durations, "how long"),
}


def _wrap_words(words: str, indent: str = "") -> list[str]:
    out = console()
    width = min(out.width, _WIDEST) if out.is_terminal else _WIDEST
    return wrap(words, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _complete_topic(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    offered = {name: words for name, (_, words) in _TOPICS.items()}
    root = ctx.find_root().command
    if isinstance(root, click.Group):
        offered |= dict.fromkeys(root.list_commands(ctx), "")
    return [CompletionItem(name, help=words) for name, words in offered.items() if name.startswith(incomplete)]


@click.command("help", short_help="Explain conditions, targets, durations, or a command.")
@click.argument("topic", nargs=-1, metavar="[TOPIC | COMMAND]...", shell_complete=_complete_topic)
@pass_session
@click.pass_context
def help_command(ctx: click.Context, session: Session, *, topic: tuple[str, ...]) -> None:
    """Explain conditions, targets or durations, or show the help of a command.

    \b
    acud help conditions
    acud help targets
    acud help durations
    acud help wait list
    """
    lines = list(_format_lines(ctx, topic))
    session.show({"topic": " ".join(topic), "lines": lines}, lambda: say_all(lines))


def _format_lines(ctx: click.Context, topic: tuple[str, ...]) -> Iterable[str]:
    if not topic:
        return [*(f"acud help {name:<12}{words}" for name, (_, words) in _TOPICS.items()), "acud help COMMAND"]
    if len(topic) == 1 and topic[0] in _TOPICS:
        return _TOPICS[topic[0]][0]()
    return _find_help(ctx, topic).splitlines()


def _find_help(ctx: click.Context, path: tuple[str, ...]) -> str:
    """Return the help of the command at `path`. Raises: click.UsageError when there is none."""
    root = ctx.find_root()
    here, command = root, root.command
    settings = root.command.context_settings
    for name in path:
        inner: Any = command.get_command(here, name) if isinstance(command, click.Group) else None
        if inner is None:
            known = [*_TOPICS, *(command.list_commands(here) if isinstance(command, click.Group) else ())]
            words = f"there is no topic and no command {' '.join(path)!r}; {suggest(name, known)}topics: "
            raise click.UsageError(words + ", ".join(_TOPICS), ctx)
        # No parent: its arguments would stand before the name.
        command, here = inner, click.Context(inner, info_name=f"{here.info_name} {name}", **settings)
    return here.get_help()


help = help_command  # noqa: A001  # the root loads a command under its name
