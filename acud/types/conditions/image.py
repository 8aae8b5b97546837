"""The condition that a picture is on the screen."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar

from msgspec import Meta

from acud.types.conditions.kind import Argument, ConditionKind, FormField, KindForm, Refinement, make_outcome


class ScreenImage(ConditionKind, frozen=True, tag="image", forbid_unknown_fields=True):
    """A picture is somewhere in the target, or nowhere when `gone`: in its size, or 5 or 10 % smaller or larger.

    `png`: the picture, 8 bits a channel, 8x8 to 262,144 pixels, at most 256 KiB; what is more than half transparent may
    be anything. `similarity`: the least of how well light and dark agree, how well the colours of every 8x8 pixels do,
    and how well the worst 9x9 pixels do; 1 for equal pixels. The daemon keeps the picture by its `digest`; its replies
    have that, `width` and `height` instead of `png`, and so may a request about a picture that it has.
    """

    extra: ClassVar[str] = "actions"

    png: bytes = b""
    gone: bool = False
    similarity: Annotated[float, Meta(ge=0.5, le=1)] = 0.9
    digest: Annotated[str, Meta(max_length=32, pattern="^[0-9a-f]*$", description="hexadecimal digits")] = ""
    width: Annotated[int, Meta(ge=0)] = 0
    height: Annotated[int, Meta(ge=0)] = 0

    def describe(self) -> str:
        return f"the image ({self._write_size()}) is {'gone' if self.gone else 'visible'}"

    def abbreviate(self, *, detailed: bool) -> str:
        alike = f" at {self.similarity:g}" if detailed and self.similarity != ScreenImage().similarity else ""
        return f"image {self._write_size()}{alike}{' gone' if self.gone else ''}"

    def _write_size(self) -> str:
        return f"{self.width}x{self.height}" if self.width else "of unknown size"


ScreenImage.arguments = (
    Argument(
        "image", ScreenImage, ("similarity",),
        "picture that shows: path of a PNG, or PATH#x,y,w,h for a part of it", {"image": "/home/me/look.png#9,9,48,20"},
        more=", or VIEW#x,y,w,h for what is now in that part of a look",
        help="The picture in the PNG file is visible; FILE#x,y,w,h: only this part of it.",
        metavar="FILE", gives=bytes,
    ),
    Argument(
        "image_gone", partial(ScreenImage, gone=True), ("similarity",),
        "picture that shows no longer, as image", {"image_gone": "/home/me/spinner.png"},
        help="The picture is not, or no longer, visible.", metavar="FILE", gives=bytes,
    ),
)  # fmt: skip
ScreenImage.refinements = (
    Refinement(
        "similarity", "how alike an image must be: 0.5 to 1, 0.9 unless told",
        "How alike --image and --image-gone must be (default 0.9; 1: equal pixels).",
    ),
)  # fmt: skip
ScreenImage.form = KindForm("An image", (FormField("png", "Image"), make_outcome("is shown", "is gone")))
