"""GTK 3 fields that tell little of themselves: `fields_gtk3.py TRUTH`. It tells where they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Atk, GLib, Gtk  # noqa: E402

told = Path(sys.argv[1])
window = Gtk.Window(title="Fields of GTK 3")
window.set_default_size(420, 260)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
window.add(box)
keyed: dict[str, Gtk.Widget] = {
    "orders": Gtk.Entry(placeholder_text="Search orders"),
    "rows": Gtk.Entry(placeholder_text="Filter rows", text="paid"),
    "odd": Gtk.Entry(text="in a panel", placeholder_text="Odd words"),
    "words": Gtk.Label(label="Words that nobody edits", selectable=True),
}
for widget in keyed.values():
    box.add(widget)
keyed["odd"].get_accessible().set_role(Atk.Role.PANEL)


def tell() -> bool:
    _, x0, y0 = window.get_window().get_origin()
    boxes = {}
    for key, widget in keyed.items():
        x, y = widget.translate_coordinates(window, 0, 0)
        size = widget.get_allocation()
        boxes[key] = [x0 + x, y0 + y, size.width, size.height]
    part = told.with_suffix(".part")
    part.write_text(json.dumps(boxes))
    part.replace(told)
    return False


window.show_all()
GLib.timeout_add(700, tell)
Gtk.main()
