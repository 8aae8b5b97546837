"""Waits in words, tables and a live line. Everything that came from a screen or a model passes `plain` first."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from acud.base.errors import DaemonDown
from acud.base.untrusted_text import between_marks, own_words
from acud.protocol.requests.actions import ActionReply
from acud.protocol.requests.gui import DoReply
from acud.protocol.requests.terminals import TerminalReply
from acud.protocol.requests.waits import ActionWait, Evaluation, WaitCreate, WaitResultReply, WaitShowReply
from acud.types import Budget, ConditionWords, Then, Verdict, WaitInfo, WaitState, condition_text
from acud_cli.exit_codes import Exit, exit_of_state
from acud_cli.formatting import (
    FittedTable,
    cost,
    count,
    duration,
    local_moment,
    local_time,
    milliseconds,
    plain,
    shorten,
    time_given,
)
from acud_cli.session import Session, as_json, console, print_lines, warn
from acud_cli.wait_options import describe_place, print_notes
from acud_client.call import POLL_S, is_away
from acud_client.sync import Client

if TYPE_CHECKING:
    from rich.text import Text


_STATE_STYLE = {
    WaitState.WATCHING: "cyan",
    WaitState.RESOLVED: "bold green",
    WaitState.TIMEOUT: "bold yellow",
    WaitState.CANCELLED: "dim",
    WaitState.FAILED: "bold red",
}


def style_text(text: str, mark: str = "", style: str = "") -> Text:
    """Return `text`, made plain, behind a mark in colour."""
    from rich.text import Text

    return Text.assemble((f"{mark} " if mark else "", style or "cyan"), plain(text))


def style_state(state: WaitState, left: str) -> Text:
    """Return the state in its colour; of one that watches how long it still does."""
    from rich.text import Text

    return Text(left if state is WaitState.WATCHING else state.value, style=_STATE_STYLE[state])


def format_fact(name: str, value: str) -> Text:
    from rich.text import Text

    return Text.assemble((f"  {name:<10}", "dim"), plain(value))


def format_ending(reply: WaitResultReply) -> list[Text]:
    """Return how a wait ended: the outcome, the evidence, and what it took."""
    wait = reply.wait
    took_s = (wait.ended_utc_s or wait.created_utc_s) - wait.created_utc_s
    head = (
        f"{condition_text(wait.spec.until, ConditionWords.DETAILED)}  (after {duration(took_s)})"
        if reply.ended
        else condition_text(wait.spec.until, ConditionWords.DETAILED)
    )
    lines = [style_text(head, wait.state.value, _STATE_STYLE[wait.state]), *_find_reason(wait)]
    lines.append(format_fact("verdict", describe_verdict(wait.verdict)))
    if picture := _describe_picture(reply.evidence_path, wait):
        lines.append(format_fact("picture", picture))
    lines += format_stages(wait, reply.stage_paths)
    lines.append(format_fact("took", describe_effort(wait)))
    lines.append(format_fact("id", wait.wait_id))
    return [*lines, *_quote_seen(wait.verdict)]


def _find_reason(wait: WaitInfo) -> list[Text]:
    """Return why a wait was cancelled or failed: the part of its message behind the condition, in acud's own words."""
    what = wait.spec.label or condition_text(wait.spec.until)
    why = own_words(wait.message).partition(f"{what} (on ")[2].partition(") — ")[2]
    return [format_fact("why", why)] if why and wait.state in (WaitState.CANCELLED, WaitState.FAILED) else []


def _quote_seen(verdict: Verdict) -> list[Text]:
    """Return what was seen, which may be words of a screen: quoted, and last, so that it is not read as acud's own."""
    return [format_fact("seen", between_marks(verdict.detail))] if verdict.detail else []


def _describe_picture(path: str, wait: WaitInfo) -> str:
    if path:
        return path
    return f"none: {wait.evidence.reason}" if wait.evidence and wait.evidence.reason else ""


def describe_verdict(verdict: Verdict) -> str:
    """Return the answer in words, with the reason for an unknown one."""
    code = f" ({verdict.code.replace('_', ' ')})" if verdict.code else ""
    return f"{verdict.answer}{code}"


def describe_answer(verdict: Verdict) -> str:
    """Return the answer, and last what was seen, between marks that it cannot hold itself."""
    if not verdict.detail:
        return describe_verdict(verdict)
    return f"{verdict.answer}: {between_marks(verdict.detail)}"


def describe_effort(wait: WaitInfo) -> str:
    """Return what a wait took: latency, frames, evaluations, judge calls, cost."""
    parts = [_describe_latency(wait)] if wait.changed_to_resolved_ms is not None else []
    parts += [count(wait.frames_seen, "frame"), count(wait.judged, "evaluation")]
    parts.append(count(wait.judge_calls, "judge call"))
    return ", ".join(parts + ([cost(wait.cost_usd)] if wait.cost_usd else []))


def _describe_latency(wait: WaitInfo) -> str:
    latency_ms = wait.changed_to_resolved_ms or 0.0
    if latency_ms / 1000 > wait.ended_utc_s - wait.created_utc_s:
        return "on the screen before the wait was armed"
    return f"changed → resolved in {milliseconds(latency_ms)}"


def format_wait(reply: WaitShowReply) -> list[Text]:
    """Return one wait in full, without its evaluations."""
    wait, spec = reply.wait, reply.wait.spec
    lines = [
        style_text(condition_text(spec.until, ConditionWords.DETAILED), wait.state.value, _STATE_STYLE[wait.state]),
        format_fact("id", wait.wait_id),
    ]
    lines += [format_fact("label", spec.label)] if spec.label else []
    lines += [format_fact("for", spec.note)] if spec.note else []
    lines.append(format_fact("target", describe_place(wait)))
    lines.append(format_fact("armed", f"{local_moment(wait.created_utc_s)}, {time_given(spec.timeout_s)}"))
    lines.append(format_fact(*_describe_end(wait)))
    lines += _find_reason(wait)
    lines.append(format_fact("policy", f"{spec.policy.cadence}, judge {spec.judge}"))
    lines.append(format_fact("verdict", describe_verdict(wait.verdict)))
    lines += [format_fact("budget", describe_budget(wait))] if spec.budget != Budget() else []
    lines += [format_fact("note", wait.note)] if wait.note else []
    lines += [format_fact("judge", wait.asking)] if wait.asking else []
    if picture := _describe_picture(reply.evidence_path, wait):
        lines.append(format_fact("picture", picture))
    lines += format_stages(wait, reply.stage_paths)
    return [*lines, format_fact("took", describe_effort(wait)), *_quote_seen(wait.verdict)]


def format_stages(wait: WaitInfo, paths: tuple[str, ...]) -> list[Text]:
    """Return the stages of a sequence that were reached, each with its picture, and the one that is watched."""
    if not isinstance(wait.spec.until, Then):
        return []
    lines: list[Text] = []
    for number, part in enumerate(wait.spec.until.parts[: len(wait.stages) + 1], 1):
        words = condition_text(part, ConditionWords.DETAILED)
        if number > len(wait.stages):
            word = {WaitState.WATCHING: "watching for", WaitState.RESOLVED: "held at the end:"}
            lines.append(format_fact(f"stage {number}", f"{word.get(wait.state, 'not reached:')} {words}"))
            continue
        reached = wait.stages[number - 1]
        lines.append(format_fact(f"stage {number}", f"held at {local_time(reached.utc_s)}: {words}"))
        kept = paths[number - 1] or f"none: {reached.evidence.reason}"
        lines.append(format_fact("picture", kept))
    return lines


def describe_budget(wait: WaitInfo) -> str:
    budget, spent = wait.spec.budget, wait.spent
    known = f"${spent.cost_usd:.6f}" + (f" and {spent.unpriced} of unknown cost" if spent.unpriced else "")
    dollars = f"{known} of ${budget.max_cost_usd:.6f}" if budget.max_cost_usd is not None else known
    most = f" of {budget.max_evaluations}" if budget.max_evaluations is not None else ""
    return f"{dollars}, {spent.evaluations}{most} evaluations, then {budget.on_budget}"


def _describe_end(wait: WaitInfo) -> tuple[str, str]:
    if wait.state is WaitState.WATCHING:
        return "left", duration(wait.remaining_s)
    return "ended", f"{local_moment(wait.ended_utc_s)}, after {duration(wait.ended_utc_s - wait.created_utc_s)}"


def make_evaluation_table(evaluations: tuple[Evaluation, ...]) -> FittedTable:
    """Return the judged frames, oldest first."""
    table = FittedTable("time, verdict, took-, judge-, frame-, words+")
    for one in evaluations:
        judge = one.judge if one.source == "judge" else f"{one.judge} ({one.source})"
        words = shorten(one.verdict.detail, 300)
        took = milliseconds(one.latency_ms)
        table.add_row(local_time(one.utc_s), one.verdict.answer.value, took, plain(judge), str(one.frame), words)
    return table


def make_wait_table(waits: tuple[WaitInfo, ...]) -> FittedTable:
    table = FittedTable("state, condition+, verdict+, where-, judged-, id")
    for wait in waits:
        where = shorten(describe_place(wait), 30)
        what, said = shorten(name_wait(wait), 80), shorten(describe_answer(wait.verdict), 120)
        state = style_state(wait.state, f"{duration(wait.remaining_s)} left")
        table.add_row(state, what, said, where, str(wait.judged), wait.wait_id)
    return table


def name_wait(wait: WaitInfo) -> str:
    """Return the name of a wait: its label, or its condition."""
    return wait.spec.label or condition_text(wait.spec.until, ConditionWords.DETAILED)


PATIENCE_S = 60.0
"""How long to stay while the daemon is away: it may be restarting, and the wait outlives that."""

_AWAY = "the daemon is away; the wait is kept, and goes on when it is back"
_AWAY_LOOK_S = 0.1
_LIVE_POLL_S = 0.5
_MARGIN = 6
"""Columns left free: the spinner, and the ^C that a terminal echoes, which must not wrap the line."""
_LINES_POLL_S = 2.0


def await_end(session: Session, client: Client, wait: WaitInfo, greeting: str = "", notes: tuple[str, ...] = ()) -> int:
    """Print `greeting` and `notes`, wait for the end, show it, and return the exit code; Ctrl-C leaves the wait to the
    daemon.
    """
    try:
        if greeting and not session.json:
            warn(greeting)
        print_notes(notes)
        reply = _follow_wait(session, client, wait)
    except KeyboardInterrupt:
        return _print_detached(session, wait.wait_id)
    session.show(reply, lambda: print_lines(format_ending(reply)))
    return exit_of_state(reply.wait.state)


ActedReply = TypeVar("ActedReply", ActionReply, DoReply, TerminalReply)
ACTION_BLOCK_S = 300.0
"""How long an action waits in its own call for what it brings."""


@contextmanager
def print_left_wait(wait: WaitCreate | None) -> Iterator[None]:
    """Print, when an action with a wait is interrupted, that the daemon goes on with it."""
    try:
        yield
    except KeyboardInterrupt:
        if wait is not None:
            warn("detached: the action and its wait go on in the daemon: acud wait list")
        raise


def follow_action_wait(session: Session, client: Client, reply: ActedReply) -> ActedReply:
    """Return the reply of an action once its wait, if any, has ended. Raises: KeyboardInterrupt; the daemon goes on."""
    waited = reply.wait
    if waited is None or waited.ended:
        return reply
    result = _follow_wait(session, client, waited.wait)
    return replace(reply, wait=replace(waited, wait=result.wait, ended=True, evidence_path=result.evidence_path))


def print_action_wait(action_wait: ActionWait) -> None:
    print_notes(action_wait.notes)
    print_lines(format_ending(WaitResultReply(action_wait.wait, action_wait.ended, action_wait.evidence_path)))


def _follow_wait(session: Session, client: Client, wait: WaitInfo) -> WaitResultReply:
    progress = Quiet() if session.json else LiveStatus(wait) if sys.stderr.isatty() else ProgressLines()
    with progress.context():
        return _poll_result(client, wait.wait_id, progress)


def _poll_result(client: Client, wait_id: str, progress: Quiet) -> WaitResultReply:
    heard_s = time.monotonic()
    while True:
        try:
            reply = client.wait_result(wait_id, block_s=progress.poll_s)
        except DaemonDown as fault:
            if not is_away(fault) or time.monotonic() - heard_s > PATIENCE_S:
                raise
            progress.show_daemon_away()
            time.sleep(_AWAY_LOOK_S)
            continue
        if reply.ended:
            return reply
        heard_s = time.monotonic()
        progress.update(reply.wait)


def _print_detached(session: Session, wait_id: str) -> int:
    if session.json:
        print(as_json({"detached": True, "wait_id": wait_id}), flush=True)
        return Exit.DETACHED
    warn(f"detached: {wait_id} goes on in the daemon")
    warn(f"  come back:  acud wait result {wait_id}")
    warn(f"  end it:     acud wait cancel {wait_id}")
    return Exit.DETACHED


class Quiet:
    """For a program: nothing but the end."""

    poll_s = POLL_S

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which updates may come."""
        return nullcontext()

    def update(self, wait: WaitInfo) -> None:
        """Handle the newest state."""

    def show_daemon_away(self) -> None:
        """Handle that the daemon does not answer now."""


class ProgressLines(Quiet):
    """For a file or a pipe: one line whenever the verdict's words change."""

    poll_s = _LINES_POLL_S

    def __init__(self) -> None:
        self._last = ""

    def update(self, wait: WaitInfo) -> None:
        """Print the verdict when its words are new."""
        words = f"{wait.verdict.answer}: {wait.verdict.detail}" if wait.judged else ""
        if words:
            self._print_end(words, f"{duration(max(0.0, wait.spec.timeout_s - wait.remaining_s))}  {words}")

    def show_daemon_away(self) -> None:
        self._print_end(_AWAY, f"note: {_AWAY}")

    def _print_end(self, words: str, line: str) -> None:
        if words != self._last:
            self._last = words
            warn(line)


class LiveStatus(Quiet):
    """For a terminal: one line, rewritten four times a second; it is gone when the wait ends."""

    poll_s = _LIVE_POLL_S

    def __init__(self, wait: WaitInfo) -> None:
        self._wait = wait
        self._at_s = time.monotonic()
        self._away = False

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which the line is on the terminal."""
        from rich.live import Live

        return Live(
            get_renderable=self._format_line, console=console(stderr=True), refresh_per_second=8, transient=True
        )

    def update(self, wait: WaitInfo) -> None:
        """Show the newest state from now on."""
        self._wait, self._away = wait, False
        self._at_s = time.monotonic()

    def show_daemon_away(self) -> None:
        self._away = True

    def _format_line(self) -> Text:
        since_s = time.monotonic() - self._at_s
        width = console(stderr=True).width
        words = f"{_AWAY}  ·  " if self._away else ""
        return style_text(shorten(words + describe_status(self._wait, since_s), width - _MARGIN), _next_spinner())


def _next_spinner() -> str:
    return "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[int(time.monotonic() * 8) % 10]


def describe_status(wait: WaitInfo, since_s: float) -> str:
    """Return one line about a wait that is still watched, `since_s` after it was asked for."""
    left_s = max(0.0, wait.remaining_s - since_s)
    numbers = f"{count(wait.frames_seen, 'frame')}, {count(wait.judge_calls, 'judge call')}"
    parts = [f"watching {wait.display}", f"{duration(left_s)} left", numbers]
    if isinstance(wait.spec.until, Then):
        parts.append(f"stage {len(wait.stages) + 1} of {len(wait.spec.until.parts)}")
    if wait.judged:
        parts.append(f"{wait.verdict.answer}: {wait.verdict.detail}")
    return "  ·  ".join(filter(None, (*parts, wait.note, wait.asking)))
