"""Recordings of displays and tasks."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.recordings import RecordingId, RecordingInfo
from acud.protocol.requests.command import Command, FleetRoute
from acud.types import Answer, WaitState
from acud.types.actions import Point
from acud.types.displays import MAX_NUMBER
from acud.types.tasks import TaskId

_START_S = 20.0
"""More than a recorder has for its first frame."""
_CLOSE_S = 30.0
"""On a busy machine the last frames take their time: they are encoded before the files are closed."""


class RecordStart(Struct, frozen=True, tag="record_start", forbid_unknown_fields=True):
    """Record `display` ("": the one of `task_id`, else the default) until `record_stop`, or until the task or the
    display ends. `fps`: at most so many frames a second, 0: as in the settings; only frames that changed are kept.
    `target`: a window (also where it is covered; until it is closed), region or monitor alone. The reply comes with the
    first frame; if there is none in time, it has the `reason`, and the recording goes on.
    """

    display: str = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""
    fps: Annotated[float, Meta(ge=0, le=30)] = 0.0
    target: str = "screen"


class RecordReply(Struct, frozen=True, forbid_unknown_fields=True):
    """A recording as it is now. `path`: where its files lie on this host."""

    recording: RecordingInfo
    path: str


class RecordStop(Struct, frozen=True, tag="record_stop", forbid_unknown_fields=True):
    """End a recording with what its display shows now; the reply waits until its files are closed."""

    recording_id: RecordingId


class RecordList(Struct, frozen=True, tag="record_list", forbid_unknown_fields=True):
    """Return the newest recordings, newest first, of `task_id` alone where it is given, or of any of `tasks` (whole
    ids) and `displays`. From the `offset`th on.
    """

    task_id: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=256)] = ()
    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER)] = 0


class RecordListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Recordings, newest first. `path`: the directory on this host that holds their folders."""

    recordings: tuple[RecordingInfo, ...]
    path: str


class RecordShow(Struct, frozen=True, tag="record_show", forbid_unknown_fields=True):
    """Return a recording as it is now."""

    recording_id: RecordingId


class RecordTimeline(Struct, frozen=True, tag="record_timeline", forbid_unknown_fields=True):
    """Return what happened (verdicts, waits, actions, messages, tasks) on the display of a recording, and in its task,
    between its first frame and its end: the first `limit` marks later than `after_ms` (UTC milliseconds), or all of the
    first millisecond where those are more. With `after_ms` 0 also which waits ran meanwhile.
    """

    recording_id: RecordingId
    after_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000


class Mark(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that happened. `utc_ms` is on the clock of the recording's frames (`FrameRow.utc_ms`).

    `kind` and `id`: a `verdict` (of the wait `id`; `answer`, and which `frame` of which `epoch` was judged), a `wait`
    that was made or ended, an `action` (at its beginning; `points`: the display's pixels it clicked), a `message` or a
    change of a `task` (its id). `text`: its words.
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


class WaitSpan(Struct, frozen=True, forbid_unknown_fields=True):
    """A wait that ran while a recording was made: from `from_ms` up to `until_ms` (UTC; 0: it still runs), which may
    lie before and after the recording. `condition`: its label, or what it waits for. `answer`: its newest verdict.
    """

    wait_id: str
    condition: str
    state: WaitState
    from_ms: int
    until_ms: int
    answer: Answer


class TimelineReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Marks, the earliest first. `more`: there are later ones; ask for those after the last. `end_ms`: up to when was
    looked. `waits`: those that ran meanwhile, the earliest first, at most the newest 200.
    """

    recording_id: str
    start_ms: int
    end_ms: int
    marks: tuple[Mark, ...]
    more: bool = False
    waits: tuple[WaitSpan, ...] = ()


class RecordDelete(Struct, frozen=True, tag="record_delete", forbid_unknown_fields=True):
    """Forget a recording and remove its files."""

    recording_id: RecordingId


COMMANDS = (
    Command(
        RecordStart,
        RecordReply,
        mutating=True,
        deferred=True,
        limit_s=_START_S,
        begins="recordings",
        positional=1,
        errors="Conflict when that is being recorded already",
        feature="recording",
    ),
    Command(
        RecordStop,
        RecordReply,
        deferred=True,
        limit_s=_CLOSE_S,
        errors="Conflict when it has ended",
        feature="recording",
        writes=True,
    ),
    Command(RecordList, RecordListReply, feature="recording", fleet=FleetRoute.ALL),
    Command(RecordShow, RecordReply, feature="recording"),
    Command(RecordTimeline, TimelineReply, feature="recording"),
    Command(
        RecordDelete,
        RecordReply,
        mutating=True,
        errors="Conflict while it is being made",
        feature="recording",
        destroys=True,
    ),
)
