"""Gives a notification, or a clipboard, as a toolkit does it: `notices.py KIND`. Ends after a minute."""

from __future__ import annotations

import sys


def tell_gio() -> None:
    """A notification of an application that is registered on the bus (GNotification)."""
    from gi.repository import Gio, GLib

    app = Gio.Application(application_id="org.example.Exporter")
    notice = Gio.Notification.new("Render of scene 7 done")
    notice.set_body("412 frames")
    app.connect("activate", lambda _: (app.hold(), app.send_notification("done", notice)))
    GLib.timeout_add_seconds(60, app.quit)
    app.run([])


def copy_gtk() -> None:
    import gi

    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gdk, GdkPixbuf, GLib, Gtk

    picture = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 40, 30)
    picture.fill(0x3366CCFF)
    Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_image(picture)
    GLib.timeout_add_seconds(60, Gtk.main_quit)
    Gtk.main()


def copy_tk() -> None:
    import tkinter

    root = tkinter.Tk()
    root.clipboard_append("Grüße 漢字")
    root.after(60_000, root.destroy)
    root.mainloop()


if __name__ == "__main__":
    {"gio": tell_gio, "gtk": copy_gtk, "tk": copy_tk}[sys.argv[1]]()
