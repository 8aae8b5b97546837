"""Screens of desktop programs in the half to work with. Their descriptions: `programs.txt`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from acud.types import Rect
from tests.grounding.applications import differs, terminal_screen
from tests.grounding.program_screens import Program

_FOLDER = Path(__file__).parent
_GTK_3, _GTK_4 = _FOLDER / "programs_gtk3.py", _FOLDER / "programs_gtk4.py"
_QT, _TK = _FOLDER / "programs_qt.py", _FOLDER / "programs_tk.py"
_PROGRAMS = {
    "music_library": Program(_GTK_3, "gtk3"), "print_dialog": Program(_GTK_3, "gtk3"),
    "network": Program(_GTK_3, "gtk3"), "chat": Program(_GTK_4, "gtk4"), "database": Program(_QT, "PyQt5"),
    "tax_form": Program(_QT, "PyQt5"), "backup_planner": Program(_QT, "PyQt6"), "file_panes": Program(_QT, "PyQt6"),
    "calculator": Program(_TK, "tkinter", is_silent=True),
}  # fmt: skip
_PROCESSES = {
    "cpu-1": "CPU 1 [||||||||||||||||              48%]",
    "cpu-2": "CPU 2 [|||||                         14%]",
    "swap": "Swap  [|                              2%]",
    "memory": "Memory: 3.1G of 7.7G",
    "disk": "Disk free: 18G on /",
    "tasks": "Tasks: 143, 2 running",
    "load": "load 0.82 0.64 0.51",
    "uptime": "up 12 days, 04:11",
    "tab-main": "- Main -",
    "tab-network": "- Network -",
    "tab-sensors": "- Sensors -",
    "tab-logs": "- Logs -",
    "sort": "[CPU%]",
    "filter": "Filter: ________",
    "backupd": "812  root       20   31.0    2.1   10:02   backupd --nightly",
    "firefox": "1330  ada        20   12.4    9.8    3:44   firefox",
    "firefox-tab": "1377  ada        20    4.0    6.2    1:09   firefox --tab 3",
    "postgres": "977  postgres   20    2.2    4.4    8:51   postgres: writer",
    "find": "2041  lena        5    1.1    0.3    0:02   find / -name core",
    "sshd": "640  root       20    0.4    0.1    0:37   sshd: listener",
    "bash": "2050  ada        20    0.2    0.2    0:00   bash",
    "tree": "[x] Tree view",
    "kernel": "[ ] Show kernel threads",
    "colours": "[x] Colours",
    "every-1": "( ) 1 s",
    "every-5": "(o) 5 s",
    "every-30": "( ) 30 s",
    "term": "TERM (15)",
    "kill": "KILL (9)",
    "stop": "STOP (19)",
    "cont": "CONT (18)",
    "send": "< Send >",
    "back": "< Back >",
    **{f"f{n}": f"F{n}{name}" for n, name in enumerate(
        ("Help", "Setup", "Search", "Filter", "Tree", "SortBy", "Nice-", "Nice+", "Kill", "Quit"), 1
    )},
}  # fmt: skip
_XTERM = "379"
SCREENS = {name: partial(program.shown, name) for name, program in _PROGRAMS.items()} | {
    "processes": partial(
        terminal_screen, _FOLDER / "programs_processes.txt", "Procview", Rect(43, 62, 10, 20), _PROCESSES,
        "-fs", "12", "-geometry", "104x34+40+40",
    )
}  # fmt: skip


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    if screen == "processes":
        return differs("xterm", _XTERM)
    return _PROGRAMS[screen].lacking()
