"""`record_list`: the recordings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.recordings import RecordingInfo
from acud.protocol.requests.spec import RequestSpec
from acud.tasks.nouns import TaskId


class RecordList(Struct, frozen=True, tag="record_list", forbid_unknown_fields=True):
    """Return the newest recordings, of `task_id` alone where it is given, or of any of `tasks` (whole ids) and
    `displays`.
    """

    task_id: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=256)] = ()
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()


class RecordListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Recordings, newest first. `path`: the directory on this host that holds their folders."""

    recordings: tuple[RecordingInfo, ...]
    path: str


SPEC = RequestSpec(RecordList, RecordListReply)
