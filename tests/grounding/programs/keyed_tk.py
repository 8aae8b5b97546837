"""Tk widgets by key, for programs of the halves: `PROGRAM TRUTH SCREEN`. Tk tells accessibility nothing."""

from __future__ import annotations

import base64
import sys
import tkinter
from collections.abc import Callable
from tkinter import ttk
from typing import Any

from icon_png import png
from truth_file import EVERY_MS, Boxes, TruthFile

root = tkinter.Tk()
ttk.Style().theme_use("clam")
keyed: dict[str, Any] = {}
computed: dict[str, Callable[[], list[int]]] = {}
_images: list[tkinter.PhotoImage] = []


def keep(key: str, widget: Any) -> Any:
    keyed[key] = widget
    return widget


def image(name: str, px: int = 24, colour: str = "#2e3436") -> tkinter.PhotoImage:
    made = tkinter.PhotoImage(data=base64.b64encode(png(name, px, colour)))
    _images.append(made)
    return made


def icon_button(parent: Any, key: str, name: str, px: int = 24, colour: str = "#2e3436", **more: Any) -> Any:
    return keep(key, tkinter.Button(parent, image=image(name, px, colour), **more))


def at(widget: Any, x: int = 0, y: int = 0, w: int = 0, h: int = 0) -> list[int]:
    return [widget.winfo_rootx() + x, widget.winfo_rooty() + y, w or widget.winfo_width(), h or widget.winfo_height()]


def boxes() -> Boxes | None:
    if any(not widget.winfo_viewable() for widget in keyed.values()):
        return None
    return {**{key: at(widget) for key, widget in keyed.items()}, **{key: find() for key, find in computed.items()}}


def run(screens: dict[str, Callable[[], None]]) -> None:
    """Show the screen that the command line names, and tell where its widgets are."""
    screens[sys.argv[2]]()
    truth = TruthFile(boxes)

    def look() -> None:
        if truth.tell():
            root.after(EVERY_MS, look)

    root.after(EVERY_MS, look)
    root.mainloop()
