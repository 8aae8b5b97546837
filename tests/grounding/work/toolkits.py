"""Screens of GTK, Qt and Tk programs in the half to work with. Their descriptions: `toolkits.txt`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.grounding.program_screens import Program

_FOLDER = Path(__file__).parent
_GTK_3, _GTK_4 = _FOLDER / "toolkits_gtk3.py", _FOLDER / "toolkits_gtk4.py"
_QT, _TK = _FOLDER / "toolkits_qt.py", _FOLDER / "toolkits_tk.py"
_PROGRAMS = {
    "mailbox": Program(_GTK_3, "gtk3"), "recorder": Program(_GTK_3, "gtk3"),
    "downloads": Program(_GTK_3, "gtk3", is_silent=True), "bookshelf": Program(_GTK_4, "gtk4"),
    "clinic": Program(_QT, "PyQt5"), "code_editor": Program(_QT, "PyQt5"), "addresses": Program(_QT, "PyQt6"),
    "confirm_delete": Program(_QT, "PyQt6"), "sketch": Program(_TK, "tkinter", is_silent=True),
}  # fmt: skip
SCREENS = {name: partial(program.shown, name) for name, program in _PROGRAMS.items()}


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    return _PROGRAMS[screen].lacking()
