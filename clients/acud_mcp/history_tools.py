"""The tools of what happened over time: `commentary`, `video_record`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.base.errors import InvalidRequest
from acud.protocol.recordings import VIDEO_SUFFIX, RecordingInfo, RecordingState, file_name
from acud.protocol.requests.commentary import (
    AnalysisConfigReply,
    AnalysisConfigure,
    AnalysisContextGet,
    AnalysisContextReply,
    AnalysisHistory,
    AnalysisHistoryReply,
    FeedList,
    FeedListReply,
    FeedPost,
    Posted,
)
from acud.protocol.requests.recordings import RecordList, RecordListReply, RecordReply, RecordStart, RecordStop
from acud.types.commentary import AnalysisConfig, AnalysisResult, ContextWindow, FeedItem
from acud_mcp.tool import Tool, ToolCall
from acud_mcp.tool_calls import UNTRUSTED


class CommentaryArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `commentary`. `post` comes before `what`."""

    what: Literal["last", "history", "context", "config", "feed"] = "last"
    post: Annotated[str, Meta(max_length=100_000)] = ""
    after: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class CommentaryView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for; `posted`: the number of the message that was put into the feed."""

    results: tuple[AnalysisResult, ...] = ()
    messages: tuple[FeedItem, ...] = ()
    context: ContextWindow | None = None
    config: AnalysisConfig | None = None
    posted: int = 0
    untrusted: str = ""


async def commentary(call: ToolCall, args: CommentaryArguments) -> CommentaryView:
    if args.post:
        posted: Posted = await call.ask(FeedPost(args.post))
        return CommentaryView(posted=posted.id)
    if args.what == "config":
        setup: AnalysisConfigReply = await call.ask(AnalysisConfigure())
        return CommentaryView(config=setup.config)
    if args.what == "context":
        window: AnalysisContextReply = await call.ask(AnalysisContextGet())
        return CommentaryView(context=window.context, untrusted=UNTRUSTED)
    if args.what == "feed":
        feed: FeedListReply = await call.ask(FeedList(args.after))
        return CommentaryView(messages=feed.messages[-args.limit :], untrusted=UNTRUSTED)
    said: AnalysisHistoryReply = await call.ask(AnalysisHistory(1 if args.what == "last" else args.limit))
    return CommentaryView(results=said.results, untrusted=UNTRUSTED)


_STOP_S = 15.0
_NEWEST = 10
_LOOKED_AT = 1000


class RecordArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `video_record`. What is to be stopped is named by its id, or as it was started. Without an `action`
    it records for `duration` seconds.
    """

    action: Literal["start", "stop", "list"] | None = None
    recording_id: Annotated[str, Meta(max_length=64)] = ""
    display: str = ""
    task_id: str = ""
    fps: Annotated[float, Meta(ge=0, le=30)] = 0
    duration: Annotated[float, Meta(gt=0, le=120)] = 10
    target: str = "screen"


class VideoView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A recording. `state`: recording, done or failed. `files`: its videos on this host."""

    recording_id: str
    state: str
    display: str
    task_id: str = ""
    seconds: float = 0.0
    frames: int = 0
    reason: str = ""
    files: tuple[str, ...] = ()


class RecordView(msgspec.Struct, frozen=True):
    """The recordings that the call was about."""

    videos: tuple[VideoView, ...]


async def video_record(call: ToolCall, args: RecordArguments) -> RecordView:
    """Start, stop or list; or record for a time."""
    if args.action is None:
        # Record for `duration` seconds; a caller that goes away ends the recording, too.
        begun = await _start_recording(call, args)
        try:
            await asyncio.sleep(args.duration)
        finally:
            stopped: RecordReply = await call.ask_slowly(RecordStop(begun.recording.recording_id), _STOP_S)
        return RecordView((_view_recording(stopped.recording, Path(stopped.path)),))
    if args.action == "list":
        listed: RecordListReply = await call.ask(RecordList(args.task_id, _NEWEST))
        return RecordView(tuple(_view_recording(one, Path(listed.path, one.folder)) for one in listed.recordings))
    if args.action == "start":
        begun = await _start_recording(call, args)
        return RecordView((_view_recording(begun.recording, Path(begun.path)),))
    recording_id = args.recording_id or await _find_running(call, args)
    ended: RecordReply = await call.ask_slowly(RecordStop(recording_id), _STOP_S)
    return RecordView((_view_recording(ended.recording, Path(ended.path)),))


async def _start_recording(call: ToolCall, args: RecordArguments) -> RecordReply:
    begun: RecordReply = await call.ask(RecordStart(args.display, args.task_id, args.fps, args.target or "screen"))
    return begun


async def _find_running(call: ToolCall, args: RecordArguments) -> str:
    """Return the one recording of the task or display that is being made; of a task, only if none was begun by hand."""
    listed: RecordListReply = await call.ask(RecordList(args.task_id, _LOOKED_AT))
    found = [one for one in listed.recordings if one.state is RecordingState.RECORDING]
    display = args.display or args.target.partition("display:")[2]
    found = [one for one in found if display in ("", one.display)]
    by_hand = [one for one in found if not one.automatic]
    found = by_hand if len(by_hand) == 1 else found
    if len(found) != 1:
        ids = ", ".join(one.recording_id for one in found) or "none"
        raise InvalidRequest(f"which recording is to be stopped? Being made: {ids}", hint="give its recording_id")
    return found[0].recording_id


def _view_recording(one: RecordingInfo, folder: Path) -> VideoView:
    return VideoView(
        recording_id=one.recording_id,
        state=one.state.value,
        display=one.display,
        task_id=one.task_id,
        seconds=one.seconds,
        frames=one.frames,
        reason=one.reason,
        files=tuple(str(folder / file_name(one.recording_id, part.number, VIDEO_SUFFIX)) for part in one.segments),
    )


TOOLS = (
    Tool(
        "commentary",
        "core",
        "Running commentary on the displays; post adds to its feed.",
        request=FeedPost,
        arguments=CommentaryArguments,
        result=CommentaryView,
        shows=("results", "messages", "context"),
        run=commentary,
        hidden=("after", "limit"),
        params={"after": "messages of the feed after this number"},
    ),
    Tool(
        "video_record",
        "tasks",
        "Record a display to video.",
        request=RecordStart,
        arguments=RecordArguments,
        result=RecordView,
        shows=("videos",),
        run=video_record,
        hidden=("fps", "recording_id", "task_id", "duration", "target"),
        params={
            "fps": "pictures a second; 0: as set",
            "recording_id": "what to stop, where several run",
            "duration": "seconds to record, where no action is given",
            "target": "screen, display:NAME, or only window:TITLE",
        },
    ),
)
