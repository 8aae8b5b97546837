"""Single values with their bounds, and boxes of pixels."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

TILE_PX = 16
"""Side of an exact-comparison tile in pixels; tiles at the right and bottom edge are partial."""

MAX_TEXT = 4000
MAX_SIDE_PX = 32767
MAX_NUMBER = 2**53 - 1
"""Of frames and epochs: JSON and JavaScript keep it exactly, and at 1,000 frames a second it is 285,000 years away."""

Number = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Pixel = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A place or a size in pixels, also one far off the screen; sums of a few stay far below 64 bits."""
XId = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""What 32 bits of the X protocol hold: a window's id, or what a client claims to be its pid."""

ShortText = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
PositiveSeconds = Annotated[float, Meta(gt=0, le=31_536_000)]
Seconds = Annotated[float, Meta(ge=0, le=31_536_000)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Rect(Struct, frozen=True, array_like=True):
    """A box in pixels, origin at the top left: `[x, y, w, h]`."""

    x: Pixel
    y: Pixel
    w: Pixel
    h: Pixel

    @property
    def right(self) -> int:
        """The first column past the box."""
        return self.x + self.w

    @property
    def bottom(self) -> int:
        """The first row past the box."""
        return self.y + self.h

    @property
    def area(self) -> int:
        """Pixels covered."""
        return self.w * self.h

    def intersect(self, other: Rect) -> Rect | None:
        """Return the common box, or None when there is none."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        w, h = min(self.right, other.right) - x, min(self.bottom, other.bottom) - y
        return Rect(x, y, w, h) if w > 0 and h > 0 else None

    def moved(self, dx: int, dy: int) -> Rect:
        """Return the box shifted by (dx, dy)."""
        return Rect(self.x + dx, self.y + dy, self.w, self.h)

    def contains(self, other: Rect) -> bool:
        """Tell whether `other` lies wholly inside."""
        return self.x <= other.x and self.y <= other.y and other.right <= self.right and other.bottom <= self.bottom


class HiddenBox(Struct, frozen=True, forbid_unknown_fields=True):
    """A box in a source's pixels that must not leave the machine, and the redaction rule that says so."""

    rule: str
    box: Rect


PixelFormat = Literal["BGRX"]
