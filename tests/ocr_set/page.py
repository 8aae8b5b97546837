"""Shows a page of the OCR set in a real toolkit; run by the system's own Python. `page.py gtk3|gtk4|qt PAGE.json`.

PAGE.json: `title`, `rows` (lists of cells), `form` (lines, table, sheet, widgets), `px`, `ink`, `paper`, `family`,
`disabled`, `width`, `height`. Prints nothing: whoever grabs the screen waits until it stands still.
"""

import json
import sys
from pathlib import Path


def css(page):
    return (
        f"* {{ font-family: '{page['family']}'; font-size: {page['px']}px; }}"
        f"window, treeview, treeview.view, label, checkbutton {{ background: {page['paper']}; color: {page['ink']}; }}"
    )


def show_gtk3(page):
    import gi

    gi.require_version("Gtk", "3.0")
    gi.require_version("Gdk", "3.0")
    from gi.repository import Gdk, Gtk

    provider = Gtk.CssProvider()
    provider.load_from_data(css({**page, "ink": page["ink"]}).encode())
    Gtk.StyleContext.add_provider_for_screen(
        Gdk.Screen.get_default(), provider, 0 if page["disabled"] else Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION
    )
    window = Gtk.Window(title=page["title"], default_width=page["width"], default_height=page["height"])
    if page["form"] in ("table", "sheet"):
        store = Gtk.ListStore(*[str] * len(page["rows"][0]))
        for row in page["rows"][1:]:
            store.append(row)
        tree = Gtk.TreeView(model=store, enable_grid_lines=Gtk.TreeViewGridLines.BOTH)
        for place, head in enumerate(page["rows"][0]):
            cell = Gtk.CellRendererText()
            if page["form"] == "sheet":
                cell.set_padding(1, 0)
            tree.append_column(Gtk.TreeViewColumn(head, cell, text=place))
        window.add(tree)
    else:
        grid = Gtk.Grid(column_spacing=16, row_spacing=4, margin=10)
        for y, row in enumerate(page["rows"]):
            for x, text in enumerate(row):
                widget = _widget(Gtk, page["form"], x, text)
                widget.set_sensitive(not page["disabled"])
                widget.set_halign(Gtk.Align.START)
                grid.attach(widget, x, y, 1, 1)
        window.add(grid)
    Gtk.Settings.get_default().set_property("gtk-cursor-blink", False)
    window.show_all()
    Gtk.main()


def _widget(Gtk, form, column, text):
    if form == "lines" or column == 0:
        return Gtk.Label(label=text)
    if column == 1:
        return Gtk.Button(label=text)
    if column == 2:
        return Gtk.CheckButton(label=text)
    return Gtk.Entry(text=text)


def show_gtk4(page):
    import gi

    gi.require_version("Gtk", "4.0")
    gi.require_version("Gdk", "4.0")
    from gi.repository import Gdk, GLib, Gtk

    provider = Gtk.CssProvider()
    provider.load_from_data(css(page).encode())
    Gtk.init()
    Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), provider, 600)
    window = Gtk.Window(title=page["title"], default_width=page["width"], default_height=page["height"])
    grid = Gtk.Grid(column_spacing=16, row_spacing=4, margin_start=10, margin_top=10)
    for y, row in enumerate(page["rows"]):
        for x, text in enumerate(row):
            widget = _widget(Gtk, page["form"], x, text)
            widget.set_sensitive(not page["disabled"])
            widget.set_halign(Gtk.Align.START)
            grid.attach(widget, x, y, 1, 1)
    Gtk.Settings.get_default().set_property("gtk-cursor-blink", False)
    window.set_child(grid)
    window.present()
    GLib.MainLoop().run()


def show_qt(page):
    try:
        from PyQt6 import QtGui, QtWidgets
    except ImportError:
        from PyQt5 import QtGui, QtWidgets

    app = QtWidgets.QApplication([])
    font = QtGui.QFont(page["family"])
    font.setPixelSize(page["px"])
    app.setFont(font)
    app.setStyle("Fusion")
    if page["ink"] != "#000000":
        app.setStyleSheet(f"* {{ background-color: {page['paper']}; color: {page['ink']}; }}")
    app.setCursorFlashTime(0)
    window = QtWidgets.QWidget()
    window.setWindowTitle(page["title"])
    window.resize(page["width"], page["height"])
    layout = QtWidgets.QGridLayout(window)
    if page["form"] in ("table", "sheet"):
        rows = page["rows"]
        table = QtWidgets.QTableWidget(len(rows) - 1, len(rows[0]))
        table.setHorizontalHeaderLabels(rows[0])
        table.verticalHeader().hide()
        for y, row in enumerate(rows[1:]):
            for x, text in enumerate(row):
                table.setItem(y, x, QtWidgets.QTableWidgetItem(text))
        table.resizeColumnsToContents()
        if page["form"] == "sheet":
            table.resizeRowsToContents()
        layout.addWidget(table)
    else:
        kinds = [QtWidgets.QLabel, QtWidgets.QPushButton, QtWidgets.QCheckBox, QtWidgets.QLineEdit]
        for y, row in enumerate(page["rows"]):
            for x, text in enumerate(row):
                kind = kinds[0] if page["form"] == "lines" else kinds[min(x, 3)]
                widget = kind(text)
                widget.setEnabled(not page["disabled"])
                layout.addWidget(widget, y, x)
    window.show()
    app.exec()


if __name__ == "__main__":
    {"gtk3": show_gtk3, "gtk4": show_gtk4, "qt": show_qt}[sys.argv[1]](json.loads(Path(sys.argv[2]).read_text()))
