"""Instants: which of its two clocks a stored deadline goes by."""

from acud.base.clock import Instant, SystemClock, utc_iso
from tests.fixtures.manual_clock import ManualClock


def test_within_a_boot_the_boot_clock_rules() -> None:
    deadline = Instant(1_000.0, 10.0, "boot-a").later(60.0)
    assert deadline == Instant(1_060.0, 70.0, "boot-a")
    assert deadline.remaining_s(Instant(1_000.0 + 86_400, 30.0, "boot-a")) == 40.0
    assert deadline.remaining_s(Instant(0.0, 75.0, "boot-a")) == -5.0


def test_after_a_reboot_the_wall_clock_rules() -> None:
    deadline = Instant(1_000.0, 10.0, "boot-a").later(60.0)
    assert deadline.remaining_s(Instant(1_050.0, 3.0, "boot-b")) == 10.0
    assert deadline.remaining_s(Instant(1_100.0, 69.0, "boot-b")) == -40.0


def test_a_manual_clock_moves_when_told() -> None:
    clock = ManualClock(start_s=5.0)
    before = clock.instant()
    clock.advance(2.0)
    assert (clock.monotonic_s(), clock.instant().boot_s - before.boot_s) == (7.0, 2.0)
    assert clock.instant().utc_s - before.utc_s == 2.0


def test_the_system_clock_is_of_this_boot() -> None:
    clock = SystemClock()
    before, after = clock.instant(), clock.instant()
    assert before.boot_id == after.boot_id != ""
    assert after.boot_s >= before.boot_s
    assert utc_iso(0.0) == "1970-01-01T00:00:00.000Z"
