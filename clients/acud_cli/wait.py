"""`acud wait`: arm a wait and stay with it; and, where its first word names one, the commands of the waits."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from acud_cli.arming import arm, armed_line, arming_options, tell_notes, tell_result
from acud_cli.exits import Exit
from acud_cli.session import Session, json_option, pass_session
from acud_cli.waits import waits
from acud_cli.watch import stay


class WaitGroup(click.Group):
    """Arms a wait, unless the first word is the name of a command: then that command runs.

    Only the very first word names a command (`--json` may stand before it), so a sentence is never taken for one unless
    it is that one word; behind `--` it is a sentence.
    """

    allow_extra_args = False
    allow_interspersed_args = True

    def __init__(self, **rest: Any) -> None:
        super().__init__(invoke_without_command=True, subcommand_metavar="| COMMAND [ARGS]...", **rest)
        self.commands = waits.commands

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the commands when the first word names one, else that of a new wait."""
        words = list(args)
        flags = [words.pop(0) for _ in range(len(words)) if words[0] == "--json"]
        if words and words[0] in self.commands:
            return waits.make_context(info_name, [words[0], *flags, *words[1:]], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return options alone: commands complete as the first word does, by `criteria`."""
        return click.Command.shell_complete(self, ctx, incomplete)


@click.command(cls=WaitGroup, short_help="Wait until something shows on a display.")
@arming_options
@click.option("--detach", is_flag=True, help="Arm it, print its id, and return at once.")
@json_option
@pass_session
def wait(session: Session, *, detach: bool, **given: Any) -> int:
    """Wait until CRITERIA, a sentence, holds on a display; then say so, with evidence.

    Instead of a sentence, or with it, conditions that cost nothing: --text, --regex, --gone, --window, --window-gone,
    --change, --stable. Several must all hold on one picture, unless --any.

    The daemon does the waiting: Ctrl-C leaves it, and the wait goes on. Exit code: 0 the condition holds, 3 timeout,
    4 cancelled, 5 failed, 9 no judge is configured that could answer the sentence.

    \b
    acud wait '"Download complete" is visible' --timeout 10m
    acud wait --text "Build finished" --display :100
    acud wait --gone "Loading" --stable 2 --target 'window:Firefox'
    acud wait "the installer shows an error" --judge ollama --detach

    A first word that names a command below runs it (`acud wait list`). A sentence of just that word goes behind a
    double dash: `acud wait -- list`.
    """
    with session.client() as client:
        armed = arm(client, given)
        if detach:
            tell_notes(armed.notes)
            tell_result(armed)
            session.show(armed, lambda: print(armed.wait.wait_id))
            return Exit.OK
        return stay(session, client, armed.wait, armed_line(armed.wait), armed.notes)
