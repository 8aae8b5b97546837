"""The present window tree: geometry, stacking, properties. Requests are sent together, then answered.

A window may vanish between two requests; then its answer is None, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from Xlib import X, error
from Xlib.protocol import request

from acud.types import Rect
from acud.x11.connection import Connection

_MAX_PROPERTY_WORDS = 4096
_MAX_DEPTH = 16  # how far a window may be below the root's children; window managers use one or two frames


class Outline(Struct, frozen=True):
    """A window's outside: `box` with border, in the parent's pixels; `is_viewable`: mapped, as are all above it.

    `is_ours_to_list`: not a menu or tooltip (override-redirect). `has_pixels`: not InputOnly.
    """

    window: int
    box: Rect
    is_viewable: bool
    is_ours_to_list: bool
    has_pixels: bool


def get_reply(pending: Any) -> Any:
    """Return the deferred request's reply, or None when the server answered with an error."""
    try:
        pending.reply()
    except error.XError:
        return None
    return pending


class WindowTree:
    """Reads the tree of one connection. Nothing is cached."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self.root: int = connection.root.id

    def children(self, window: int) -> list[int]:
        """Return the children of `window`, lowest first; [] when it is gone."""
        said = get_reply(request.QueryTree(display=self._wire, defer=True, window=window))
        return [child.id for child in said.children] if said else []

    def outlines(self, windows: Iterable[int]) -> dict[int, Outline]:
        wire = self._wire
        asked = [
            (
                w,
                request.GetWindowAttributes(display=wire, defer=True, window=w),
                request.GetGeometry(display=wire, defer=True, drawable=w),
            )
            for w in windows
        ]
        found = (_make_outline(w, get_reply(attributes), get_reply(geometry)) for w, attributes, geometry in asked)
        return {o.window: o for o in found if o is not None}

    def insides(self, windows: Iterable[int]) -> dict[int, Rect]:
        """Return the boxes of `windows` without their borders, in the root's pixels."""
        wire = self._wire
        asked = [
            (
                w,
                request.GetGeometry(display=wire, defer=True, drawable=w),
                request.TranslateCoords(display=wire, defer=True, src_wid=w, dst_wid=self.root, src_x=0, src_y=0),
            )
            for w in windows
        ]
        answers = ((w, get_reply(geometry), get_reply(place)) for w, geometry, place in asked)
        return {w: Rect(p.x, p.y, g.width, g.height) for w, g, p in answers if g and p}

    def tops(self, windows: Iterable[int]) -> dict[int, int]:
        """Return for each of `windows` the child of the root that it is, or lies in."""
        tops: dict[int, int] = {}
        climbing = {w: w for w in windows}
        for _ in range(_MAX_DEPTH):
            parents = self._find_parents(climbing)
            tops.update({w: at for w, at in climbing.items() if parents.get(w) == self.root})
            climbing = {w: p for w, p in parents.items() if p not in {self.root, X.NONE}}
            if not climbing:
                break
        return tops

    def parent(self, window: int) -> int:
        """Return the parent of `window`; 0 when it is gone or the root."""
        return self._find_parents({window: window}).get(window, 0)

    def _find_parents(self, windows: dict[int, int]) -> dict[int, int]:
        asked = {w: request.QueryTree(display=self._wire, defer=True, window=at) for w, at in windows.items()}
        said = {w: get_reply(question) for w, question in asked.items()}
        return {w: resource_id(answer.parent) for w, answer in said.items() if answer}

    def properties(self, windows: Iterable[int], atoms: Iterable[int]) -> dict[tuple[int, int], Any]:
        """Return the existing properties, by (window, atom); each has `property_type` and `value` (format, data)."""
        asked = {
            (w, a): request.GetProperty(
                display=self._wire, defer=True, delete=False, window=w, property=a, type=X.AnyPropertyType,
                long_offset=0, long_length=_MAX_PROPERTY_WORDS,
            )
            for w in windows
            for a in atoms
        }  # fmt: skip
        said = {key: get_reply(question) for key, question in asked.items()}
        return {key: answer for key, answer in said.items() if answer and answer.value is not None}

    def input_focus(self) -> int:
        """Return the window that has the keyboard; 0 for none, 1 for "whatever is under the pointer" (X11 protocol)."""
        return resource_id(request.GetInputFocus(display=self._wire).focus)


def words(reply: Any) -> list[int]:
    """Return a 32-bit property's values; [] when there is none, or it has another format."""
    return list(reply.value[1]) if reply is not None and reply.value[0] == 32 else []


def octets(reply: Any) -> bytes:
    """Return an 8-bit property's bytes; b"" when there is none, or it has another format."""
    return bytes(reply.value[1]) if reply is not None and reply.value[0] == 8 else b""


def resource_id(window: Any) -> int:
    """Return the id of python-xlib's window, or of a number in place of a window."""
    return window if isinstance(window, int) else int(window.id)


def _make_outline(window: int, attributes: Any, geometry: Any) -> Outline | None:
    if attributes is None or geometry is None:
        return None
    border = 2 * geometry.border_width
    return Outline(
        window,
        Rect(geometry.x, geometry.y, geometry.width + border, geometry.height + border),
        is_viewable=attributes.map_state == X.IsViewable,
        is_ours_to_list=not attributes.override_redirect,
        has_pixels=attributes.win_class == X.InputOutput,
    )
