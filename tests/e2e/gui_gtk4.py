"""A GTK 4 window with lists and menus that open in popovers; a line tells what was chosen."""

from __future__ import annotations

import time
from typing import Any

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, Gtk  # noqa: E402 - the version has to be named first

COLOURS = ("Green", "Red", "Blue", "Amber", "Violet")
COUNTRIES = tuple(f"Country {number}" for number in range(1, 41))


def drop_down(said: Gtk.Label, label: str, options: tuple[str, ...]) -> Gtk.DropDown:
    made = Gtk.DropDown.new_from_strings(options)
    made.connect("notify::selected", lambda *_: said.set_text(f"{label} is {made.get_selected_item().get_string()}"))
    return made


def busy(*_: object) -> None:
    """Show nothing new for a while, on a display where what was done before shows."""
    Gdk.Display.get_default().sync()
    time.sleep(2.5)  # longer than it is waited for that a program tells what it shows


def menu_button(app: Gtk.Application, said: Gtk.Label) -> Gtk.MenuButton:
    menu, more = Gio.Menu(), Gio.Menu()
    for label, where in (("Print", menu), ("Archive", menu), ("Compress", more), ("Encrypt", more)):
        action = Gio.SimpleAction(name=label.lower())
        action.connect("activate", lambda *_, label=label: said.set_text(f"{label} was chosen"))
        app.add_action(action)
        where.append(label, f"app.{label.lower()}")
    menu.append_submenu("More", more)
    return Gtk.MenuButton(label="File menu", menu_model=menu)


def show(app: Gtk.Application) -> None:
    window = Gtk.ApplicationWindow(application=app, title="Choices")
    window.set_default_size(420, 360)
    grid = Gtk.Grid(row_spacing=10, column_spacing=14, margin_top=16, margin_start=24)
    said = Gtk.Label(label="nothing was chosen")
    size = Gtk.ComboBoxText()
    for text in ("Small", "Medium", "Large"):
        size.append_text(text)
    size.set_active(0)
    size.connect("changed", lambda box: said.set_text(f"Size is {box.get_active_text()}"))
    mood = drop_down(said, "Mood", ("Merry", "Gloomy"))
    mood.connect("notify::selected", busy)
    pace = drop_down(said, "Pace", ("Fast", "Slow"))
    pace.connect("notify::selected", lambda *_: time.sleep(2.5))
    rows: tuple[tuple[str, Any], ...] = (
        ("Colour", drop_down(said, "Colour", COLOURS)), ("Land", drop_down(said, "Land", COUNTRIES)), ("Size", size),
        ("Mood", mood), ("Pace", pace),
    )  # fmt: skip
    for row, (label, widget) in enumerate(rows):
        grid.attach(Gtk.Label(label=label, xalign=0), 0, row, 1, 1)
        grid.attach(widget, 1, row, 1, 1)
    grid.attach(menu_button(app, said), 0, len(rows), 1, 1)
    grid.attach(said, 0, len(rows) + 1, 2, 1)
    window.set_child(grid)
    window.present()


app = Gtk.Application()
app.connect("activate", show)
app.run([])
