"""A desktop program of Tk in the half to work with, without accessibility: `programs_tk.py TRUTH calculator`."""

from __future__ import annotations

import tkinter
from tkinter import ttk

from keyed_tk import at, computed, icon_button, keep, keyed, root, run

KEYS = (
    ("MC", "MR", "M+", "M−", "C"), ("x²", "√", "%", "÷", "CE"), ("7", "8", "9", "×", "("), ("4", "5", "6", "−", ")"),
    ("1", "2", "3", "+", "±"), ("0", ".", "π", "=", "Ans"),
)  # fmt: skip
NAMES = {
    "x²": "square", "√": "root", "%": "percent", "÷": "divide", "×": "times", "−": "minus", "+": "plus", "±": "sign",
    ".": "point", "π": "pi", "=": "equals", "(": "open", ")": "shut", "M−": "m-minus", "M+": "m-plus",
}  # fmt: skip
HISTORY = (("128 × 3", "384"), ("384 ÷ 7", "54.857"), ("√ 2", "1.4142"), ("19 + 23", "42"), ("128 × 3", "384"))


def calculator() -> None:
    root.title("Abacus")
    root.geometry("860x600+120+70")
    bar = tkinter.Frame(root)
    bar.pack(fill="x", padx=6, pady=4)
    for key, icon in (
        ("copy", "edit-copy"),
        ("paste", "edit-paste"),
        ("undo", "edit-undo"),
        ("redo", "edit-redo"),
        ("pin", "view-pin"),
        ("sound", "audio-volume-high"),
        ("help", "help-about"),
    ):
        icon_button(bar, key, icon).pack(side="left", padx=2)
    keyed["redo"].configure(state="disabled")
    root.setvar("angle", "deg")
    for text, key in (("Degrees", "deg"), ("Radians", "rad")):
        keep(key, ttk.Radiobutton(bar, text=text, value=key, variable="angle")).pack(side="right", padx=4)
    _history()
    left = tkinter.Frame(root)
    left.pack(side="left", fill="both", expand=True, padx=8, pady=6)
    top = tkinter.Frame(left)
    top.pack(fill="x")
    shown = keep("display", tkinter.Entry(top, font=("DejaVu Sans", 24), justify="right"))
    shown.insert(0, "54.857142")
    shown.pack(side="left", fill="x", expand=True)
    icon_button(top, "rub", "edit-clear").pack(side="left", padx=4)
    pad = tkinter.Frame(left)
    pad.pack(fill="both", expand=True, pady=8)
    for y, keys in enumerate(KEYS):
        pad.rowconfigure(y, weight=1)
        for x, text in enumerate(keys):
            pad.columnconfigure(x, weight=1, uniform="key")
            colour = "#f0a040" if text == "=" else "#d8d8e8" if text.isdigit() else "#e8e8e8"
            key = keep(f"key-{NAMES.get(text, text.lower())}", tkinter.Button(pad, text=text, bg=colour))
            key.configure(font=("DejaVu Sans", 14))
            key.grid(row=y, column=x, sticky="nsew", padx=2, pady=2)
    keyed["key-mr"].configure(state="disabled")
    foot = tkinter.Frame(left)
    foot.pack(fill="x")
    for key, value, choices in (("from", "Miles", ("Miles", "Feet")), ("to", "Kilometres", ("Kilometres", "Metres"))):
        ttk.Label(foot, text=key.title()).pack(side="left", padx=4)
        made = keep(f"unit-{key}", ttk.Combobox(foot, values=choices, width=12))
        made.set(value)
        made.pack(side="left")
        if key == "from":
            icon_button(foot, "swap", "object-flip-horizontal", 16).pack(side="left", padx=6)
    keep("convert", ttk.Button(foot, text="Convert")).pack(side="right")


def _history() -> None:
    side = tkinter.Frame(root)
    side.pack(side="right", fill="y", padx=8, pady=6)
    ttk.Label(side, text="History").pack(anchor="w")
    past = ttk.Treeview(side, columns=("sum", "result"), show="headings", height=9)
    for name in ("sum", "result"):
        past.heading(name, text=name.title())
        past.column(name, width=110)
    for n, one in enumerate(HISTORY, 1):
        item = past.insert("", "end", values=one)
        for c, name in enumerate(("sum", "result"), 1):
            computed[f"past-{n}-{c}"] = lambda item=item, name=name: at(past, *(past.bbox(item, name) or (0, 0, 0, 0)))
    past.pack()
    tools = tkinter.Frame(side)
    tools.pack(fill="x", pady=4)
    for key, icon in (("past-bin", "user-trash"), ("past-save", "document-save"), ("past-print", "document-print")):
        icon_button(tools, key, icon).pack(side="left", padx=2)
    keep(
        "keep-history", ttk.Checkbutton(side, text="Keep between sessions", variable=_set(side, "keep-history", 1))
    ).pack(anchor="w", pady=4)
    ttk.Label(side, text="Decimals").pack(anchor="w", pady=(8, 0))
    places = keep("decimals", tkinter.Scale(side, from_=0, to=12, orient="horizontal"))
    places.set(6)
    places.pack(fill="x")
    keep("group", ttk.Checkbutton(side, text="Group thousands", variable=_set(side, "group", 0))).pack(
        anchor="w", pady=4
    )
    ttk.Label(side, text="Constant").pack(anchor="w", pady=(8, 0))
    constant = keep("constant", ttk.Spinbox(side, from_=0, to=100))
    constant.set("1.19")
    constant.pack(fill="x")


def _set(parent: tkinter.Misc, name: str, value: int) -> str:
    """Give the program a variable `name`; return that name, which outlives the variable's object."""
    parent.setvar(name, str(value))
    return name


run({"calculator": calculator})
