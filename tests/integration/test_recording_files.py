"""A recording's files after a death at any byte: what is left plays, and is told as it is."""

from __future__ import annotations

import random
from pathlib import Path

import av
import numpy as np

from acud.base.ids import new_id
from acud.features.recording.recorder.frame_copy import CopiedFrame, FrameCopier
from acud.features.recording.recorder.segment import SegmentWriter
from acud.features.recording.replay import recording
from acud.features.recording.supervisor.files import RecordingFiles
from acud.protocol.recordings import RecordingInfo, RecordingState, Segment

WIDTH, HEIGHT = 131, 97
FRAMES = 8


def _taken(number: int) -> CopiedFrame:
    pixels = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    pixels[: number * 9 + 9, :, :3] = number * 30
    changed = np.ones(-(-HEIGHT // 16) * -(-WIDTH // 16), np.bool_)
    return FrameCopier(WIDTH, HEIGHT).copy(number + 1, 1, 10_000_000_000 + number * 500_000_000, pixels, changed)


def _recorded(recording_id: str) -> list[tuple[bytes, bytes]]:
    """Return what a recorder writes, part by part."""
    film = SegmentWriter(recording_id, 1, _taken(0), 2.0, 28)
    parts = [film.add(_taken(number)) for number in range(FRAMES)]
    parts.append(film.repeat_newest(10_000_000_000 + FRAMES * 500_000_000 + 1_000_000_000))
    return [(part.video, part.rows) for part in parts]


def _info(recording_id: str, segments: tuple[Segment, ...] = ()) -> RecordingInfo:
    return RecordingInfo(
        recording_id, RecordingState.RECORDING, ":100", 1, recording_id, 2.0, 28, 0.0, segments=segments
    )


def _lay(folder: Path, recording_id: str, video: bytes, rows: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{recording_id}-0001.mp4").write_bytes(video)
    (folder / f"{recording_id}-0001.jsonl").write_bytes(rows)
    return folder / f"{recording_id}-0001.mp4"


def test_a_file_that_ends_at_any_byte_plays_what_is_whole(tmp_path: Path) -> None:
    recording_id = new_id("rec")
    parts = _recorded(recording_id)
    video, rows = (b"".join(part[at] for part in parts) for at in (0, 1))
    chance = random.Random(7)
    for _ in range(60):
        cut = chance.randrange(1, len(video))
        # The video is written first, then the line: a line whose frame is cut off cannot be there.
        done, lines = 0, b""
        for piece, row in parts:
            done += len(piece)
            lines += row if done <= cut else b""
        torn = rows[: len(lines) + chance.randrange(0, 40)] if lines else b""
        path = _lay(tmp_path / recording_id, recording_id, video[:cut], torn)
        segments = RecordingFiles(tmp_path).measure(_info(recording_id))
        if not segments:
            assert lines.count(b"\n") < 2
            assert not path.exists()
            continue
        (segment,) = segments
        with av.open(str(path)) as opened:
            decoded = [frame.pts for frame in opened.decode(video=0)]
        assert segment.frames == lines.count(b"\n") - 1
        assert segment.frames <= len(decoded) <= segment.frames + 1
        assert decoded[: segment.frames] == [number * 45_000 for number in range(segment.frames)]
        assert segment.size_bytes == path.stat().st_size + path.with_suffix(".jsonl").stat().st_size
        assert (segment.width, segment.height, segment.start_mono_ns) == (WIDTH, HEIGHT, 10_000_000_000)


def test_a_frame_grabbed_before_a_repeat_that_came_first_is_where_its_line_says(tmp_path: Path) -> None:
    recording_id = new_id("rec")
    film = SegmentWriter(recording_id, 1, _taken(0), 2.0, 28)
    parts = [film.add(_taken(0)), film.repeat_newest(11_000_000_000), film.add(_taken(1)), film.end(12_000_000_000)]
    path = _lay(tmp_path, recording_id, b"".join(part.video for part in parts), b"".join(part.rows for part in parts))
    (segment,) = recording.load(tmp_path, recording_id).stretches
    reader = recording.VideoReader(segment)
    assert [round(reader.picture(shown)[:16].mean(axis=(0, 1))[0] / 30) for shown in segment.shown] == [0, 1]
    with av.open(str(path)) as opened:
        ticks = [frame.pts for frame in opened.decode(video=0)]
    assert [round(shown.row.at_ms * 90, 1) for shown in segment.shown] == [ticks[0], ticks[2]]
    reader.close()


def test_lines_that_are_none_are_no_segment(tmp_path: Path) -> None:
    recording_id = new_id("rec")
    video = b"".join(part for part, _ in _recorded(recording_id))
    _lay(tmp_path / recording_id, recording_id, video, b"x\ny\n")
    assert RecordingFiles(tmp_path).measure(_info(recording_id)) == ()
    assert (tmp_path / recording_id / f"{recording_id}-0001.mp4").exists()


def test_closed_segments_are_as_they_were_told(tmp_path: Path) -> None:
    recording_id = new_id("rec")
    _lay(tmp_path / recording_id, recording_id, b"video", b"rows")
    told = Segment(1, WIDTH, HEIGHT, 1, 1, 2.0, 3, 9, "stopped")
    assert RecordingFiles(tmp_path).measure(_info(recording_id, (told,))) == (told,)


def test_what_nobody_knows_is_swept_and_nothing_else(tmp_path: Path) -> None:
    known, strange = new_id("rec"), new_id("rec")
    for recording_id in (known, strange):
        _lay(tmp_path / recording_id, recording_id, b"video", b"rows")
    (tmp_path / "notes.txt").touch()
    assert RecordingFiles(tmp_path).remove_unknown(frozenset({known})) == 2
    assert {path.name for path in tmp_path.iterdir()} == {known, "notes.txt"}
