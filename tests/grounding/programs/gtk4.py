"""The GTK 4 screen of the grounding set: `gtk4.py TRUTH settings`. It tells where its keyed widgets are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "4.0")
gi.require_version("GdkX11", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402

keyed: dict[str, Gtk.Widget] = {}
told = Path(sys.argv[1])


def keep(key: str, widget: Gtk.Widget) -> Gtk.Widget:
    keyed[key] = widget
    return widget


def line(text: str, widget: Gtk.Widget) -> Gtk.Box:
    box = Gtk.Box(spacing=12)
    label = Gtk.Label(label=text, xalign=0, hexpand=True)
    box.append(label)
    box.append(widget)
    return box


def show(app: Gtk.Application) -> None:
    window = Gtk.ApplicationWindow(application=app, title="Device Settings")
    window.set_default_size(520, 420)
    body = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
    for key, text in (("wifi", "Wi-Fi"), ("blue", "Bluetooth"), ("plane", "Airplane mode")):
        body.append(line(text, keep(key, Gtk.Switch())))
    body.append(keep("sync", Gtk.CheckButton(label="Synchronise in the background")))
    body.append(keep("verbose", Gtk.CheckButton(label="Verbose logging")))
    body.append(line("Device name", keep("name", Gtk.Entry())))
    body.append(keep("drop", Gtk.DropDown.new_from_strings(["Fast", "Slow"])))
    row = Gtk.Box(spacing=6)
    for key, text in (("reset", "Reset device"), ("reboot", "Reboot"), ("done", "Done")):
        row.append(keep(key, Gtk.Button(label=text)))
    body.append(row)
    window.set_child(body)
    window.present()
    GLib.timeout_add(700, lambda: tell(window))


def tell(window: Gtk.Window) -> bool:
    """Write boxes relative to the window's surface: GTK 4 does not know where that is on the display."""
    dx, dy = window.get_surface_transform()
    boxes = {}
    for key, widget in keyed.items():
        _, bounds = widget.compute_bounds(window)
        boxes[key] = [round(bounds.get_x() + dx), round(bounds.get_y() + dy), round(bounds.get_width()),
                      round(bounds.get_height())]  # fmt: skip
    part = told.with_suffix(".part")
    part.write_text(json.dumps(boxes))
    part.replace(told)
    return False


app = Gtk.Application()
app.connect("activate", show)
app.run([])
