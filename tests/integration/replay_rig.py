"""Recordings made by the recorder's own code from drawn frames, and replays of them in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from acud.base.ids import new_id
from acud.base.paths import Paths
from acud.config import Settings, VisionSettings
from acud.features.recording.recorder.frame_copy import FrameCopier
from acud.features.recording.recorder.segment import SegmentWriter
from acud.features.recording.replay.session import ReplaySession
from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX, file_name
from acud.protocol.replay import ReplayAsk, ReplayBegan, ReplayFault, ReplayLine, ReplayPair, ReplayRow, ReplayRun
from acud.types import Until

WIDTH, HEIGHT = 320, 240
Pixels = NDArray[np.uint8]
START_NS = 10_000_000_000


def plain(colour: int = 0) -> Pixels:
    return np.full((HEIGHT, WIDTH, 4), colour, np.uint8)


def boxed(x: int, y: int, w: int, h: int, rgb: tuple[int, int, int], under: Pixels | None = None) -> Pixels:
    pixels = (plain() if under is None else under).copy()
    pixels[y : y + h, x : x + w, :3] = rgb[::-1]
    return pixels


def _changed(before: Pixels, after: Pixels) -> NDArray[np.bool_]:
    apart = (before != after).any(axis=2)
    rows = np.add.reduceat(apart, np.arange(0, HEIGHT, 16), axis=0, dtype=np.int64)
    return (np.add.reduceat(rows, np.arange(0, WIDTH, 16), axis=1) > 0).reshape(-1)


class Tape:
    """A recording in `root`, laid down segment by segment."""

    def __init__(self, root: Path) -> None:
        self.recording_id = new_id("rec")
        self.folder = root / self.recording_id
        self.folder.mkdir(parents=True)
        self._number, self._frame = 0, 1

    def segment(self, frames: Sequence[tuple[float, Pixels]], end_s: float) -> None:
        """Add a segment of (seconds, pixels), shown until `end_s`."""
        self._number += 1
        before = frames[0][1]
        film, parts, copier = None, [], FrameCopier(WIDTH, HEIGHT)
        for at_s, pixels in frames:
            changed = _changed(before, pixels) | (film is None)
            taken = copier.copy(self._frame, 1, START_NS + int(at_s * 1e9), pixels, changed)
            film = film or SegmentWriter(self.recording_id, self._number, taken, 5.0, 28)
            parts.append(film.add(taken))
            before = pixels
            self._frame += 1
        assert film is not None
        parts.append(film.end(START_NS + int(end_s * 1e9)))
        self.path(VIDEO_SUFFIX).write_bytes(b"".join(part.video for part in parts))
        self.path(FRAMES_SUFFIX).write_bytes(b"".join(part.rows for part in parts))

    def path(self, suffix: str, number: int = 0) -> Path:
        """Return a segment's file, by default the newest one's."""
        return self.folder / file_name(self.recording_id, number or self._number, suffix)


class Told:
    """What a replay said."""

    def __init__(self, lines: list[ReplayLine]) -> None:
        self.began = [line for line in lines if isinstance(line, ReplayBegan)]
        self.rows = [line for line in lines if isinstance(line, ReplayRow)]
        self.runs = [line for line in lines if isinstance(line, ReplayRun)]
        self.pairs = [line for line in lines if isinstance(line, ReplayPair)]
        self.faults = [line for line in lines if isinstance(line, ReplayFault)]

    def said(self) -> list[tuple[int, str, str]]:
        """Return each row's frame, gate and answer."""
        return [(row.frame, row.gate, row.verdict.answer.value) for row in self.rows]


def settings(script: str = "{}", **more: Any) -> Settings:
    return Settings(vision=VisionSettings(backend="scripted", scripted=script), **more)


def replay(tape: Tape, until: Until, chosen: Settings, **given: Any) -> Told:
    lines: list[ReplayLine] = []
    home = tape.folder.parent
    ask = ReplayAsk(str(tape.folder), until, **given)
    asyncio.run(ReplaySession(ask, Paths(home, home, home), chosen, {}, lines.append).run())
    return Told(lines)
