"""GTK 3 screens of desktop programs in the half to work with: `programs_gtk3.py TRUTH SCREEN`."""

from __future__ import annotations

from keyed_gtk3 import (
    HORIZONTAL,
    Gtk,
    cell,
    column,
    combo,
    computed,
    icon_button,
    keep,
    line,
    row,
    run,
    table,
    tree,
    window,
)

SONGS = (
    (True, "Intro", "The Pale Lights", "Harbour", "1:12", "★★☆☆☆"),
    (True, "Salt and Rope", "The Pale Lights", "Harbour", "4:05", "★★★★★"),
    (False, "Night Ferry", "The Pale Lights", "Harbour", "3:48", "★★★☆☆"),
    (True, "Intro", "Mira Dahl", "Paper Suns", "0:54", "★☆☆☆☆"),
    (False, "Kite Season", "Mira Dahl", "Paper Suns", "3:31", "★★★★☆"),
    (True, "Glasshouse", "Oto Quartet", "Live in Porto", "7:20", "★★★★☆"),
    (True, "Slow Tram", "Oto Quartet", "Live in Porto", "6:02", "★★☆☆☆"),
)


def music_library() -> None:
    main = window("Cadence", 40, 40, 1120, 660)
    menus = Gtk.MenuBar()
    for name in ("Music", "Edit", "View", "Controls", "Help"):
        menus.append(keep(f"menu-{name.lower()}", Gtk.MenuItem(label=name)))
    position = keep("position", Gtk.Scale.new_with_range(HORIZONTAL, 0, 245, 1))
    position.set_value(83)
    position.set_draw_value(False)
    position.set_size_request(280, -1)
    volume = keep("volume", Gtk.Scale.new_with_range(HORIZONTAL, 0, 100, 1))
    volume.set_value(70)
    volume.set_draw_value(False)
    volume.set_size_request(100, -1)
    player = row(
        icon_button("previous", "media-skip-backward-symbolic", "Previous"),
        icon_button("play", "media-playback-start-symbolic", "Play", size=28),
        icon_button("next", "media-skip-forward-symbolic"),
        Gtk.Label(label="1:23"),
        position,
        Gtk.Label(label="4:05"),
        icon_button("shuffle", "media-playlist-shuffle-symbolic", "", "Shuffle"),
        icon_button("repeat", "media-playlist-repeat-symbolic", "Repeat"),
        icon_button("mute", "audio-volume-high-symbolic"),
        volume,
        keep("search", Gtk.SearchEntry(placeholder_text="Search songs, artists…", valign=Gtk.Align.CENTER)),
        icon_button("output", "audio-speakers-symbolic", "Choose the output"),
    )
    branches = {"Library": ("Songs", "Albums", "Artists", "Podcasts"), "Playlists": ("Road trip", "Rainy day", "Gym")}
    lists = tree("list", "Sources", branches)
    lists.set_size_request(170, -1)
    list_tools = row(
        icon_button("list-add", "list-add-symbolic", "New playlist", size=16),
        icon_button("list-remove", "list-remove-symbolic", size=16),
        icon_button("list-gear", "emblem-system-symbolic", size=16),
    )
    left = column(lists, list_tools)
    body = row(left, _songs(), _now_playing())
    body.set_vexpand(True)
    main.add(column(menus, player, body, keep("status", Gtk.Label(label="7 songs, 27 minutes", xalign=0)), spacing=2))
    main.show_all()


def _songs() -> Gtk.TreeView:
    store = Gtk.ListStore(bool, str, str, str, str, str)
    view = Gtk.TreeView(model=store, hexpand=True, vexpand=True)
    view.append_column(Gtk.TreeViewColumn("✓", Gtk.CellRendererToggle(), active=0))
    for c, (title, width) in enumerate((("Title", 120), ("Artist", 130), ("Album", 110), ("Time", 60), ("Rating", 90))):
        made = Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=c + 1)
        made.set_min_width(width)
        view.append_column(made)
    for c in range(6):
        computed[f"song-h-{c}"] = lambda c=c: _header(view.get_column(c))
    for r, song in enumerate(SONGS):
        store.append(song)
        computed[f"song-{r + 1}"] = lambda r=r: line(view, (r,))
        for c in range(6):
            computed[f"song-{r + 1}-{c}"] = lambda r=r, c=c: cell(view, (r,), c)
    view.set_cursor(Gtk.TreePath((1,)))
    return view


def _header(shown: Gtk.TreeViewColumn) -> list[int] | None:
    button = shown.get_button()
    top = button.get_toplevel()
    if not button.get_mapped() or top.get_window() is None:
        return None
    _, x0, y0 = top.get_window().get_origin()
    x, y = button.translate_coordinates(top, 0, 0)
    return [x0 + x, y0 + y, button.get_allocated_width(), button.get_allocated_height()]


def _now_playing() -> Gtk.Box:
    cover = keep("cover", Gtk.Image.new_from_icon_name("folder-music-symbolic", Gtk.IconSize.DIALOG))
    cover.set_pixel_size(150)
    lyrics = keep("lyrics", Gtk.Button(label="Show lyrics"))
    lyrics.set_sensitive(False)
    return column(
        Gtk.Label(label="<b>Now playing</b>", use_markup=True),
        cover,
        keep("now-title", Gtk.Label(label="Salt and Rope")),
        Gtk.Label(label="The Pale Lights"),
        row(
            icon_button("heart", "emblem-favorite-symbolic", "Love this song"),
            icon_button("share", "send-to-symbolic"),
            icon_button("info", "dialog-information-symbolic", "Track details"),
        ),
        lyrics,
        keep("queue", Gtk.Button(label="Up next (4)")),
        keep("crossfade", Gtk.CheckButton(label="Crossfade")),
    )


def print_dialog() -> None:
    main = window("Invoice 2041.pdf - Leaf Viewer", 30, 30, 1180, 700)
    page = Gtk.TextView(editable=False, hexpand=True, vexpand=True, left_margin=40, top_margin=30)
    page.get_buffer().set_text(
        "INVOICE 2041\n\nBirch & Sons, Joinery\n\n4 oak shelves      320.00\n1 delivery         25.00"
    )
    page.set_can_focus(False)
    main.add(
        column(
            row(
                icon_button("doc-open", "document-open-symbolic", "Open"),
                icon_button("doc-print", "document-print-symbolic", "Print"),
                icon_button("doc-zoom-in", "zoom-in-symbolic"),
                icon_button("doc-zoom-out", "zoom-out-symbolic"),
                icon_button("doc-rotate", "object-rotate-right-symbolic"),
                keep("doc-page", Gtk.Entry(text="1", width_chars=3)),
                Gtk.Label(label="of 3"),
                keep("doc-close", Gtk.Button(label="Close")),
            ),
            page,
        )
    )
    main.show_all()
    ask = Gtk.Dialog(title="Print", transient_for=main, modal=True)
    ask.set_default_size(620, 480)
    ask.move(330, 140)
    book = Gtk.Notebook()
    book.append_page(_print_page(), keep("tab-general", Gtk.Label(label="General")))
    for name in ("Page Setup", "Job", "Image Quality", "Advanced"):
        book.append_page(Gtk.Box(), keep(f"tab-{name.split()[0].lower()}", Gtk.Label(label=name)))
    ask.get_content_area().add(book)
    for key, label, answer in (("preview", "Preview", 1), ("cancel", "Cancel", 2), ("print", "Print", 3)):
        keep(key, ask.add_button(label, answer))
    ask.show_all()


def _print_page() -> Gtk.Box:
    printers = table(
        "printer",
        ("Printer", "Location", "Status"),
        (
            ("Print to File", "", ""),
            ("Brother HL-2270", "Front office", "Ready"),
            ("Canon MX 920", "Workshop", "Out of paper"),
            ("Brother HL-5450", "Attic", "Offline"),
        ),
    )
    printers.get_selection().select_path(Gtk.TreePath((1,)))
    whole = keep("all-pages", Gtk.RadioButton(label="All Pages"))
    current = keep("current-page", Gtk.RadioButton.new_with_label_from_widget(whole, "Current Page"))
    chosen = keep("selection", Gtk.RadioButton.new_with_label_from_widget(whole, "Selection"))
    chosen.set_sensitive(False)
    some = keep("some-pages", Gtk.RadioButton.new_with_label_from_widget(whole, "Pages:"))
    pages = keep("pages", Gtk.Entry(placeholder_text="1-3, 5", width_chars=10))
    span = Gtk.Frame(label="Range")
    span.add(column(whole, current, chosen, row(some, pages), spacing=2))
    count = keep("copies", Gtk.SpinButton.new_with_range(1, 99, 1))
    collate = keep("collate", Gtk.CheckButton(label="Collate"))
    collate.set_sensitive(False)
    copies = Gtk.Frame(label="Copies")
    copies.add(
        column(
            row(Gtk.Label(label="Copies:"), count),
            collate,
            keep("reverse", Gtk.CheckButton(label="Reverse")),
            row(Gtk.Label(label="Two-sided:"), combo("sides", "One Sided", "Long Edge", "Short Edge")),
            spacing=2,
        )
    )
    tools = row(
        icon_button("printer-refresh", "view-refresh-symbolic", "Look for printers"),
        icon_button("printer-add", "list-add-symbolic"),
        icon_button("printer-info", "dialog-information-symbolic"),
    )
    return column(printers, tools, row(span, copies, spacing=20))


NETWORKS = (
    ("Maple-5G", "excellent", True, "Connected"), ("Maple-Guest", "good", False, ""), ("FRITZ 7490", "ok", True, ""),
    ("Cafe Luna", "weak", False, ""), ("printer-direct", "weak", True, ""),
)  # fmt: skip


def network() -> None:
    Gtk.Settings.get_default().set_property("gtk-application-prefer-dark-theme", True)
    main = window("Network", 80, 30, 980, 720)
    side = Gtk.ListBox()
    for name in ("Wi-Fi", "Bluetooth", "Wired", "VPN", "Proxy", "Hotspot"):
        item = Gtk.ListBoxRow()
        item.add(Gtk.Label(label=name, xalign=0, margin=8))
        side.add(keep(f"side-{name.lower()}", item))
    side.select_row(side.get_row_at_index(0))
    side.set_size_request(150, -1)
    notice = Gtk.InfoBar(message_type=Gtk.MessageType.WARNING)
    notice.get_content_area().add(Gtk.Label(label="You have used 90 % of this month's data."))
    notice.get_content_area().add(keep("notice-plan", Gtk.Button(label="Change plan")))
    notice.get_content_area().add(icon_button("notice-close", "window-close-symbolic", size=16, flat=True))
    nets = column(spacing=0)
    for at, (name, signal, locked, state) in enumerate(NETWORKS, 1):
        nets.add(_net(at, name, signal, locked, state))
    foot = row(
        keep("hidden", Gtk.Button(label="Join hidden network…")),
        keep("known", Gtk.Button(label="Known networks")),
        icon_button("scan", "view-refresh-symbolic", "Scan again"),
        icon_button("qr", "view-grid-symbolic", "Show as QR code"),
    )
    body = column(
        notice,
        _switch("wifi", "Wi-Fi", True),
        _switch("airplane", "Airplane mode", False),
        _switch("metered", "Metered connection", True),
        Gtk.Label(label="<b>Visible networks</b>", use_markup=True, xalign=0),
        nets,
        foot,
        _slider("power", "Transmit power", 60),
        _slider("down", "Download limit", 25),
        _slider("up", "Upload limit", 25),
        row(
            Gtk.Label(label="DNS"), combo("dns", "Automatic", "Manual"), keep("dns-address", Gtk.Entry(text="9.9.9.9"))
        ),
    )
    body.set_hexpand(True)
    main.add(row(side, Gtk.Separator(orientation=Gtk.Orientation.VERTICAL), body))
    main.show_all()


def _net(at: int, name: str, signal: str, locked: bool, state: str) -> Gtk.Box:
    label = keep(f"net-{at}", Gtk.Label(label=name, xalign=0))
    label.set_size_request(150, -1)
    lock = Gtk.Image.new_from_icon_name(
        "network-wireless-encrypted-symbolic" if locked else "", Gtk.IconSize.LARGE_TOOLBAR
    )
    note = Gtk.Label(label=state, hexpand=True, xalign=0)
    strength = Gtk.Image.new_from_icon_name(f"network-wireless-signal-{signal}-symbolic", Gtk.IconSize.LARGE_TOOLBAR)
    join = keep(f"join-{at}", Gtk.Button(label="Disconnect" if state else "Connect"))
    forget = icon_button(f"forget-{at}", "user-trash-symbolic", "Forget this network", size=16)
    forget.set_sensitive(bool(state) or at == 3)
    gear = icon_button(f"gear-{at}", "emblem-system-symbolic", size=16)
    return row(keep(f"signal-{at}", strength), label, lock, note, join, gear, forget, spacing=10)


def _switch(key: str, label: str, on: bool) -> Gtk.Box:
    return row(Gtk.Label(label=label, hexpand=True, xalign=0), keep(key, Gtk.Switch(active=on)))


def _slider(key: str, label: str, value: int) -> Gtk.Box:
    made = keep(key, Gtk.Scale.new_with_range(HORIZONTAL, 0, 100, 5))
    made.set_value(value)
    made.set_hexpand(True)
    made.set_value_pos(Gtk.PositionType.RIGHT)
    name = Gtk.Label(label=label, xalign=0)
    name.set_size_request(130, -1)
    return row(name, made)


run({function.__name__: function for function in (music_library, print_dialog, network)})
