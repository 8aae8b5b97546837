"""`record_show`: one recording."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.recordings import RecordingId
from acud.protocol.requests.record_start import RecordReply
from acud.protocol.requests.spec import RequestSpec


class RecordShow(Struct, frozen=True, tag="record_show", forbid_unknown_fields=True):
    """Return a recording as it is now."""

    recording_id: RecordingId


SPEC = RequestSpec(RecordShow, RecordReply)
