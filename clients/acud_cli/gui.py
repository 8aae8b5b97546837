"""`acud gui`: find something on a display, or do an instruction; `acud agent`: steps that a model plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from acud.protocol.requests.gui import DoReply
from acud.types import Criteria
from acud.types.action_effects import effect_lines, reading_line
from acud.types.agent_runs import RunInfo, RunLimits, RunState, RunStep
from acud.types.grounding import Candidate, Found, GroundingBackend
from acud_cli.exit_codes import Exit, exit_of_state
from acud_cli.formatting import FittedTable, duration, local_time, shorten
from acud_cli.options import (
    DURATION,
    EnumChoice,
    Number,
    PictureFile,
    WholeNumber,
    choose_target,
    choose_task,
    display_option,
    lease_option,
    limit_option,
    pick,
    target_of,
    target_options,
    task_option,
)
from acud_cli.session import Session, complete_ids, pass_session, print_table, say, warn, with_path, write_picture
from acud_cli.wait_options import action_wait_options, address_options, find_condition, make_action_wait, make_address
from acud_cli.wait_text import ACTION_BLOCK_S, follow_action_wait, print_action_wait, print_left_wait
from acud_client.call import POLL_S

if TYPE_CHECKING:
    from acud_client.sync import Client


_EXITS = {
    "found": Exit.OK,
    "verified": Exit.OK,
    "unverified": Exit.TIMEOUT,
    "ambiguous": Exit.REFUSED,
    "disabled": Exit.REFUSED,
    "not_found": Exit.NOT_FOUND,
    "unknown": Exit.ERROR,
    "unfinished": Exit.TIMEOUT,
}

_complete_run = complete_ids(
    lambda client: ((one.run_id, f"{one.state}: {one.spec.instruction}") for one in client.agent_list(limit=50).runs)
)
_run_id = click.argument("run_id", metavar="ID", shell_complete=_complete_run)
_target_option = choose_target("Where to look: screen, window:TITLE, region:x,y,w,h.")
_backend_option = click.option(
    "--backend",
    type=EnumChoice(GroundingBackend),
    help="What may be asked (default: as set). auto: nothing leaves this machine.",
)


@click.group(short_help="Find and use what is on a display, by its description.")
def gui() -> None:
    """Find and use what is on a display, by its description.

    Exit codes: 0 found, or done with its effect seen; 3 done, and no effect was seen; 7 not there; 8 several fit, and
    none was chosen; 1 not known.

    \b
    acud gui find "the Export button"
    acud gui do "click the Export button" --expect-text "Exported"
    acud gui do "type 'hello' into the Name field"
    """


@gui.command("find", short_help="Say where something is; nothing is done.")
@click.argument("description")
@_target_option
@display_option
@_backend_option
@click.option("--candidates", type=WholeNumber(1, 50), default=8, show_default=True, help="Shown at most.")
@task_option
@pass_session
def gui_find(session: Session, *, description: str, backend: GroundingBackend | None, **options: Any) -> int:
    """Print where DESCRIPTION is found: its middle, its box, and the method.

    \b
    acud gui find "the Name field" --target "window:Contact form"
    """
    places = pick(options, "target", "display", "task_id")
    reply = session.client().gui_find(description, backend=backend, max_candidates=options["candidates"], **places)
    session.show(reply, lambda: _print_found(reply.found))
    return _EXITS[reply.found.status]


@gui.command("do", short_help="Do what a sentence says, and see whether it had an effect.")
@click.argument("instructions", nargs=-1, metavar="INSTRUCTION...")
@click.option(
    "file",
    "--script",
    "--file",
    "-f",
    type=click.File("r"),
    metavar="FILE",
    help="One instruction a line; - is standard input. --file, -f: its former names, until 0.3.",
)
@_target_option
@display_option
@click.option("--view", default="", metavar="TOKEN", help="Coordinates are of the picture with this view token.")
@_backend_option
@click.option("--expect", default="", metavar="SENTENCE", help="What shows the effect (default: any change).")
@click.option("--expect-text", multiple=True, metavar="T", help="The effect shows as the visible text T.")
@click.option("--expect-json", default="", metavar="JSON", help="The effect as a condition (docs/protocol.md).")
@click.option("--timeout", type=DURATION, default=2.0, help="How long the effect may take (default: 2s).")
@task_option
@lease_option
@click.option(
    "--picture", type=PictureFile(".jpg", ".jpeg"), metavar="FILE", help="Save a picture of the display afterwards."
)
@action_wait_options
@pass_session
def gui_do(
    session: Session,
    *,
    instructions: tuple[str, ...],
    file: TextIO | None,
    backend: GroundingBackend | None,
    picture: Path | None,
    **options: Any,
) -> int:
    """Do each INSTRUCTION once, in order, and see whether it had an effect. The first that fails ends it.

    Click, double-click, right-click, hover over, tick, untick, type into, set to, select in, scroll to, drag to, press.
    Words in quotation marks are taken as they are.

    \b
    acud gui do "click(847, 523)"
    acud gui do "select Red in the Colour list"
    acud gui do "drag the report to the Trash" --expect "the report is gone from the list"
    acud gui do "type 'Anna' into Name" "type 'Bern' into City" "click Save" --until-text "Saved"
    """
    first, *then = [*instructions, *_read_lines(file)] or [""]
    if not first:
        raise click.UsageError("say what to do: an INSTRUCTION, or --script")
    client = session.client()
    wait = make_action_wait(options)
    with print_left_wait(wait):
        reply = client.gui_do(
            first,
            backend=backend,
            expect=find_condition(
                {"criteria": options["expect"], "text": options["expect_text"], "until": options["expect_json"]}
            ),
            timeout_s=options["timeout"],
            picture=picture is not None,
            then=then,
            wait=wait,
            block_s=ACTION_BLOCK_S,
            **pick(options, "target", "display", "view", "task_id", "lease"),
        )
        reply = follow_action_wait(session, client, reply)
    if picture is not None and reply.picture is not None:
        write_picture(picture, reply.picture.image)
    session.show(with_path(reply, picture), lambda: _print_done(reply))
    return _EXITS[reply.status] if reply.wait is None else exit_of_state(reply.wait.wait.state)


def _read_lines(file: TextIO | None) -> list[str]:
    lines = () if file is None else map(str.strip, file)
    return [line for line in lines if line and not line.startswith("#")]


def _print_found(found: Found) -> None:
    for candidate in found.candidates:
        say(_describe_candidate(candidate))
    if found.status != "found":
        warn(f"{found.status}: {found.reason}")


def _describe_candidate(one: Candidate) -> str:
    box = "" if one.box is None else f" in {one.box.w}x{one.box.h} at {one.box.x},{one.box.y}"
    words = " ".join(part for part in (one.role, repr(one.label) if one.label else "") if part)
    window = f" of {one.window!r}" if one.window else ""
    state = ", disabled" if one.disabled else ""
    what = f"{words or 'a point'}{window}{state}"
    return f"{one.point.x},{one.point.y}{box}: {what} ({one.method.value}, {one.confidence:.2f})"


def _print_done(reply: DoReply) -> None:
    say(f"{reply.status}: {reply.message}")
    for line in [*reply.done, *(f"not done: {one}" for one in reply.left)]:
        say(f"  {line}")
    field = reading_line(reply.field) if reply.field is not None else ""
    for line in ([f"the field {field}"] if field else []) + list(effect_lines(reply.effects) if reply.effects else ()):
        say(f"  {line}")
    shown = reply.found if reply.target_found is None or reply.status == "verified" else reply.target_found
    if shown is not None and shown.status == "ambiguous":
        for candidate in shown.candidates:
            say(f"  {_describe_candidate(candidate)}")
    if reply.wait is not None:
        print_action_wait(reply.wait)


_RUN_EXITS = {
    RunState.RUNNING: Exit.OK,
    RunState.DONE: Exit.OK,
    RunState.ESCALATED: Exit.FAILED,
    RunState.CANCELLED: Exit.CANCELLED,
}


@click.group(short_help="Have a chat model plan and do several steps.")
def agent() -> None:
    """Hand over several steps in words: a chat model plans, acud finds, acts and verifies, within limits.

    A run ends as `done` only when its effect was seen; else as `escalated`, with the reason.
    """


@agent.command(short_help="Begin a run, and stay until it ends.")
@click.argument("instruction")
@target_options
@click.option("--expect", default="", metavar="SENTENCE", help="What must be visible for it to count as done.")
@click.option("--backend", default="", metavar="NAME", help="The backend whose model plans (docs/backends.md).")
@click.option("--model", default="", metavar="NAME", help="That backend's model (default: as set).")
@click.option("--max-steps", type=WholeNumber(1, 200), default=RunLimits().max_steps, show_default=True)
@click.option("--max-time", type=DURATION, default=RunLimits().max_time_s, help="In all (default: 10m).")
@click.option("--max-calls", type=WholeNumber(1, 10_000), default=RunLimits().max_calls, show_default=True)
@click.option("--max-cost", type=Number(0), default=None, metavar="USD", help="What all models may cost.")
@choose_task("The task this run belongs to.")
@click.option("--detach", is_flag=True, help="Print the run's id and return at once.")
@address_options
@pass_session
def run(session: Session, **options: Any) -> int:
    """Begin a run, and stay until it ends; Ctrl-C leaves it to the daemon.

    Exit code: 0 done, 4 cancelled, 5 escalated.

    \b
    acud agent run "fill in the form and send it" --backend claude --expect '"Thank you" is visible'
    """
    limits = RunLimits(options["max_steps"], options["max_time"], options["max_calls"], options["max_cost"])
    client = session.client()
    begun = client.gui_agent(
        options["instruction"],
        target_of(options["target"], options["region"]),
        expect=Criteria(options["expect"]) if options["expect"] else None,
        limits=limits,
        wake=make_address(options),
        **pick(options, "display", "backend", "model", "task_id"),
    ).run
    if options["detach"]:
        session.show(begun, lambda: say(begun.run_id))
        return Exit.OK
    return _follow_run(session, client, begun)


def _follow_run(session: Session, client: Client, run: RunInfo) -> int:
    if not session.json:
        warn(f"run {run.run_id} on {run.display}")
    found, ended = run, False
    try:
        while not ended:
            reply, known = client.agent_result(run.run_id, block_s=min(POLL_S, 1.0)), len(found.steps)
            found, ended = reply.run, reply.ended
            for step in () if session.json else found.steps[known:]:
                warn(_step_line(step))
    except KeyboardInterrupt:
        warn(f"the run goes on: acud agent show {run.run_id}")
        return Exit.DETACHED
    session.show(found, lambda: _print_end(found))
    return _RUN_EXITS[found.state]


def _step_line(step: RunStep) -> str:
    words = f": {shorten(step.reason, 160)}" if step.reason else ""
    return f"{step.number:>3}  {step.kind}  {shorten(step.said, 100)}  → {step.outcome}{words}"


def _print_end(run: RunInfo) -> None:
    words = run.evidence if run.state is RunState.DONE else run.reason
    say(f"{run.state.value} {run.run_id}" + (f": {words}" if words else ""))
    cost = f"{run.spent.cost_usd:.4f} USD" + (f" and {run.spent.unpriced} unpriced" if run.spent.unpriced else "")
    say(f"{len(run.steps)} steps, {run.spent.calls} model calls, {cost}")


@agent.command(short_help="Show a run with its steps.")
@_run_id
@pass_session
def show(session: Session, *, run_id: str) -> int:
    """Show a run with its steps. Exit code: as of `acud agent run`.

    \b
    acud agent show q7k2mz
    """
    found = session.client().agent_result(run_id, peek=True).run
    session.show(found, lambda: _print_run(found))
    return _RUN_EXITS[found.state]


def _print_run(run: RunInfo) -> None:
    say(f"{run.run_id}  {run.state.value}  on {run.display}  since {local_time(run.created_utc_s)}")
    say(run.spec.instruction)
    for step in run.steps:
        say(_step_line(step))
    _print_end(run)


@agent.command("list", short_help="List runs, newest first.")
@choose_task("Only runs of this task.")
@limit_option(500, 20)
@pass_session
def list_runs(session: Session, *, task_id: str, limit: int) -> None:
    """List runs, newest first.

    \b
    acud agent list
    acud agent list --task e0471d
    """
    reply = session.client().agent_list(task_id=task_id, limit=limit)
    session.show(reply, lambda: _print_list(reply.runs))


def _print_list(runs: tuple[RunInfo, ...]) -> None:
    if not runs:
        say("no runs")
        return
    table = FittedTable("state, instruction+, reason+, took-, began-, display-, id")
    for one in runs:
        took = duration(one.ended_utc_s - one.created_utc_s) if one.ended_utc_s else "-"
        said = shorten(one.spec.instruction, 80)
        began = local_time(one.created_utc_s)
        reason = shorten(one.reason, 120)
        table.add_row(one.state.value, said, reason, took, began, one.display, one.run_id)
    print_table(table)


@agent.command(short_help="End a run now.")
@_run_id
@click.option("--reason", default="", metavar="TEXT", help="Kept with the run.")
@pass_session
def cancel(session: Session, *, run_id: str, reason: str) -> None:
    """End a run now; what is under way is dropped.

    \b
    acud agent cancel q7k2mz --reason "the wrong form"
    """
    found = session.client().agent_cancel(run_id, reason=reason).run
    session.show(found, lambda: say(f"{found.state.value} {found.run_id}"))
