"""`evidence`: the kept picture of a wait, as bytes."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.wait_show import WaitId
from acud.types import Evidence


class EvidenceGet(Struct, frozen=True, tag="evidence", forbid_unknown_fields=True):
    """Return the evidence picture of `wait_id`; not found when the wait has none, with the reason."""

    wait_id: WaitId


class EvidenceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The PNG as it was written, with the row that describes it."""

    evidence: Evidence
    image: bytes


SPEC = RequestSpec(EvidenceGet, EvidenceReply)
