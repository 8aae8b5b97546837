"""A form in a toolkit of one's choice, whose state is kept in a file: run by a system Python.

`form.py TOOLKIT above|beside FILE KIND:LABEL[=VALUE] …`; the kinds are `entry`, `short` (eight letters wide), `area`
(several lines), `framed` (an entry in a frame with the label in its line), `button`, `check` and `combo` (its value is
its options, parted by `|`). `FILE` holds the state by label as JSON: a text, a number of clicks, or a truth value.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TITLE = "Form"
_LABELLED = ("entry", "short", "area", "combo")


class Control(NamedTuple):
    """One row of the form."""

    kind: str
    label: str
    value: str


class State:
    """What the form holds, kept in a file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._by_label: dict[str, object] = {}

    def set(self, label: str, value: object) -> None:
        self._by_label[label] = value
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self._by_label), encoding="utf-8")
        new.replace(self._path)

    def setter(self, label: str) -> Callable[..., None]:
        return lambda *given: self.set(label, given[-1])

    def counter(self, label: str) -> Callable[..., None]:
        return lambda *_: self.set(label, int(str(self._by_label.get(label, 0))) + 1)


def show_tk(is_above: bool, state: State, controls: Sequence[Control]) -> None:
    import tkinter
    from tkinter import ttk

    root = tkinter.Tk(className=TITLE)
    root.title(TITLE)
    root.geometry("+40+40")
    for row, (kind, label, value) in enumerate(controls):
        held: Any = tkinter.BooleanVar(value=bool(value)) if kind == "check" else tkinter.StringVar(value=value)
        if kind == "button":
            made: Any = tkinter.Button(root, text=label, command=state.counter(label))
        elif kind == "check":
            made = tkinter.Checkbutton(root, text=label, variable=held)
        elif kind == "combo":
            held.set(value.split("|")[0])
            made = ttk.Combobox(root, textvariable=held, values=value.split("|"), state="readonly")
        elif kind == "area":
            made = tkinter.Text(root, width=28, height=6)
            made.insert("1.0", value)
            made.edit_modified(False)

            def note(_: object, made: Any = made, held: Any = held) -> None:
                held.set(made.get("1.0", "end-1c"))
                made.edit_modified(False)

            made.bind("<<Modified>>", note)
        elif kind == "framed":
            made = tkinter.LabelFrame(root, text=label, padx=8, pady=4)
            tkinter.Entry(made, textvariable=held, width=24).pack()
        else:
            made = tkinter.Entry(root, textvariable=held, width=8 if kind == "short" else 24)
        held.trace_add("write", lambda *_, label=label, held=held: state.set(label, held.get()))
        if kind in _LABELLED:
            text = tkinter.Label(root, text=label)
            text.grid(row=2 * row, column=0, sticky="w", padx=8, pady=(8, 0))
        made.grid(row=2 * row + is_above, column=0 if is_above else 1, sticky="w", padx=8, pady=4)
    root.mainloop()


def show_gtk(is_above: bool, state: State, controls: Sequence[Control]) -> None:
    import gi  # type: ignore[import-not-found]

    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk  # type: ignore[import-not-found]

    grid = Gtk.Grid(row_spacing=6, column_spacing=12, margin=16)
    for row, (kind, label, value) in enumerate(controls):
        if kind == "button":
            made: Any = Gtk.Button(label=label)
            made.connect("clicked", state.counter(label))
        elif kind == "check":
            made = Gtk.CheckButton(label=label, active=bool(value))
            made.connect("toggled", lambda one, label=label: state.set(label, one.get_active()))
        elif kind == "combo":
            made = Gtk.ComboBoxText()
            for option in value.split("|"):
                made.append_text(option)
            made.set_active(0)
            made.connect("changed", lambda one, label=label: state.set(label, one.get_active_text()))
        elif kind == "area":
            made = Gtk.ScrolledWindow(shadow_type=Gtk.ShadowType.IN, width_request=260, height_request=110)
            view = Gtk.TextView(visible=True)
            view.get_buffer().set_text(value)
            view.get_buffer().connect("changed", lambda one, label=label: state.set(label, one.props.text))
            made.add(view)
        elif kind == "framed":
            made = Gtk.Frame(label=label)
            entry = Gtk.Entry(text=value, margin=8)
            entry.connect("changed", lambda one, label=label: state.set(label, one.get_text()))
            made.add(entry)
        else:
            made = Gtk.Entry(halign=Gtk.Align.START, text=value, width_chars=8 if kind == "short" else 24)
            made.connect("changed", lambda one, label=label: state.set(label, one.get_text()))
        if kind in _LABELLED:
            grid.attach(Gtk.Label(label=label, xalign=0), 0, 2 * row, 1, 1)
        grid.attach(made, 0 if is_above else 1, 2 * row + is_above, 1, 1)
    window = Gtk.Window(title=TITLE)
    window.add(grid)
    window.move(40, 40)
    window.show_all()
    window.set_focus(None)
    Gtk.main()


def show_qt(is_above: bool, state: State, controls: Sequence[Control], binding: str = "PyQt5") -> None:
    import importlib

    widgets = importlib.import_module(f"{binding}.QtWidgets")
    app = widgets.QApplication([TITLE])
    window = widgets.QWidget()
    window.setWindowTitle(TITLE)
    grid = widgets.QGridLayout(window)
    for row, (kind, label, value) in enumerate(controls):
        if kind == "button":
            made: Any = widgets.QPushButton(label)
            made.clicked.connect(state.counter(label))
        elif kind == "check":
            made = widgets.QCheckBox(label)
            made.setChecked(bool(value))
            made.toggled.connect(state.setter(label))
        elif kind == "combo":
            made = widgets.QComboBox()
            made.addItems(value.split("|"))
            made.currentTextChanged.connect(state.setter(label))
        elif kind == "area":
            made = widgets.QPlainTextEdit(value)
            made.setFixedSize(260, 110)
            made.textChanged.connect(lambda made=made, label=label: state.set(label, made.toPlainText()))
        elif kind == "framed":
            made = widgets.QGroupBox(label)
            line = widgets.QLineEdit(value)
            line.textChanged.connect(state.setter(label))
            widgets.QVBoxLayout(made).addWidget(line)
        else:
            made = widgets.QLineEdit(value)
            made.setFixedWidth(70 if kind == "short" else 200)
            made.textChanged.connect(state.setter(label))
        if kind in _LABELLED:
            grid.addWidget(widgets.QLabel(label), 2 * row, 0)
        grid.addWidget(made, 2 * row + is_above, 0 if is_above else 1)
    window.move(40, 40)
    window.show()
    getattr(app, "exec_", app.exec)()


if __name__ == "__main__":
    toolkit, layout, path, *rows = sys.argv[1:]
    parts = (row.partition(":") for row in rows)
    form = [Control(kind, rest.partition("=")[0], rest.partition("=")[2]) for kind, _, rest in parts]
    kept = State(path)
    for control in form:
        first = {"button": 0, "check": bool(control.value), "combo": control.value.split("|")[0]}
        kept.set(control.label, first.get(control.kind, control.value))
    makers = {"gtk3": show_gtk, "tk": show_tk, "qt5": show_qt, "qt6": lambda *given: show_qt(*given, "PyQt6")}
    makers[toolkit](layout == "above", kept, form)
