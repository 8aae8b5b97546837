"""What is forgotten, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    events: int
    requests: int
    displays: int
    wakes: int
    tasks: int
    agent_runs: int
    web_passes: int
    files: tuple[str, ...]


def trim(store: Store, settings: StoreSettings, now_utc_s: float) -> Trimmed:
    """Delete, in the current turn, what is older or more than `settings` keeps. What lives always stays.

    Blocks for about 1.3 µs a row deleted (measured: 300,000 in 0.4 s), so call it often rather than late.
    Raises: StoreUnavailable.
    """
    old_utc_s = now_utc_s - settings.keep_days * _DAY_S
    with store.savepoint():
        files = store.evidence.trim(old_utc_s, int(settings.evidence_max_mb * _MB))
        return Trimmed(
            evaluations=store.evaluations.trim(now_utc_s - settings.keep_evaluations_days * _DAY_S),
            waits=store.waits.trim(old_utc_s),
            events=store.events.trim(settings.keep_events),
            requests=store.requests.trim(now_utc_s - KEEP_S),
            displays=store.displays.trim(old_utc_s),
            wakes=store.outbox.trim(old_utc_s),
            tasks=store.tasks.trim(old_utc_s),
            agent_runs=store.agent_runs.trim(old_utc_s),
            web_passes=store.web.trim(now_utc_s),
            files=files,
        )
