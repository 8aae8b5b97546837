"""A combo box and a list of thousands, scrolled: `lists.py TRUTH gtk3|gtk4|PyQt5|PyQt6 X Y`.

It tells which entry is chosen (`chosen`: its number comes first), and where rows are that can be seen (`row-503`, of a
table `row-503-2`). GTK 4 has the combo box alone.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

told, kind, left, top = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
COLOURS = ("Red", "Green", "Blue", "Violet", "Amber")
TITLE = f"Lists {kind}"
ROWS, COLUMNS, FIRST = 2500, 20, 500
WIDTH, HEIGHT = 420, 330


def tell(chosen: int, boxes: dict[str, list[int]]) -> None:
    part = told.with_suffix(".part")
    part.write_text(json.dumps({"chosen": [chosen, 0, 0, 0], **boxes}))
    part.replace(told)


def gtk3() -> None:
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import GLib, Gtk

    window = Gtk.Window(title=TITLE)
    window.set_default_size(WIDTH, HEIGHT)
    window.move(left, top)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    window.add(box)
    colours = Gtk.ComboBoxText()
    for name in COLOURS:
        colours.append_text(name)
    colours.set_active(0)
    rows = Gtk.ListBox()
    buttons = [Gtk.Button(label=f"Row {number}") for number in range(ROWS)]
    for button in buttons:
        rows.add(button)
    scroll = Gtk.ScrolledWindow()
    scroll.add(rows)
    box.pack_start(colours, False, False, 0)
    box.pack_start(scroll, True, True, 0)
    window.show_all()
    height = 0

    def told_now() -> bool:
        nonlocal height
        allocated = buttons[1].get_parent().get_allocated_height()
        if allocated < 10 or window.get_window() is None:
            return True
        if height != allocated:  # laid out anew
            height = allocated
            scroll.get_vadjustment().set_value(FIRST * height)
            return True
        _, x0, y0 = window.get_window().get_origin()
        boxes = {}
        for number in range(FIRST + 1, FIRST + 5):
            x, y = buttons[number].translate_coordinates(window, 0, 0)
            size = buttons[number].get_allocation()
            boxes[f"row-{number}"] = [x0 + x, y0 + y, size.width, size.height]
        tell(colours.get_active(), boxes)
        return True

    GLib.timeout_add(200, told_now)
    Gtk.main()


def gtk4() -> None:
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk

    app = Gtk.Application()

    def show(_: Any) -> None:
        window = Gtk.ApplicationWindow(application=app, title=TITLE)
        window.set_default_size(WIDTH, HEIGHT)
        colours = Gtk.DropDown.new_from_strings(COLOURS)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        box.append(colours)
        window.set_child(box)
        window.present()
        GLib.timeout_add(200, lambda: tell(colours.get_selected(), {}) or True)

    app.connect("activate", show)
    app.run([])


def qt() -> None:
    widgets: Any = importlib.import_module(f"{kind}.QtWidgets")
    core: Any = importlib.import_module(f"{kind}.QtCore")
    app = widgets.QApplication(["acud-lists"])
    window = widgets.QWidget()
    window.setWindowTitle(TITLE)
    box = widgets.QVBoxLayout(window)
    colours = widgets.QComboBox()
    colours.addItems(COLOURS)
    colours.setMaximumWidth(90)  # its rows are told to be wider than the popup
    colours.view().setMinimumWidth(80)
    table = widgets.QTableWidget(ROWS, COLUMNS)
    for row in range(FIRST, FIRST + 20):
        for column in range(COLUMNS):
            table.setItem(row, column, widgets.QTableWidgetItem(f"R{row} C{column}"))
    box.addWidget(colours)
    box.addWidget(table)
    window.resize(WIDTH, HEIGHT)
    window.move(left, top)
    window.show()
    at_top: Any = widgets.QAbstractItemView.ScrollHint.PositionAtTop
    core.QTimer.singleShot(100, lambda: table.scrollTo(table.model().index(FIRST, 3), at_top))

    def cell(row: int, column: int) -> list[int]:
        rect = table.visualRect(table.model().index(row, column))
        place = table.viewport().mapToGlobal(rect.topLeft())
        return [place.x(), place.y(), rect.width(), rect.height()]

    def told_now() -> None:
        shown = [(row, column) for row in range(FIRST, FIRST + 3) for column in (2, 3)]
        tell(colours.currentIndex(), {f"row-{row}-{column}": cell(row, column) for row, column in shown})

    timer = core.QTimer()
    timer.timeout.connect(told_now)
    core.QTimer.singleShot(500, lambda: timer.start(200))
    run: Callable[[], int] = getattr(app, "exec", None) or app.exec_
    run()


{"gtk3": gtk3, "gtk4": gtk4}.get(kind, qt)()
