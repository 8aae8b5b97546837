"""Screens of GTK, Qt and Tk programs in the closed half. Their descriptions: `toolkits.txt`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.grounding.program_screens import Program

_FOLDER = Path(__file__).parent
_GTK_3, _GTK_4 = _FOLDER / "toolkits_gtk3.py", _FOLDER / "toolkits_gtk4.py"
_QT, _TK = _FOLDER / "toolkits_qt.py", _FOLDER / "toolkits_tk.py"
_PROGRAMS = {
    "planner": Program(_GTK_3, "gtk3"),
    "chats": Program(_GTK_3, "gtk3"),
    "backup": Program(_GTK_3, "gtk3", is_silent=True),
    "alarms": Program(_GTK_4, "gtk4"),
    "warehouse": Program(_QT, "PyQt5"),
    "hotel": Program(_QT, "PyQt5"),
    "trips": Program(_QT, "PyQt6"),
    "overwrite": Program(_QT, "PyQt6"),
    "letter": Program(_TK, "tkinter", is_silent=True),
}
SCREENS = {name: partial(program.shown, name) for name, program in _PROGRAMS.items()}


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    return _PROGRAMS[screen].lacking()
