"""`evidence`: the kept pictures of a wait, as bytes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.wait_show import WaitId
from acud.types import Evidence


class EvidenceGet(Struct, frozen=True, tag="evidence", forbid_unknown_fields=True):
    """Return a picture of `wait_id`: the view as it resolved the wait (`after`), as it was when the condition was last
    seen not to hold (`before`), or what differs between the two, in red over a dimmed view (`diff`). Not found when the
    wait has none, with the reason.
    """

    wait_id: WaitId
    part: Literal["after", "before", "diff"] = "after"


class EvidenceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The PNG, with the row that describes what was kept."""

    evidence: Evidence
    image: bytes


SPEC = RequestSpec(EvidenceGet, EvidenceReply, deferred=True)
