"""Time, passed in: durations from the monotonic clock, deadlines from the boot clock, records in UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Instant(msgspec.Struct, frozen=True):
    """One moment on the two clocks a stored deadline needs.

    `utc_s` is seconds since the epoch; `boot_s` is CLOCK_BOOTTIME seconds, valid only within the boot `boot_id`.
    """

    utc_s: float
    boot_s: float
    boot_id: str

    def later(self, seconds: float) -> Instant:
        """Return the moment `seconds` after this one, on both clocks."""
        return Instant(self.utc_s + seconds, self.boot_s + seconds, self.boot_id)

    def remaining_s(self, now: Instant) -> float:
        """Return the seconds from `now` until this moment; negative when past. Within one boot CLOCK_BOOTTIME counts (a
        stepped wall clock changes nothing); after a reboot UTC does.
        """
        if self.boot_id == now.boot_id:
            return self.boot_s - now.boot_s
        return self.utc_s - now.utc_s


class Clock(Protocol):
    """The time that a process uses; tests pass a clock that they move."""

    def monotonic_s(self) -> float:
        """Return CLOCK_MONOTONIC in seconds."""

    def instant(self) -> Instant:
        """Return now on the clocks of a stored deadline."""


class SystemClock:
    """The machine's clocks."""

    def __init__(self) -> None:
        self._boot_id = _BOOT_ID.read_text(encoding="ascii").strip()

    def monotonic_s(self) -> float:
        return time.monotonic()

    def instant(self) -> Instant:
        return Instant(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), self._boot_id)


def utc_iso(utc_s: float) -> str:
    """Return `utc_s` as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(utc_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
