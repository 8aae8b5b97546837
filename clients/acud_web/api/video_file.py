"""A recording's video as a file that people keep: made by a process of its own, which alone loads a video library."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from acud.base.errors import Unavailable
from acud.protocol.recordings import Chapter, DownloadAsk, DownloadPart
from acud.protocol.requests.recordings import Mark
from acud.types import WaitState

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
    """Return a descriptor of the file; the descriptors of its parts are closed. The file has no name; it is in
    `folder`'s file system, and gone when the descriptor is closed. Raises: Unavailable, with the reason.
    """
    target = -1
    try:
        async with _places:
            with tempfile.TemporaryFile(dir=folder) as unnamed:
                target = os.dup(unnamed.fileno())
            span = file.from_utc_ms, file.until_utc_ms
            await _make(DownloadAsk(file.parts, target, os.getpid(), file.title, *span, file.chapters))
    except BaseException:
        if target >= 0:
            os.close(target)
        raise
    finally:
        for part in file.parts:
            os.close(part.source_fd)
    return target


async def _make(ask: DownloadAsk) -> None:
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
