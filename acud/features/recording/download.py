"""`python -m acud.features.recording.download`: one `DownloadAsk` in on standard input, ordinary MP4 out.

Segments follow each other without the time between them. Only segments that differ in size from most of the video,
which one track cannot hold, are encoded anew: scaled down if larger, with a black edge if smaller. It needs no daemon.
A fault is printed on standard error, with exit code 1.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from msgspec import Struct

from acud.base.typed_values import decode_json
from acud.features.recording.recorder.frame_copy import PIXEL_FORMAT
from acud.features.recording.recorder.segment import TICKS_PER_S, video_stream
from acud.process.child_process import die_with_parent
from acud.protocol.recordings import Chapter, DownloadAsk, DownloadPart

_MS = Fraction(1, 1000)
_TICK = Fraction(1, TICKS_PER_S)
_BARE_STEPS = 4
"""A picture with at most this difference of luma is of one colour, as a new display is; H.264 may shift it a little."""
_LOOKED_THROUGH = 600
"""Frames at the beginning that may be bare; each is decoded."""
_IN_MEMORY = 64 << 20
_BLACK, _NO_COLOUR = 16, 128
"""Luma and chroma of limited range."""


def main() -> int:
    ask = decode_json(sys.stdin.buffer.read(), DownloadAsk)
    die_with_parent(ask.parent_pid)
    try:
        # By name: the muxer opens its file anew to put the index first.
        with ExitStack() as files:
            films = [cut_of(files, part, ask) for part in ask.parts]
            write_download(files, films, Path(f"/proc/self/fd/{ask.target_fd}"), ask)
    except (av.FFmpegError, OSError) as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    return 0


class VideoCut(Struct):
    """A segment's video, shown from `first` to `end` (ticks of its own time). `cut`: its beginning in the segment."""

    source: Any
    part: DownloadPart
    first: int
    end: int
    cut: int

    @property
    def ticks(self) -> int:
        return self.end - self.first


def cut_of(files: ExitStack, part: DownloadPart, ask: DownloadAsk) -> VideoCut:
    """Return the wanted cut of a part. Its film is open as long as `files` are."""
    source = files.enter_context(av.open(f"/proc/self/fd/{part.source_fd}", "r"))
    first = max(0, ask.from_utc_ms - part.start_utc_ms)
    end = min(round(part.seconds * 1000), ask.until_utc_ms - part.start_utc_ms)
    return VideoCut(source, part, _to_ticks(first), max(_to_ticks(end), _to_ticks(first) + 1), _to_ticks(first))


def _to_ticks(ms: float) -> int:
    return round(ms * TICKS_PER_S / 1000)


def write_download(files: ExitStack, films: list[VideoCut], target: Path, ask: DownloadAsk) -> None:
    """Write `films` to `target` (which exists), from the first picture on that is not bare.

    Earlier pictures stay in the file where later ones are made from them; an edit list has players leave them out
    (ISO/IEC 14496-12, 8.6.6). Raises: av.FFmpegError; OSError.
    """
    opening = films[0]
    opening.first = opening.cut = max(opening.first, min(_bare_ticks(opening), opening.end - 1))
    films = _make_alike(files, films)
    starts = [0, *itertools.accumulate(film.ticks for film in films)]
    with av.open(str(target), "w", format="mp4", options={"movflags": "faststart"}) as made:
        made.metadata.update(_make_metadata(ask, opening))
        copied = made.add_stream_from_template(films[0].source.streams.video[0])
        copied.time_base = _TICK
        made.set_chapters(_make_chapters(ask.chapters, films, starts))
        for film, start in zip(films, starts, strict=False):
            for packet in _read_packets(film, is_first=start == 0):
                packet.pts = packet.dts = packet.pts - film.first + start
                packet.stream = copied
                made.mux(packet)


def _read_packets(film: VideoCut, *, is_first: bool) -> Iterator[Any]:
    """Yield the packets of `film`, from the key picture that its first picture needs, in ticks.

    A film that does not begin the file cannot be cut by its edit list, so all of it is yielded.
    """
    stream = film.source.streams.video[0]
    film.source.seek(0, stream=stream)
    found = [packet for packet in film.source.demux(stream) if packet.dts is not None]
    for packet in found:
        scale = packet.time_base / _TICK
        packet.pts = packet.dts = round(packet.pts * scale)
        packet.duration = round((packet.duration or 0) * scale)
        packet.time_base = _TICK
    begun = [at for at, packet in enumerate(found) if packet.pts <= film.first]
    keys = [at for at in begun if found[at].is_keyframe]
    if begun:  # the picture that shows then begins then: players drop one that begins before
        found[begun[-1]].pts = found[begun[-1]].dts = film.first
    shown = [packet for packet in found[keys[-1] if keys and is_first else 0 :] if packet.pts < film.end]
    shown[-1].duration = max(1, film.end - shown[-1].pts)
    yield from shown


def _make_alike(files: ExitStack, films: list[VideoCut]) -> list[VideoCut]:
    """Return films that one track can hold: films that differ from the one shown longest are encoded anew."""
    base = max(films, key=lambda film: film.ticks)
    wanted = _read_parameters(base)
    made = [film if _read_parameters(film) == wanted else _encode_film(files, film, base) for film in films]
    if all(_read_parameters(film) == wanted for film in made):
        return made
    return [_encode_film(files, film, base) for film in films]  # an encoder of another version made some of them


def _read_parameters(film: VideoCut) -> tuple[int, int, bytes]:
    context = film.source.streams.video[0].codec_context
    return context.width, context.height, bytes(context.extradata or b"")


def _encode_film(files: ExitStack, film: VideoCut, base: VideoCut) -> VideoCut:
    width, height, _ = _read_parameters(base)
    file = files.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115
    with av.open(file, "w", format="mp4") as made:
        stream = video_stream(made, width, height, base.part.crf)
        for frame, at in _list_frames(film):
            fitted = _fit_picture(frame, width, height)
            fitted.pts, fitted.time_base = at - film.first, _TICK
            made.mux(stream.encode(fitted))
        made.mux(stream.encode(None))
    file.seek(0)
    return VideoCut(files.enter_context(av.open(file, "r")), film.part, 0, film.ticks, film.cut)


def _list_frames(film: VideoCut) -> Iterator[tuple[Any, int]]:
    """Yield the shown pictures, each with its time in ticks; the first from the first moment on."""
    stream = film.source.streams.video[0]
    film.source.seek(0, stream=stream)
    before = None
    for frame in film.source.decode(stream):
        at = round(frame.pts * frame.time_base / _TICK)
        if at >= film.end:
            break
        if at > film.first and before is not None:
            yield before, film.first
        before = frame if at <= film.first else None
        if at > film.first:
            yield frame, at
    if before is not None:
        yield before, film.first


def _fit_picture(frame: Any, width: int, height: int) -> Any:
    """Return the picture in a black one of that size, at its top left, scaled down if larger."""
    scale = min(1.0, width / frame.width, height / frame.height)
    w, h = (max(2, int(side * scale) // 2 * 2) for side in (frame.width, frame.height))
    small = frame.reformat(width=w, height=h, format=PIXEL_FORMAT).to_ndarray()
    whole = np.full((height * 3 // 2, width), _NO_COLOUR, np.uint8)
    whole[:height] = _BLACK
    for place, plane in zip(_cut_planes(whole, width, height), _cut_planes(small, w, h), strict=True):
        place[: plane.shape[0], : plane.shape[1]] = plane
    return av.VideoFrame.from_ndarray(whole, format=PIXEL_FORMAT)


def _cut_planes(picture: Any, width: int, height: int) -> list[Any]:
    flat, size = picture.reshape(-1), width * height
    parts = [(0, height, width), *((size + at * size // 4, height // 2, width // 2) for at in range(2))]
    return [flat[start : start + rows * columns].reshape(rows, columns) for start, rows, columns in parts]


def _bare_ticks(film: VideoCut) -> int:
    """Return the time of the first picture that is not of one colour; 0 for none."""
    for number, frame in enumerate(film.source.decode(video=0)):
        luma = frame.to_ndarray()[: frame.height]
        if int(luma.max()) - int(luma.min()) > _BARE_STEPS:
            shown: int = round((frame.pts or 0) * frame.time_base / _TICK)
            return shown
        if number == _LOOKED_THROUGH:
            break
    return 0


def _make_metadata(ask: DownloadAsk, first: VideoCut) -> dict[str, str]:
    began_ms = first.part.start_utc_ms + first.cut * 1000 / TICKS_PER_S
    began = datetime.fromtimestamp(began_ms / 1000, UTC)
    return {"title": ask.title, "creation_time": began.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def _make_chapters(chapters: Iterable[Chapter], films: list[VideoCut], starts: list[int]) -> list[Any]:
    """Return the chapters for PyAV: each up to the next one, the first from the first picture on."""
    titles: dict[int, list[str]] = {}
    end_ms = starts[-1] * 1000 // TICKS_PER_S
    for one in chapters:
        at_ms = _shown_ms(one.utc_ms, films, starts)
        if at_ms < end_ms:
            titles.setdefault(at_ms, []).append(one.title)
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


def _shown_ms(utc_ms: int, films: list[VideoCut], starts: list[int]) -> int:
    """Return the place of a moment in the video; a moment between two segments is where the later one begins."""
    for film, start in zip(films, starts, strict=False):
        at = _to_ticks(utc_ms - film.part.start_utc_ms) - film.cut
        if at < film.ticks:
            return round((start + max(0, at)) * 1000 / TICKS_PER_S)
    return starts[-1] * 1000 // TICKS_PER_S


if __name__ == "__main__":
    sys.exit(main())
