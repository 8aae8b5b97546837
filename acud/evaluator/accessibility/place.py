"""Where widgets are: maps the places that a toolkit reports to display pixels, and to the X window that shows them.

Most toolkits know display pixels, GTK 4 knows only its windows'. Both may count in pixels of a scale of their own: the
X window's size over the toolkit's gives it, and where no scale makes the two fit, the place is unknown. Menus and the
lists of combo boxes are X windows of their own, in which their widgets are children of the widget that opens them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.nodes import PAGES, TEXT_INPUT, AccessibleApp
from acud.evaluator.accessibility.widget import WidgetAnswers
from acud.types import Rect, WindowInfo

_SLACK_PX = 3
_FRAME_PX = 80  # how much a window manager's frame, or a drawn shadow, may add on one side
_NOT_MOVED = (0, 0)
_SCALES = (0.25, 16.0)  # beyond these no program draws
_OPENERS = frozenset({"combo box", "menu", "popup menu", "push button menu", "autocomplete"})
_FLOATING = frozenset({"menu", "popup menu", "tool tip"})
_POPOVERS_OF_GTK_4 = _FLOATING | {"filler", "panel", "grouping", "dialog"}
_MARGIN_PX = 32  # what a theme may leave free around a popover in its own window
_IN_OPENER = frozenset({*TEXT_INPUT, "push button", "toggle button", "label", "image", "icon"})
"""What a combo box itself is made of."""
_ROWS = frozenset({"list item", "table cell", "tree item", "table column header", "table row header"})
_WITH_ROWS = frozenset({"list", "table", "tree", "tree table"})


class WindowPlace(Struct, frozen=True):
    """The X window a widget is in, and how the toolkit's coordinates become display pixels.

    `origin`: where the window's own coordinates begin, to be used instead of what widgets take for display pixels;
    None: they are right, but for `shift`. `clip`: what is shown of it at most. `is_known` False: neither is known, and
    widgets of it have no place. `scale`: display pixels for each pixel of the toolkit.
    """

    window: int = 0
    origin: tuple[int, int] | None = None
    is_known: bool = True
    shift: tuple[int, int] = _NOT_MOVED
    clip: Rect | None = None
    scale: float = 1.0

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
        reported = on_screen if self.origin is None else in_window
        if reported is None or not self.is_known:
            return None
        if self.origin is None:
            box = _scale_box(reported.shift(*self.shift), self.scale)
        else:
            box = _scale_box(reported, self.scale).shift(*self.origin)
        return box if self.clip is None else box.intersect(self.clip)

    def toolkit_box(self, answers: WidgetAnswers) -> Rect | None:
        """Return the box that the widget's toolkit reports, in the coordinates this place uses."""
        return answers.on_screen if self.origin is None else answers.in_window


def place_of(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo], app: AccessibleApp
) -> WindowPlace:
    """Return the place of a top-level widget; `own` are the windows of its process, topmost first."""
    is_whole = app.is_gtk_3 or app.is_gtk_4  # GTK scales by whole numbers only
    window = _find_window(name, on_screen, in_window, own, is_whole=is_whole)
    if window is None:
        # A menu or tip that no window list names. GTK 4 has no screen coordinates at all; others do.
        return WindowPlace(is_known=not (app.is_gtk_4 or own))
    if on_screen is not None and (scale := _screen_scale(on_screen, window, is_whole=is_whole)):
        return WindowPlace(window.window_id, scale=scale)
    if in_window is not None and (scale := _window_scale(in_window, window, is_whole=is_whole)):
        return WindowPlace(window.window_id, _find_origin(_scale_box(in_window, scale), window.bounds), scale=scale)
    return WindowPlace(window.window_id, is_known=False)


def place_inside(
    parent_place: WindowPlace,
    widget: WidgetAnswers,
    parent: WidgetAnswers,
    app: AccessibleApp,
    popups: Sequence[WindowInfo],
) -> WindowPlace:
    """Return the place of a widget. It is that of its parent, but where a popup window or a page begins, where
    LibreOffice's own widgets begin or end, and for Qt's rows.

    `popups`: the popup windows of the application, topmost first.
    """
    place = _correct_for_libreoffice(parent_place, widget, parent) if app.is_libreoffice else parent_place
    if widget.role in PAGES:
        place = _correct_for_page(place, widget, parent)
    if popups and place.is_known:
        move = _move_into_popover_of_gtk_4 if app.is_gtk_4 else _move_into_popup
        place = move(place, widget, parent, popups)
    if widget.role in _ROWS and app.is_qt and parent.role in _WITH_ROWS and parent.on_screen is not None:
        # Qt reports rows and cells as large as they would be without an edge.
        around = replace(place, clip=None).box(parent.on_screen, parent.in_window)
        clip = around if around is None or place.clip is None else around.intersect(place.clip)
        return replace(place, clip=clip or around)
    return place


def is_closed_list(widget: WidgetAnswers, parent: WidgetAnswers, app: AccessibleApp) -> bool:
    """Return whether a widget is the list of a closed combo box: Qt 5 reports it as showing, without a place, and its
    rows where they were, or would be.
    """
    return parent.role == "combo box" and widget.role == "list" and widget.on_screen is None and app.is_qt


# ---- popups --------------------------------------------------------------------------------------------------------


def _move_into_popup(
    place: WindowPlace, widget: WidgetAnswers, parent: WidgetAnswers, popups: Sequence[WindowInfo]
) -> WindowPlace:
    """Return the place with the popup's window and clip, if the widget floats and its box lies in a popup; else return
    the place unchanged. The widget's children start from the place returned.
    """
    may_float = widget.role in _FLOATING or (parent.role in _OPENERS and widget.role not in _IN_OPENER)
    if not may_float or any(one.window_id == place.window for one in popups):
        return place
    box = place.box(widget.on_screen, widget.in_window)
    found = next((one for one in popups if box is not None and _contains_nearly(one.bounds, box)), None)
    return place if found is None else replace(place, window=found.window_id, clip=found.bounds)


def _move_into_popover_of_gtk_4(
    place: WindowPlace, widget: WidgetAnswers, parent: WidgetAnswers, popups: Sequence[WindowInfo]
) -> WindowPlace:
    """GTK 4 reports widgets in a popover as if the popover's window began where the widget that opens it begins.
    A widget that fills such a window, and is a menu or does not fit into its parent, is a popover.
    """
    own, around = widget.in_window, parent.in_window
    if own is None or around is None or widget.role not in _POPOVERS_OF_GTK_4:
        return place
    if widget.role not in _FLOATING and around.contains(own):
        return place
    in_popup = _scale_box(own.shift(-around.x, -around.y), place.scale)
    owners = {0, place.window, *(one.owner for one in popups if one.window_id == place.window)}
    others = (one for one in popups if one.owner in owners and one.window_id != place.window)
    found = next((one for one in others if _fills_bounds(in_popup, one.bounds)), None)
    if found is None:
        return place
    origin = round(found.bounds.x - around.x * place.scale), round(found.bounds.y - around.y * place.scale)
    return replace(place, window=found.window_id, origin=origin, clip=found.bounds)


def _contains_nearly(bounds: Rect, box: Rect) -> bool:
    slack = 2 * _SLACK_PX
    return Rect(bounds.x - _SLACK_PX, bounds.y - _SLACK_PX, bounds.w + slack, bounds.h + slack).contains(box)


def _fills_bounds(own: Rect, bounds: Rect) -> bool:
    is_inside = Rect(0, 0, bounds.w, bounds.h).contains(own)
    return is_inside and bounds.w - own.w <= _MARGIN_PX and bounds.h - own.h <= _MARGIN_PX


def _correct_for_page(place: WindowPlace, widget: WidgetAnswers, parent: WidgetAnswers) -> WindowPlace:
    """Chromium counts its own widgets in scaled pixels, and those of its pages in display pixels: a page that is larger
    than what holds it is not scaled, or, where it does not fit so either, unknown.
    """
    around = place.box(parent.on_screen, parent.in_window)
    box = place.box(widget.on_screen, widget.in_window)
    if place.scale == 1.0 or around is None or box is None or _contains_nearly(around, box):
        return place
    plain = replace(place, scale=1.0)
    own = plain.box(widget.on_screen, widget.in_window)
    return plain if own is not None and _contains_nearly(around, own) else replace(place, is_known=False)


# ---- LibreOffice ---------------------------------------------------------------------------------------------------


def _correct_for_libreoffice(place: WindowPlace, widget: WidgetAnswers, parent: WidgetAnswers) -> WindowPlace:
    """LibreOffice places its own widgets as if its window had no menu bar of GTK: the root pane is as large as the
    panel that holds it, and as much too high as that bar is high. Widgets of GTK in it are right again.
    """
    own, around = widget.on_screen, parent.on_screen
    if own is None or around is None:
        return place
    if place.shift == _NOT_MOVED:
        is_root = widget.role == "root pane" and _has_size_of(own, around)
        return replace(place, shift=(around.x - own.x, around.y - own.y)) if is_root else place
    moved = around.shift(*place.shift)
    is_gtk = _has_size_of(own, moved) and max(abs(own.x - moved.x), abs(own.y - moved.y)) <= _SLACK_PX
    return replace(place, shift=_NOT_MOVED) if is_gtk else place


# ---- top-level windows ---------------------------------------------------------------------------------------------


def _find_window(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo], *, is_whole: bool
) -> WindowInfo | None:
    titled = [window for window in own if name and " ".join(window.title.split()) == name]
    agreeing = [w for w in titled or own if on_screen is not None and _screen_scale(on_screen, w, is_whole=is_whole)]
    if found := next(iter(agreeing or titled), None):
        return found
    mains = [window for window in own if window.kind != "popup"]
    box = on_screen or in_window
    fits = len(mains) == 1 and box is not None and _size_scale(box, mains[0], is_whole=is_whole)
    return mains[0] if fits else None


def _has_size_of(box: Rect, bounds: Rect) -> bool:
    return abs(box.w - bounds.w) <= _SLACK_PX and abs(box.h - bounds.h) <= _SLACK_PX


def _screen_scale(box: Rect, window: WindowInfo, *, is_whole: bool) -> float:
    """Return the scale at which a top-level's own box is where its window is; 0.0: it is not."""
    if _has_bounds(box, window.bounds) and _size_scale(box, window, is_whole=is_whole) in (0.0, 1.0):
        return 1.0
    for outer in (window.outside, window.bounds):
        scale = _ratio_of(box, outer, is_whole=is_whole)
        there = _scale_box(box, scale)
        if scale and max(abs(there.x - outer.x), abs(there.y - outer.y)) <= _SLACK_PX * max(scale, 1.0):
            return scale
    if _has_bounds(box, window.bounds):
        return 1.0
    return next((float(n) for n in (2, 3) if is_whole and _has_bounds(_scale_box(box, n), window.bounds, n)), 0.0)


def _window_scale(box: Rect, window: WindowInfo, *, is_whole: bool) -> float:
    """Return the scale at which a top-level's own box fills its window, or leaves room for drawn shadows; 0.0: none."""
    if scale := _size_scale(box, window, is_whole=is_whole):
        return scale
    bounds = window.bounds

    def has_room(scale: int) -> bool:
        spare = bounds.w - box.w * scale, bounds.h - box.h * scale
        return -_SLACK_PX * scale <= min(spare) and max(spare) <= 2 * _FRAME_PX * scale

    return next((float(n) for n in (1, 2, 3) if has_room(n)), 0.0)


def _size_scale(box: Rect, window: WindowInfo, *, is_whole: bool) -> float:
    return _ratio_of(box, window.bounds, is_whole=is_whole) or _ratio_of(box, window.outside, is_whole=is_whole)


def _ratio_of(box: Rect, real: Rect, *, is_whole: bool) -> float:
    """Return how much larger `real` is than `box` in both directions, 0.0 where they differ."""
    if _has_size_of(box, real):
        return 1.0
    found = real.w / box.w if box.w >= box.h else real.h / box.h
    rounded = round(found) if is_whole else round(found * 20) / 20
    error = _SLACK_PX * max(found, 1.0)
    scale = next(
        (s for s in ((rounded,) if is_whole else (rounded, found))
         if max(abs(box.w * s - real.w), abs(box.h * s - real.h)) <= error),
        0.0,
    )  # fmt: skip
    return float(scale) if _SCALES[0] <= scale <= _SCALES[1] else 0.0


def _scale_box(box: Rect, scale: float) -> Rect:
    if scale == 1.0:
        return box
    x, y = round(box.x * scale), round(box.y * scale)
    return Rect(x, y, round(box.right * scale) - x, round(box.bottom * scale) - y)


def _has_bounds(box: Rect, bounds: Rect, scale: float = 1.0) -> bool:
    """Return whether a top-level's own box is that client area, or its frame, or lies inside it (drawn shadows)."""
    sides = (bounds.x - box.x, bounds.y - box.y, box.right - bounds.right, box.bottom - bounds.bottom)
    frame, slack = _FRAME_PX * scale, _SLACK_PX * scale
    return all(-frame <= side <= frame for side in sides) and (min(sides) >= -slack or max(sides) <= slack)


def _find_origin(in_window: Rect, bounds: Rect) -> tuple[int, int]:
    """Return where window coordinates begin: at the client area, or, with a frame counted, above and left of it."""
    spare_x, spare_y = (bounds.w - in_window.w) // 2, (bounds.h - in_window.h) // 2
    return bounds.x + max(spare_x, 0), bounds.y + max(spare_y, 0)
