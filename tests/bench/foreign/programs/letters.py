"""A letter in a toolkit of one's choice, and the dialog that takes the keyboard from it: run by a system Python.

`letters.py TOOLKIT KIND FILE`: `FILE` holds what both read, as JSON, after each change. Kinds: `thief` (a modal dialog
with a field opens 60 ms after the first letter), `standing` (a modal Yes/No box stands open from the start).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

AFTER_MS = 60
LETTER, DIALOG = "Letter2", "Session"


class Record:
    """The texts of the letter and of the dialog, and how the dialog was answered, kept in a file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._state = {"letter": "", "dialog": "", "answer": ""}

    def note(self, key: str, text: str) -> None:
        self._state[key] = text
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self._state), encoding="utf-8")
        new.replace(self._path)


class Once:
    """Calls `action` the first time only."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._is_done = False

    def __call__(self) -> None:
        if not self._is_done:
            self._is_done = True
            self._action()


def show_gtk(kind: str, record: Record, version: str = "3.0") -> None:
    import gi  # type: ignore[import-not-found]

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk  # type: ignore[import-not-found]

    window = Gtk.Window(title=LETTER)
    window.set_default_size(560, 320)
    view = Gtk.TextView()
    view.set_wrap_mode(Gtk.WrapMode.CHAR)
    window.add(view)
    window.move(20, 20)

    def ask() -> bool:
        dialog = Gtk.Dialog(title=DIALOG, transient_for=window, modal=True)
        for number, words in enumerate(("No", "Yes")):
            dialog.add_button(words, number)
        dialog.get_content_area().add(Gtk.Label(label="Restore the last session?"))
        if kind == "thief":
            entry = Gtk.Entry()
            entry.connect("changed", lambda one: record.note("dialog", one.get_text()))
            dialog.get_content_area().add(entry)
            entry.grab_focus()
        dialog.show_all()
        record.note("answer", str(dialog.run()))
        dialog.destroy()
        return False

    once = Once(lambda: GLib.timeout_add(AFTER_MS, ask) and None)

    def changed(buffer: Any) -> None:
        record.note("letter", buffer.get_text(*buffer.get_bounds(), True))
        if kind == "thief":
            once()

    view.get_buffer().connect("changed", changed)
    window.show_all()
    if kind == "standing":
        GLib.timeout_add(300, ask)
    Gtk.main()


def show_tk(kind: str, record: Record) -> None:
    import tkinter

    root = tkinter.Tk(className=LETTER)
    root.title(LETTER)
    root.geometry("560x320+20+20")
    text = tkinter.Text(root)
    text.pack()
    text.focus_set()

    def ask() -> None:
        top = tkinter.Toplevel(root)
        top.title(DIALOG)
        top.transient(root)
        tkinter.Label(top, text="Restore the last session?").pack()

        def answer(words: str) -> None:
            record.note("answer", words)
            top.destroy()

        for words in ("No", "Yes"):
            button = tkinter.Button(top, text=words, command=lambda words=words: answer(words))  # type: ignore[misc]
            button.pack()
        top.bind("n", lambda _: answer("No"))
        if kind == "thief":
            value = tkinter.StringVar()
            value.trace_add("write", lambda *_: record.note("dialog", value.get()))
            entry = tkinter.Entry(top, textvariable=value)
            entry.pack()
            top.unbind("n")
            entry.focus_set()
        else:
            top.focus_set()
        top.wait_visibility()
        top.grab_set()

    once = Once(lambda: root.after(AFTER_MS, ask) and None)

    def changed(_: Any) -> None:
        record.note("letter", text.get("1.0", "end-1c"))
        text.edit_modified(False)
        if kind == "thief":
            once()

    text.bind("<<Modified>>", changed)
    if kind == "standing":
        root.after(300, ask)
    root.mainloop()


def show_qt(kind: str, record: Record, binding: str = "PyQt5") -> None:
    import importlib

    widgets = importlib.import_module(f"{binding}.QtWidgets")
    core = importlib.import_module(f"{binding}.QtCore")
    app = widgets.QApplication([LETTER])
    edit = widgets.QTextEdit()
    edit.setAcceptRichText(False)
    edit.setWindowTitle(LETTER)
    edit.setGeometry(30, 50, 560, 320)

    def ask() -> None:
        dialog = widgets.QDialog(edit)
        dialog.setWindowTitle(DIALOG)
        dialog.setModal(True)
        layout = widgets.QVBoxLayout(dialog)
        layout.addWidget(widgets.QLabel("Restore the last session?"))
        field = widgets.QLineEdit()
        if kind == "thief":
            field.textChanged.connect(lambda text: record.note("dialog", text))
            layout.addWidget(field)
        for words in ("&No", "&Yes"):
            button = widgets.QPushButton(words)
            button.clicked.connect(lambda _, words=words: (record.note("answer", words.strip("&")), dialog.accept()))
            layout.addWidget(button)
        dialog.show()
        if kind == "thief":
            field.setFocus()

    once = Once(lambda: core.QTimer.singleShot(AFTER_MS, ask))

    def changed() -> None:
        record.note("letter", edit.toPlainText())
        if kind == "thief":
            once()

    edit.textChanged.connect(changed)
    edit.show()
    if kind == "standing":
        core.QTimer.singleShot(300, ask)
    getattr(app, "exec_", app.exec)()


if __name__ == "__main__":
    toolkit, kind, path = sys.argv[1:]
    record = Record(path)
    record.note("letter", "")
    {"gtk3": show_gtk, "tk": show_tk, "qt5": show_qt, "qt6": lambda k, r: show_qt(k, r, "PyQt6")}[toolkit](kind, record)
