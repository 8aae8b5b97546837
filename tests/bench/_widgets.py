"""A GTK 3 window of about 300 widgets. Run by the system's Python, which has gi; prints `ready` once it is mapped."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402 - after the version

ROWS, COLUMNS = 60, 5


def main():
    """Show a table of labels and buttons until killed."""
    window = Gtk.Window(title="Widgets")
    grid = Gtk.Grid()
    for row in range(ROWS):
        for column in range(COLUMNS):
            words = f"{row}.{column}"
            grid.attach(Gtk.Button(label=words) if column % 2 else Gtk.Label(label=words), column, row, 1, 1)
    window.add(grid)
    window.connect("map-event", lambda *_: print("ready", flush=True))
    window.show_all()
    Gtk.main()


main()
