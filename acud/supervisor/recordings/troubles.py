"""What went wrong with recordings, for `acud doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from acud.protocol.recordings import RecordingInfo, RecordingState
from acud.protocol.requests.daemon import Finding

LOOKED_THROUGH = 200
_DAY_S = 86_400.0


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
