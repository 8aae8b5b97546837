"""A store in a directory of its own, and rows to put into it."""

from __future__ import annotations

from pathlib import Path

from acud.base.ids import new_id
from acud.config import StoreSettings
from acud.protocol.requests.waits import Evaluation
from acud.store.store import Store
from acud.store.waits import StoredWait
from acud.types import AllOf, Criteria, NotOf, Rect, Target, Text, Verdict, WaitSpec, WaitState, no
from tests.fixtures.manual_clock import ManualClock

CLOCK = ManualClock()
NOW_S = CLOCK.instant().utc_s
DAY_S = 86_400.0


def open_store(home: Path, settings: StoreSettings | None = None) -> Store:
    """Open the store under `home` as a supervisor does."""
    (home / "evidence").mkdir(exist_ok=True)
    return Store(home / "data.db", home / "evidence", settings or StoreSettings(busy_timeout_s=0.2), NOW_S)


def wait(state: WaitState = WaitState.WATCHING, *, ended_utc_s: float = 0.0) -> StoredWait:
    """Return a new wait with a nested condition."""
    until = AllOf((Criteria("the download has finished"), NotOf(Text("error"))))
    spec = WaitSpec(until, Target(display=":100", region=Rect(1, 2, 30, 40)), 300.0)
    now = CLOCK.instant()
    return StoredWait(new_id("wait"), state, spec, ":100", now, now.later(300), ended_utc_s=ended_utc_s)


def evaluation(utc_s: float = NOW_S, verdict: Verdict | None = None, cost_usd: float | None = None) -> Evaluation:
    return Evaluation(utc_s, 1, 7, verdict or no("still 40 %"), "ocr", "judge", 12.5, "ab12", cost_usd=cost_usd)


def picture(home: Path, size_bytes: int = 10) -> str:
    name = f"{new_id('evidence')}.png"
    (home / "evidence" / name).write_bytes(b"x" * size_bytes)
    return name
