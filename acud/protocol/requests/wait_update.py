"""`wait_update`: change a live wait."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.wait_create import WaitReply
from acud.protocol.requests.wait_show import WaitId
from acud.types import Policy, Until


class WaitUpdate(Struct, frozen=True, tag="wait_update", forbid_unknown_fields=True):
    """Change condition, timeout or policy of a live wait; a timeout restarts its clock. Only what is given changes."""

    wait_id: WaitId
    until: Until | None = None
    timeout_s: float | None = None
    policy: Policy | None = None


SPEC = RequestSpec(WaitUpdate, WaitReply, mutating=True, deferred=True)
