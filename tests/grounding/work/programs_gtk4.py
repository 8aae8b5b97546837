"""The GTK 4 screen of desktop programs in the half to work with: `programs_gtk4.py TRUTH chat`."""

from __future__ import annotations

from keyed_gtk4 import Gtk, box, icon_button, keep, run

PEOPLE = (
    ("Noor", "see you at the station", "2"),
    ("Climbing club", "Ben: rope is in my car", "14"),
    ("Noor's brother", "photo", ""),
    ("Landlord", "the plumber comes on Monday", ""),
    ("Grandma", "call me please", "1"),
)
SAID = (
    ("Ben", "Who drives on Saturday?", False), ("You", "I can take three people", True),
    ("Ilse", "Topo attached: north_wall.pdf", False), ("You", "Thanks!", True), ("Ben", "rope is in my car", False),
)  # fmt: skip


def chat(window: Gtk.ApplicationWindow) -> None:
    window.set_title("Pigeon")
    window.set_default_size(980, 640)
    bar = Gtk.HeaderBar()
    bar.pack_start(icon_button("new-chat", "document-edit-symbolic", "New chat"))
    bar.pack_start(icon_button("archive", "folder-symbolic"))
    bar.pack_end(icon_button("menu", "open-menu-symbolic"))
    bar.pack_end(icon_button("find", "edit-find-symbolic", "", "Search in chat"))
    bar.pack_end(icon_button("video", "camera-web-symbolic", "Video call"))
    bar.pack_end(icon_button("call", "call-start-symbolic"))
    window.set_titlebar(bar)
    body = box(_left(), Gtk.Separator(orientation=Gtk.Orientation.VERTICAL), _right(), spacing=10)
    for side in ("start", "end", "top", "bottom"):
        body.set_property(f"margin-{side}", 10)
    window.set_child(body)


def _left() -> Gtk.Box:
    people = Gtk.ListBox(vexpand=True)
    for at, (name, last, unread) in enumerate(PEOPLE, 1):
        shown = Gtk.Label(label=f"<b>{name}</b>", use_markup=True, xalign=0)
        below = Gtk.Label(label=last, xalign=0, hexpand=True)
        badge = Gtk.Label(label=unread)
        if unread:
            keep(f"badge-{at}", badge)
        face = Gtk.Image(icon_name="avatar-default-symbolic", pixel_size=32)
        item = Gtk.ListBoxRow()
        item.set_child(box(face, box(shown, below, across=False, spacing=2), badge))
        people.append(keep(f"person-{at}", item))
    people.select_row(people.get_row_at_index(1))
    kinds = box(*(keep(f"kind-{name.lower()}", Gtk.ToggleButton(label=name)) for name in ("All", "Unread", "Groups")))
    foot = box(
        keep("state", Gtk.DropDown.new_from_strings(["Available", "Busy", "Invisible"])),
        icon_button("settings", "emblem-system-symbolic", "Settings"),
        icon_button("bell", "preferences-system-notifications-symbolic"),
    )
    filter_ = keep("filter", Gtk.SearchEntry(placeholder_text="Search people"))
    made = box(filter_, kinds, people, foot, across=False)
    made.set_size_request(280, -1)
    return made


def _right() -> Gtk.Box:
    pinned = box(
        Gtk.Image(icon_name="view-pin-symbolic"),
        keep("pinned", Gtk.Label(label="Meet at 7:30, car park B", xalign=0, hexpand=True)),
        icon_button("unpin", "window-close-symbolic"),
    )
    talk = box(across=False, spacing=6)
    talk.set_vexpand(True)
    for at, (who, words, mine) in enumerate(SAID, 1):
        text = keep(f"said-{at}", Gtk.Label(label=words, xalign=0))
        frame = Gtk.Frame()
        frame.set_child(text)
        parts = [Gtk.Label(label=f"{who}:"), frame, icon_button(f"react-{at}", "face-smile-symbolic")]
        if not mine:
            parts.append(icon_button(f"answer-{at}", "mail-reply-sender-symbolic", "Reply"))
        one = box(*parts)
        one.set_halign(Gtk.Align.END if mine else Gtk.Align.START)
        talk.append(one)
    save = box(
        keep("save-file", Gtk.Button(label="Save file")),
        keep("open-file", Gtk.Button(label="Open", sensitive=False)),
        keep("quiet", Gtk.Switch(valign=Gtk.Align.CENTER)),
        Gtk.Label(label="Mute this group"),
    )
    write = box(
        icon_button("attach", "mail-attachment-symbolic", "Attach a file"),
        icon_button("emoji", "face-smile-big-symbolic"),
        keep("message", Gtk.Entry(placeholder_text="Message to Climbing club", hexpand=True)),
        icon_button("voice", "audio-input-microphone-symbolic"),
        icon_button("send", "document-send-symbolic", "", "Send"),
    )
    title = Gtk.Label(label="<b>Climbing club</b>   9 members, 3 online", use_markup=True, xalign=0)
    made = box(keep("title", title), pinned, talk, save, write, across=False, spacing=10)
    made.set_hexpand(True)
    return made


run({"chat": chat})
