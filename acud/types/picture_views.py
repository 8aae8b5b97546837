"""View tokens: what a picture shows, in one readable word, to map a point of the picture to its display pixel.

    :100/1280x720/0,0,1280,720@960x540
    :100.w4194307/1280x720/50,60,200,100@200x100

The source, the display's size, the part of the display that the picture shows (x, y, width, height), and the picture's
own size. A covered window's source names the window; its part is where the window was.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types import Rect
from acud.types.actions import Point

_TOKEN = re.compile(
    r"(?P<display>:\d{1,5})(\.w(?P<window>\d{1,10}))?/(?P<width>\d{1,5})x(?P<height>\d{1,5})/"
    r"(?P<x>-?\d{1,5}),(?P<y>-?\d{1,5}),(?P<w>\d{1,5}),(?P<h>\d{1,5})@(?P<across>\d{1,5})x(?P<down>\d{1,5})",
    re.ASCII,
)
_AGAIN = "take a new picture (desktop_look, acud look) and use its view"


class ViewGeometry(Struct, frozen=True):
    """A picture of `across` x `down` px that shows the box `crop` of `display`, when that was `width` x `height` px.

    `window`: the covered window that it shows by its own pixels, wherever on the display it is; 0 for none.
    """

    display: str
    width: int
    height: int
    crop: Rect
    across: int
    down: int
    window: int = 0

    def spot(self, point: Point) -> Point:
        """Return the display pixel under the middle of the picture's pixel `point`.

        The edges of the picture (`across`, `down`) count as its last pixels. Raises: InvalidRequest naming the
        picture's size for a point outside.
        """
        if not (0 <= point.x <= self.across and 0 <= point.y <= self.down):
            raise InvalidRequest(
                f"{point.x},{point.y} lies outside the picture, which is {self.across}x{self.down}",
                hint="give a point of the picture that the view belongs to",
            )
        return Point(
            self.crop.x + _scale_pixel(min(point.x, self.across - 1), self.across, self.crop.w),
            self.crop.y + _scale_pixel(min(point.y, self.down - 1), self.down, self.crop.h),
        )

    def area(self, part: Rect) -> Rect:
        """Return the display's pixels in the picture's box `part`. Raises: InvalidRequest for a box outside."""
        if not part.area or not Rect(0, 0, self.across, self.down).contains(part):
            raise InvalidRequest(
                f"the box {part.x},{part.y},{part.w},{part.h} is not in the picture ({self.across}x{self.down})",
                hint="give a box of the picture that the view belongs to",
            )
        left, top = part.x * self.crop.w // self.across, part.y * self.crop.h // self.down
        right, bottom = -(-part.right * self.crop.w // self.across), -(-part.bottom * self.crop.h // self.down)
        return Rect(self.crop.x + left, self.crop.y + top, right - left, bottom - top)

    def on(self, width: int, height: int) -> ViewGeometry:
        """Return this view for a display of `width` x `height` px. Raises: InvalidRequest if it had another size."""
        if (width, height) == (self.width, self.height):
            return self
        raise InvalidRequest(
            f"the view is of {self.display} at {self.width}x{self.height}; it is {width}x{height} now", hint=_AGAIN
        )

    def follow(self, bounds: Rect) -> ViewGeometry:
        """Return this view of a window for its present `bounds`. Raises: InvalidRequest if its size changed."""
        if (bounds.w, bounds.h) == (self.crop.w, self.crop.h):
            return replace(self, crop=bounds)
        raise InvalidRequest(
            f"the view is of the window at {self.crop.w}x{self.crop.h}; it is {bounds.w}x{bounds.h} now", hint=_AGAIN
        )


def _scale_pixel(at: int, size: int, onto: int) -> int:
    """Return the pixel in a row of `onto` pixels under the middle of pixel `at` in a row of `size`, exactly."""
    return (2 * at + 1) * onto // (2 * size)


def encode(view: ViewGeometry) -> str:
    c = view.crop
    source = f"{view.display}.w{view.window}" if view.window else view.display
    return f"{source}/{view.width}x{view.height}/{c.x},{c.y},{c.w},{c.h}@{view.across}x{view.down}"


def parse(token: str) -> ViewGeometry:
    """Return the view that a token names. Raises: InvalidRequest if it is not a token."""
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise InvalidRequest("the view is not a token of acud", hint=_AGAIN)
    numbers = {name: int(text) for name, text in found.groupdict(default="0").items() if name != "display"}
    n = numbers
    if not all(n[name] for name in ("width", "height", "w", "h", "across", "down")):
        raise InvalidRequest("the view is of nothing: one of its sizes is 0", hint=_AGAIN)
    crop = Rect(n["x"], n["y"], n["w"], n["h"])
    return ViewGeometry(found["display"], n["width"], n["height"], crop, n["across"], n["down"], n["window"])
