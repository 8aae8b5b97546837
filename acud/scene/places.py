"""Where things are: thirds of a display, and from a display's own pixels to the global ones."""

from __future__ import annotations

from collections.abc import Sequence

from acud.errors import NotFound
from acud.scene.nouns import SceneDisplay
from acud.types import Rect

_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "center", "right")


def position(box: Rect, width: int, height: int) -> str:
    """Return in which ninth of a `width` x `height` display the centre of `box` lies: `top-left` … `bottom-right`."""
    column = min(2, max(0, (2 * box.x + box.w) * 3 // (2 * max(1, width))))
    row = min(2, max(0, (2 * box.y + box.h) * 3 // (2 * max(1, height))))
    return f"{_ROWS[row]}-{_COLUMNS[column]}"


def local_to_global(displays: Sequence[SceneDisplay], display_id: int, x: int, y: int) -> tuple[int, int] | None:
    """Return the global pixel of a display's own (x, y), or None when no display shows it.

    A point past the edge of its own display is moved to that edge. Raises: NotFound for an unknown display.
    """
    display = next((one for one in displays if one.id == display_id), None)
    if display is None:
        known = ", ".join(str(one.id) for one in displays) or "none"
        raise NotFound(f"no display {display_id} in this scene", hint=f"displays: {known}")
    if display.bounds.area == 0:
        return None
    left, top = display.bounds.x, display.bounds.y
    return left + min(max(x, 0), display.bounds.w - 1), top + min(max(y, 0), display.bounds.h - 1)
