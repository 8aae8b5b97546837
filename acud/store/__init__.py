"""SQLite through APSW: what must survive a crash, a restart and a reboot. The only room that imports apsw."""

from __future__ import annotations

from acud.store.displays import StoredDisplay, StoredProcess
from acud.store.events import EventPage
from acud.store.evidence import StoredEvidence
from acud.store.forgetting import Forgotten
from acud.store.outbox import WakePage
from acud.store.owners import Of
from acud.store.push import Subscription
from acud.store.retention import STEP_ROWS, Trimmed, trim
from acud.store.store import Store
from acud.store.takeovers import Takeover
from acud.store.timeline import Span
from acud.store.waits import StoredWait, WaitPage, WaitTotals
from acud.store.web import Code

__all__ = [
    "STEP_ROWS",
    "Code",
    "EventPage",
    "Forgotten",
    "Of",
    "Span",
    "Store",
    "StoredDisplay",
    "StoredEvidence",
    "StoredProcess",
    "StoredWait",
    "Subscription",
    "Takeover",
    "Trimmed",
    "WaitPage",
    "WaitTotals",
    "WakePage",
    "trim",
]
