"""Pictures on disk: evidence for a yes, screenshots, differences. Each is complete before its name is published."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from PIL import Image

from acud.base import ids, png
from acud.base.errors import NotFound, ProtocolError, Unavailable
from acud.base.ids import is_id
from acud.base.paths import sync
from acud.evaluator.element_marks import draw_marks, scale_marks
from acud.evaluator.judges.picture_encoding import encode_for_judge, resized_pixels, scaled_size
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.questions import DiffAsk, PictureAsk, display_of
from acud.types import Evidence

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_RED = np.array([32, 32, 224], np.uint16)
_DIM = 3


class EncodedView(NamedTuple):
    """A view as evidence would show it: its record, of which a name is still missing, and its PNG.

    Without a PNG the picture may not be kept; the record's `reason` gives the cause.
    """

    record: Evidence
    png: bytes = b""


def encoded_view(shot: ViewPixels) -> EncodedView:
    """Return `shot` as the judge saw it, ignored boxes black. Blocks for some 2 ms."""
    return EncodedView(record_of(shot), png.encode(shot.pixels))


def record_of(shot: ViewPixels, reason: str = "") -> Evidence:
    """Return the record of `shot`, not kept yet, or not to be kept for `reason`."""
    height, width = shot.pixels.shape[:2]
    display = display_of(shot.source)
    return Evidence("", shot.identity, display, shot.epoch, shot.frame, shot.crop, width, height, reason)


def keep_views(views: Sequence[EncodedView], directory: Path) -> list[Evidence]:
    """Write the pictures of `views`; return what was kept of each. Blocks on the disk.

    Each file is named by a fresh id. All are durable on return: they are written before the first is synced, so that a
    file system with a journal writes all of them, and their names, at once. A failure of the disk goes into `reason`;
    the verdict does not depend on it.
    """
    kept = [_write_view(view, directory) for view in views]
    names = [one.name for one in kept if one.name]
    if not names:
        return kept
    try:
        sync(*(directory / name for name in names), directory)
    except OSError as fault:
        for name in names:
            _remove_file(directory / name)
        reason = _build_refusal(directory, fault).message
        return [replace(one, name="", reason=reason) if one.name else one for one in kept]
    return kept


def _write_view(view: EncodedView, directory: Path) -> Evidence:
    if not view.png:
        return view.record
    name = f"{ids.new_id('evidence')}.png"
    try:
        write_new(directory / name, view.png)
    except Unavailable as fault:
        return replace(view.record, reason=fault.message)
    return replace(view.record, name=name)


def write_picture(shot: ViewPixels, ask: PictureAsk, path: Path) -> tuple[int, int]:
    """Write `shot` to the new file `path` in the form of `ask`; return the picture's (width, height). Raises:
    Unavailable when the disk refuses.
    """
    height, width = shot.pixels.shape[:2]
    size = scaled_size(width, height, ask.max_side_px)
    if ask.marks:
        write_new(path, _encode_marked(shot.pixels, ask, size))
    else:
        write_new(path, _encode_pixels(shot.pixels, ask, size))
    return size


def pixels_of(data: bytes) -> NDArray[np.uint8]:
    """Return the pixels of a picture file as height x width x 4 uint8 BGRX, the fourth byte 0."""
    with Image.open(BytesIO(data)) as image:
        rgb = np.asarray(image.convert("RGB"))
    pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = rgb[:, :, ::-1]
    return pixels


def write_new(path: Path, data: bytes) -> None:
    """Write the file `path`, mode 0600. Its name is not known yet: what a crash leaves is an orphan or written again.
    Raises: Unavailable, naming the directory, when it is full or closed to us; nothing is left behind then.
    """
    try:
        with os.fdopen(os.open(path, _NEW, 0o600), "wb") as file:
            file.write(data)
    except OSError as fault:
        _remove_file(path)
        raise _build_refusal(path.parent, fault) from fault


def _build_refusal(directory: Path, fault: OSError) -> Unavailable:
    return Unavailable(f"cannot keep a picture in {directory}: {fault.strerror}")


def write_difference(folder: Path, ask: DiffAsk, path: Path) -> None:
    """Write the difference of the two files in `folder` to the new file `path`. Raises: NotFound when one is gone;
    Unavailable when they differ in size, or the disk refuses.
    """
    before, after = (_pixels(folder, name) for name in (ask.before, ask.after))
    if before.shape != after.shape:
        sizes = " and ".join(f"{each.shape[1]}x{each.shape[0]}" for each in (before, after))
        raise Unavailable(f"the view changed its size: {sizes}", hint="look at the two pictures one by one")
    write_new(path, png.encode(overlay(before, after)))


def overlay(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return `after` (height x width x 4 uint8 BGRX) dimmed to a third, with every pixel that differs half red."""
    shown = after // _DIM
    changed = np.any(before[:, :, :3] != after[:, :, :3], axis=2)
    shown[changed, :3] = (after[changed, :3].astype(np.uint16) + _RED) // 2
    return shown


def _encode_marked(pixels: NDArray[np.uint8], ask: PictureAsk, size: tuple[int, int]) -> bytes:
    """Return the picture in its final size, the marks drawn on that: labels stay legible on a small one."""
    height, width = pixels.shape[:2]
    small = resized_pixels(pixels, size)
    marks = scale_marks(ask.marks, size[0] / width, size[1] / height)
    return _encode_pixels(draw_marks(small, marks), ask, size)


def _encode_pixels(pixels: NDArray[np.uint8], ask: PictureAsk, size: tuple[int, int]) -> bytes:
    if ask.format == "jpeg":
        return encode_for_judge(pixels, ask.max_side_px, ask.quality).jpeg
    return png.encode(resized_pixels(pixels, size))


def _remove_file(path: Path) -> None:
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
