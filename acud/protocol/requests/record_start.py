"""`record_start`: record a display from now on."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.recordings import RecordingInfo
from acud.protocol.requests.spec import RequestSpec


class RecordStart(Struct, frozen=True, tag="record_start", forbid_unknown_fields=True):
    """Record `display` ("": the one of `task_id`, else the default) until `record_stop`, or until the task or the
    display ends. `fps`: at most so many frames a second, 0: as in the settings; only frames that changed are kept.
    """

    display: str = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""
    fps: Annotated[float, Meta(ge=0, le=30)] = 0.0


class RecordReply(Struct, frozen=True, forbid_unknown_fields=True):
    """A recording as it is now. `path`: where its files lie on this host."""

    recording: RecordingInfo
    path: str


SPEC = RequestSpec(RecordStart, RecordReply, mutating=True, deferred=True)
