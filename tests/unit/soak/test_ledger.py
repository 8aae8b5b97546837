"""What a wait's display went through is known of it, however the two met."""

from __future__ import annotations

from tests.soak.ledger import Armed, Ledger, now_s


def _armed(wait_id: str, display: str = ":1") -> Armed:
    return Armed(wait_id, "change", display, 1, now_s(), 3700, 3700)


def test_a_wait_that_is_being_armed_while_its_display_is_uprooted_is_uprooted_too() -> None:
    ledger = Ledger()
    before, asked, other = _armed("before"), _armed("asked"), _armed("other", ":2")
    ledger.arm(before)
    ledger.uproot(":1")
    ledger.arm(asked)  # its answer came only now
    ledger.arm(other)
    ledger.arm(after := _armed("after"))
    assert [one.uprooted for one in (before, asked, other, after)] == [True, True, False, False]
