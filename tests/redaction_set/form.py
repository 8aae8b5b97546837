"""Shows a form of the redaction set in GTK 3; run by the system's own Python. `form.py TRUTH.json FORM.json`.

FORM.json: `title`, `form` (lines, left, above, table), `px`, `dark`, `rows` of [text, is it a field]. Once the window
stands, it writes into TRUTH.json where each character of each cell is: a list per cell of [x, y, w, h] in display
pixels, by the layouts that the toolkit draws.
"""

import json
import sys
from pathlib import Path

import gi

gi.require_version("Atk", "1.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Atk, GLib, Gtk, Pango  # noqa: E402 - after the version

TRUTH, SOURCE = (Path(argument) for argument in sys.argv[1:3])
SETTLE_MS = 400


def place(layout, text, x, y):
    boxes, at = [], 0
    for character in text:
        found = layout.index_to_pos(at)
        boxes.append([x + found.x / Pango.SCALE, y + found.y / Pango.SCALE,
                      abs(found.width) / Pango.SCALE, found.height / Pango.SCALE])  # fmt: skip
        at += len(character.encode())
    return boxes


def of_widget(widget, text, origin):
    x, y = widget.get_layout_offsets()
    if isinstance(widget, Gtk.Entry):
        left, top = widget.translate_coordinates(widget.get_toplevel(), 0, 0)
        x, y = x + left, y + top
    return place(widget.get_layout(), text, origin[0] + x, origin[1] + y)


def of_tree(tree, row, column, text, origin):
    area = tree.get_cell_area(Gtk.TreePath(row), tree.get_column(column))
    layout = tree.create_pango_layout(text)
    renderer = tree.get_column(column).get_cells()[0]
    left, top = tree.convert_bin_window_to_widget_coords(area.x, area.y)
    left, top = tree.translate_coordinates(tree.get_toplevel(), left, top)
    height = layout.get_pixel_size().height
    return place(layout, text, origin[0] + left + renderer.get_padding()[0],
                 origin[1] + top + (area.height - height) / 2)  # fmt: skip


def main():
    form = json.loads(SOURCE.read_text(encoding="utf-8"))
    settings = Gtk.Settings.get_default()
    settings.set_property("gtk-cursor-blink", False)
    settings.set_property("gtk-font-name", f"DejaVu Sans {form['px'] * 0.75}")
    settings.set_property("gtk-application-prefer-dark-theme", form["dark"])
    window = Gtk.Window(title=form["title"])
    shown = []
    if form["form"] == "table":
        heads, *rows = form["rows"]
        store = Gtk.ListStore(*[str] * len(heads))
        for row in rows:
            store.append([text for text, _ in row])
        tree = Gtk.TreeView(model=store)
        for number, (head, _) in enumerate(heads):
            label = Gtk.Label(label=head, visible=True)
            column = Gtk.TreeViewColumn(head, Gtk.CellRendererText(), text=number)
            column.set_widget(label)
            tree.append_column(column)
            shown.append((label, head))
        tree.get_selection().set_mode(Gtk.SelectionMode.NONE)
        window.add(tree)
    else:
        grid = Gtk.Grid(column_spacing=12, row_spacing=6, margin=14)
        for number, row in enumerate(form["rows"]):
            before = None
            for column, (text, is_field) in enumerate(row):
                cell = Gtk.Entry(text=text, width_chars=len(text) + 4) if is_field else Gtk.Label(label=text, xalign=0)
                if isinstance(before, Gtk.Label) and is_field:
                    before.set_mnemonic_widget(cell)
                    before.get_accessible().add_relationship(Atk.RelationType.LABEL_FOR, cell.get_accessible())
                cell.set_halign(Gtk.Align.START)
                before = cell
                at = (0, 2 * number + column) if form["form"] == "above" else (column, number)
                wide = 4 if len(row) == 1 and form["form"] == "left" else 1
                grid.attach(cell, *at, wide, 1)
                shown.append((cell, text))
        window.add(grid)
    window.show_all()
    window.move(60, 60)

    def tell():
        origin = window.get_window().get_origin()[1:]
        boxes = [of_widget(widget, text, origin) for widget, text in shown]
        if form["form"] == "table":
            boxes += [
                of_tree(tree, y, x, text, origin) for y, row in enumerate(rows) for x, (text, _) in enumerate(row)
            ]
        fresh = TRUTH.with_suffix(".new")
        fresh.write_text(json.dumps(boxes), encoding="utf-8")
        fresh.replace(TRUTH)

    GLib.timeout_add(SETTLE_MS, tell)
    Gtk.main()


main()
