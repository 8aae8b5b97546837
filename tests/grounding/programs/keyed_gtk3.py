"""GTK 3 widgets by key, for programs of the grounding set's halves: `PROGRAM TRUTH SCREEN`."""

from __future__ import annotations

import sys
from collections.abc import Callable

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402
from truth_file import EVERY_MS, Boxes, TruthFile  # noqa: E402

VERTICAL, HORIZONTAL = Gtk.Orientation.VERTICAL, Gtk.Orientation.HORIZONTAL
keyed: dict[str, Gtk.Widget] = {}
computed: dict[str, Callable[[], list[int] | None]] = {}


def keep(key: str, widget: Gtk.Widget) -> Gtk.Widget:
    keyed[key] = widget
    return widget


def window(title: str, x: int, y: int, w: int, h: int) -> Gtk.Window:
    made = Gtk.Window(title=title)
    made.set_default_size(w, h)
    made.move(x, y)
    made.connect("destroy", Gtk.main_quit)
    return made


def row(*widgets: Gtk.Widget, spacing: int = 6) -> Gtk.Box:
    box = Gtk.Box(orientation=HORIZONTAL, spacing=spacing, margin=4)
    for widget in widgets:
        box.add(widget)
    return box


def column(*widgets: Gtk.Widget, spacing: int = 6) -> Gtk.Box:
    box = Gtk.Box(orientation=VERTICAL, spacing=spacing, margin=6)
    for widget in widgets:
        box.add(widget)
    return box


def icon_button(
    key: str, icon: str, tip: str = "", name: str = "", size: int = 20, *, flat: bool = False
) -> Gtk.Button:
    """Return a button that shows only an icon: `tip` and `name` (for accessibility) may both be ""."""
    image = Gtk.Image.new_from_icon_name(icon, Gtk.IconSize.LARGE_TOOLBAR)
    image.set_pixel_size(size)
    made = Gtk.Button(image=image, always_show_image=True, valign=Gtk.Align.CENTER)
    if flat:
        made.set_relief(Gtk.ReliefStyle.NONE)
    if tip:
        made.set_tooltip_text(tip)
    if name:
        made.get_accessible().set_name(name)
    return keep(key, made)


def combo(key: str, *choices: str) -> Gtk.Widget:
    made = Gtk.ComboBoxText(valign=Gtk.Align.CENTER)
    for choice in choices:
        made.append_text(choice)
    made.set_active(0)
    return keep(key, made)


def table(prefix: str, titles: tuple[str, ...], rows: tuple[tuple[str, ...], ...], width: int = 120) -> Gtk.TreeView:
    """Return a table. Keys: `PREFIX-R-C` for each cell (from 1), `PREFIX-h-C` for each header, `PREFIX-R` for rows."""
    store = Gtk.ListStore(*[str] * len(titles))
    for entry in rows:
        store.append(entry)
    view = Gtk.TreeView(model=store, hexpand=True, vexpand=True)
    for c, title in enumerate(titles):
        made = Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=c)
        made.set_min_width(width)
        view.append_column(made)
        computed[f"{prefix}-h-{c + 1}"] = lambda made=made: on_display(made.get_button())
        for r in range(len(rows)):
            computed[f"{prefix}-{r + 1}-{c + 1}"] = lambda r=r, c=c: cell(view, (r,), c)
    for r in range(len(rows)):
        computed[f"{prefix}-{r + 1}"] = lambda r=r: line(view, (r,))
    return view


def tree(prefix: str, title: str, branches: dict[str, tuple[str, ...]]) -> Gtk.TreeView:
    """Return a tree, expanded. Keys: `PREFIX-NAME` for each node."""
    store = Gtk.TreeStore(str)
    view = Gtk.TreeView(model=store, vexpand=True)
    view.append_column(Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=0))
    for at, (name, leaves) in enumerate(branches.items()):
        parent = store.append(None, (name,))
        computed[f"{prefix}-{name}"] = lambda at=at: cell(view, (at,), 0)
        for below, leaf in enumerate(leaves):
            store.append(parent, (leaf,))
            computed[f"{prefix}-{leaf}"] = lambda at=at, below=below: cell(view, (at, below), 0)
    view.expand_all()
    return view


def cell(view: Gtk.TreeView, path: tuple[int, ...], c: int) -> list[int] | None:
    if view.get_bin_window() is None:
        return None
    area = view.get_cell_area(Gtk.TreePath(path), view.get_column(c))
    _, x0, y0 = view.get_bin_window().get_origin()
    return [x0 + area.x, y0 + area.y, area.width, area.height]


def line(view: Gtk.TreeView, path: tuple[int, ...]) -> list[int] | None:
    cells = [cell(view, path, c) for c in range(view.get_n_columns())]
    if None in cells:
        return None
    first, last = cells[0], cells[-1]
    return [first[0], first[1], last[0] + last[2] - first[0], first[3]]


def on_display(widget: Gtk.Widget) -> list[int] | None:
    top = widget.get_toplevel()
    if widget.get_window() is None or not widget.get_mapped() or top.get_window() is None:
        return None
    _, x0, y0 = top.get_window().get_origin()
    x, y = widget.translate_coordinates(top, 0, 0)
    return [x0 + x, y0 + y, widget.get_allocated_width(), widget.get_allocated_height()]


def boxes() -> Boxes | None:
    found = {key: on_display(widget) for key, widget in keyed.items()}
    found.update({key: compute() for key, compute in computed.items()})
    return None if None in found.values() else found


def run(screens: dict[str, Callable[[], None]]) -> None:
    """Show the screen that the command line names, and tell where its widgets are."""
    screens[sys.argv[2]]()
    GLib.timeout_add(EVERY_MS, TruthFile(boxes).tell)
    Gtk.main()
