"""Pictures in files, as an `image` condition takes them: the bytes of a PNG, or of a part that is cut out.

wait = acud.wait_create(ScreenImage(png_of("look.png#412,300,48,20")))
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from acud.base import private_files
from acud.base.errors import InvalidRequest
from acud.types import Rect

_PNG = b"\x89PNG\r\n\x1a\n"
_MAX_SIDE_PX = 16_384
_PART = re.compile(r"(?P<name>.+)#(?P<x>\d{1,5}),(?P<y>\d{1,5}),(?P<w>\d{1,5}),(?P<h>\d{1,5})", re.ASCII | re.DOTALL)
_HINT = "give a PNG file, or FILE#x,y,w,h for a part of it in its pixels (acud look -o look.png makes one)"


def part_of(words: str) -> tuple[str, Rect | None]:
    """Return the name before `#x,y,w,h`, and the part that this names (None without one)."""
    found = _PART.fullmatch(words)
    if found is None:
        return words, None
    return found["name"], Rect(*(int(found[key]) for key in "xywh"))


def png_of(words: str) -> bytes:
    """Return the PNG in the file `words`, or of the part of it after `#`; a JPEG becomes a PNG.

    Raises: InvalidRequest when the file cannot be read, is no picture, or has no such part.
    """
    name, part = part_of(words)
    path = Path(name).expanduser()
    try:
        data = private_files.read_regular(path.resolve())
    except OSError as fault:
        raise InvalidRequest(f"the image {name} can't be read: {fault.strerror}", hint=_HINT) from fault
    return data if part is None and data.startswith(_PNG) else _cut_and_encode(name, data, part)


def _cut_and_encode(name: str, data: bytes, part: Rect | None) -> bytes:
    from PIL import Image, UnidentifiedImageError  # loaded only to cut out or convert

    try:
        with Image.open(io.BytesIO(data), formats=["PNG", "JPEG"]) as image:
            width, height = image.size
            if max(width, height) > _MAX_SIDE_PX:
                raise InvalidRequest(f"the image {name} is {width}x{height} pixels", hint=_HINT)
            if part is not None and not (part.area and Rect(0, 0, width, height).contains(part)):
                raise InvalidRequest(
                    f"the part {part.x},{part.y},{part.w},{part.h} is not in {name}, which is {width}x{height}",
                    hint=_HINT,
                )
            cut = image if part is None else image.crop((part.x, part.y, part.right, part.bottom))
            written = io.BytesIO()
            cut.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB").save(
                written, "PNG"
            )
    except UnidentifiedImageError as fault:
        raise InvalidRequest(
            f"{name} is no picture that can be read: it is neither a PNG nor a JPEG", hint=_HINT
        ) from fault
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as fault:
        raise InvalidRequest(f"{name} is no picture that can be read: {fault}", hint=_HINT) from fault
    return written.getvalue()
