"""From what a toolkit says about places to display pixels: most know them, GTK 4 knows only its windows'."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from acud.types import Rect, WindowInfo

_SLACK_PX = 3
_FRAME_PX = 80
"""How much a window manager's frame may add on one side."""


class Place(Struct, frozen=True):
    """Which X window a top-level widget is, and how its widgets' places become display pixels.

    `origin`: where the window's own coordinates begin, to be used instead of what widgets take for display pixels;
    None: they are right. `is_known` False: neither is known, and widgets of it have no place.
    """

    window: int = 0
    origin: tuple[int, int] | None = None
    is_known: bool = True

    @property
    def needs_screen(self) -> bool:
        """Whether widgets are to be asked for display pixels."""
        return self.is_known and self.origin is None

    @property
    def needs_window(self) -> bool:
        """Whether widgets are to be asked for their window's pixels."""
        return self.is_known and self.origin is not None

    def box(self, on_screen: Rect | None, in_window: Rect | None) -> Rect | None:
        """Return a widget's box in display pixels, or None."""
        if not self.is_known:
            return None
        if self.origin is None:
            return on_screen
        return in_window.moved(*self.origin) if in_window is not None else None


def place_of(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo], *, is_gtk_4: bool
) -> Place:
    """Return the place of a top-level widget; `own` are the windows of its process, topmost first."""
    window = _matching(name, on_screen, in_window, own)
    if window is None:
        # A menu or tip that no window list names. GTK 4 has no screen coordinates at all; others do.
        return Place(is_known=not is_gtk_4)
    if on_screen is not None and _agrees(on_screen, window.bounds):
        return Place(window.window_id)
    if in_window is None:
        return Place(window.window_id, is_known=False)
    return Place(window.window_id, _origin(in_window, window.bounds))


def _matching(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo]
) -> WindowInfo | None:
    titled = [window for window in own if name and _one_line(window.title) == name]
    agreeing = [w for w in titled or own if on_screen is not None and _agrees(on_screen, w.bounds)]
    return next(iter(agreeing or titled), None) or (
        own[0] if len(own) == 1 and _same_size(on_screen or in_window, own[0]) else None
    )


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _same_size(box: Rect | None, window: WindowInfo) -> bool:
    bounds = window.bounds
    return box is not None and abs(box.w - bounds.w) <= _SLACK_PX and abs(box.h - bounds.h) <= _SLACK_PX


def _agrees(box: Rect, bounds: Rect) -> bool:
    """Tell whether a top-level's own box is that client area, or its frame, or lies inside it (drawn shadows)."""
    sides = (bounds.x - box.x, bounds.y - box.y, box.right - bounds.right, box.bottom - bounds.bottom)
    return all(-_FRAME_PX <= side <= _FRAME_PX for side in sides) and (
        min(sides) >= -_SLACK_PX or max(sides) <= _SLACK_PX
    )


def _origin(in_window: Rect, bounds: Rect) -> tuple[int, int]:
    """Return where window coordinates begin: at the client area, or, with a frame counted, above and left of it."""
    spare_x, spare_y = (bounds.w - in_window.w) // 2, (bounds.h - in_window.h) // 2
    return bounds.x + max(spare_x, 0), bounds.y + max(spare_y, 0)
