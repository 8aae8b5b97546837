"""The commands of `acud wait` (and `acud waits`): list, show, arm, change and end waits, and take their results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from acud.errors import AcudError
from acud.types import WaitState
from acud_cli.arming import arm, armed_line, arming_options, tell_notes, tell_result, wanted_of
from acud_cli.budgets import budget_of, budget_options
from acud_cli.conditions import condition_options
from acud_cli.exits import Exit, of_state
from acud_cli.files import write_picture
from acud_cli.policies import policy_of, policy_options
from acud_cli.render import ending_lines, evaluation_table, show_lines, wait_table
from acud_cli.session import Session, json_option, pass_session, print_lines, print_table, say, session_of
from acud_cli.values import DURATION
from acud_cli.watch import PATIENCE_S, stay
from acud_client.sync import Client, EvidencePart

_FULL_ID_LENGTH = 28


@click.group(short_help="The commands of `acud wait`, by another name.")
def waits() -> None:
    """List, show, arm, change and end waits: `acud waits list` is `acud wait list`, and so on.

    An id may be cut short as long as its beginning is unique.
    """


def _complete_id(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    try:
        with session_of(ctx).client(timeout_s=1.0) as client:
            found = client.wait_list(ended=True).waits
    except AcudError:
        return []
    return [
        CompletionItem(wait.wait_id, help=wait.state.value) for wait in found if wait.wait_id.startswith(incomplete)
    ]


_wait_id = click.argument("wait_id", metavar="ID", shell_complete=_complete_id)


def full_id(client: Client, given: str) -> str:
    """Return the whole id that `given` begins. Raises: NotFound, or Conflict when several begin so."""
    if len(given) >= _FULL_ID_LENGTH:
        return given
    return client.wait_show(given, evaluations=0).wait.wait_id


@waits.command("list", short_help="List waits, newest first.")
@click.option("--all", "ended", is_flag=True, help="Ended ones too.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in WaitState]),
    help="Only those in this state (may be repeated).",
)
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many.")
@json_option
@pass_session
def list_waits(session: Session, *, ended: bool, states: tuple[str, ...], limit: int) -> None:
    """List the live waits, newest first; with --all or --state the ended ones too."""
    with session.client() as client:
        reply = client.wait_list(states=[WaitState(state) for state in states], ended=ended, limit=limit)
    session.show(reply, lambda: _print_list(reply.waits, reply.total))


def _print_list(found: Any, total: int) -> None:
    if not found:
        say("no waits" if total == 0 else f"none shown of {total}")
        return
    print_table(wait_table(found))
    if total > len(found):
        say(f"… and {total - len(found)} more (--limit)")


@waits.command("show", short_help="Show one wait with what was judged.")
@_wait_id
@click.option(
    "--evaluations", "-n", type=click.IntRange(0, 1000), default=20, show_default=True, help="Newest so many."
)
@json_option
@pass_session
def show_wait(session: Session, *, wait_id: str, evaluations: int) -> None:
    """Show one wait: condition, target, policy, verdict, evidence, and its newest evaluations."""
    with session.client() as client:
        reply = client.wait_show(wait_id, evaluations=evaluations)

    def human() -> None:
        print_lines(show_lines(reply))
        if reply.evaluations:
            say()
            print_table(evaluation_table(reply.evaluations))

    session.show(reply, human)


@waits.command("create", short_help="Arm a wait and return at once.")
@arming_options
@json_option
@pass_session
def create_wait(session: Session, **given: Any) -> None:
    """Arm a wait for CRITERIA, a sentence, or for the conditions in the options, and return at once.

    The same as `acud wait --detach`. Take its result with `acud wait result ID`.
    """
    with session.client() as client:
        reply = arm(client, given)
    tell_notes(reply.notes)
    tell_result(reply)
    session.show(reply, lambda: say(armed_line(reply.wait)))


@waits.command("update", short_help="Change a live wait.")
@_wait_id
@click.option("--criteria", default="", metavar="TEXT", help="The new sentence to judge.")
@condition_options
@click.option("--timeout", type=DURATION, help="A new timeout, counted from now.")
@click.option("--force", is_flag=True, help="Take a sentence also where no judge is configured for it.")
@policy_options
@budget_options
@json_option
@pass_session
def update_wait(session: Session, *, wait_id: str, timeout: float | None, force: bool, **given: Any) -> None:
    """Change condition, timeout, policy or budget of a live wait. Only what is given changes."""
    until = wanted_of(given)
    with session.client() as client:
        now = client.wait_show(wait_id, evaluations=0).wait
        policy = policy_of(given, now.spec.policy)
        changed = policy if policy != now.spec.policy else None
        wanted = budget_of(given, now.spec.budget)
        budget = wanted if wanted != now.spec.budget else None
        if until is None and timeout is None and changed is None and budget is None:
            raise click.UsageError("nothing to change: give a condition, --timeout or an option of policy or budget")
        reply = client.wait_update(
            now.wait_id, until=until, timeout_s=timeout, policy=changed, budget=budget, force=force
        )
    tell_notes(reply.notes)
    session.show(reply, lambda: say(armed_line(reply.wait).replace("armed", "updated", 1)))


@waits.command("cancel", short_help="End waits without a verdict.")
@click.argument("wait_ids", metavar="[ID]...", nargs=-1, shell_complete=_complete_id)
@click.option("--all", "every", is_flag=True, help="Every live wait.")
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the wait.")
@json_option
@pass_session
def cancel_wait(session: Session, *, wait_ids: tuple[str, ...], every: bool, reason: str) -> None:
    """End live waits without a verdict. Whoever waits for their result is told."""
    if every == bool(wait_ids):
        raise click.UsageError("name the waits to cancel, or give --all")
    with session.client() as client:
        ids = [wait.wait_id for wait in client.wait_list(limit=1000).waits] if every else list(wait_ids)
        replies = [client.wait_cancel(full_id(client, wait_id), reason=reason) for wait_id in ids]
    session.show([reply.wait for reply in replies], lambda: _print_cancelled([r.wait.wait_id for r in replies]))


def _print_cancelled(ids: list[str]) -> None:
    for wait_id in ids:
        say(f"cancelled {wait_id}")
    if not ids:
        say("no live waits")


@waits.command("result", short_help="Wait for a wait's end and take its result.")
@_wait_id
@click.option("--block", type=DURATION, help="At most so long (0: at once); default: until it ends.")
@click.option("--peek", is_flag=True, help="Only look: whoever is to be woken still is. Without --block: at once.")
@json_option
@pass_session
def result_of_wait(session: Session, *, wait_id: str, block: float | None, peek: bool) -> int:
    """Stay with a wait until it ends and print its result. Giving up (Ctrl-C, --block) never cancels it.

    The result counts as seen by whoever was to be woken for it; --peek leaves that open.

    Exit code: 0 its condition holds, 3 timeout, 4 cancelled, 5 failed; 0 also while it still watches (--block).
    """
    with session.client() as client:
        now = client.wait_show(wait_id, evaluations=0).wait
        if peek:
            reply = client.wait_result(now.wait_id, block_s=min(block or 0.0, 300.0), peek=True)
        elif block is None:
            client.patience_s = PATIENCE_S
            return stay(session, client, now)
        else:
            client.patience_s = PATIENCE_S
            reply = client.wait_end(now.wait_id, timeout_s=block)
    session.show(reply, lambda: print_lines(ending_lines(reply)))
    return of_state(reply.wait.state)


@waits.command("evidence", short_help="Save the picture that a verdict rests on.")
@_wait_id
@click.option("--output", "-o", type=click.Path(path_type=Path, allow_dash=True), required=True, help="PNG file, or -.")
@click.option(
    "--part",
    type=click.Choice(["after", "before", "diff"]),
    default="after",
    show_default=True,
    help="As it resolved, as it was when last judged no, or what differs.",
)
@json_option
@pass_session
def evidence_of_wait(session: Session, *, wait_id: str, output: Path, part: EvidencePart) -> int:
    """Save the evidence of a wait: the exact pixels that were judged, as PNG."""
    with session.client() as client:
        reply = client.evidence(full_id(client, wait_id), part=part)
    write_picture(output, reply.image)
    if str(output) != "-":
        session.show({"path": str(output), "evidence": reply.evidence}, lambda: say(f"saved {output}"))
    return Exit.OK
