"""A clock that moves only when told."""

from __future__ import annotations

from acud.base.clock import Instant


class ManualClock:
    """The clock; a test moves it."""

    def __init__(self, start_s: float = 1000.0, boot_id: str = "boot-a") -> None:
        self.now_s = start_s
        self.utc_offset_s = 1_700_000_000.0
        self.boot_id = boot_id

    def advance(self, seconds: float) -> None:
        self.now_s += seconds

    def monotonic_s(self) -> float:
        return self.now_s

    def instant(self) -> Instant:
        return Instant(self.utc_offset_s + self.now_s, self.now_s, self.boot_id)
