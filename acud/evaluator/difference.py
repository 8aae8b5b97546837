"""What differs between two evidence pictures, as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from acud.errors import NotFound, ProtocolError, Unavailable
from acud.evaluator.evidence import pixels_of, png, write_whole
from acud.ids import is_id
from acud.protocol.asks import DiffAsk

_RED = np.array([32, 32, 224], np.uint16)
_DIM = 3


def write_difference(folder: Path, ask: DiffAsk, path: Path) -> None:
    """Write the difference of the two files in `folder` to `path`, whole or not at all.

    Raises: NotFound when one is gone; Unavailable when they differ in size, or the disk refuses.
    """
    before, after = (_pixels(folder, name) for name in (ask.before, ask.after))
    if before.shape != after.shape:
        sizes = " and ".join(f"{each.shape[1]}x{each.shape[0]}" for each in (before, after))
        raise Unavailable(f"the view changed its size: {sizes}", hint="look at the two pictures one by one")
    write_whole(path, png(overlay(before, after)))


def overlay(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return `after` (height x width x 4 uint8 BGRX) dimmed to a third, with every pixel that differs half red."""
    shown = after // _DIM
    changed = np.any(before[:, :, :3] != after[:, :, :3], axis=2)
    shown[changed, :3] = (after[changed, :3].astype(np.uint16) + _RED) // 2
    return shown


def _pixels(folder: Path, name: str) -> NDArray[np.uint8]:
    if not name.endswith(".png") or not is_id(name.removesuffix(".png"), "evidence"):
        raise ProtocolError(f"not the name of an evidence file: {name[:80]!r}")
    try:
        return pixels_of((folder / name).read_bytes())
    except FileNotFoundError as fault:
        raise NotFound(f"the evidence file {name} is missing", hint="retention may have removed it") from fault
    except OSError as fault:
        raise Unavailable(f"the evidence file {name} cannot be read: {fault}") from fault
