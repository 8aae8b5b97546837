"""What is forgotten, and when: by age and by number, in steps that hold nobody up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from acud.config import StoreSettings
from acud.store.requests import KEEP_S

if TYPE_CHECKING:
    from acud.store.store import Store

_DAY_S = 86_400.0
_MB = 1_000_000


class Trimmed(Struct, frozen=True):
    """How many rows went. `files`: for `EvidenceFiles.remove_files`, after the commit."""

    waits: int
    evaluations: int
    usage: int
    events: int
    requests: int
    displays: int
    wakes: int
    tasks: int
    agent_runs: int
    web_passes: int
    files: tuple[str, ...]
    more: bool
    """Whether a step was too short for all there is to forget."""


STEP_ROWS = 500
"""Rows of each table that one step of the supervisor deletes: some milliseconds, also on a slow disk."""


def trim(store: Store, settings: StoreSettings, now_utc_s: float, limit: int = -1) -> Trimmed:
    """Delete, in the current turn, what is older or more than `settings` keeps. What lives always stays.

    At most `limit` rows of each table (-1: all): call it again while it says `more`. Free pages go back to the file
    system in the same way. Raises: StoreUnavailable.
    """
    with store.savepoint():
        trimmed = _trim(store, settings, now_utc_s, limit)
        gives = store.space.give_back() if limit >= 0 else False
    return msgspec.structs.replace(trimmed, more=trimmed.more or gives)


def _trim(store: Store, settings: StoreSettings, now_utc_s: float, limit: int) -> Trimmed:
    old_utc_s = now_utc_s - settings.keep_days * _DAY_S
    judged_utc_s = now_utc_s - settings.keep_evaluations_days * _DAY_S
    files = store.evidence.trim(old_utc_s, int(settings.evidence_max_mb * _MB), limit)
    gone = {
        "evaluations": store.evaluations.trim(judged_utc_s, limit)
        + store.evaluations.trim_surplus(settings.keep_evaluations, limit)
        + store.evaluations.trim_of_waits(old_utc_s, limit),
        "usage": store.usage.trim(judged_utc_s, limit),
        "waits": store.waits.trim(old_utc_s, limit),
        "events": store.events.trim(settings.keep_events, limit),
        "requests": store.requests.trim(now_utc_s - KEEP_S, limit),
        "displays": store.displays.trim(old_utc_s, limit),
        "wakes": store.outbox.trim(old_utc_s, limit),
        "agent_runs": store.agent_runs.trim(old_utc_s, limit),
    }
    parts = store.tasks.trim_parts(old_utc_s, settings.keep_actions, limit)
    tasks = store.tasks.trim(old_utc_s, limit)
    more = limit >= 0 and max(len(files), parts, tasks, *gone.values()) >= limit
    store.push.trim(now_utc_s)
    return Trimmed(**gone, tasks=tasks, web_passes=store.web.trim(now_utc_s), files=files, more=more)
