"""`acud agent`: several steps in words, planned by a chat model, each verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from acud.types import Criteria
from acud.types.agent_runs import RunInfo, RunLimits, RunState
from acud_cli.exit_codes import Exit
from acud_cli.formatting import bare_table, duration, local_time, shortened
from acud_cli.options import DURATION, target_of, target_options
from acud_cli.session import Session, json_option, pass_session, print_table, say, warn
from acud_cli.wait_options import address_of, address_options
from acud_client.call import POLL_S

if TYPE_CHECKING:
    from acud_client.sync import Client

_EXITS = {
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
@click.option("--backend", default="", metavar="NAME", help="Who plans: ollama, vllm, openrouter, claude.")
@click.option("--model", default="", metavar="NAME", help="That backend's model (default: as set).")
@click.option("--max-steps", type=click.IntRange(1, 200), default=RunLimits().max_steps, show_default=True)
@click.option("--max-time", type=DURATION, default=RunLimits().max_time_s, help="In all (default: 10m).")
@click.option("--max-calls", type=click.IntRange(1, 10_000), default=RunLimits().max_calls, show_default=True)
@click.option("--max-cost", type=click.FloatRange(0), default=None, metavar="USD", help="What all models may cost.")
@click.option("--task", "task_id", default="", metavar="ID", help="The task this run belongs to.")
@click.option("--detach", is_flag=True, help="Print the run's id and return at once.")
@address_options
@json_option
@pass_session
def run(session: Session, **given: Any) -> int:
    """Begin a run, and stay until it ends; Ctrl-C leaves it to the daemon.

    Exit code: 0 done, 4 cancelled, 5 escalated.
    """
    limits = RunLimits(given["max_steps"], given["max_time"], given["max_calls"], given["max_cost"])
    with session.client() as client:
        begun = client.gui_agent(
            given["instruction"],
            target_of(given["target"], given["region"]),
            display=given["display"],
            expect=Criteria(given["expect"]) if given["expect"] else None,
            backend=given["backend"],
            model=given["model"],
            limits=limits,
            task_id=given["task_id"],
            wake=address_of(given),
        ).run
        if given["detach"]:
            session.show(begun, lambda: say(begun.run_id))
            return Exit.OK
        return _stay(session, client, begun)


def _stay(session: Session, client: Client, begun: RunInfo) -> int:
    if not session.json:
        warn(f"run {begun.run_id} on {begun.display}")
    told = 0
    try:
        while True:
            reply = client.agent_result(begun.run_id, block_s=min(POLL_S, 1.0))
            told = _tell_steps(session, reply.run, told)
            if reply.ended:
                return _show_end(session, reply.run)
    except KeyboardInterrupt:
        warn(f"the run goes on: acud agent show {begun.run_id}")
        return Exit.DETACHED


def _show_end(session: Session, found: RunInfo) -> int:
    session.show(found, lambda: _print_end(found))
    return _EXITS[found.state]


def _tell_steps(session: Session, found: RunInfo, told: int) -> int:
    for step in () if session.json else found.steps[told:]:
        warn(_step_line(step.number, step.kind, step.said, step.outcome, step.reason))
    return len(found.steps)


def _step_line(number: int, kind: str, said: str, outcome: str, reason: str) -> str:
    words = f": {shortened(reason, 160)}" if reason else ""
    return f"{number:>3}  {kind}  {shortened(said, 100)}  → {outcome}{words}"


def _print_end(found: RunInfo) -> None:
    words = found.evidence if found.state is RunState.DONE else found.reason
    say(f"{found.state.value} {found.run_id}" + (f": {words}" if words else ""))
    cost = f"{found.spent.cost_usd:.4f} USD" + (f" and {found.spent.unpriced} unpriced" if found.spent.unpriced else "")
    say(f"{len(found.steps)} steps, {found.spent.calls} model calls, {cost}")


@agent.command(short_help="Show a run with its steps.")
@click.argument("run_id")
@json_option
@pass_session
def show(session: Session, *, run_id: str) -> int:
    """Show a run with its steps. Exit code: as of `acud agent run`."""
    with session.client() as client:
        found = client.agent_result(run_id, peek=True).run
    session.show(found, lambda: _print_run(found))
    return _EXITS[found.state]


def _print_run(found: RunInfo) -> None:
    say(f"{found.run_id}  {found.state.value}  on {found.display}  since {local_time(found.created_utc_s)}")
    say(found.spec.instruction)
    for step in found.steps:
        say(_step_line(step.number, step.kind, step.said, step.outcome, step.reason))
    _print_end(found)


@agent.command("list", short_help="List runs, newest first.")
@click.option("--task", "task_id", default="", metavar="ID", help="Only runs of this task.")
@click.option("--limit", "-n", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@json_option
@pass_session
def list_runs(session: Session, *, task_id: str, limit: int) -> None:
    """List runs, newest first."""
    with session.client() as client:
        reply = client.agent_list(task_id=task_id, limit=limit)
    session.show(reply, lambda: _print_list(reply.runs))


def _print_list(runs: tuple[RunInfo, ...]) -> None:
    if not runs:
        say("no runs")
        return
    table = bare_table("id", "state", "display", "began", "took", "instruction", "reason", flexible=("reason",))
    for one in runs:
        took = duration(one.ended_utc_s - one.created_utc_s) if one.ended_utc_s else "-"
        said = shortened(one.spec.instruction, 80)
        began = local_time(one.created_utc_s)
        table.add_row(one.run_id, one.state.value, one.display, began, took, said, shortened(one.reason, 120))
    print_table(table)


@agent.command(short_help="End a run now.")
@click.argument("run_id")
@click.option("--reason", default="", metavar="TEXT", help="Kept with the run.")
@json_option
@pass_session
def cancel(session: Session, *, run_id: str, reason: str) -> None:
    """End a run now; what is under way is dropped."""
    with session.client() as client:
        found = client.agent_cancel(run_id, reason=reason).run
    session.show(found, lambda: say(f"{found.state.value} {found.run_id}"))
