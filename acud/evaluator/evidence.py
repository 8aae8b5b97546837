"""Pictures on disk: evidence for a yes, screenshots, differences; each complete under its name or not there at all."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud import ids
from acud.errors import NotFound, ProtocolError, Unavailable
from acud.evaluator.element_marks import draw_marks, scaled
from acud.evaluator.judges.picture_format import encode_for_judge, resized_pixels, scaled_size
from acud.evaluator.view_pixels import ViewPixels
from acud.ids import is_id
from acud.paths import sync
from acud.protocol.questions import DiffAsk, PictureAsk, display_of
from acud.types import Evidence

_PNG_LEVEL = 1
"""zlib level: a screen of text is 3x larger than at level 9 and written 10x sooner."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_RED = np.array([32, 32, 224], np.uint16)
_DIM = 3


def keep_evidence(shot: ViewPixels, directory: Path) -> Evidence:
    """Write `shot` as the judge saw it, ignored boxes black, as PNG; return what was kept. Blocks on the disk.

    The file is named by a fresh id and is durable on return (fsync of the file and of its directory). A disk that
    refuses is said in `reason`; the verdict does not depend on it.
    """
    name = f"{ids.new_id('evidence')}.png"
    try:
        write_whole(directory / name, png(shot.pixels))
    except Unavailable as fault:
        return describe(shot, "", fault.message)
    return describe(shot, name, "")


def describe(shot: ViewPixels, name: str, reason: str) -> Evidence:
    """Return the record of `shot`, kept under `name` or, with "" for it, not kept for `reason`."""
    height, width = shot.pixels.shape[:2]
    display = display_of(shot.source)
    return Evidence(name, shot.identity, display, shot.epoch, shot.frame, shot.crop, width, height, reason)


def write_picture(shot: ViewPixels, ask: PictureAsk, path: Path) -> tuple[int, int]:
    """Write `shot` to `path` as `ask` says, whole or not at all; return the picture's (width, height).

    Raises: Unavailable when the disk refuses.
    """
    height, width = shot.pixels.shape[:2]
    size = scaled_size(width, height, ask.max_side_px)
    if ask.marks:
        write_whole(path, _marked(shot.pixels, ask, size))
    else:
        write_whole(path, _rendered(shot.pixels, ask, size))
    return size


def png(pixels: NDArray[np.uint8], size: tuple[int, int] | None = None) -> bytes:
    """Return `pixels` (height x width x 4 uint8 BGRX) as an RGB PNG, lossless unless another `size` is asked for."""
    height, width = pixels.shape[:2]
    image = Image.frombuffer("RGB", (width, height), np.ascontiguousarray(pixels), "raw", "BGRX", 0, 1)
    if size is not None and size != (width, height):
        image = image.resize(size, Image.Resampling.BILINEAR)
    buffer = BytesIO()
    image.save(buffer, "PNG", compress_level=_PNG_LEVEL)
    return buffer.getvalue()


def pixels_of(data: bytes) -> NDArray[np.uint8]:
    """Return the pixels of a picture file as height x width x 4 uint8 BGRX, the fourth byte 0."""
    with Image.open(BytesIO(data)) as image:
        rgb = np.asarray(image.convert("RGB"))
    pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = rgb[:, :, ::-1]
    return pixels


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that `path` holds all of it or does not exist, also after a power cut. Mode 0600.

    Raises: Unavailable, naming the directory, when it is full or closed to us; nothing is left behind then.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        _write_synced(temporary, data)
        temporary.rename(path)
        sync(path.parent)
    except OSError as fault:
        _discard(temporary)
        raise Unavailable(f"cannot keep a picture in {path.parent}: {fault.strerror}") from fault


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


def _marked(pixels: NDArray[np.uint8], ask: PictureAsk, size: tuple[int, int]) -> bytes:
    """Return the picture in its final size, the marks drawn on that: labels stay legible on a small one."""
    height, width = pixels.shape[:2]
    small = resized_pixels(pixels, size)
    marks = scaled(ask.marks, size[0] / width, size[1] / height)
    return _rendered(draw_marks(small, marks), ask, size)


def _rendered(pixels: NDArray[np.uint8], ask: PictureAsk, size: tuple[int, int]) -> bytes:
    if ask.format == "jpeg":
        return encode_for_judge(pixels, ask.max_side_px, ask.quality).jpeg
    return png(pixels, size)


def _write_synced(path: Path, data: bytes) -> None:
    descriptor = os.open(path, _NEW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return  # the directory refuses that too, and its fault is already being reported


def _pixels(folder: Path, name: str) -> NDArray[np.uint8]:
    if not name.endswith(".png") or not is_id(name.removesuffix(".png"), "evidence"):
        raise ProtocolError(f"not the name of an evidence file: {name[:80]!r}")
    try:
        return pixels_of((folder / name).read_bytes())
    except FileNotFoundError as fault:
        raise NotFound(f"the evidence file {name} is missing", hint="retention may have removed it") from fault
    except OSError as fault:
        raise Unavailable(f"the evidence file {name} cannot be read: {fault}") from fault
