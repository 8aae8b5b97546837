"""A GTK 3 dialog for the system's Python: says on standard output, a JSON object a line, where its parts are and what
was done to them.
"""

import json

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402


def say(**facts):
    print(json.dumps(facts), flush=True)


def place(widget):
    _, x, y = widget.get_window().get_origin()
    box = widget.get_allocation()
    if not widget.get_has_window():
        x, y = x + box.x, y + box.y
    return [x + box.width // 2, y + box.height // 2, box.width, box.height]


window = Gtk.Window(title="gtk dialog")
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
window.add(column)

bar, top, menu, item = Gtk.MenuBar(), Gtk.MenuItem(label="File"), Gtk.Menu(), Gtk.MenuItem(label="Export")
top.set_submenu(menu)
menu.append(item)
bar.append(top)
column.pack_start(bar, False, False, 0)
menu.connect("map", lambda _: GLib.timeout_add(50, lambda: say(item=place(item)) or False))
item.connect("activate", lambda _: say(menu="Export"))

entry = Gtk.Entry()
entry.connect("changed", lambda e: say(text=e.get_text()))
column.pack_start(entry, False, False, 0)

button = Gtk.Button(label="OK")
button.connect("clicked", lambda _: say(clicked="OK"))
column.pack_start(button, False, False, 0)

slider = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
slider.set_draw_value(False)
slider.connect("value-changed", lambda s: say(slider=s.get_value()))
column.pack_start(slider, False, False, 0)

source, target = Gtk.EventBox(), Gtk.EventBox()
source.add(Gtk.Label(label="drag me"))
target.add(Gtk.Label(label="drop here"))
kinds = [Gtk.TargetEntry.new("text/plain", 0, 0)]
source.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, kinds, Gdk.DragAction.COPY)
source.connect("drag-data-get", lambda _w, _c, data, _i, _t: data.set_text("cargo", -1))
target.drag_dest_set(Gtk.DestDefaults.ALL, kinds, Gdk.DragAction.COPY)
target.connect("drag-data-received", lambda _w, _c, _x, _y, data, _i, _t: say(dropped=data.get_text()))
row = Gtk.Box(spacing=40)
row.pack_start(source, True, True, 0)
row.pack_start(target, True, True, 0)
column.pack_start(row, True, True, 10)

parts = {"file": top, "entry": entry, "button": button, "slider": slider, "source": source, "target": target}
window.set_default_size(400, 300)
window.show_all()
window.move(40, 60)
last = []


def tell_places():
    now = {name: place(part) for name, part in parts.items()}
    # The window manager has placed it before it gives it the keyboard.
    if last == [now] and window.is_active():
        say(places=now)
        return False
    last[:] = [now]
    return True


GLib.timeout_add(300, tell_places)
Gtk.main()
