"""/api/recordings: the recordings, their files, and what happened while they were made."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from acud.base.errors import Conflict, NotFound, Unavailable
from acud.protocol.recordings import (
    FRAMES_SUFFIX,
    VIDEO_SUFFIX,
    Chapter,
    DownloadAsk,
    DownloadPart,
    RecordingInfo,
    RecordingState,
    Segment,
    file_name,
)
from acud.protocol.requests.recordings import (
    Mark,
    RecordDelete,
    RecordList,
    RecordListReply,
    RecordReply,
    RecordShow,
    RecordStart,
    RecordStop,
    RecordTimeline,
    TimelineReply,
)
from acud.protocol.requests.tasks import TaskList, TaskListReply
from acud.protocol.web import Scope
from acud.types import WaitState
from acud.types.tasks import TaskStatus
from acud_web.api.files import FileAnswer, FramesPage, open_below, read_head, read_page
from acud_web.api.operation import ApiRequest, Body, Nothing, Operation, Query, check_whole_id
from acud_web.api.tasks import task_seen

_PAGE = 5000
_END_MS = 2**53


class RecordingsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Of one task (its whole id), or of all."""

    task: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class FramesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Frames from `from_ms` on, in the video's time."""

    from_ms: Annotated[float, Meta(ge=0, le=2**53)] = 0.0
    limit: Annotated[int, Meta(ge=1, le=20_000)] = 5000


class TimelineQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Marks later than `after_ms` (UTC milliseconds)."""

    after_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000


class DownloadQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Of that time alone, in UTC milliseconds; 0: from the beginning, to the end."""

    from_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0
    until_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0


class StartBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A display, or the display of a task. `fps`: at most so many frames a second; 0: as in the settings. `target`:
    `window:TITLE` records that window alone.
    """

    display: Annotated[str, Meta(max_length=100)] = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""
    fps: Annotated[float, Meta(ge=0, le=30)] = 0.0
    target: Annotated[str, Meta(max_length=500)] = "screen"


class Recordings(Struct, frozen=True):
    """Recordings, newest first."""

    recordings: tuple[RecordingInfo, ...]


class Recorded(Struct, frozen=True):
    """A recording as it is now."""

    recording: RecordingInfo


async def recordings(api_request: ApiRequest[RecordingsQuery, Nothing]) -> Recordings:
    """List recordings that the access token may see, newest first."""
    query, access_token = api_request.query, api_request.access_token
    if query.task:
        api_request.must_see(task_id=query.task)
    tasks, displays = ((query.task,), ()) if query.task else (access_token.tasks, access_token.displays)
    request = RecordList(limit=query.limit, tasks=tasks, displays=displays)
    return Recordings((await api_request.ask(request, RecordListReply)).recordings)


async def recording(request: ApiRequest[Nothing, Nothing]) -> Recorded:
    """Show a recording with its segments."""
    return Recorded(await recording_seen(request))


async def video(request: ApiRequest[Nothing, Nothing]) -> Response:
    """Send the video of a segment, or a range of it. A growing one is sent as far as it is."""
    found, number = await _find_segment(request)
    settled = found.state is not RecordingState.RECORDING or number < found.segments[-1].number
    return FileAnswer(
        request.connection, await _open_segment(request, found, number, VIDEO_SUFFIX), "video/mp4", settled=settled
    )


async def download(request: ApiRequest[DownloadQuery, Nothing]) -> Response:
    """Send a recording, or a part of it, as one video for other players: its segments without the time between them,
    with a title, its start, a chapter for each wait and action, and without one-colour pictures at the beginning.
    Segments of another size than most of it are encoded anew to fit.
    """
    found, query = await recording_seen(request), request.query
    until_ms = query.until_ms or _END_MS
    segments = [
        one
        for one in found.segments
        if one.frames and one.start_utc_ms < until_ms and one.start_utc_ms + one.seconds * 1000 > query.from_ms
    ]
    if not segments:
        raise NotFound("nothing was recorded then", hint="from_ms and until_ms are UTC milliseconds")
    chapters = list_chapters(await _read_marks(request, found), max(query.from_ms, segments[0].start_utc_ms), until_ms)
    title = await _make_title(request, found)
    parts = await _open_parts(request, found, segments)
    made = await make_video(
        request.gateway.paths.recordings, VideoFile(parts, query.from_ms, until_ms, title, chapters)
    )
    answer = FileAnswer(request.connection, made, "video/mp4", settled=False)
    began_ms = max(query.from_ms, segments[0].start_utc_ms)
    answer.headers["Content-Disposition"] = f'attachment; filename="{_file_name(found, began_ms)}"'
    return answer


async def _open_parts(
    request: ApiRequest[Query, Body], recording: RecordingInfo, segments: Iterable[Segment]
) -> tuple[DownloadPart, ...]:
    """Return the parts with their files open; if one cannot be opened, the others are closed."""
    parts: list[DownloadPart] = []
    with ExitStack() as opened:
        for one in segments:
            parts.append(await _open_part(request, recording, one))
            opened.callback(os.close, parts[-1].source_fd)
        opened.pop_all()
    return tuple(parts)


async def _open_part(request: ApiRequest[Query, Body], recording: RecordingInfo, segment: Segment) -> DownloadPart:
    head = await asyncio.to_thread(read_head, await _open_segment(request, recording, segment.number, FRAMES_SUFFIX))
    source = await _open_segment(request, recording, segment.number, VIDEO_SUFFIX)
    return DownloadPart(source, segment.start_utc_ms, segment.seconds, head.crf)


async def _read_marks(request: ApiRequest[Query, Body], recording: RecordingInfo) -> list[Mark]:
    marks: list[Mark] = []
    while True:
        after_ms = marks[-1].utc_ms if marks else 0
        page = await request.find(RecordTimeline(recording.recording_id, after_ms, _PAGE), TimelineReply)
        marks += page.marks
        if not page.more:
            return marks


async def _make_title(request: ApiRequest[Query, Body], recording: RecordingInfo) -> str:
    """Return the title of the video: the task's name, else the display's."""
    if recording.task_id:
        tasks = await request.ask(TaskList(tuple(TaskStatus), limit=1, tasks=(recording.task_id,)), TaskListReply)
        if tasks.tasks:
            return tasks.tasks[0].task.name
    return f"Display {recording.display}"


def _file_name(recording: RecordingInfo, began_ms: int) -> str:
    began = datetime.fromtimestamp(began_ms / 1000, UTC).strftime("%Y-%m-%d-%H%M%S")
    return f"acud-display-{recording.display.lstrip(':').replace('.', '-')}-{began}.mp4"


async def frames(request: ApiRequest[FramesQuery, Nothing]) -> FramesPage:
    """List the frames of a segment: which is where in the video, and when it was taken."""
    found, number = await _find_segment(request)
    descriptor = await _open_segment(request, found, number, FRAMES_SUFFIX)
    return await asyncio.to_thread(read_page, descriptor, request.query.from_ms, request.query.limit)


async def timeline(request: ApiRequest[TimelineQuery, Nothing]) -> TimelineReply:
    """List what happened while a recording was made: verdicts, waits, actions, messages, changes of its task."""
    found, query = await recording_seen(request), request.query
    return await request.find(RecordTimeline(found.recording_id, query.after_ms, query.limit), TimelineReply)


async def start(request: ApiRequest[Nothing, StartBody]) -> Recorded:
    """Record a display, or the display of a task, until it is stopped or the task or the display ends."""
    body = await request.body()
    if body.display and body.task_id:
        raise Conflict("a recording is of a display or of a task", hint="give one of display and task_id")
    if not body.display and not body.task_id:
        raise NotFound("no display and no task is named", hint="give display or task_id")
    if body.target.strip().lower().startswith("display"):
        raise Conflict("a target names no display here", hint="give it as display")
    if body.task_id:
        await task_seen(request, body.task_id)
    else:
        request.must_see(display=body.display)
    made = await request.find(RecordStart(body.display, body.task_id, body.fps, body.target), RecordReply)
    return Recorded(made.recording)


async def stop(request: ApiRequest[Nothing, Nothing]) -> Recorded:
    """End a recording with what its display shows now; the answer comes when its files are closed."""
    found = await recording_seen(request)
    return Recorded((await request.find(RecordStop(found.recording_id), RecordReply)).recording)


async def delete(request: ApiRequest[Nothing, Nothing]) -> Recorded:
    """Delete a recording that has ended, and its files."""
    found = await recording_seen(request)
    return Recorded((await request.find(RecordDelete(found.recording_id), RecordReply)).recording)


async def recording_seen(request: ApiRequest[Query, Body]) -> RecordingInfo:
    """Return the recording of the path. Raises: NotFound; HttpFault 403 where the access token may not see it."""
    recording_id = request.place("id")
    found = (await request.find(RecordShow(recording_id), RecordReply)).recording
    request.must_see(display=found.display, task_id=found.task_id)
    check_whole_id(recording_id, found.recording_id, "recording")
    return found


async def _find_segment(request: ApiRequest[Query, Body]) -> tuple[RecordingInfo, int]:
    found, number = await recording_seen(request), request.place("n")
    for segment in found.segments:
        if str(segment.number) == number:
            return found, segment.number
    raise NotFound(f"recording {found.recording_id} has no segment {number[:20]}", hint="its segments count from 1")


async def _open_segment(request: ApiRequest[Query, Body], recording: RecordingInfo, number: int, suffix: str) -> int:
    name = file_name(recording.recording_id, number, suffix)
    return await asyncio.to_thread(open_below, request.gateway.paths.recordings, recording.folder, name)


OPERATIONS = (
    Operation("GET", "/api/recordings", Scope.READ, recordings, Recordings, RecordingsQuery),
    Operation("POST", "/api/recordings", Scope.ACT, start, Recorded, body=StartBody, statuses=(404, 409)),
    Operation("GET", "/api/recordings/{id}", Scope.READ, recording, Recorded, statuses=(404,)),
    Operation("DELETE", "/api/recordings/{id}", Scope.ADMIN, delete, Recorded, statuses=(404, 409)),
    Operation(
        "GET",
        "/api/recordings/{id}/segments/{n}/video",
        Scope.READ,
        video,
        media="video/mp4",
        statuses=(206, 304, 404, 416),
    ),
    Operation(
        "GET",
        "/api/recordings/{id}/download",
        Scope.READ,
        download,
        None,
        DownloadQuery,
        media="video/mp4",
        statuses=(404, 503),
    ),
    Operation(
        "GET", "/api/recordings/{id}/segments/{n}/frames", Scope.READ, frames, FramesPage, FramesQuery, statuses=(404,)
    ),
    Operation(
        "GET", "/api/recordings/{id}/timeline", Scope.READ, timeline, TimelineReply, TimelineQuery, statuses=(404,)
    ),
    Operation("POST", "/api/recordings/{id}/stop", Scope.ACT, stop, Recorded, statuses=(404, 409)),
)


_AT_ONCE = 2
"""Processes at a time: each holds the packets of a whole video."""
_places = asyncio.Semaphore(_AT_ONCE)
_MOST_CHAPTERS = 250
"""A `chpl` box counts them in one byte."""
_TITLE = 100
_ENDS = {
    WaitState.RESOLVED.value: "resolved",
    WaitState.TIMEOUT.value: "timed out",
    WaitState.CANCELLED.value: "cancelled",
    WaitState.FAILED.value: "failed",
}


class VideoFile(Struct, frozen=True):
    """Content of a video file: `parts`, of which it owns the descriptors, in that time, with title and chapters."""

    parts: tuple[DownloadPart, ...]
    from_utc_ms: int
    until_utc_ms: int
    title: str
    chapters: tuple[Chapter, ...]


def list_chapters(marks: Iterable[Mark], from_utc_ms: int, until_utc_ms: int) -> tuple[Chapter, ...]:
    """Return a chapter for each wait that was armed or ended, and for each action, in that time; where they are too
    many, for the waits alone, and of those for the first.
    """
    within = [mark for mark in marks if from_utc_ms <= mark.utc_ms <= until_utc_ms]
    found = [mark for mark in within if mark.kind in ("wait", "action")]
    if len(found) > _MOST_CHAPTERS:
        found = [mark for mark in found if mark.kind == "wait"]
    return tuple(Chapter(mark.utc_ms, _describe_mark(mark)) for mark in found[:_MOST_CHAPTERS])


def _describe_mark(mark: Mark) -> str:
    if mark.kind == "action":
        words = mark.text or mark.title
    elif mark.title in _ENDS:
        words = f"Wait {_ENDS[mark.title]}: {mark.text}"
    else:
        words = f"Wait armed: {mark.text}"
    words = " ".join(words.split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1]}…"


async def make_video(folder: Path, file: VideoFile) -> int:
    """Make the file in a process of its own, which alone loads a video library, and close its parts; return a
    descriptor. It has no name, is in `folder`'s file system, and goes with the descriptor. Raises: Unavailable.
    """
    target = -1
    try:
        async with _places:
            with tempfile.TemporaryFile(dir=folder) as unnamed:
                target = os.dup(unnamed.fileno())
            span = file.from_utc_ms, file.until_utc_ms
            await _make_in_process(DownloadAsk(file.parts, target, os.getpid(), file.title, *span, file.chapters))
    except BaseException:
        if target >= 0:
            os.close(target)
        raise
    finally:
        for part in file.parts:
            os.close(part.source_fd)
    return target


async def _make_in_process(ask: DownloadAsk) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "acud.features.recording.download",
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        pass_fds=(*(part.source_fd for part in ask.parts), ask.target_fd),
    )
    try:
        _, said = await process.communicate(msgspec.json.encode(ask))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = said.decode(errors="replace").strip().rpartition("\n")[2][:200]
        raise Unavailable(f"the video could not be made: {last or f'exit code {process.returncode}'}", hint="try again")
