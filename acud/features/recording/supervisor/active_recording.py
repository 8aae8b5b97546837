"""A recording in the making: its recorder, and what is known of it; findings on recordings for `acud doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from acud.protocol.recordings import RecordingInfo, RecordingState, Segment
from acud.protocol.requests.daemon import Finding
from acud.supervisor.children import Child, ChildOwner
from acud.supervisor.watched_displays import WatchedDisplay

Done = Callable[[RecordingInfo], None]

LOOKED_THROUGH = 200

_DAY_S = 86_400.0


class ActiveRecording:
    """One recording of `watched`. `stored`: what never changes of it, and what a predecessor left."""

    def __init__(self, stored: RecordingInfo, watched: WatchedDisplay, owner: ChildOwner) -> None:
        self._stored = stored
        self.watched = watched
        self.child = Child(stored.recording_id, "recorder", "acud.features.recording.recorder", owner)
        self.segments = {segment.number: segment for segment in stored.segments}
        self.dropped = self.gone = 0
        self.trouble = ""
        self.size = (0, 0)
        """Width and height of the ring it was last told to record."""
        self.ending: tuple[RecordingState, str] | None = None
        self.forgotten = False
        """Its files go with its end."""
        self.waiting: list[Done] = []

    @property
    def recording_id(self) -> str:
        """Its id."""
        return self._stored.recording_id

    @property
    def info(self) -> RecordingInfo:
        """The recording as it is now."""
        return with_segments(
            replace(
                self._stored,
                dropped=self._stored.dropped + self.dropped,
                gone=self._stored.gone + self.gone,
                reason=self.trouble,
            ),
            tuple(self.segments[number] for number in sorted(self.segments)),
        )

    def found(self, segments: tuple[Segment, ...]) -> None:
        """Take what is on disk for true: the recorder is gone, and with it what it counted."""
        self.segments = {segment.number: segment for segment in segments}
        self._stored = replace(
            self._stored, dropped=self._stored.dropped + self.dropped, gone=self._stored.gone + self.gone
        )
        self.dropped = self.gone = 0


def with_segments(recording: RecordingInfo, segments: tuple[Segment, ...]) -> RecordingInfo:
    """Return `recording` with these segments, added up."""
    return replace(
        recording,
        segments=segments,
        frames=sum(segment.frames for segment in segments),
        seconds=round(sum(segment.seconds for segment in segments), 3),
        size_bytes=sum(segment.size_bytes for segment in segments),
    )


def findings(newest: Iterable[RecordingInfo], now_utc_s: float) -> Iterator[Finding]:
    """Yield what keeps a recording from being made now, and those of the last day that were given up.

    `newest`: recordings as they are now, newest first; `LOOKED_THROUGH` of them are enough.
    """
    for one in newest:
        part = f"recording {one.recording_id}"
        if one.state is RecordingState.RECORDING and one.reason:
            yield Finding(part, "warning", one.reason, "make room on the disk, or see to its display")
        elif one.state is RecordingState.FAILED and one.ended_utc_s >= now_utc_s - _DAY_S:
            yield Finding(part, "warning", one.reason, "acud logs --level error; what is on disk plays")
