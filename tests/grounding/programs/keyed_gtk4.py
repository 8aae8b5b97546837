"""GTK 4 widgets by key, for programs of the grounding set's halves: `PROGRAM TRUTH SCREEN`, one window.

Boxes are relative to the window's surface: GTK 4 does not know where that is on the display.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import gi

gi.require_version("Gtk", "4.0")
gi.require_version("GdkX11", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402
from truth_file import EVERY_MS, Boxes, TruthFile  # noqa: E402

VERTICAL, HORIZONTAL = Gtk.Orientation.VERTICAL, Gtk.Orientation.HORIZONTAL
keyed: dict[str, Gtk.Widget] = {}


def keep(key: str, widget: Gtk.Widget) -> Gtk.Widget:
    keyed[key] = widget
    return widget


def box(*widgets: Gtk.Widget, across: bool = True, spacing: int = 8) -> Gtk.Box:
    made = Gtk.Box(orientation=HORIZONTAL if across else VERTICAL, spacing=spacing)
    for widget in widgets:
        made.append(widget)
    return made


def icon_button(key: str, icon: str, tip: str = "", name: str = "") -> Gtk.Button:
    """Return a button that shows only an icon: `tip` and `name` (for accessibility) may both be ""."""
    made = Gtk.Button(icon_name=icon, valign=Gtk.Align.CENTER)
    if tip:
        made.set_tooltip_text(tip)
    if name:
        made.update_property([Gtk.AccessibleProperty.LABEL], [name])
    return keep(key, made)


def run(screens: dict[str, Callable[[Gtk.ApplicationWindow], None]]) -> None:
    """Show the screen that the command line names, and tell where its widgets are."""
    app = Gtk.Application()
    app.connect("activate", _show, screens[sys.argv[2]])
    app.run([])


def _show(app: Gtk.Application, fill: Callable[[Gtk.ApplicationWindow], None]) -> None:
    window = Gtk.ApplicationWindow(application=app)
    fill(window)
    window.present()
    GLib.timeout_add(EVERY_MS, TruthFile(lambda: _boxes(window)).tell)


def _boxes(window: Gtk.Window) -> Boxes | None:
    if window.get_surface() is None or window.get_width() == 0:
        return None
    dx, dy = window.get_surface_transform()
    found = {}
    for key, widget in keyed.items():
        _, area = widget.compute_bounds(window)
        found[key] = [round(area.get_x() + dx), round(area.get_y() + dy), round(area.get_width()),
                      round(area.get_height())]  # fmt: skip
    return found
