"""The Tk screen of the half to work with, without accessibility: `toolkits_tk.py TRUTH sketch`."""

from __future__ import annotations

import tkinter
from tkinter import ttk

from keyed_tk import icon_button, keep, keyed, root, run

TOOLS = (
    ("open", "document-open"), ("save", "media-floppy"), ("undo", "edit-undo"), ("redo", "edit-redo"),
    ("cut", "edit-cut"), ("zoom-in", "zoom-in"), ("zoom-out", "zoom-out"), ("bin", "user-trash"),
    ("left", "object-rotate-left"), ("flip", "object-flip-horizontal"),
)  # fmt: skip


def sketch() -> None:
    root.title("Sketch 2")
    root.geometry("800x560+100+70")
    bar = tkinter.Frame(root)
    bar.pack(fill="x", padx=4, pady=4)
    for key, icon in TOOLS:
        icon_button(bar, key, icon).pack(side="left", padx=2)
    side = tkinter.Frame(root)
    side.pack(side="right", fill="y", padx=8)
    for text, key, made in (
        ("Line width", "width", ttk.Spinbox(side, from_=1, to=40)),
        ("Brush", "brush", ttk.Combobox(side, values=("Round", "Flat", "Spray"))),
        ("Layer name", "layer", ttk.Entry(side)),
    ):
        ttk.Label(side, text=text).pack(anchor="w", pady=(8, 0))
        keep(key, made).pack(fill="x")
    keyed["brush"].set("Round")
    keep("fill", ttk.Checkbutton(side, text="Fill shapes")).pack(anchor="w", pady=8)
    keep("smooth", ttk.Checkbutton(side, text="Smooth edges")).pack(anchor="w")
    keep("merge", ttk.Button(side, text="Merge layers")).pack(fill="x", pady=8)
    keep("export", ttk.Button(side, text="Export PNG…")).pack(fill="x")
    tkinter.Canvas(root, background="white", height=400).pack(fill="both", expand=True, padx=8)
    foot = tkinter.Frame(root)
    foot.pack(fill="x", padx=8, pady=6)
    keep("where", ttk.Label(foot, text="x 120, y 48")).pack(side="left")
    keep("reset", ttk.Button(foot, text="Reset view")).pack(side="right")


run({"sketch": sketch})
