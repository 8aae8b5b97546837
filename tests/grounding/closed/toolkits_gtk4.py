"""The GTK 4 screen of the closed half: `toolkits_gtk4.py TRUTH alarms`."""

from __future__ import annotations

from keyed_gtk4 import Gtk, box, icon_button, keep, run

ALARMS = (("06:45", "Gym"), ("07:30", "School run"), ("13:00", "Medicine"), ("22:15", "Bedtime"))


def alarms(window: Gtk.ApplicationWindow) -> None:
    Gtk.Settings.get_default().set_property("gtk-application-prefer-dark-theme", True)
    window.set_title("Clocks")
    window.set_default_size(640, 600)
    pages = box(
        *(
            keep(f"page-{name}", Gtk.ToggleButton(label=name, active=name == "Alarms"))
            for name in ("World", "Alarms", "Stopwatch", "Timer")
        ),
        spacing=0,
    )
    tools = box(
        icon_button("add", "alarm-symbolic", "Add an alarm"),
        icon_button("night", "night-light-symbolic"),
        icon_button("sound", "audio-volume-high-symbolic", "", "Ringtone volume"),
        icon_button("share", "send-to-symbolic"),
        icon_button("lock", "system-lock-screen-symbolic"),
        icon_button("help", "help-faq-symbolic", "Help"),
    )
    rows = box(across=False)
    for at, (time, name) in enumerate(ALARMS, 1):
        rows.append(
            box(
                keep(f"time-{at}", Gtk.Label(label=time)),
                keep(f"name-{at}", Gtk.Label(label=name, xalign=0, hexpand=True)),
                icon_button(f"edit-{at}", "document-edit-symbolic"),
                icon_button(f"less-{at}", "list-remove-symbolic", "Remove"),
                keep(f"on-{at}", Gtk.Switch(valign=Gtk.Align.CENTER, active=at < 3)),
            )
        )
    grid = Gtk.Grid(column_spacing=12, row_spacing=8)
    for y, (label, widget) in enumerate(
        (
            ("Snooze for", keep("snooze", Gtk.DropDown.new_from_strings(["5 minutes", "10 minutes"]))),
            ("Ring at most", keep("rings", Gtk.SpinButton.new_with_range(1, 60, 1))),
            ("Label", keep("label", Gtk.Entry(width_chars=28))),
        )
    ):
        grid.attach(Gtk.Label(label=label, xalign=0), 0, y, 1, 1)
        grid.attach(widget, 1, y, 1, 1)
    foot = box(
        keep("weekend", Gtk.CheckButton(label="Silent at weekends")),
        keep("test", Gtk.Button(label="Test sound")),
        keep("skip", Gtk.Button(label="Skip next", sensitive=False)),
    )
    body = box(pages, tools, rows, grid, foot, across=False, spacing=14)
    for side in ("start", "end", "top", "bottom"):
        body.set_property(f"margin-{side}", 14)
    window.set_child(body)


run({"alarms": alarms})
