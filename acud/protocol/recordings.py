"""A recording, its files, and the messages between the recorder and the supervisor. Pixels never travel here.

A recording is one or more segments, each a pair of files: `<recording id>-<number>.mp4` and, line by line as JSON, its
frames in `<recording id>-<number>.jsonl` (`FrameRow`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.children import Fault, Heartbeat, Stop
from acud.protocol.questions import Hide
from acud.types import Rect

VIDEO_SUFFIX = ".mp4"
FRAMES_SUFFIX = ".jsonl"

RecordingId = Annotated[str, Meta(min_length=1, max_length=64)]
"""A recording's id, or a unique beginning or ending of it."""


class RecordingState(StrEnum):
    """The life of a recording. `failed`: it ended before it was to; what is on disk plays."""

    RECORDING = "recording"
    DONE = "done"
    FAILED = "failed"


class Segment(Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch of one geometry without a gap. Numbers count from 1.

    `start_mono_ns` (CLOCK_MONOTONIC) and `start_utc_ms` are when its first frame, which is at 0 in the video, was
    grabbed; for a frame that showed already when the recording began, that moment.
    `size_bytes`: both files. `reason`: why it ended, "" while it is written.
    """

    number: int
    width: int
    height: int
    start_utc_ms: int
    start_mono_ns: int
    seconds: float = 0.0
    frames: int = 0
    size_bytes: int = 0
    reason: str = ""


class RecordingInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A recording. `automatic`: begun with its task. `folder`: its place below the recordings' directory. `target`: the
    window that it shows ("window:" and its id; "": the whole display).

    `dropped` frames were not written because the disk took nothing; `gone` were overwritten before they could be read.
    `reason`: why it ended or, while it is made, what keeps it from being made.
    """

    recording_id: str
    state: RecordingState
    display: str
    display_number: int
    folder: str
    fps: float
    crf: int
    created_utc_s: float
    task_id: str = ""
    automatic: bool = False
    segments: tuple[Segment, ...] = ()
    frames: int = 0
    seconds: float = 0.0
    size_bytes: int = 0
    dropped: int = 0
    gone: int = 0
    reason: str = ""
    ended_utc_s: float = 0.0
    target: str = ""


class SegmentHead(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a segment's frames. `redacted`: pixels and identities are of frames without what rules hide."""

    recording_id: str
    number: int
    width: int
    height: int
    fps: float
    crf: int
    redacted: bool = False


class FrameRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One frame of a segment; each line after the first.

    `at_ms`: where it is in the video. `tiles`: which 16x16 tiles changed since the row before, zlib over the bitmap of
    a notice (bit `row * columns + column`, little-endian); the first row's are all set. `identity`: of the whole frame,
    before it was encoded (`FrameCopier`): equal ones mean equal pixels. With both, a gate says in replay what it said
    live.
    """

    frame: int
    epoch: int
    mono_ns: int
    utc_ms: int
    at_ms: float
    tiles: bytes
    identity: str


def file_name(recording_id: str, number: int, suffix: str) -> str:
    return f"{recording_id}-{number:04d}{suffix}"


class Chapter(Struct, frozen=True, forbid_unknown_fields=True):
    """A moment of a recording."""

    utc_ms: int
    title: str


class DownloadPart(Struct, frozen=True, forbid_unknown_fields=True):
    """A segment of a download: its video, open as `source_fd`, when that begins, and what it was encoded with."""

    source_fd: int
    start_utc_ms: int
    seconds: float
    crf: int


class DownloadAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """Write one video of `parts`, at least one, to the empty file `target_fd`, in a form that other players play.

    `from_utc_ms`, `until_utc_ms`: of that time alone. `chapters`: in the order of their times.
    """

    parts: tuple[DownloadPart, ...]
    target_fd: int
    parent_pid: int
    title: str
    from_utc_ms: int
    until_utc_ms: int
    chapters: tuple[Chapter, ...] = ()


# ---- supervisor -> recorder ----------------------------------------------------------------------------------------


class Film(Struct, frozen=True, tag="film", forbid_unknown_fields=True):
    """Record the ring at `path`, or the part `crop` of it, as a new segment, which begins at `since_ns`
    (CLOCK_MONOTONIC) or at its first frame if that is later. `reason`: why the segment before it ends.
    """

    path: str
    epoch: int
    since_ns: int
    reason: str = ""
    crop: Rect | None = None


class Unfilm(Struct, frozen=True, tag="unfilm", forbid_unknown_fields=True):
    """There is nothing to record for now; `reason` ends the segment."""

    reason: str


class FilmHide(Struct, frozen=True, tag="film_hide", forbid_unknown_fields=True):
    """What is hidden of the display's frames now: the answer to `HideAsk` of this `number`."""

    number: int
    hide: Hide


# ---- recorder -> supervisor ----------------------------------------------------------------------------------------


class RecorderHello(Struct, frozen=True, tag="recorder_hello", forbid_unknown_fields=True):
    """A recorder is ready for orders."""

    pid: int


class FirstFrame(Struct, frozen=True, tag="first_frame", forbid_unknown_fields=True):
    """The recorder has taken the first frame of a segment."""


class HideAsk(Struct, frozen=True, tag="hide_ask", forbid_unknown_fields=True):
    """A redacted recording's recorder asks what is hidden now, before it takes a frame."""

    number: int


class Filmed(Struct, frozen=True, tag="filmed", forbid_unknown_fields=True):
    """How a segment stands on disk: once a second while it grows, and when it is closed."""

    segment: Segment


class Filming(Struct, frozen=True, tag="filming", forbid_unknown_fields=True):
    """How the recorder fares. `trouble`: why nothing is written now, "" when all is well."""

    dropped: int
    gone: int
    trouble: str = ""


FromRecorder = Heartbeat | Fault | RecorderHello | FirstFrame | HideAsk | Filmed | Filming
ToRecorder = Film | Unfilm | FilmHide | Stop
