"""GTK 3 screens of the grounding set: `gtk3.py TRUTH SCREEN`. Each tells where its keyed widgets are on the display."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

VERTICAL, HORIZONTAL = Gtk.Orientation.VERTICAL, Gtk.Orientation.HORIZONTAL
keyed: dict[str, Gtk.Widget] = {}
computed: dict[str, Callable[[], list[int]]] = {}


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


def button(key: str, label: str) -> Gtk.Widget:
    return keep(key, Gtk.Button(label=label))


def combo(key: str, *choices: str) -> Gtk.Widget:
    made = Gtk.ComboBoxText()
    for choice in choices:
        made.append_text(choice)
    made.set_active(0)
    return keep(key, made)


def tool(key: str, icon: str, label: str, tip: str = "") -> Gtk.ToolButton:
    made = Gtk.ToolButton(icon_widget=Gtk.Image.new_from_icon_name(icon, Gtk.IconSize.LARGE_TOOLBAR), label=label)
    if tip:
        made.set_tooltip_text(tip)
    return keep(key, made)


def save_dialog() -> None:
    editor = window("notes.txt - Editor", 80, 60, 760, 520)
    bar = Gtk.Toolbar()
    bar.set_style(Gtk.ToolbarStyle.BOTH)
    for key, icon, label in (("tb-new", "document-new", "New"), ("tb-open", "document-open", "Open"),
                             ("tb-save", "document-save", "Save")):  # fmt: skip
        bar.insert(tool(key, icon, label), -1)
    view = Gtk.TextView()
    view.get_buffer().set_text("Shopping list\nmilk, bread, tea")
    editor.add(column(bar, view))
    editor.show_all()
    dialog = Gtk.Dialog(title="Question", transient_for=editor, modal=True)
    dialog.set_default_size(420, 140)
    dialog.get_content_area().add(Gtk.Label(label="Save changes to notes.txt before closing?", margin=20))
    for key, label in (("discard", "Close without Saving"), ("cancel", "Cancel"), ("save", "Save")):
        keep(key, dialog.add_button(label, 1))
    dialog.show_all()


def contact_form() -> None:
    main = window("New Contact", 100, 50, 560, 560)
    grid = Gtk.Grid(column_spacing=10, row_spacing=8, margin=12)
    fields = (("first", "First name:"), ("last", "Last name:"), ("mail", "E-mail address:"), ("phone", "Phone:"),
              ("street", "Street:"), ("city", "City:"), ("zip", "Postal code:"))  # fmt: skip
    for index, (key, label) in enumerate(fields):
        grid.attach(Gtk.Label(label=label, xalign=0), 0, index, 1, 1)
        grid.attach(keep(key, Gtk.Entry(width_chars=30)), 1, index, 1, 1)
    grid.attach(Gtk.Label(label="Country:", xalign=0), 0, 7, 1, 1)
    grid.attach(combo("country", "Germany", "France", "Poland"), 1, 7, 1, 1)
    grid.attach(Gtk.Label(label="Age:", xalign=0), 0, 8, 1, 1)
    grid.attach(keep("age", Gtk.SpinButton.new_with_range(0, 120, 1)), 1, 8, 1, 1)
    work = keep("work", Gtk.RadioButton.new_with_label(None, "Work"))
    home = keep("home", Gtk.RadioButton.new_with_label_from_widget(work, "Home"))
    news = keep("news", Gtk.CheckButton(label="Subscribe to the newsletter"))
    fav = keep("fav", Gtk.CheckButton(label="Add to favourites"))
    off = button("export", "Export vCard")
    off.set_sensitive(False)
    main.add(
        column(grid, row(work, home), news, fav, row(button("add", "Add Contact"), button("clear", "Clear form"), off))
    )
    main.show_all()


def dark_toolbar() -> None:
    Gtk.Settings.get_default().set_property("gtk-application-prefer-dark-theme", True)
    main = window("Photo Viewer", 60, 40, 820, 560)
    menus = Gtk.MenuBar()
    for key, label in (("m-file", "_File"), ("m-edit", "_Edit"), ("m-view", "_View"), ("m-help", "_Help")):
        item = keep(key, Gtk.MenuItem(label=label, use_underline=True))
        item.set_submenu(Gtk.Menu())
        menus.append(item)
    bar = Gtk.Toolbar()
    bar.set_style(Gtk.ToolbarStyle.ICONS)
    for key, icon, label, tip in (
        ("prev", "go-previous", "Previous", "Previous picture"), ("next", "go-next", "Next", "Next picture"),
        ("zin", "zoom-in", "Zoom In", "Make it larger"), ("zout", "zoom-out", "Zoom Out", "Make it smaller"),
        ("rotl", "object-rotate-left", "Rotate Left", ""), ("rotr", "object-rotate-right", "Rotate Right", ""),
        ("del", "edit-delete", "Delete", "Move to trash"),
    ):  # fmt: skip
        bar.insert(tool(key, icon, label, tip), -1)
    scale = keep("zoom", Gtk.Scale.new_with_range(HORIZONTAL, 10, 400, 10))
    scale.set_size_request(200, -1)
    search = keep("search", Gtk.SearchEntry(placeholder_text="Search photos"))
    body = Gtk.Box(orientation=VERTICAL)
    for widget in (menus, bar, row(Gtk.Label(label="Zoom"), scale, search), Gtk.DrawingArea(height_request=300)):
        body.add(widget)
    body.add(
        row(keep("slide", Gtk.ToggleButton(label="Slideshow")), keep("full", Gtk.ToggleButton(label="Fullscreen")))
    )
    body.add(keep("status", Gtk.Label(label="3 of 120 pictures")))
    main.add(body)
    main.show_all()


def file_list() -> None:
    main = window("Open File", 70, 50, 760, 560)
    store = Gtk.ListStore(str, str, str)
    files = (("budget.ods", "24 kB", "Mon"), ("holiday.jpg", "2.1 MB", "Tue"), ("letter.odt", "18 kB", "Tue"),
             ("notes.txt", "1 kB", "Wed"), ("notes-old.txt", "1 kB", "Wed"), ("report.pdf", "3 MB", "Thu"))  # fmt: skip
    for entry in files:
        store.append(entry)
    tree = Gtk.TreeView(model=store)
    for index, title in enumerate(("Name", "Size", "Modified")):
        cells = Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=index)
        cells.set_min_width(150)
        tree.append_column(cells)
        computed[f"h-{title.lower()}"] = lambda made=cells: on_display(made.get_button())
    for index, entry in enumerate(files):
        computed[f"f-{entry[0]}"] = lambda at=index: cell(tree, at)
    places = Gtk.ListBox()
    for name in ("Home", "Documents", "Downloads", "Pictures", "Trash"):
        item = Gtk.ListBoxRow()
        item.add(Gtk.Label(label=name, xalign=0, margin=6))
        places.add(keep(f"p-{name.lower()}", item))
    scroll = Gtk.ScrolledWindow(hexpand=True, vexpand=True, min_content_height=300, min_content_width=480)
    scroll.add(tree)
    path = keep("name", Gtk.Entry(hexpand=True))
    filters = combo("filter", "All files", "Images", "Text")
    top, bottom = row(Gtk.Label(label="File name"), path), row(Gtk.Label(label="Filter"), filters)
    main.add(column(top, row(places, scroll), bottom, row(button("cancel", "Cancel"), button("open", "Open"))))
    main.show_all()


def cell(tree: Gtk.TreeView, index: int) -> list[int]:
    area = tree.get_cell_area(Gtk.TreePath.new_from_indices([index]), tree.get_column(0))
    _, x0, y0 = tree.get_bin_window().get_origin()
    return [x0 + area.x, y0 + area.y, area.width, area.height]


def open_menu() -> None:
    main = window("Spreadsheet", 80, 60, 700, 480)
    menus = Gtk.MenuBar()
    top = keep("m-file", Gtk.MenuItem(label="File"))
    menu = Gtk.Menu()
    for key, label in (("new", "New"), ("open", "Open..."), ("save", "Save"), ("saveas", "Save As..."), ("", ""),
                       ("print", "Print..."), ("close", "Close"), ("quit", "Quit")):  # fmt: skip
        menu.append(keep(key, Gtk.MenuItem(label=label)) if key else Gtk.SeparatorMenuItem())
    auto = keep("auto", Gtk.CheckMenuItem(label="Autosave"))
    auto.set_active(True)
    menu.append(auto)
    keyed["print"].set_sensitive(False)
    top.set_submenu(menu)
    menus.append(top)
    edit = keep("m-edit", Gtk.MenuItem(label="Edit"))
    edit.set_submenu(Gtk.Menu())
    menus.append(edit)
    main.add(column(menus, Gtk.DrawingArea(height_request=330), row(button("b-save", "Save"), button("b-sum", "Sum"))))
    main.show_all()
    GLib.timeout_add(700, lambda: bool(menus.select_item(top)))


def two_windows() -> None:
    left = window("Invoices", 40, 60, 360, 220)
    left.add(column(row(button("l-save", "Save"), button("l-print", "Print")), keep("l-filter", Gtk.Entry())))
    left.show_all()
    right = window("Customers", 640, 60, 360, 220)
    right.add(
        column(
            row(button("r-save", "Save"), button("r-call", "Call")),
            row(button("r-x1", "Remove"), button("r-x2", "Remove")),
        )
    )
    right.show_all()
    under = window("Hidden below", 420, 420, 300, 200)
    under.add(column(button("u-apply", "Apply discount")))
    under.show_all()
    over = window("On top", 400, 400, 420, 300)
    over.add(column(Gtk.Label(label="Nothing to see here"), button("o-close", "Dismiss")))
    GLib.timeout_add(900, lambda: over.show_all())
    keyed_later.append("o-close")


keyed_later: list[str] = []


def on_display(widget: Gtk.Widget) -> list[int] | None:
    top = widget.get_toplevel()
    at = widget.get_window()
    if at is None or not widget.get_mapped() or top.get_window() is None:
        return None
    _, x0, y0 = top.get_window().get_origin()
    x, y = widget.translate_coordinates(top, 0, 0)
    return [x0 + x, y0 + y, widget.get_allocated_width(), widget.get_allocated_height()]


def boxes() -> dict[str, list[int]] | None:
    found = {key: on_display(widget) for key, widget in keyed.items()}
    found.update({key: compute() for key, compute in computed.items()})
    return None if None in found.values() else found


told = Path(sys.argv[1])
state = {"last": None, "same": 0}


def tell() -> bool:
    now = boxes()
    state["same"] = state["same"] + 1 if now is not None and now == state["last"] else 0
    state["last"] = now
    if state["same"] < 4:
        return True
    part = told.with_suffix(".part")
    part.write_text(json.dumps(now))
    part.replace(told)
    return False


{function.__name__: function for function in (
    save_dialog, contact_form, dark_toolbar, file_list, open_menu, two_windows)}[sys.argv[2]]()  # fmt: skip
GLib.timeout_add(200, tell)
Gtk.main()
