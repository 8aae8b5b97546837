"""What a daemon knows of itself when something does not come: enough to understand it without the machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from acud.base.errors import AcudError
from acud.types import WaitState, WakeState
from acud.types.metrics import Sample
from acud_client import Client
from tests.soak.world import World

_MOST_WAITS = 5
_MOST_LINES = 20
_LINE = 400
_PATIENCE_S = 10.0
_FAMILIES = (
    "acud_pool_queued_jobs", "acud_pool_running_jobs", "acud_pool_workers_ready", "acud_pool_jobs_total",
    "acud_pool_leases_lost_total", "acud_waits_live", "acud_wakes", "acud_child_restarts_total",
    "acud_child_silent_seconds", "acud_store_waiting_writes", "acud_requests_parked", "acud_frame_age_seconds",
    "acud_display_wanted_fps", "acud_judge_faults_total",
)  # fmt: skip


def known(world: World, wait_ids: Sequence[str] = ()) -> str:
    """Return lines about these waits (those that live, without any), the jobs, the children, and the log."""
    with Client(world.daemon.paths, timeout_s=_PATIENCE_S, patience_s=_PATIENCE_S) as client:
        wanted = tuple(wait_ids) or _asked_ids(client)
        parts: tuple[Callable[[], Iterable[str]], ...] = (
            lambda: _waits(client, world, wanted), lambda: _wakes(client), lambda: _daemon(client),
            lambda: _figures(client),
        )  # fmt: skip
        lines = [line[:_LINE] for part in parts for line in _said(part)]
    return "\n".join([*lines, *(line[:_LINE] for line in log_lines(world.daemon.log(), wanted))])


def _asked_ids(client: Client) -> tuple[str, ...]:
    with contextlib.suppress(AcudError):
        return tuple(wait.wait_id for wait in client.wait_list(limit=_MOST_WAITS).waits)
    return ()


def _said(part: Callable[[], Iterable[str]]) -> list[str]:
    """Return the lines of `part`; a daemon that does not answer is a line too."""
    try:
        return list(part())
    except AcudError as fault:
        return [f"not told: {fault.code}: {fault}"]


def _waits(client: Client, world: World, wait_ids: Sequence[str]) -> Iterator[str]:
    if len(wait_ids) > _MOST_WAITS:
        yield f"{len(wait_ids)} waits, of which {_MOST_WAITS}:"
    for wait_id in wait_ids[:_MOST_WAITS]:
        yield from _said(lambda wait_id=wait_id: _wait(client, world, wait_id))  # type: ignore[misc]


def _wait(client: Client, world: World, wait_id: str) -> Iterator[str]:
    shown = client.wait_show(wait_id, evaluations=3)
    wait, armed = shown.wait, world.ledger.armed.get(wait_id)
    kind = armed.kind if armed is not None else "not the soak's"
    painted = f", painted {_ago(armed.lit_s, time.CLOCK_BOOTTIME)}" if armed is not None and armed.lit_s else ""
    yield f"wait {wait_id} ({kind}) on {wait.display}, {wait.state.value}{painted}: {wait.remaining_s:.1f} s left"
    yield f"  verdict {wait.verdict.answer.value} {wait.verdict.code}: {wait.verdict.detail}"
    yield f"  note: {wait.note or 'none'}"
    yield f"  judged {wait.judged} times, {wait.judge_calls} calls, {wait.frames_seen} frames seen"
    for one in shown.evaluations:
        verdict = f"{one.verdict.answer.value} {one.verdict.code} {one.verdict.detail}"
        yield f"  {_ago(one.utc_s)}, frame {one.epoch}/{one.frame}, by {one.judge} ({one.source}): {verdict}"
    if wait.state is not WaitState.WATCHING:
        yield f"  ended {_ago(wait.ended_utc_s)}: {wait.message}"


def _wakes(client: Client) -> Iterator[str]:
    for wake in client.wake_list(states=[WakeState.PENDING, WakeState.REMINDING], limit=_MOST_WAITS).wakes:
        yield f"wake {wake.wake_id} of {wake.wait_id}: {wake.state.value}, {wake.attempts} attempts, {wake.reason}"


def _daemon(client: Client) -> Iterator[str]:
    status = client.status()
    yield f"supervisor {status.pid}, up {status.uptime_s:.0f} s; degraded: {'; '.join(status.degraded) or 'no'}"
    for display in status.displays:
        age = f"{display.frame_age_s:.1f} s old" if display.frame_age_s is not None else "none yet"
        yield f"display {display.name}: {display.state.value} {display.reason}, frame {display.frame} {age}"
    for child in status.children:
        beat = f"{child.beat_age_s:.1f} s ago" if child.beat_age_s is not None else "never"
        facts = f"{child.restarts} restarts, {child.busy_jobs} jobs, heard {beat} {child.reason}"
        yield f"child {child.kind} {child.name} ({child.pid}): {child.state}, {facts}"


def _figures(client: Client) -> Iterator[str]:
    for metric in client.metrics().metrics:
        if metric.family.name in _FAMILIES and metric.samples:
            yield f"{metric.family.name}: {', '.join(_figure(sample) for sample in metric.samples)}"


def _figure(sample: Sample) -> str:
    return " ".join((*sample.labels, f"{sample.value:g}"))


def log_lines(log: str, words: Sequence[str]) -> list[str]:
    """Return the newest lines of `log` with one of `words` in them, or its newest lines where there are none."""
    lines = log.splitlines()
    about = [line for line in lines if any(word in line for word in words)]
    title = "the log about it" if about else "the log's end"
    return [f"{title}:", *(f"  {line}" for line in (about or lines)[-_MOST_LINES:])]


def _ago(at_s: float, clock: int = time.CLOCK_REALTIME) -> str:
    return f"{time.clock_gettime(clock) - at_s:.1f} s ago"
