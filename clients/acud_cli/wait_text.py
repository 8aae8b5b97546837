"""Waits in words and tables. Everything that came from a screen or a model passes `plain` first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.protocol.requests.waits import Evaluation, WaitResultReply, WaitShowReply
from acud.types import Budget, ConditionWords, Verdict, WaitInfo, WaitState, condition_text, target_text
from acud.untrusted_text import quoted
from acud_cli.formatting import (
    bare_table,
    cost,
    count,
    duration,
    local_moment,
    local_time,
    milliseconds,
    plain,
    shortened,
    time_given,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_STATE_STYLE = {
    WaitState.WATCHING: "cyan",
    WaitState.RESOLVED: "bold green",
    WaitState.TIMEOUT: "bold yellow",
    WaitState.CANCELLED: "dim",
    WaitState.FAILED: "bold red",
}


def styled(text: str, mark: str = "", style: str = "") -> Text:
    """Return `text`, made plain, behind a mark in colour."""
    from rich.text import Text

    return Text.assemble((f"{mark} " if mark else "", style or "cyan"), plain(text))


def state_word(state: WaitState) -> Text:
    """Return the state in its colour."""
    from rich.text import Text

    return Text(state.value, style=_STATE_STYLE[state])


def fact(name: str, value: str) -> Text:
    """Return one indented line `name  value`."""
    from rich.text import Text

    return Text.assemble((f"  {name:<10}", "dim"), plain(value))


def ending_lines(reply: WaitResultReply) -> list[Text]:
    """Return how a wait ended: the outcome, the evidence, and what it took."""
    wait = reply.wait
    took_s = (wait.ended_utc_s or wait.created_utc_s) - wait.created_utc_s
    head = (
        f"{condition_text(wait.spec.until, ConditionWords.DETAILED)}  (after {duration(took_s)})"
        if reply.ended
        else condition_text(wait.spec.until, ConditionWords.DETAILED)
    )
    lines = [styled(head, wait.state.value, _STATE_STYLE[wait.state]), fact("verdict", verdict_words(wait.verdict))]
    if picture := _picture(reply.evidence_path, wait):
        lines.append(fact("picture", picture))
    lines.append(fact("took", effort(wait)))
    lines.append(fact("id", wait.wait_id))
    return [*lines, *_seen(wait.verdict)]


def _seen(verdict: Verdict) -> list[Text]:
    """Return what was seen, which may be words of a screen: quoted, and last, so that it is taken for nothing else."""
    return [fact("seen", quoted(verdict.detail))] if verdict.detail else []


def _picture(path: str, wait: WaitInfo) -> str:
    if path:
        return path
    return f"none: {wait.evidence.reason}" if wait.evidence and wait.evidence.reason else ""


def verdict_words(verdict: Verdict) -> str:
    """Return the answer, and why where it is none."""
    code = f" [{verdict.code}]" if verdict.code else ""
    return f"{verdict.answer}{code}"


def effort(wait: WaitInfo) -> str:
    """Return what a wait took: latency, frames, evaluations, judge calls, cost."""
    parts = [_latency(wait)] if wait.changed_to_resolved_ms is not None else []
    parts += [count(wait.frames_seen, "frame"), count(wait.judged, "evaluation")]
    parts.append(count(wait.judge_calls, "judge call"))
    return ", ".join(parts + ([cost(wait.cost_usd)] if wait.cost_usd else []))


def _latency(wait: WaitInfo) -> str:
    latency_ms = wait.changed_to_resolved_ms or 0.0
    if latency_ms / 1000 > wait.ended_utc_s - wait.created_utc_s:
        return "on the screen before the wait was armed"
    return f"changed → resolved in {milliseconds(latency_ms)}"


def show_lines(reply: WaitShowReply) -> list[Text]:
    """Return one wait in full, without its evaluations."""
    wait, spec = reply.wait, reply.wait.spec
    lines = [
        styled(condition_text(spec.until, ConditionWords.DETAILED), wait.state.value, _STATE_STYLE[wait.state]),
        fact("id", wait.wait_id),
    ]
    lines += [fact("label", spec.label)] if spec.label else []
    lines.append(fact("target", target_text(spec.target, wait.display)))
    lines.append(fact("armed", f"{local_moment(wait.created_utc_s)}, {time_given(spec.timeout_s)}"))
    lines.append(fact(*_end_or_rest(wait)))
    lines.append(fact("policy", f"{spec.policy.cadence}, judge {spec.judge}"))
    lines.append(fact("verdict", verdict_words(wait.verdict)))
    lines += [fact("budget", budget_words(wait))] if spec.budget != Budget() else []
    lines += [fact("note", wait.note)] if wait.note else []
    if picture := _picture(reply.evidence_path, wait):
        lines.append(fact("picture", picture))
    return [*lines, fact("took", effort(wait)), *_seen(wait.verdict)]


def budget_words(wait: WaitInfo) -> str:
    """Return what was spent of the wait's budget, and what happens when that is all."""
    budget, spent = wait.spec.budget, wait.spent
    known = f"${spent.cost_usd:.6f}" + (f" and {spent.unpriced} of unknown cost" if spent.unpriced else "")
    dollars = f"{known} of ${budget.max_cost_usd:.6f}" if budget.max_cost_usd is not None else known
    most = f" of {budget.max_evaluations}" if budget.max_evaluations is not None else ""
    return f"{dollars}, {spent.evaluations}{most} evaluations, then {budget.on_budget}"


def _end_or_rest(wait: WaitInfo) -> tuple[str, str]:
    if wait.state is WaitState.WATCHING:
        return "left", duration(wait.remaining_s)
    return "ended", f"{local_moment(wait.ended_utc_s)}, after {duration(wait.ended_utc_s - wait.created_utc_s)}"


def evaluation_table(evaluations: tuple[Evaluation, ...]) -> Table:
    """Return the judged frames, oldest first."""
    table = bare_table("time", "frame", "verdict", "judge", "took", "words", flexible=("words",))
    for one in evaluations:
        judge = one.judge if one.source == "judge" else f"{one.judge} ({one.source})"
        words = shortened(one.verdict.detail, 300)
        took = milliseconds(one.latency_ms)
        table.add_row(local_time(one.utc_s), str(one.frame), one.verdict.answer.value, plain(judge), took, words)
    return table


def wait_table(waits: tuple[WaitInfo, ...]) -> Table:
    """Return waits, one a row."""
    table = bare_table(
        "id", "state", "left", "target", "judged", "condition", "verdict", flexible=("condition", "verdict")
    )
    for wait in waits:
        left = duration(wait.remaining_s) if wait.state is WaitState.WATCHING else "-"
        where = shortened(target_text(wait.spec.target, wait.display), 30)
        words = wait.spec.label or condition_text(wait.spec.until, ConditionWords.DETAILED)
        said, seen = verdict_words(wait.verdict), wait.verdict.detail
        verdict = shortened(f"{said}: {quoted(seen)}" if seen else said, 120)
        table.add_row(
            wait.wait_id, state_word(wait.state), left, where, str(wait.judged), shortened(words, 50), verdict
        )
    return table
