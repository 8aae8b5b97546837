"""What a recording keeps for judges: text read from its video against the exact frames, and the noise of its pixels.

A desktop of text (two terminals, bitmap letters, a dialog) is encoded as a recorder does, decoded as a replay does, and
both are read by a fresh engine. Then lines are written. `noise`: the largest step of 255 between two decoded frames in
a tile that was left alone. `signal`: the largest step in a tile that changed, exceeded in 99 of 100 such tiles.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from acud.base.ids import new_id
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.features.recording.recorder.frame_copy import FrameCopier
from acud.features.recording.recorder.segment import SegmentWriter
from acud.features.recording.replay.frame_source import APART
from acud.features.recording.replay.recording import VideoReader, load
from tests.bench._text_desktop import BITMAP_BOX, TextDesktop
from tests.bench.ocr import accuracy, words_of

_LINES = 24
_CRF = 28
_STEP_NS = 500_000_000
Pixels = NDArray[np.uint8]


def run() -> dict[str, Any]:
    with TextDesktop() as desktop:
        frames, truth = [desktop.frame.copy()], list(desktop.truth)
        for _ in range(_LINES):
            desktop.write_line()
            frames.append(desktop.frame.copy())
        decoded, decode_ms = _round_trip(frames)
        engine = RapidEngine()
        read = [ScreenReader(engine).read((), pixels) for pixels in (frames[0], decoded[0])]
        plain = [[line for line in lines if not line.box.intersect(BITMAP_BOX)] for lines in read]
        recalls = [accuracy(truth, lines)[0] for lines in plain]
        texts = [Counter(words_of(line.text for line in lines)) for lines in plain]
    noise, signal = _steps(frames, decoded)
    return {
        "recall_exact": round(recalls[0], 4),
        "recall_video": round(recalls[1], 4),
        "words_same": round((texts[0] & texts[1]).total() / texts[0].total(), 4),
        "noise": noise,
        "signal": signal,
        "apart": APART,
        "decode_ms": round(decode_ms, 2),
        "frames": len(frames),
    }


def _round_trip(frames: list[Pixels]) -> tuple[list[Pixels], float]:
    recording_id = new_id("rec")
    height, width = frames[0].shape[:2]
    everything = np.ones(-(-height // 16) * -(-width // 16), np.bool_)
    copier = FrameCopier(width, height)
    takes = [copier.copy(n + 1, 1, (n + 1) * _STEP_NS, pixels, everything) for n, pixels in enumerate(frames)]
    film = SegmentWriter(recording_id, 1, takes[0], 2.0, _CRF)
    parts = [film.add(taken) for taken in takes]
    parts.append(film.end((len(frames) + 1) * _STEP_NS))
    with TemporaryDirectory() as folder:
        place = Path(folder, f"{recording_id}-0001")
        place.with_suffix(".mp4").write_bytes(b"".join(part.video for part in parts))
        place.with_suffix(".jsonl").write_bytes(b"".join(part.rows for part in parts))
        stretch = load(Path(folder), recording_id).stretches[0]
        reel = VideoReader(stretch)
        began = time.perf_counter()
        decoded = [reel.picture(shown) for shown in stretch.shown]
        spent_ms = (time.perf_counter() - began) * 1000
        reel.close()
    return decoded, spent_ms / len(frames)


def _steps(frames: list[Pixels], decoded: list[Pixels]) -> tuple[int, int]:
    alone, touched = [], []
    for at in range(1, len(frames)):
        changed = _by_tile((frames[at] != frames[at - 1])[:, :, :3].max(axis=2).astype(np.int16)) > 0
        seen = _by_tile(np.abs(decoded[at].astype(np.int16) - decoded[at - 1])[:, :, :3].max(axis=2))
        alone.append(seen[~changed])
        touched.append(seen[changed])
    return int(np.concatenate(alone).max()), int(np.percentile(np.concatenate(touched), 1))


def _by_tile(values: NDArray[np.int16]) -> NDArray[np.int16]:
    rows = np.maximum.reduceat(values, np.arange(0, values.shape[0], 16), axis=0)
    found: NDArray[np.int16] = np.maximum.reduceat(rows, np.arange(0, values.shape[1], 16), axis=1)
    return found


def table(figures: dict[str, Any]) -> str:
    return "\n".join(
        [
            f"words read, exact / from video  {figures['recall_exact']:.1%} / {figures['recall_video']:.1%}",
            f"words read alike                {figures['words_same']:.1%}",
            f"steps: noise, signal, bound     {figures['noise']}, {figures['signal']}, {figures['apart']}",
            f"decoding a frame                {figures['decode_ms']:.1f} ms",
        ]
    )
