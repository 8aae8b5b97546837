"""Where widgets are: from what a toolkit says about places to display pixels, and to the X window that shows them.

Most toolkits know display pixels, GTK 4 knows only its windows'. Menus and the lists of combo boxes are X windows of
their own, in which their widgets are told as children of the widget that opens them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.nodes import TEXT_INPUT, AccessibleApp
from acud.evaluator.accessibility.widget import WidgetAnswers
from acud.types import Rect, WindowInfo

_SLACK_PX = 3
_FRAME_PX = 80
"""How much a window manager's frame, or a drawn shadow, may add on one side."""
_NOT_MOVED = (0, 0)
_OPENERS = frozenset({"combo box", "menu", "popup menu", "push button menu", "autocomplete"})
_FLOATING = frozenset({"menu", "popup menu", "tool tip"})
_POPOVERS_OF_GTK_4 = _FLOATING | {"filler", "panel", "grouping", "dialog"}
_MARGIN_PX = 32
"""What a theme may leave free around a popover in its own window."""
_IN_OPENER = frozenset({*TEXT_INPUT, "push button", "toggle button", "label", "image", "icon"})
"""What a combo box itself is made of."""
_ROWS = frozenset({"list item", "table cell", "tree item", "table column header", "table row header"})
_WITH_ROWS = frozenset({"list", "table", "tree", "tree table"})


class WindowPlace(Struct, frozen=True):
    """Which X window a widget is in, and how what its toolkit tells becomes display pixels.

    `origin`: where the window's own coordinates begin, to be used instead of what widgets take for display pixels;
    None: they are right, but for `shift`. `clip`: what is shown of it at most. `is_known` False: neither is known, and
    widgets of it have no place.
    """

    window: int = 0
    origin: tuple[int, int] | None = None
    is_known: bool = True
    shift: tuple[int, int] = _NOT_MOVED
    clip: Rect | None = None

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
        told = on_screen if self.origin is None else in_window
        if told is None or not self.is_known:
            return None
        dx, dy = self.origin or self.shift
        box = told.moved(dx, dy)
        return box if self.clip is None else box.intersect(self.clip)

    def told(self, asked: WidgetAnswers) -> Rect | None:
        """Return a widget's box as its toolkit tells it, in the pixels that count here."""
        return asked.on_screen if self.origin is None else asked.in_window


def place_of(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo], *, is_gtk_4: bool
) -> WindowPlace:
    """Return the place of a top-level widget; `own` are the windows of its process, topmost first."""
    window = _matching(name, on_screen, in_window, own)
    if window is None:
        # A menu or tip that no window list names. GTK 4 has no screen coordinates at all; others do.
        return WindowPlace(is_known=not is_gtk_4)
    if on_screen is not None and _agrees(on_screen, window.bounds):
        return WindowPlace(window.window_id)
    if in_window is None:
        return WindowPlace(window.window_id, is_known=False)
    return WindowPlace(window.window_id, _origin(in_window, window.bounds))


def place_inside(
    at: WindowPlace, asked: WidgetAnswers, parent: WidgetAnswers, app: AccessibleApp, popups: Sequence[WindowInfo]
) -> WindowPlace:
    """Return the place of a widget whose `parent` is at `at`. It is another one where a popup window begins, where
    LibreOffice's own widgets begin, or end, and for Qt's rows.

    `popups`: the popup windows of the application, topmost first.
    """
    if app.is_libreoffice:
        at = _in_libreoffice(at, asked, parent)
    if popups and at.is_known:
        at = _in_popup_of_gtk_4(at, asked, parent, popups) if app.is_gtk_4 else _in_popup(at, asked, parent, popups)
    if asked.role in _ROWS and app.is_qt and parent.role in _WITH_ROWS and parent.on_screen is not None:
        # Qt tells rows and cells as large as they would be without an edge.
        clip = parent.on_screen if at.clip is None else parent.on_screen.intersect(at.clip)
        return replace(at, clip=clip or parent.on_screen)
    return at


def is_closed_list(asked: WidgetAnswers, parent: WidgetAnswers, app: AccessibleApp) -> bool:
    """Tell whether a widget is the list of a combo box that is closed: Qt 5 tells it as showing, without a place, and
    its rows where they were, or would be.
    """
    return parent.role == "combo box" and asked.role == "list" and asked.on_screen is None and app.is_qt


# ---- popups --------------------------------------------------------------------------------------------------------


def _in_popup(
    at: WindowPlace, asked: WidgetAnswers, parent: WidgetAnswers, popups: Sequence[WindowInfo]
) -> WindowPlace:
    """A widget in an opener that lies in a popup is in it, and so is what it holds (its `at` is handed down)."""
    may_float = asked.role in _FLOATING or (parent.role in _OPENERS and asked.role not in _IN_OPENER)
    if not may_float or any(one.window_id == at.window for one in popups):
        return at
    box = at.box(asked.on_screen, asked.in_window)
    found = next((one for one in popups if box is not None and _holds(one.bounds, box)), None)
    return at if found is None else replace(at, window=found.window_id, clip=found.bounds)


def _in_popup_of_gtk_4(
    at: WindowPlace, asked: WidgetAnswers, parent: WidgetAnswers, popups: Sequence[WindowInfo]
) -> WindowPlace:
    """GTK 4 tells what is in a popover as if the popover's own window began where the widget begins that opens it.
    What fills such a window, and is a menu or does not fit into what it is in, is a popover.
    """
    own, around = asked.in_window, parent.in_window
    if own is None or around is None or asked.role not in _POPOVERS_OF_GTK_4:
        return at
    if asked.role not in _FLOATING and around.contains(own):
        return at
    in_popup = own.moved(-around.x, -around.y)
    owners = {0, at.window, *(one.owner for one in popups if one.window_id == at.window)}
    others = (one for one in popups if one.owner in owners and one.window_id != at.window)
    found = next((one for one in others if _fills(in_popup, one.bounds)), None)
    if found is None:
        return at
    origin = found.bounds.x - around.x, found.bounds.y - around.y
    return replace(at, window=found.window_id, origin=origin, clip=found.bounds)


def _holds(bounds: Rect, box: Rect) -> bool:
    slack = 2 * _SLACK_PX
    return Rect(bounds.x - _SLACK_PX, bounds.y - _SLACK_PX, bounds.w + slack, bounds.h + slack).contains(box)


def _fills(own: Rect, bounds: Rect) -> bool:
    is_inside = Rect(0, 0, bounds.w, bounds.h).contains(own)
    return is_inside and bounds.w - own.w <= _MARGIN_PX and bounds.h - own.h <= _MARGIN_PX


# ---- LibreOffice ---------------------------------------------------------------------------------------------------


def _in_libreoffice(at: WindowPlace, asked: WidgetAnswers, parent: WidgetAnswers) -> WindowPlace:
    """LibreOffice places its own widgets as if its window had no menu bar of GTK: the root pane is as large as the
    panel that holds it, and as much too high as that bar is high. Widgets of GTK in it are right again.
    """
    own, around = asked.on_screen, parent.on_screen
    if own is None or around is None:
        return at
    if at.shift == _NOT_MOVED:
        is_root = asked.role == "root pane" and _is_size(own, around)
        return replace(at, shift=(around.x - own.x, around.y - own.y)) if is_root else at
    moved = around.moved(*at.shift)
    is_gtk = _is_size(own, moved) and max(abs(own.x - moved.x), abs(own.y - moved.y)) <= _SLACK_PX
    return replace(at, shift=_NOT_MOVED) if is_gtk else at


# ---- top-level windows ---------------------------------------------------------------------------------------------


def _matching(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo]
) -> WindowInfo | None:
    titled = [window for window in own if name and _one_line(window.title) == name]
    agreeing = [w for w in titled or own if on_screen is not None and _agrees(on_screen, w.bounds)]
    if found := next(iter(agreeing or titled), None):
        return found
    mains = [window for window in own if window.kind != "popup"]
    box = on_screen or in_window
    return mains[0] if len(mains) == 1 and box is not None and _is_size(box, mains[0].bounds) else None


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _is_size(box: Rect, bounds: Rect) -> bool:
    return abs(box.w - bounds.w) <= _SLACK_PX and abs(box.h - bounds.h) <= _SLACK_PX


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
