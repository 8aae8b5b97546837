"""GTK 3 screens of the closed half: `toolkits_gtk3.py TRUTH SCREEN`."""

from __future__ import annotations

from keyed_gtk3 import Gtk, column, combo, computed, icon_button, keep, on_display, row, run, table, tree, window


def planner() -> None:
    main = window("Week 23 - Planner", 40, 40, 1040, 640)
    bar = Gtk.Toolbar()
    bar.set_style(Gtk.ToolbarStyle.ICONS)
    for key, icon, label, tip in (
        ("new", "appointment-new", "New appointment", ""),
        ("open", "document-open", None, "Open a calendar file"),
        ("print", "document-print", None, ""),
        ("cut", "edit-cut", "Cut", ""),
        ("copy", "edit-copy", None, ""),
        ("paste", "edit-paste", None, "Paste"),
        ("before", "go-previous", None, "Last week"),
        ("home", "go-home", None, ""),
        ("after", "go-next", None, ""),
        ("help", "help-browser", None, "Handbook"),
    ):
        made = Gtk.ToolButton(icon_widget=Gtk.Image.new_from_icon_name(icon, Gtk.IconSize.LARGE_TOOLBAR), label=label)
        if tip:
            made.set_tooltip_text(tip)
        bar.insert(keep(key, made), -1)
    book = Gtk.Notebook()
    for name in ("Week", "Month", "Agenda"):
        page = Gtk.Label(label=f"This {name.lower()}")
        if name == "Week":
            page = table(
                "task",
                ("Day", "What", "Hours", "Status"),
                (
                    ("Monday", "Staff meeting", "1.5", "done"),
                    ("Tuesday", "Dentist", "1", "open"),
                    ("Wednesday", "Roof inspection", "3", "open"),
                    ("Thursday", "Staff meeting", "1", "open"),
                    ("Friday", "Payroll", "2.5", "late"),
                ),
                130,
            )
        label = Gtk.Label(label=name)
        book.append_page(page, label)
        computed[f"tab-{name}"] = lambda label=label: _around(label)
    calendars = tree("cal", "Calendars", {"Mine": ("Office", "Home"), "Shared": ("Holidays", "Football club")})
    calendars.set_size_request(180, -1)
    body = row(calendars, book)
    body.set_vexpand(True)
    book.set_hexpand(True)
    quick = keep("quick", Gtk.Entry(placeholder_text="Quick entry, e.g. Tue 9:00 call bank", hexpand=True))
    publish = keep("publish", Gtk.Button(label="Publish week"))
    publish.set_sensitive(False)
    foot = row(quick, combo("colour", "Blue", "Red", "Green"), keep("enter", Gtk.Button(label="Enter")), publish)
    main.add(column(bar, body, foot))
    main.show_all()


def _around(label: Gtk.Label) -> list[int] | None:
    inside = on_display(label)
    return inside and [inside[0] - 10, inside[1] - 4, inside[2] + 20, inside[3] + 8]


def chats() -> None:
    Gtk.Settings.get_default().set_property("gtk-application-prefer-dark-theme", True)
    people = window("Contacts", 30, 60, 300, 560)
    listed = Gtk.ListBox(vexpand=True)
    for at, name in enumerate(("Greta", "Ivo", "Marisol", "Old classmates", "Yusuf"), 1):
        item = Gtk.ListBoxRow()
        item.add(Gtk.Label(label=name, xalign=0, margin=8))
        listed.add(keep(f"contact-{at}", item))
    people.add(
        column(
            row(
                icon_button("person", "contact-new-symbolic", "Add somebody"),
                icon_button("group", "system-users-symbolic"),
                icon_button("bell", "notifications-disabled-symbolic", "", "Silence all"),
                icon_button("prefs", "preferences-system-symbolic"),
            ),
            keep("filter", Gtk.SearchEntry(placeholder_text="Filter people")),
            listed,
            row(Gtk.Label(label="I am"), combo("presence", "Available", "Away", "Busy")),
        )
    )
    people.show_all()
    for key, who, y, last in (
        ("ivo", "Ivo", 60, "See you at seven then"),
        ("greta", "Greta", 400, "Did you get the photos?"),
    ):
        _chat(key, who, y, last).show_all()


def _chat(key: str, who: str, y: int, last: str) -> Gtk.Window:
    chat = window(f"Chat with {who}", 420, y, 640, 260)
    top = row(
        icon_button(f"{key}-call", "call-start-symbolic", "Voice call"),
        icon_button(f"{key}-video", "camera-video-symbolic"),
        icon_button(f"{key}-info", "user-info-symbolic", "", "Profile"),
        icon_button(f"{key}-pin", "view-pin-symbolic"),
    )
    said = keep(f"{key}-last", Gtk.Label(label=last, xalign=0, vexpand=True))
    field = keep(f"{key}-text", Gtk.Entry(placeholder_text=f"Message {who}", hexpand=True))
    foot = row(
        icon_button(f"{key}-smile", "face-smile-symbolic"),
        icon_button(f"{key}-picture", "insert-image-symbolic"),
        field,
        keep(f"{key}-send", Gtk.Button(label="Send")),
    )
    chat.add(column(top, said, foot))
    return chat


def backup() -> None:
    main = window("Safekeep", 200, 80, 700, 520)
    top = row(
        icon_button("disk", "drive-harddisk-symbolic", "Choose a disk", size=32),
        icon_button("cloud", "network-server-symbolic", "Choose a server", size=32),
        icon_button("restore", "document-open-recent-symbolic", size=32),
        icon_button("keys", "dialog-password-symbolic", "Encryption", size=32),
        icon_button("eject", "media-eject-symbolic", size=32),
        icon_button("quit", "system-shutdown-symbolic", size=32),
    )
    grid = Gtk.Grid(column_spacing=10, row_spacing=8, margin=8)
    copies = Gtk.SpinButton.new_with_range(1, 30, 1)
    copies.set_value(7)
    for y, (label, widget) in enumerate(
        (
            ("Source folder", keep("source", Gtk.Entry(text="/home/ana", width_chars=32))),
            ("Target", keep("target", Gtk.Entry(text="/mnt/vault", width_chars=32))),
            ("How often", combo("often", "Every day", "Every week")),
            ("Copies to keep", keep("copies", copies)),
        )
    ):
        grid.attach(Gtk.Label(label=label, xalign=0), 0, y, 1, 1)
        grid.attach(widget, 1, y, 1, 1)
        if y < 2:
            grid.attach(icon_button(f"{('source', 'target')[y]}-pick", "folder-open-symbolic"), 2, y, 1, 1)
    runs = table(
        "run",
        ("Started", "Size", "Result"),
        (("1 March", "812 MB", "complete"), ("2 March", "4 MB", "complete"), ("3 March", "0 MB", "failed")),
        150,
    )
    verify = keep("verify", Gtk.Button(label="Verify"))
    verify.set_sensitive(False)
    main.add(
        column(
            top,
            grid,
            runs,
            keep("power", Gtk.CheckButton(label="Only on mains power")),
            row(keep("now", Gtk.Button(label="Back up now")), verify, keep("log", Gtk.Button(label="Show log"))),
        )
    )
    main.show_all()


run({function.__name__: function for function in (planner, chats, backup)})
