"""Closed screens: pages in Chromium and Firefox, LibreOffice Writer, a terminal, GTK's own dialogs."""

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
def _battery() -> Iterator[Shown]:
    with quiet_desktop() as desktop, Page(desktop, "desktops_weather.html", folder=_HERE) as page:
        rest(desktop)
        desktop.spawn(
            "zenity", "--question", "--title=Low battery", "--switch", "--icon-name=battery-caution", "--width=460",
            "--extra-button=Suspend", "--extra-button=Shut down", "--extra-button=Dim the screen",
            "--text=6 % left, about 11 minutes.\nUnsaved work is kept only when the machine sleeps.",
        )  # fmt: skip
        wait_for_window(desktop, "Low battery")
        rest(desktop)
        yield desktop, page.truth | _BATTERY


_WRITER = {
    **{key: Rect(x, 22, w, 19) for key, x, w in (
        ("m-file", 4, 32), ("m-edit", 42, 34), ("m-view", 84, 40), ("m-insert", 132, 44), ("m-format", 186, 52),
        ("m-styles", 247, 48), ("m-table", 303, 42), ("m-form", 353, 40), ("m-tools", 402, 42), ("m-window", 452, 58),
    )},
    **around(64, 14, {
        "new": 19, "open": 63, "save": 107, "pdf": 161, "print": 194, "preview": 227, "brush": 385, "undo": 425,
        "find": 523, "spelling": 556, "pilcrow": 589, "table": 628, "image": 674, "chart": 707, "text-box": 740,
        "page-break": 782, "omega": 856, "link": 910, "footnote": 943, "endnote": 977, "bookmark": 1010,
        "comment": 1083, "line": 1157, "diamond": 1188,
    }),
    **around(102, 14, {
        "bold": 607, "italic": 640, "underline": 672, "strike": 718, "superscript": 759, "subscript": 792,
        "eraser": 832, "font-color": 872, "highlight": 916, "left": 969, "center": 1003, "right": 1036,
        "justify": 1069, "bullets": 1107, "numbers": 1153, "indent": 1240,
    }),
    "style": Rect(5, 86, 188, 32), "font": Rect(267, 86, 207, 32), "size": Rect(482, 86, 101, 32),
    "title": Rect(282, 257, 343, 29), "h-concert": Rect(282, 326, 255, 24), "h-dues": Rect(282, 391, 61, 24),
    "p-present": Rect(282, 293, 349, 20), "p-hall": Rect(282, 358, 446, 20), "p-dues": Rect(282, 423, 351, 20),
    "page": Rect(34, 781, 78, 18), "words": Rect(155, 781, 167, 18), "language": Rect(544, 781, 92, 18),
    **around(790, 8, {"zoom-out": 1099, "zoom-in": 1216, "book": 1067}),
    "zoom": Rect(1232, 781, 42, 18),
    **around(312, 14, {"navigator": 1252}),
    **around(271, 14, {"gallery": 1252}),
}  # fmt: skip
_CELL = Rect(243, 142, 9, 19)
_WORDS = {
    "alps": "drwxr-xr-x 2 mira mira 4.0K Jul  2 18:21 alps",
    "family": "drwxr-xr-x 5 mira mira 4.0K Jun 11 09:02 family",
    "movie": "-rw-r--r-- 1 mira mira  88M Jun 30 22:15 sunrise.mov",
    "script": "-rwxr-xr-x 1 mira mira  640 May 19 07:58 upload.sh", "total": "total 97M", "percent": "100%",
    "speed": "1.1MB/s", "warning": "warning: thumbnail for lake.tiff is missing", "sent": "1 file sent, 0 failed",
    "web": "https://gallery.example.org/mira", "command": "./upload.sh index.html",
    "page": "-rw-r--r-- 1 mira mira  12K Jul  2 18:40 index.html",
}  # fmt: skip
_BATTERY = {
    "suspend": Rect(487, 359, 141, 34), "off": Rect(632, 359, 141, 34), "dim": Rect(777, 359, 141, 34),
    **around(270, 7, {"battery-min": 883, "battery-x": 915}),
}  # fmt: skip
_PICTURES = {
    "castle.png": 8200, "cat on sofa.jpg": 51300, "cat.jpg": 48800, "harbour.jpg": 90100, "map.svg": 3100,
    "Scans/": 0, "Wallpapers/": 0, "Zoo/": 0,
}  # fmt: skip
_OPEN = {
    "window": "Invitation", "text": "You are invited!\nSaturday at six, in the garden.",
    "tools": (
        ("insert-image", "Insert picture"), ("edit-undo", "Undo"), ("edit-redo", "Redo"), ("document-print", "Print"),
    ),
    "title": "Choose a picture", "buttons": ("Never mind", "Insert"), "filters": ("Pictures", "Everything"),
    "at": (300, 180),
}  # fmt: skip
_PAPER = ("-fs", "11", "-geometry", "84x26+240+120", "-bg", "#fdf6e3", "-fg", "#333333", "+sb")

SCREENS: dict[str, Screen] = {
    "desktops_player": partial(page_screen, Page, _HERE / "desktops_player.html", {}),
    "desktops_machines": partial(page_screen, Page, _HERE / "desktops_machines.html", {}),
    "desktops_trip": partial(page_screen, FirefoxPage, _HERE / "desktops_trip.html", FIREFOX_TOOLBAR),
    "desktops_minutes": partial(office_screen, _HERE / "desktops_minutes.fodt", "minutes.fodt", _WRITER),
    "desktops_listing": partial(terminal_screen, _HERE / "desktops_listing.txt", "mira@quarry", _CELL, _WORDS, *_PAPER),
    "desktops_pictures": partial(file_dialog_screen, "Pictures", _PICTURES, _OPEN),
    "desktops_battery": _battery,
}
_MEASURED = {
    "desktops_trip": ("firefox-esr", FIREFOX_VERSION),
    "desktops_minutes": ("libreoffice-writer", "7.4"),
    "desktops_listing": ("xterm", "379"),
    "desktops_battery": ("zenity", "3.44"),
}


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    if screen == "desktops_pictures":
        return missing("gtk3")
    if screen in _MEASURED and (why := differs(*_MEASURED[screen])):
        return why
    needs_chromium = screen in ("desktops_player", "desktops_machines", "desktops_battery")
    return "no chromium" if needs_chromium and not chromium() else ""
