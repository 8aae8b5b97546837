"""`record_delete`: forget a recording."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.recordings import RecordingId
from acud.protocol.requests.record_start import RecordReply
from acud.protocol.requests.spec import RequestSpec


class RecordDelete(Struct, frozen=True, tag="record_delete", forbid_unknown_fields=True):
    """Forget a recording and remove its files. A conflict while it is being made."""

    recording_id: RecordingId


SPEC = RequestSpec(RecordDelete, RecordReply, mutating=True)
