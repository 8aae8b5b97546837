"""A window that changes one thing each time it gets SIGUSR2: `changing.py TRUTH gtk3|gtk4|PyQt5|PyQt6`.

The steps are 1 rename, 2 check, 3 insert above all others, 4 remove, 5 type, 6 disable, 7 scroll to the end, 8 open a
second window, 9 close it. TRUTH tells the boxes of keyed widgets (`gtk4`: in window pixels), and the step in `step`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

told, kind = Path(sys.argv[1]), sys.argv[2]
done = 0
keyed: dict[str, Any] = {}
ROWS = 20


def tell(box: Callable[[Any], list[int]]) -> None:
    boxes = {key: box(widget) for key, widget in keyed.items()} | {"step": [done, 0, 0, 0]}
    part = told.with_suffix(".part")
    part.write_text(json.dumps(boxes))
    part.replace(told)


def gtk(version: str) -> None:
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    three = version == "3.0"
    loop = GLib.MainLoop()
    window = Gtk.Window(title="Changing")
    window.set_default_size(300, 300)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    (window.add if three else window.set_child)(box)
    add = box.add if three else box.append
    made = {"label": Gtk.Label(label="Before"), "check": Gtk.CheckButton(label="Choose"), "entry": Gtk.Entry()}
    made["button"] = Gtk.Button(label="Press")
    keyed.update(made)
    for one in made.values():
        add(one)
    scroll = Gtk.ScrolledWindow(min_content_height=100)
    inner = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    (scroll.add if three else scroll.set_child)(inner)
    for number in range(ROWS):
        (inner.add if three else inner.append)(Gtk.Button(label=f"Row {number}"))
    add(scroll)
    more: list[Any] = []

    def insert() -> None:
        more.append(Gtk.Button(label="Inserted"))
        if three:
            box.pack_start(more[0], False, False, 0)
            box.reorder_child(more[0], 0)
            more[0].show()
        else:
            box.prepend(more[0])

    def second() -> None:
        other = Gtk.Window(title="Second")
        other.set_default_size(150, 100)
        (other.add if three else other.set_child)(Gtk.Button(label="Inside"))
        more.append(other)
        (other.show_all if three else other.present)()

    def scrolled() -> None:
        adjustment = scroll.get_vadjustment()
        adjustment.set_value(adjustment.get_upper())

    steps = [
        lambda: made["label"].set_text("After"),
        lambda: made["check"].set_active(True),
        insert,
        lambda: box.remove(more.pop()),
        lambda: made["entry"].set_text("typed"),
        lambda: made["button"].set_sensitive(False),
        scrolled,
        second,
        lambda: more.pop().destroy(),
    ]

    def where(widget: Any) -> list[int]:
        x, y = widget.translate_coordinates(window, 0, 0)[-2:]
        _, x0, y0 = window.get_window().get_origin() if three else (0, 0, 0)
        return [int(x0 + x), int(y0 + y), widget.get_allocated_width(), widget.get_allocated_height()]

    def report() -> bool:
        if window.get_mapped():
            tell(where)
        return True

    def step() -> bool:
        global done
        steps[done]()
        done += 1
        return True

    if three:
        window.move(60, 50)
        window.show_all()
    else:
        window.present()
    GLib.timeout_add(100, report)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR2, step)
    loop.run()


def qt() -> None:
    import importlib

    widgets: Any = importlib.import_module(f"{kind}.QtWidgets")
    core: Any = importlib.import_module(f"{kind}.QtCore")
    app = widgets.QApplication(["changing"])
    window = widgets.QWidget()
    window.setWindowTitle("Changing")
    window.move(60, 50)
    layout = widgets.QVBoxLayout(window)
    made = {"label": widgets.QLabel("Before"), "check": widgets.QCheckBox("Choose"), "entry": widgets.QLineEdit()}
    made["button"] = widgets.QPushButton("Press")
    keyed.update(made)
    for one in made.values():
        layout.addWidget(one)
    scroll = widgets.QScrollArea()
    inner = widgets.QWidget()
    rows = widgets.QVBoxLayout(inner)
    for number in range(ROWS):
        rows.addWidget(widgets.QPushButton(f"Row {number}"))
    scroll.setWidget(inner)
    scroll.setFixedHeight(120)
    layout.addWidget(scroll)
    more: list[Any] = []
    pending: list[int] = []

    def insert() -> None:
        more.append(widgets.QPushButton("Inserted"))
        layout.insertWidget(0, more[0])

    def remove() -> None:
        layout.removeWidget(more[0])
        more.pop().deleteLater()

    def second() -> None:
        other = widgets.QWidget()
        other.setWindowTitle("Second")
        widgets.QVBoxLayout(other).addWidget(widgets.QPushButton("Inside"))
        more.append(other)
        other.show()

    steps = [
        lambda: made["label"].setText("After"),
        lambda: made["check"].setChecked(True),
        insert,
        remove,
        lambda: made["entry"].setText("typed"),
        lambda: made["button"].setEnabled(False),
        lambda: scroll.verticalScrollBar().setValue(scroll.verticalScrollBar().maximum()),
        second,
        lambda: more.pop().close(),
    ]

    def where(widget: Any) -> list[int]:
        place = widget.mapToGlobal(widget.rect().topLeft())
        return [place.x(), place.y(), widget.width(), widget.height()]

    def turn() -> None:
        global done
        if pending:
            pending.pop()
            steps[done]()
            done += 1
        tell(where)

    signal.signal(signal.SIGUSR2, lambda *_: pending.append(1))
    timer = core.QTimer()
    timer.timeout.connect(turn)
    timer.start(100)
    window.show()
    os._exit((app.exec_ if hasattr(app, "exec_") else app.exec)())


if kind in ("gtk3", "gtk4"):
    gtk(f"{kind[3:]}.0")
else:
    qt()
