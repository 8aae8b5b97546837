"""The GTK 4 screen of the half to work with: `toolkits_gtk4.py TRUTH bookshelf`."""

from __future__ import annotations

from keyed_gtk4 import Gtk, box, icon_button, keep, run

BOOKS = (("The Tin Drum", "Grass"), ("Middlemarch", "Eliot"), ("Solaris", "Lem"), ("Emma", "Austen"))


def bookshelf(window: Gtk.ApplicationWindow) -> None:
    window.set_title("Bookshelf")
    window.set_default_size(720, 560)
    bar = Gtk.HeaderBar()
    bar.pack_start(icon_button("back", "go-previous-symbolic", "", "Back"))
    bar.pack_start(icon_button("new", "list-add-symbolic", "Add a book"))
    bar.pack_end(icon_button("more", "view-more-symbolic"))
    bar.pack_end(icon_button("grid", "view-grid-symbolic", "Show covers"))
    bar.pack_end(icon_button("sort", "view-sort-descending-symbolic"))
    window.set_titlebar(bar)
    search = keep("search", Gtk.SearchEntry(hexpand=True, placeholder_text="Title or author"))
    shelf = keep("shelf", Gtk.DropDown.new_from_strings(["All shelves", "Living room", "Study"]))
    rows = Gtk.ListBox()
    for at, (title, author) in enumerate(BOOKS, 1):
        lend = keep(f"lend-{at}", Gtk.Button(label="Lend", valign=Gtk.Align.CENTER))
        name = keep(f"title-{at}", Gtk.Label(label=title, xalign=0, width_chars=18))
        by = keep(f"by-{at}", Gtk.Label(label=author, xalign=0, hexpand=True))
        rows.append(
            box(
                name,
                by,
                lend,
                icon_button(f"star-{at}", "non-starred-symbolic", "Favourite"),
                icon_button(f"drop-{at}", "user-trash-symbolic"),
            )
        )
    pages = Gtk.SpinButton.new_with_range(1, 900, 1)
    pages.set_value(120)
    foot = box(
        Gtk.Label(label="Bookmark at page"),
        keep("page", pages),
        keep("ebooks", Gtk.Switch(valign=Gtk.Align.CENTER)),
        Gtk.Label(label="E-books too"),
        keep("export", Gtk.Button(label="Export list")),
    )
    foot.append(keep("sync", Gtk.Button(label="Sync", sensitive=False)))
    body = box(box(search, shelf), rows, foot, across=False, spacing=12)
    for side in ("start", "end", "top", "bottom"):
        body.set_property(f"margin-{side}", 12)
    window.set_child(body)


run({"bookshelf": bookshelf})
