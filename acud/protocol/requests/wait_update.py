"""`wait_update`: change a live wait."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.wait_create import WaitReply
from acud.protocol.requests.wait_show import WaitId
from acud.types import Budget, Policy, Until


class WaitUpdate(Struct, frozen=True, tag="wait_update", forbid_unknown_fields=True):
    """Change condition, timeout, policy or budget of a live wait; a timeout restarts its clock. Only what is given
    changes; a budget replaces the one before as a whole, and what was spent stays spent. `force`: as in `wait_create`.
    """

    wait_id: WaitId
    until: Until | None = None
    timeout_s: float | None = None
    policy: Policy | None = None
    budget: Budget | None = None
    force: bool = False


SPEC = RequestSpec(WaitUpdate, WaitReply, mutating=True, deferred=True)
