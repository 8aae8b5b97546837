"""`record_timeline`: what happened while a recording was made."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.desktop.actions import Point
from acud.protocol.recordings import RecordingId
from acud.protocol.requests.spec import RequestSpec
from acud.types import Answer


class RecordTimeline(Struct, frozen=True, tag="record_timeline", forbid_unknown_fields=True):
    """Return what happened on the display of a recording, and in its task, between its first frame and its end: the
    first `limit` marks later than `after_ms` (UTC milliseconds), or all of the first millisecond where those are more.
    """

    recording_id: RecordingId
    after_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000


class Mark(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that happened. `utc_ms` is on the clock of the recording's frames (`FrameRow.utc_ms`).

    `kind` and `id`: a `verdict` (of the wait `id`; `answer`, and which `frame` of which `epoch` was judged), a `wait`
    that was made or ended, an `action` (at its beginning; `points`: the display's pixels it clicked), a `message` or a
    change of a `task` (its id). `text`: what was said.
    """

    utc_ms: int
    kind: Literal["verdict", "wait", "action", "message", "task"]
    id: str
    title: str
    text: str = ""
    answer: Answer | None = None
    epoch: int = 0
    frame: int = 0
    points: tuple[Point, ...] = ()


class TimelineReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Marks, the earliest first. `more`: there are later ones; ask for those after the last. `end_ms`: up to when was
    looked.
    """

    recording_id: str
    start_ms: int
    end_ms: int
    marks: tuple[Mark, ...]
    more: bool = False


SPEC = RequestSpec(RecordTimeline, TimelineReply)
