"""The Tk screen of the closed half, without accessibility: `toolkits_tk.py TRUTH letter`."""

from __future__ import annotations

import tkinter
from tkinter import ttk

from keyed_tk import at, computed, icon_button, keep, keyed, root, run

INK, PAPER = "#e8e8e8", "#2f3136"
TOOLS = (
    ("bold", "format-text-bold"),
    ("italic", "format-text-italic"),
    ("underline", "format-text-underline"),
    ("left", "format-justify-left"),
    ("middle", "format-justify-center"),
    ("bullets", "view-list-bullet"),
    ("picture", "insert-image"),
    ("link", "insert-link"),
    ("spell", "tools-check-spelling"),
    ("print", "document-print"),
    ("paste", "edit-paste"),
    ("send", "mail-send"),
)


def letter() -> None:
    root.title("Letter to the council")
    root.geometry("940x580+120+60")
    root.configure(background=PAPER)
    head = tkinter.Frame(root, background=PAPER)
    head.pack(fill="x", padx=8, pady=8)
    for x, (text, key) in enumerate((("Recipient", "to"), ("Subject", "subject"))):
        tkinter.Label(head, text=text, background=PAPER, foreground=INK).grid(row=0, column=x, sticky="w")
        keep(key, tkinter.Entry(head, width=38)).grid(row=1, column=x, padx=(0, 10))
    bar = tkinter.Frame(root, background=PAPER)
    bar.pack(fill="x", padx=8)
    for key, icon in TOOLS:
        icon_button(bar, key, icon, 22, INK, background="#44474d", relief="flat").pack(side="left", padx=3)
    pages = tkinter.Listbox(root, width=18, height=6)
    pages.insert("end", "Cover letter", "Complaint", "Photographs", "Signatures")
    pages.pack(side="left", fill="y", padx=8, pady=8)
    for r, key in enumerate(("cover", "complaint", "photos", "signatures")):
        computed[f"page-{key}"] = lambda r=r: at(pages, *pages.bbox(r))
    tkinter.Text(root, height=14, width=50).pack(fill="both", expand=True, padx=8, pady=8)
    foot = tkinter.Frame(root, background=PAPER)
    foot.pack(fill="x", padx=8, pady=8)
    tkinter.Label(foot, text="Font", background=PAPER, foreground=INK).pack(side="left")
    keep("font", ttk.Combobox(foot, values=("Serif", "Sans"), width=10)).pack(side="left", padx=4)
    keyed["font"].set("Serif")
    tkinter.Label(foot, text="Size", background=PAPER, foreground=INK).pack(side="left")
    keep("size", ttk.Spinbox(foot, from_=6, to=72, width=5)).pack(side="left", padx=4)
    keyed["size"].set("12")
    keep("count", tkinter.Label(foot, text="214 words", background=PAPER, foreground=INK)).pack(side="left", padx=10)
    keep("sign", ttk.Button(foot, text="Sign")).pack(side="right")
    keep("pdf", ttk.Button(foot, text="Make PDF")).pack(side="right", padx=6)
    keep("frozen", ttk.Button(foot, text="Post it", state="disabled")).pack(side="right")


run({"letter": letter})
