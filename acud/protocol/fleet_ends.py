"""The end and the wake that a fleet gives to a wait whose host is lost. The host applies the same on its return."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from acud.base.ids import same_id
from acud.protocol.requests.fleet import LostWait
from acud.protocol.wakes import SharedWake
from acud.types import WaitInfo, WaitState, WakeKind, unknown
from acud.waits.rearmable import rearmed_text
from acud.waits.wake_text import job_text, not_seen_text, wait_text

HOST_LOST = "host_lost"
"""The code of its verdict."""
REARMED = "rearmed"
"""The code of the verdict of a wait that goes on on another host: its end here is no end of the wait."""


def end_lost(info: WaitInfo, state: WaitState, reason: str, utc_s: float) -> WaitInfo:
    """Return the wait as the fleet ends it: timed out or failed. `reason`: why its host is gone."""
    spec = info.spec
    display = f"on {info.display}" if info.display else ""
    again = rearmed_text(info.rearmed) if info.rearmed is not None else ""
    task = f"task {spec.task_id}" if spec.task_id else ""
    outcome = not_seen_text(spec) if state is WaitState.TIMEOUT else "not seen"
    job = job_text(info.wait_id, spec, (display, task, again), outcome)
    message = f"[smart_wait {state.value}] {job} — {reason}. Last verdict: unknown ({HOST_LOST})."
    return replace(
        info,
        state=state,
        verdict=unknown(HOST_LOST, reason),
        remaining_s=0.0,
        note="",
        ended_utc_s=utc_s,
        message=message,
    )


def end_rearmed(info: WaitInfo, host: str, to: str, utc_s: float) -> WaitInfo:
    """Return the wait as it ends on the lost `host`, while it goes on on the display `to` (`h2/:100`) of another."""
    reason = f"host {host} was lost; armed again on {to}"
    message = f"[smart_wait cancelled] Job {info.wait_id} — {reason}."
    verdict = unknown(REARMED, reason)
    return replace(
        info, state=WaitState.CANCELLED, verdict=verdict, remaining_s=0.0, note="", ended_utc_s=utc_s, message=message
    )


def resume_wait(info: WaitInfo, words: str) -> WaitInfo:
    """Return the live wait that ended on its lost host as `info` describes. `words`: its state now."""
    return replace(
        info,
        state=WaitState.WATCHING,
        verdict=unknown(HOST_LOST, words),
        note=words,
        ended_utc_s=0.0,
        message="",
        stages=(),
    )


def wake_of_lost(info: WaitInfo, host: str) -> SharedWake:
    """Return the wake of a wait that the fleet ended in the place of `host`."""
    return SharedWake(
        id=same_id("wake", info.wait_id),
        host=host,
        kind=WakeKind(info.state.value),
        text=wait_text(info.message, info.wait_id),
        created_utc_s=info.ended_utc_s,
        wait_id=info.wait_id,
        task_id=info.spec.task_id,
        session_key=info.spec.wake.session_key,
        agent_id=info.spec.wake.agent_id,
    )


def end_for_host(info: WaitInfo, *, sent: bool, seen: bool) -> LostWait:
    """Return the end of the wait as its host gets it on its return."""
    state: Literal["timeout", "failed", "cancelled"] = "timeout"
    if info.state is not WaitState.TIMEOUT:
        state = "failed" if info.state is WaitState.FAILED else "cancelled"
    return LostWait(info.wait_id, state, info.verdict.detail, info.message, info.ended_utc_s, sent, seen)
