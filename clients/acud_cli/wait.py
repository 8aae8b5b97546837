"""`acud wait`: arm a wait and stay with it; and the commands `acud wait list`, `show`, `cancel` and so on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click
from click.shell_completion import CompletionItem

from acud.base.errors import suggest
from acud.protocol.requests.waits import EvidencePart, WaitListReply
from acud.types import WaitState, display_name
from acud_cli.exit_codes import Exit, exit_of_state
from acud_cli.options import (
    DURATION,
    EnumChoice,
    PictureFile,
    WholeNumber,
    complete_displays,
    limit_option,
    read_list,
    watch_option,
)
from acud_cli.session import Session, complete_ids, pass_session, print_lines, print_table, say, write_picture
from acud_cli.wait_options import (
    arm_wait,
    budget_options,
    condition_options,
    find_condition,
    format_armed,
    new_wait_options,
    policy_options,
    print_notes,
    print_result_command,
    replace_given,
)
from acud_cli.wait_text import (
    PATIENCE_S,
    await_end,
    format_ending,
    format_wait,
    make_evaluation_table,
    make_wait_table,
    name_wait,
)
from acud_client.sync import Client

_FULL_ID_LENGTH = 28
MOST_WAITS = 1000
"""In one reply."""


@click.group(short_help="Another name for the commands of `acud wait`.")
def waits() -> None:
    """List, show, arm, change and end waits: `acud waits list` is `acud wait list`, and so on.

    An id may be cut short: its ending, which lists show, or its beginning is enough while it is unique.
    """


_complete_id = complete_ids(
    lambda client: ((one.wait_id, f"{one.state}: {name_wait(one)}") for one in client.wait_list(ended=True).waits)
)
_wait_id = click.argument("wait_id", metavar="ID", shell_complete=_complete_id)


def full_id(client: Client, prefix: str) -> str:
    """Return the whole id that `prefix` begins. Raises: NotFound, or Conflict when several begin so."""
    if len(prefix) >= _FULL_ID_LENGTH:
        return prefix
    return client.wait_show(prefix, evaluations=0).wait.wait_id


@waits.command("list", short_help="List waits, newest first.")
@click.option("--all", "ended", is_flag=True, help="Ended ones too.")
@click.option(
    "--state", "states", multiple=True, type=EnumChoice(WaitState), help="Only those in this state (may be repeated)."
)
@limit_option(MOST_WAITS, 100)
@watch_option
@pass_session
def list_waits(session: Session, *, ended: bool, states: tuple[WaitState, ...], limit: int, watch: bool) -> None:
    """List the live waits, newest first; with --all or --state the ended ones too.

    \b
    acud wait list
    acud wait list --all --limit 20
    acud wait list --state failed --state timeout
    acud wait list --watch
    """
    client = session.client()

    def page(most: int, offset: int) -> WaitListReply:
        return client.wait_list(states=states, ended=ended, limit=most, offset=offset)

    def read() -> WaitListReply:
        return read_list(session, page, "waits", limit, MOST_WAITS, lambda wait: wait.wait_id)

    def show(reply: WaitListReply) -> None:
        _print_list(reply.waits, reply.total)

    if watch:
        session.watch(read, show)
        return
    reply = read()
    session.show(reply, lambda: show(reply))


def _print_list(waits: Any, total: int) -> None:
    if not waits:
        say("no waits" if total == 0 else f"none shown of {total}")
        return
    print_table(make_wait_table(waits))
    if total > len(waits):
        say(f"… and {total - len(waits)} more (--limit)")


@waits.command("show", short_help="Show one wait with what was judged.")
@_wait_id
@limit_option(1000, 20, "Show at most this many evaluations, the newest.", least=0, former="--evaluations")
@pass_session
def show_wait(session: Session, *, wait_id: str, limit: int) -> None:
    """Show one wait: condition, target, policy, verdict, evidence, and its newest evaluations.

    \b
    acud wait show x8fgvb
    acud wait show x8fgvb --limit 100
    """
    reply = session.client().wait_show(wait_id, evaluations=limit)

    def human() -> None:
        print_lines(format_wait(reply))
        if reply.evaluations:
            say()
            print_table(make_evaluation_table(reply.evaluations))
        if len(reply.evaluations) < reply.evaluations_kept:
            say(f"{len(reply.evaluations)} of {reply.evaluations_kept} evaluations, the newest")

    session.show(reply, human)


@waits.command("create", short_help="Arm a wait and return at once.")
@new_wait_options
@pass_session
def create_wait(session: Session, **options: Any) -> None:
    """Arm a wait for CRITERIA, a sentence, or for the conditions in the options, and return at once.

    The same as `acud wait --detach`. Take its result with `acud wait result ID`.

    \b
    acud wait create --text "Build finished" --timeout 1h
    acud wait create --change --settle 2s --target window:Firefox --name page
    """
    reply = arm_wait(session.client(), options)
    print_notes(reply.notes)
    print_result_command(reply)
    session.show(reply, lambda: say(format_armed(reply.wait)))


@waits.command("update", short_help="Change a live wait.")
@_wait_id
@click.option("--criteria", default="", metavar="TEXT", help="The new sentence to judge.")
@condition_options
@click.option("--timeout", type=DURATION, help="A new timeout, counted from now.")
@click.option("--force", is_flag=True, help="Take the sentence even if no judge is configured for it.")
@policy_options
@budget_options
@pass_session
def update_wait(session: Session, *, wait_id: str, timeout: float | None, force: bool, **options: Any) -> None:
    """Change condition, timeout, policy or budget of a live wait. Only what is given changes.

    \b
    acud wait update x8fgvb --timeout 1h
    acud wait update x8fgvb --text "Build finished" --confirm 2
    """
    until = find_condition(options)
    client = session.client()
    now = client.wait_show(wait_id, evaluations=0).wait
    policy = replace_given(now.spec.policy, options)
    changed = policy if policy != now.spec.policy else None
    wanted = replace_given(now.spec.budget, options)
    budget = wanted if wanted != now.spec.budget else None
    if until is None and timeout is None and changed is None and budget is None:
        raise click.UsageError("nothing to change: give a condition, --timeout or an option of policy or budget")
    reply = client.wait_update(now.wait_id, until=until, timeout_s=timeout, policy=changed, budget=budget, force=force)
    print_notes(reply.notes)
    session.show(reply, lambda: say(format_armed(reply.wait).replace("armed", "updated", 1)))


@waits.command("cancel", short_help="End waits without a verdict.")
@click.argument("wait_ids", metavar="[ID]...", nargs=-1, shell_complete=_complete_id)
@click.option("--all", "every", is_flag=True, help="Every live wait.")
@click.option(
    "--display", "-d", default="", metavar="NAME", shell_complete=complete_displays, help="Every live wait on it."
)
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the wait.")
@pass_session
def cancel_wait(session: Session, *, wait_ids: tuple[str, ...], every: bool, display: str, reason: str) -> None:
    """End active waits without a verdict. Clients that wait for their result learn it.

    \b
    acud wait cancel x8fgvb --reason "not needed any more"
    acud wait cancel --display :100
    acud wait cancel --all
    """
    if [bool(wait_ids), every, bool(display)].count(True) != 1:
        raise click.UsageError("name the waits to cancel, or give --all or --display")
    client = session.client()
    replies = [client.wait_cancel(full_id(client, wait_id), reason=reason) for wait_id in wait_ids]
    displays = (display_name(display),) if display else ()
    while not wait_ids and (live := client.wait_list(limit=MOST_WAITS, displays=displays).waits):
        replies += [client.wait_cancel(wait.wait_id, reason=reason) for wait in live]
    session.show([reply.wait for reply in replies], lambda: _print_cancelled([r.wait.wait_id for r in replies]))


def _print_cancelled(ids: list[str]) -> None:
    for wait_id in ids:
        say(f"cancelled {wait_id}")
    if not ids:
        say("no live waits")


@waits.command("result", short_help="Wait for a wait's end and take its result.")
@_wait_id
@click.option("--block", type=DURATION, help="Wait at most this long (0: return at once); default: until it ends.")
@click.option("--peek", is_flag=True, help="Leave the result unseen: its wake is still sent. Without --block: at once.")
@pass_session
def result_of_wait(session: Session, *, wait_id: str, block: float | None, peek: bool) -> int:
    """Stay with a wait until it ends and print its result. Giving up (Ctrl-C, --block) never cancels it.

    The result counts as seen, so no wake follows; --peek leaves that open.

    Exit code: 0 its condition holds, 3 timeout, 4 cancelled, 5 failed; 0 also while it still watches (--block).

    \b
    acud wait result x8fgvb
    acud wait result x8fgvb --block 10s
    acud wait result x8fgvb --peek
    """
    client = session.client()
    now = client.wait_show(wait_id, evaluations=0).wait
    if peek:
        reply = client.wait_result(now.wait_id, block_s=min(block or 0.0, 300.0), peek=True)
    elif block is None:
        client.patience_s = PATIENCE_S
        return await_end(session, client, now)
    else:
        client.patience_s = PATIENCE_S
        reply = client.wait_end(now.wait_id, timeout_s=block)
    session.show(reply, lambda: print_lines(format_ending(reply)))
    return exit_of_state(reply.wait.state)


@waits.command("evidence", short_help="Save the picture that a verdict rests on.")
@_wait_id
@click.option(
    "--output",
    "-o",
    type=PictureFile(".png", pipe=True),
    metavar="FILE",
    required=True,
    help="A .png file, or - for a pipe.",
)
@click.option(
    "--part",
    type=click.Choice(get_args(EvidencePart)),
    default="after",
    show_default=True,
    help="As it resolved, as it was when last judged no, what differs, or the image that is looked for.",
)
@click.option("--stage", type=WholeNumber(0, 16), default=0, help="Of this stage of a sequence, counted from 1.")
@pass_session
def evidence_of_wait(session: Session, *, wait_id: str, output: Path, part: EvidencePart, stage: int) -> int:
    """Save the evidence of a wait: the exact pixels that were judged, as PNG.

    \b
    acud wait evidence x8fgvb -o proof.png
    acud wait evidence x8fgvb --part before -o before.png
    """
    client = session.client()
    reply = client.evidence(full_id(client, wait_id), part=part, stage=stage)
    write_picture(output, reply.image)
    if str(output) != "-":
        session.show({"path": str(output), "evidence": reply.evidence}, lambda: say(f"saved {output}"))
    return Exit.OK


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
        near = suggest(words[0], self.commands).strip() if words and words[0].isalpha() else ""
        if near and words[0] == args[0]:
            raise click.UsageError(f"no command {words[0]!r}; {near} As a sentence: acud wait -- {words[0]}", parent)
        return super().make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return options alone: commands complete as the first word does, by `criteria`."""
        return click.Command.shell_complete(self, ctx, incomplete)


@click.command(cls=WaitGroup, short_help="Wait until something shows on a display.")
@new_wait_options
@click.option("--detach", is_flag=True, help="Arm it, print its id, and return at once.")
@pass_session
def wait(session: Session, *, detach: bool, **options: Any) -> int:
    """Wait until CRITERIA, a sentence, holds on a display; then print the verdict, with evidence.

    Instead of a sentence, or with it, conditions that cost nothing: --text, --regex, --gone, --number, --window,
    --window-gone, --widget, --change, --stable. Several must all hold on one picture, unless --any.

    The daemon does the waiting: Ctrl-C leaves it, and the wait goes on. Exit code: 0 the condition holds, 3 timeout, 4
    cancelled, 5 failed, 9 no judge is configured that could answer the sentence.

    \b
    acud wait '"Download complete" is visible' --timeout 10m
    acud wait --text "Build finished" --display :100
    acud wait --gone "Loading" --stable 2 --target 'window:Firefox'
    acud wait --widget 'button "Export" enabled'
    acud wait "the installer shows an error" --judge ollama --detach

    A first word that names a command below runs it (`acud wait list`). A sentence of just that word goes behind a
    double dash: `acud wait -- list`.
    """
    client = session.client()
    armed = arm_wait(client, options)
    if detach:
        print_notes(armed.notes)
        print_result_command(armed)
        session.show(armed, lambda: print(armed.wait.wait_id))
        return Exit.OK
    return await_end(session, client, armed.wait, format_armed(armed.wait), armed.notes)
