"""`record_stop`: end a recording."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.recordings import RecordingId
from acud.protocol.requests.record_start import RecordReply
from acud.protocol.requests.spec import RequestSpec


class RecordStop(Struct, frozen=True, tag="record_stop", forbid_unknown_fields=True):
    """End a recording with what its display shows now; the reply waits until its files are closed."""

    recording_id: RecordingId


SPEC = RequestSpec(RecordStop, RecordReply, deferred=True)
