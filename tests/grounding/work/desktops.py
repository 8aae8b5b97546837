"""Screens to work with: pages in Chromium and Firefox, LibreOffice Calc, a terminal, GTK's own dialogs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from acud.types import Rect
from tests.grounding.applications import (
    FIREFOX_TOOLBAR,
    FIREFOX_VERSION,
    Screen,
    Shown,
    around,
    differs,
    file_dialog_screen,
    office_screen,
    page_screen,
    quiet_desktop,
    rest,
    terminal_screen,
    wait_for_window,
)
from tests.grounding.browser import FirefoxPage, Page
from tests.grounding.desktop import chromium, missing

_HERE = Path(__file__).parent


@contextmanager
def _question() -> Iterator[Shown]:
    with quiet_desktop() as desktop:
        desktop.spawn(
            "zenity", "--list", "--checklist", "--title=Backups", "--text=Backups on this disk",
            "--column=Keep", "--column=Date", "--column=Size", "--width=640", "--height=420", "--ok-label=Restore",
            "--cancel-label=Close", "--extra-button=Verify",
            "TRUE", "3 May", "41 GB", "FALSE", "12 May", "43 GB",
            "FALSE", "19 May", "44 GB", "TRUE", "26 May", "44 GB",
        )  # fmt: skip
        wait_for_window(desktop, "Backups")
        desktop.spawn(
            "zenity", "--question", "--title=Delete old backups?", "--ok-label=Delete", "--cancel-label=Keep them",
            "--extra-button=Ask me later", "--width=420", "--icon-name=dialog-warning",
            "--text=Two backups are older than 14 days.\nDelete them to free 87 GB?",
        )  # fmt: skip
        wait_for_window(desktop, "Delete")
        rest(desktop)
        yield desktop, _QUESTION


_SHEET = {
    **{key: Rect(x, 22, w, 19) for key, x, w in (
        ("m-file", 4, 32), ("m-edit", 42, 34), ("m-view", 84, 40), ("m-insert", 132, 44), ("m-format", 186, 48),
        ("m-sheet", 303, 44), ("m-data", 357, 36), ("m-tools", 402, 42), ("m-window", 452, 60), ("m-help", 520, 38),
    )},
    **around(31, 9, {"close-document": 1264}),
    **around(64, 14, {
        "new": 19, "open": 63, "save": 107, "pdf": 161, "print": 193, "preview": 227, "cut": 267, "copy": 301,
        "paste": 332, "brush": 385, "clear": 418, "undo": 457, "redo": 503, "find": 556, "spelling": 589, "sort": 726,
        "ascending": 759, "descending": 792, "filter": 825, "image": 866, "chart": 899, "pivot": 932, "omega": 971,
        "link": 1017, "comment": 1050, "shapes": 1242,
    }),
    **around(102, 14, {
        "bold": 344, "italic": 378, "underline": 409, "font-color": 461, "fill-color": 503, "left": 559, "center": 592,
        "right": 625, "currency": 919, "percent": 965, "borders": 1217,
    }),
    "font": Rect(5, 86, 205, 32), "size": Rect(219, 86, 100, 32), "name-box": Rect(5, 125, 160, 33),
    **around(142, 10, {"function": 187, "sum": 210, "sidebar-menu": 1252}),
    "input-line": Rect(260, 130, 938, 22),
    **{f"{name}{row}": Rect(41 + 82 * column, 182 + 17 * (row - 1), 82, 17)
       for column, name in enumerate("ABCDE") for row in range(1, 7)},
    **{f"column-{name}": Rect(41 + 82 * column, 164, 82, 17) for column, name in enumerate("ABCDEFGH")},
    **{f"row-{row}": Rect(0, 182 + 17 * (row - 1), 40, 17) for row in range(1, 13)},
    "add-sheet": Rect(117, 756, 20, 20), "tab-2024": Rect(143, 754, 46, 24), "tab-2025": Rect(199, 754, 46, 24),
    **around(790, 8, {"zoom-out": 1099, "zoom-in": 1216}),
    "zoom": Rect(1232, 781, 42, 18),
}  # fmt: skip
_CELL = Rect(103, 102, 10, 20)
_WORDS = {
    "web": "[*] Web server", "mail": "[ ] Mail relay", "print": "[*] Print spooler", "shell": "[ ] Remote shell",
    "share": "[ ] File sharing", "port-mail": "port 25", "port-share": "port 445", "free": "Free disk space: 18.4 GB",
    "quiet": "( ) quiet", "normal": "(*) normal", "verbose": "( ) verbose", "back": "< Back >", "next": "< Next >",
    "quit": "< Quit >", "f1": "F1 Help", "f2": "F2 Select all", "f3": "F3 Clear", "f5": "F5 Rescan",
    "f10": "F10 Exit", "step": "Step 4 of 7",
}  # fmt: skip
_QUESTION = {
    "later": Rect(535, 399, 125, 34), "keep": Rect(664, 399, 125, 34), "delete": Rect(793, 399, 125, 34),
    "close": Rect(470, 459, 92, 34), "restore": Rect(566, 459, 92, 34), "verify": Rect(662, 459, 92, 34),
    **{f"check-{row}": Rect(149, 142 + 23 * (row - 1), 20, 20) for row in range(1, 5)},
    **{f"date-{row}": Rect(186, 141 + 23 * (row - 1), 64, 23) for row in range(1, 5)},
    "h-keep": Rect(134, 116, 51, 24), "h-date": Rect(185, 116, 66, 24), "h-size": Rect(251, 116, 60, 24),
    **around(70, 7, {"list-min": 719, "list-max": 735, "list-x": 751}),
    **around(310, 7, {"question-min": 883, "question-max": 899, "question-x": 915}),
    "warning": Rect(434, 333, 46, 46),
}  # fmt: skip

_LETTERS = {
    **dict.fromkeys(("deposit.odt", "neighbours.odt", "noise-2.odt", "noise.odt", "rent-2023.odt"), 900),
    **dict.fromkeys(("Answers/", "Old/"), 0),
}
_SAVE = {
    "window": "Letter to the landlord", "text": "Dear Mr Brandt,\nthe heating has been cold since Monday.",
    "tools": (("edit-cut", "Cut"), ("edit-copy", "Copy"), ("edit-paste", "Paste"), ("format-text-bold", "Bold")),
    "title": "Save Letter", "buttons": ("_Cancel", "_Save"), "filters": ("Letters", "All documents"),
    "name": "heating.odt", "choice": "Keep a backup copy", "at": (160, 190),
}  # fmt: skip
_BLUE = ("-fs", "12", "-geometry", "80x24+100+80", "-bg", "#10204a", "-fg", "#e8e8e8", "+sb")

SCREENS: dict[str, Screen] = {
    "desktops_board": partial(page_screen, Page, _HERE / "desktops_board.html", {}),
    "desktops_hotel": partial(page_screen, Page, _HERE / "desktops_hotel.html", {}),
    "desktops_article": partial(page_screen, FirefoxPage, _HERE / "desktops_article.html", FIREFOX_TOOLBAR),
    "desktops_sheet": partial(office_screen, _HERE / "desktops_household.fods", "household.fods", _SHEET),
    "desktops_terminal": partial(terminal_screen, _HERE / "desktops_setup.txt", "kettle-setup", _CELL, _WORDS, *_BLUE),
    "desktops_chooser": partial(file_dialog_screen, "Letters", _LETTERS, _SAVE),
    "desktops_question": _question,
}
_MEASURED = {
    "desktops_article": ("firefox-esr", FIREFOX_VERSION),
    "desktops_sheet": ("libreoffice-calc", "7.4"),
    "desktops_terminal": ("xterm", "379"),
    "desktops_question": ("zenity", "3.44"),
}


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    if screen in _MEASURED:
        return differs(*_MEASURED[screen])
    if screen == "desktops_chooser":
        return missing("gtk3")
    return "" if chromium() else "no chromium"
