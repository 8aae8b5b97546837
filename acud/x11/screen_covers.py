"""Windows that hide a whole screen or monitor from its user: lock screens, and screen savers of the X server.

X does not name the client that locks a screen. A lock screen is taken to be a window over all of a screen or a monitor
that no window manager may touch (override-redirect), of an X client that has no ordinary window: a program that shows
itself over the whole screen (a video, a presentation, a game) has one, or is one. Blanking and DPMS switch the monitor
off and hide nothing from grabs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from Xlib import X, error
from Xlib.ext import screensaver
from Xlib.protocol import request

from acud.types import Rect
from acud.x11.connection import Connection
from acud.x11.window_tree import Outline, get_reply, resource_id

_SLACK_PX = 2
"""xsecurelock leaves a border of one pixel, so that the X server does not take windows below for wholly hidden."""
_ARGB_DEPTH = 32


class ScreenCovers:
    """Finds such windows on one connection; has the X server report the beginning and end of its screen saver."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._has_saver = connection.has(screensaver.extname)
        self._has_shapes = connection.has("SHAPE")
        self._compositor: int = connection.wire.get_atom(f"_NET_WM_CM_S{connection.xlib.get_default_screen()}")
        self._client_bits: int = 0xFFFFFFFF & ~connection.wire.info.resource_id_mask
        if self._has_saver:
            connection.root.screensaver_select_input(screensaver.NotifyMask)

    def find(
        self, tops: Sequence[int], outlines: Mapping[int, Outline], clients: Mapping[int, int], screens: Iterable[Rect]
    ) -> frozenset[int]:
        """Return the windows that lock one of `screens`. `tops`: the children of the root, lowest first. `clients`: the
        ordinary windows, each with the child of the root that holds it.
        """
        areas = tuple(screens)
        shown = [outlines[w] for w in tops if w in outlines and outlines[w].is_viewable and outlines[w].has_pixels]
        owners = {self._client_of(window) for window in clients}
        large = [o for o in shown if not o.is_ours_to_list and any(_hides_area(o.box, area) for area in areas)]
        return frozenset(
            o.window
            for o in large
            if self._client_of(o.window) not in owners and self._lies_over(o, shown, clients) and self._is_opaque(o)
        )

    def read_saver(self) -> int:
        """Return the window that the X server's screen saver shows now, over all others; 0 for none. It is a child of
        the root that the X server may leave out of the tree.
        """
        if not self._has_saver:
            return 0
        try:
            info = self._connection.root.screensaver_query_info()
        except error.XError:
            return 0
        is_on = info.state == screensaver.StateOn and info.kind != screensaver.KindBlanked
        return resource_id(info.saver_window) if is_on else 0

    def _client_of(self, window: int) -> int:
        """Return the X client that made a window (X ids carry it in their highest bits)."""
        return window & self._client_bits

    def _lies_over(self, cover: Outline, shown: list[Outline], clients: Mapping[int, int]) -> bool:
        """Return whether ordinary windows lie below `cover` and none above it. Without any, a program that shows itself
        over the whole screen hides nothing; a window manager has windows of its own there.
        """
        at, ordinary = shown.index(cover), set(clients.values())
        below, above = ({o.window for o in part} & ordinary for part in (shown[:at], shown[at + 1 :]))
        return bool(below) and not above

    def _is_opaque(self, cover: Outline) -> bool:
        """Return whether nothing shows through a window: it has its whole shape, and no alpha that is composited."""
        window = self._connection.xlib.create_resource_object("window", cover.window)
        try:
            if self._has_shapes and window.shape_query_extents().bounding_shaped:
                return False
        except error.XError:
            return False
        wire = self._connection.wire
        outside = get_reply(request.GetGeometry(display=wire, defer=True, drawable=cover.window))
        if outside is None or outside.depth != _ARGB_DEPTH:
            return outside is not None
        owner = request.GetSelectionOwner(display=wire, selection=self._compositor).owner
        return bool(resource_id(owner) == X.NONE)


def _hides_area(box: Rect, area: Rect) -> bool:
    inner = Rect(area.x + _SLACK_PX, area.y + _SLACK_PX, area.w - 2 * _SLACK_PX, area.h - 2 * _SLACK_PX)
    return inner.w > 0 and inner.h > 0 and box.contains(inner)
