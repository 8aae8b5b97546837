"""GTK 3 screens of the half to work with: `toolkits_gtk3.py TRUTH SCREEN`."""

from __future__ import annotations

from keyed_gtk3 import HORIZONTAL, Gtk, column, combo, icon_button, keep, row, run, table, tree, window


def mailbox() -> None:
    main = window("Inbox - Carrier Mail", 60, 50, 1000, 620)
    tools = row(
        icon_button("compose", "mail-message-new-symbolic", "Write a message"),
        icon_button("reply", "mail-reply-sender-symbolic", "Reply"),
        icon_button("reply-all", "mail-reply-all-symbolic"),
        icon_button("forward", "mail-forward-symbolic"),
        Gtk.Separator(),
        icon_button("bin", "user-trash-symbolic", "Move to bin"),
        icon_button("junk", "mail-mark-junk-symbolic", "", "Mark as junk"),
        icon_button("print", "document-print-symbolic"),
        icon_button("attach", "mail-attachment-symbolic", "", "Show attachments"),
        keep("look", Gtk.SearchEntry(placeholder_text="Search mail")),
        icon_button("menu", "open-menu-symbolic"),
    )
    folders = tree("folder", "Folders", {"Work": ("Inbox", "Drafts", "Sent"), "Private": ("Family", "Bills")})
    folders.set_size_request(170, -1)
    mails = table(
        "mail",
        ("From", "Subject", "Date"),
        (
            ("Rosa Lind", "Quarterly numbers", "12 May"),
            ("Post office", "Your parcel is on its way", "11 May"),
            ("Tomas Berg", "Lunch on Friday?", "11 May"),
            ("Rosa Lind", "Re: Quarterly numbers", "9 May"),
            ("Gym", "Membership renewal", "2 May"),
        ),
        180,
    )
    body = row(folders, mails)
    body.set_vexpand(True)
    undo = keep("undo", Gtk.Button(label="Undo send"))
    undo.set_sensitive(False)
    status = keep("status", Gtk.Label(label="5 messages, 2 unread", xalign=0))
    main.add(column(tools, body, row(keep("fetch", Gtk.Button(label="Get new mail")), undo, status)))
    main.show_all()


def recorder() -> None:
    Gtk.Settings.get_default().set_property("gtk-application-prefer-dark-theme", True)
    main = window("Take 3 - Recorder", 90, 60, 800, 520)
    transport = row(
        icon_button("first", "media-skip-backward-symbolic", size=24),
        icon_button("rewind", "media-seek-backward-symbolic", size=24),
        icon_button("play", "media-playback-start-symbolic", size=24),
        icon_button("pause", "media-playback-pause-symbolic", size=24),
        icon_button("stop", "media-playback-stop-symbolic", size=24),
        icon_button("record", "media-record-symbolic", "Start a new take", size=24),
        icon_button("ffwd", "media-seek-forward-symbolic", size=24),
        icon_button("loop", "media-playlist-repeat-symbolic", "", "Loop the selection", size=24),
        icon_button("mic", "audio-input-microphone-symbolic", size=24),
        icon_button("gear", "emblem-system-symbolic", "Options", size=24),
    )
    position = keep("position", Gtk.Scale.new_with_range(HORIZONTAL, 0, 240, 1))
    position.set_size_request(500, -1)
    groups = row(_channel("in", "Input"), _channel("out", "Output"), spacing=20)
    marks = Gtk.ListBox()
    for at, name in enumerate(("Intro", "Verse 1", "Chorus", "Outro"), 1):
        item = Gtk.ListBoxRow()
        item.add(Gtk.Label(label=name, xalign=0, margin=5))
        marks.add(keep(f"mark-{at}", item))
    flac = keep("flac", Gtk.Button(label="Export as FLAC"))
    flac.set_sensitive(False)
    bottom = row(keep("wav", Gtk.Button(label="Export as WAV")), flac, keep("takes", Gtk.Button(label="All takes…")))
    main.add(
        column(
            transport,
            row(Gtk.Label(label="Position"), position),
            groups,
            Gtk.Label(label="Markers", xalign=0),
            marks,
            bottom,
        )
    )
    main.show_all()


def _channel(key: str, title: str) -> Gtk.Frame:
    frame = Gtk.Frame(label=title)
    grid = Gtk.Grid(column_spacing=8, row_spacing=6, margin=10)
    gain = Gtk.SpinButton.new_with_range(-40, 20, 1)
    gain.set_value(0)
    for y, (label, widget) in enumerate(
        (("Gain (dB)", keep(f"{key}-gain", gain)), ("Device", combo(f"{key}-device", "Built-in", "USB")))
    ):
        grid.attach(Gtk.Label(label=label, xalign=0), 0, y, 1, 1)
        grid.attach(widget, 1, y, 1, 1)
    grid.attach(keep(f"{key}-mute", Gtk.CheckButton(label="Mute")), 0, 2, 2, 1)
    frame.add(grid)
    return frame


def downloads() -> None:
    main = window("Downloads", 150, 90, 760, 460)
    top = row(
        icon_button("add", "list-add-symbolic", "New download"),
        icon_button("clean", "edit-clear-all-symbolic", "Clear finished"),
        icon_button("open", "folder-symbolic", "Open the folder"),
        icon_button("find", "edit-find-symbolic", "Find"),
        icon_button("lock", "changes-prevent-symbolic", "Limit the speed"),
    )
    rows = column(spacing=10)
    for at, (name, share, icon) in enumerate(
        (
            ("debian-netinst.iso", 0.4, "media-playback-pause-symbolic"),
            ("manual.pdf", 1.0, "folder-open-symbolic"),
            ("talk.webm", 0.1, "media-playback-pause-symbolic"),
        ),
        1,
    ):
        bar = keep(f"bar-{at}", Gtk.ProgressBar(fraction=share, valign=Gtk.Align.CENTER))
        bar.set_size_request(300, -1)
        label = keep(f"name-{at}", Gtk.Label(label=name, xalign=0))
        label.set_size_request(180, -1)
        rows.add(row(label, bar, icon_button(f"go-{at}", icon), icon_button(f"x-{at}", "window-close-symbolic")))
    limit = Gtk.SpinButton.new_with_range(0, 100, 1)
    limit.set_value(4)
    foot = row(
        Gtk.Label(label="At once"),
        keep("limit", limit),
        Gtk.Label(label="Save to"),
        combo("where", "Downloads", "Desktop"),
        keep("all", Gtk.Button(label="Pause all")),
        keep("quit", Gtk.CheckButton(label="Quit when done")),
    )
    main.add(column(top, rows, foot, spacing=14))
    main.show_all()


run({function.__name__: function for function in (mailbox, recorder, downloads)})
