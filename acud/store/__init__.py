"""SQLite through APSW: what must survive a crash, a restart and a reboot. The only room that imports apsw."""

from __future__ import annotations

from acud.store.displays import StoredDisplay, StoredProcess, Takeover
from acud.store.events import EventPage
from acud.store.evidence import StoredEvidence
from acud.store.outbox import WakePage
from acud.store.retention import STEP_ROWS, TrimResult, trim
from acud.store.rows import OwnerFilter
from acud.store.store import Store
from acud.store.waits import StoredWait, WaitPage, WaitTotals
from acud.store.web import LoginCode

__all__ = [
    "STEP_ROWS",
    "EventPage",
    "LoginCode",
    "OwnerFilter",
    "Store",
    "StoredDisplay",
    "StoredEvidence",
    "StoredProcess",
    "StoredWait",
    "Takeover",
    "TrimResult",
    "WaitPage",
    "WaitTotals",
    "WakePage",
    "trim",
]
