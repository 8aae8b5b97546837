"""`python -m acud.features.recording.download`: one `DownloadAsk` in on standard input, a segment as ordinary MP4 out.

No picture is encoded anew. It needs no daemon. What went wrong is said on standard error, with exit code 1.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import msgspec

from acud.child_process import die_with_parent
from acud.protocol.recordings import Chapter, DownloadAsk

_MS = Fraction(1, 1000)
_BARE_STEPS = 4
"""A picture whose luma differs by no more is of one colour, as a new display is; H.264 may shift it a little."""
_LOOKED_THROUGH = 600
"""Frames at the beginning that may be bare; each is decoded."""


def main() -> int:
    """Write the file."""
    ask = msgspec.json.decode(sys.stdin.buffer.read(), type=DownloadAsk)
    die_with_parent(ask.parent_pid)
    try:
        # By name: the muxer opens its file anew to put the index first.
        write_download(Path(f"/proc/self/fd/{ask.source_fd}"), Path(f"/proc/self/fd/{ask.target_fd}"), ask)
    except (av.FFmpegError, OSError) as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    return 0


def write_download(source: Path, target: Path, ask: DownloadAsk) -> None:
    """Write the video in `source` to `target` (which is there), from its first picture that shows something.

    The bare ones before stay in the file, as later ones are made from them; an edit list has players leave them out
    (ISO/IEC 14496-12, 8.6.6). Raises: av.FFmpegError; OSError.
    """
    skipped = _bare_ticks(source)
    with av.open(str(source), "r") as film:
        stream = film.streams.video[0]
        time_base = stream.time_base
        assert time_base is not None
        skipped_ms = round(skipped * time_base * 1000)
        packets = [packet for packet in film.demux(stream) if packet.dts is not None]
        end = max((packet.pts or 0) + (packet.duration or 0) for packet in packets)
        with av.open(str(target), "w", format="mp4", options={"movflags": "faststart"}) as made:
            made.metadata.update(_metadata(ask, skipped_ms))
            copied = made.add_stream_from_template(stream)
            made.set_chapters(_chapters(ask.chapters, skipped_ms, round(end * time_base * 1000) - skipped_ms))
            for packet in packets:
                assert packet.pts is not None
                assert packet.dts is not None
                packet.pts, packet.dts = packet.pts - skipped, packet.dts - skipped
                packet.stream = copied
                made.mux(packet)


def _bare_ticks(source: Path) -> int:
    """Return when the first picture shows that is not of one colour; 0 where none is."""
    with av.open(str(source), "r") as film:
        for number, frame in enumerate(film.decode(video=0)):
            luma = frame.to_ndarray()[: frame.height]
            if int(luma.max()) - int(luma.min()) > _BARE_STEPS:
                return frame.pts or 0
            if number == _LOOKED_THROUGH:
                break
    return 0


def _metadata(ask: DownloadAsk, skipped_ms: int) -> dict[str, str]:
    began = datetime.fromtimestamp((ask.start_utc_ms + skipped_ms) / 1000, UTC)
    return {"title": ask.title, "creation_time": began.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def _chapters(wanted: Iterable[Chapter], skipped_ms: int, end_ms: int) -> list[Any]:
    """Return the chapters for PyAV: each up to the next one, the first from the first picture on."""
    titles: dict[int, list[str]] = {}
    for one in wanted:
        if one.at_ms - skipped_ms < end_ms:
            titles.setdefault(max(0, one.at_ms - skipped_ms), []).append(one.title)
    if titles and 0 not in titles:
        titles = {0: ["Beginning"], **titles}
    return [
        {
            "id": number,
            "start": at_ms,
            "end": until_ms,
            "time_base": _MS,
            "metadata": {"title": "; ".join(titles[at_ms])},
        }
        for number, (at_ms, until_ms) in enumerate(itertools.pairwise([*titles, end_ms]))
    ]


if __name__ == "__main__":
    sys.exit(main())
