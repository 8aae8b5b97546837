"""One video of the segments of a recording: pictures, times, chapters; what differs in size is fitted."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import av
import numpy as np

from acud.features.recording import download
from acud.features.recording.recorder.segment import TICKS_PER_S, video_stream
from acud.protocol.recordings import Chapter, DownloadAsk, DownloadPart

CRF = 24
BEGAN_MS = 1_700_000_000_000


def segment(path: Path, size: tuple[int, int], greys: list[int]) -> Path:
    """Make a segment that shows a grey page with a white corner for half a second each; 16 alone is a bare page."""
    width, height = size
    with av.open(str(path), "w", format="mp4", options={"movflags": "frag_every_frame+empty_moov"}) as made:
        stream = video_stream(made, width, height, CRF)
        for at, grey in enumerate([*greys, greys[-1]]):
            picture = np.full((height * 3 // 2, width), 128, np.uint8)
            picture[:height] = grey
            if grey != 16:
                picture[:16, :16] = 235
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = at * TICKS_PER_S // 2, stream.time_base
            made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
    return path


def made_of(tmp_path: Path, films: list[tuple[Path, int, float]], **given: Any) -> tuple[list[Any], Any]:
    """Return the pictures that a player shows of the download, with their times in s, and its container's facts."""
    with ExitStack() as files:
        parts = []
        for path, start_ms, seconds in films:
            opened = os.open(path, os.O_RDONLY)
            files.callback(os.close, opened)
            parts.append(DownloadPart(opened, start_ms, seconds, CRF))
        span = {"from_utc_ms": 0, "until_utc_ms": 2**53} | given
        ask = DownloadAsk(tuple(parts), 0, 0, "The trip", **span)
        target = tmp_path / "made.mp4"
        target.touch()
        download.write_download(files, [download.cut_of(files, part, ask) for part in parts], target, ask)
    with av.open(str(target), "r") as film:
        shown = [(float(frame.time), frame.to_ndarray()) for frame in film.decode(video=0) if frame.time >= -0.001]
        facts = film.metadata, film.chapters(), film.duration / av.time_base
    return shown, facts


def greys(shown: list[Any]) -> list[int]:
    found = [round(int(picture[40, 40]) / 40) * 40 for _, picture in shown]
    return [one for at, one in enumerate(found) if at == 0 or one != found[at - 1]]


def test_segments_of_one_size_follow_each_other_as_they_are(tmp_path: Path) -> None:
    one = segment(tmp_path / "1.mp4", (160, 96), [16, 40, 80])
    two = segment(tmp_path / "2.mp4", (160, 96), [120, 160])
    films = [(one, BEGAN_MS, 1.5), (two, BEGAN_MS + 60_000, 1.0)]
    chapters = (
        Chapter(BEGAN_MS + 700, "Began"),
        Chapter(BEGAN_MS + 30_000, "Between"),
        Chapter(BEGAN_MS + 60_600, "End"),
    )
    shown, (metadata, told, seconds) = made_of(tmp_path, films, chapters=chapters)
    assert greys(shown) == [40, 80, 120, 160], "the bare page at the beginning is left out"
    assert metadata["title"] == "The trip"
    assert abs(seconds - 2.0) < 0.05, "the minute between the segments is left out"
    assert [(one["metadata"]["title"], one["start"]) for one in told] == [
        ("Beginning", 0), ("Began", 200), ("Between", 1000), ("End", 1600),
    ]  # fmt: skip


def test_a_span_is_cut_out(tmp_path: Path) -> None:
    one = segment(tmp_path / "1.mp4", (160, 96), [40, 80, 120])
    two = segment(tmp_path / "2.mp4", (160, 96), [160, 200])
    films = [(one, BEGAN_MS, 1.5), (two, BEGAN_MS + 2000, 1.0)]
    span = {"from_utc_ms": BEGAN_MS + 600, "until_utc_ms": BEGAN_MS + 2400}
    shown, (_, _, seconds) = made_of(tmp_path, films, **span)
    assert greys(shown) == [80, 120, 160]
    assert abs(seconds - 1.3) < 0.05


def test_a_segment_of_another_size_is_fitted_and_the_others_stay_as_they_are(tmp_path: Path) -> None:
    long = segment(tmp_path / "1.mp4", (160, 96), [40, 80, 120])
    large = segment(tmp_path / "2.mp4", (320, 240), [160, 200])
    small = segment(tmp_path / "3.mp4", (64, 64), [80])
    films = [(long, BEGAN_MS, 1.5), (large, BEGAN_MS + 1500, 1.0), (small, BEGAN_MS + 2500, 0.5)]
    shown, (_, _, seconds) = made_of(tmp_path, films)
    assert {picture.shape for _, picture in shown} == {(144, 160)}
    assert greys(shown) == [40, 80, 120, 160, 200, 80]
    assert abs(seconds - 3.0) < 0.05
    last = shown[-1][1]
    assert int(last[80, 150]) <= 20, "what a smaller one does not fill is black"
    with av.open(str(long), "r") as film, av.open(str(tmp_path / "made.mp4"), "r") as made:
        first, copied = (next(bytes(packet) for packet in each.demux(video=0)) for each in (film, made))
    assert first == copied, "encoded anew where its size is the one of the video"
