"""A recording that is being made, as its supervisor knows it: what is on disk, and what its recorder was ordered."""

from __future__ import annotations

from msgspec.structs import replace

from acud.protocol.recordings import RecordingInfo, RecordingState, Segment
from acud.supervisor.children import Child, ChildOwner
from acud.supervisor.coroutines import Resume
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect
from acud.waits.targets import parse_target


class ActiveRecording:
    """One recording of `watched`. `recording`: its constant facts, and the totals of a predecessor.

    `asked_ns`: when a client asked for it (CLOCK_MONOTONIC), where its first segment begins; 0 once that began.
    """

    def __init__(self, recording: RecordingInfo, watched: WatchedDisplay, owner: ChildOwner, asked_ns: int = 0) -> None:
        self._stored = recording
        self.watched = watched
        self.target = parse_target(recording.target or "screen", watched.name)
        self.source = ""
        self.crop: Rect | None = None
        """Where its target is now: in which source ("": in none), and where there."""
        self.child = Child(recording.recording_id, "recorder", "acud.features.recording.recorder", owner)
        self.segments = {segment.number: segment for segment in recording.segments}
        self.dropped = self.gone = 0
        self.trouble = ""
        self.size = (0, 0)
        """Width and height of the ring in its last order."""
        self.asked_ns = asked_ns
        self.ending: tuple[RecordingState, str] | None = None
        self.forgotten = False
        """Its files are removed at its end."""
        self.waiting: list[Resume[RecordingInfo]] = []

    @property
    def recording_id(self) -> str:
        return self._stored.recording_id

    @property
    def info(self) -> RecordingInfo:
        return with_segments(
            replace(
                self._stored,
                dropped=self._stored.dropped + self.dropped,
                gone=self._stored.gone + self.gone,
                reason=self.trouble,
            ),
            tuple(self.segments[number] for number in sorted(self.segments)),
        )

    def take_disk_state(self, segments: tuple[Segment, ...]) -> None:
        """Take `segments` from the files and keep the recorder's counts of lost frames, as the recorder has ended."""
        self.segments = {segment.number: segment for segment in segments}
        self._stored = replace(
            self._stored, dropped=self._stored.dropped + self.dropped, gone=self._stored.gone + self.gone
        )
        self.dropped = self.gone = 0


def with_segments(recording: RecordingInfo, segments: tuple[Segment, ...]) -> RecordingInfo:
    return replace(
        recording,
        segments=segments,
        frames=sum(segment.frames for segment in segments),
        seconds=round(sum(segment.seconds for segment in segments), 3),
        size_bytes=sum(segment.size_bytes for segment in segments),
    )
