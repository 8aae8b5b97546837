"""A small GTK 3 program to try acud on: a list of customers, a form, and an export that takes a while.

    /usr/bin/python3 examples/customers.py [SECONDS]

SECONDS is how long an export takes (5). Debian and Ubuntu have what it needs: python3-gi and gir1.2-gtk-3.0. Nothing
is stored, and no file is written.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk, Pango  # noqa: E402 - the version has to be named first

CUSTOMERS = [
    ("Anna Keller", "Bern", "12,480.00"),
    ("Baker & Sons", "Leeds", "3,905.50"),
    ("Ines Duarte", "Porto", "8,112.00"),
    ("Jonas Lind", "Malmö", "640.75"),
    ("Kim Rask", "Tallinn", "15,300.00"),
    ("Olga Petrova", "Riga", "2,275.20"),
    ("Summit & Shore", "Cork", "9,999.00"),
]
STEP_MS = 100


class Customers(Gtk.Window):
    """The window: the list above, the form of the chosen customer below, and what is going on at the bottom."""

    def __init__(self, export_s: float) -> None:
        super().__init__(title="Customers")
        self._export_s = export_s
        self.set_default_size(560, 500)
        self._rows = Gtk.ListStore(str, str, str)
        for row in CUSTOMERS:
            self._rows.append(row)
        self._list = Gtk.TreeView(model=self._rows, enable_search=False)
        for place, title in enumerate(("Customer", "City", "Sales in 2026, EUR")):
            cell = Gtk.CellRendererText(xalign=float(place == 2), ellipsize=Pango.EllipsizeMode.END)
            column = Gtk.TreeViewColumn(title, cell, text=place)
            column.set_expand(place < 2)
            self._list.append_column(column)
        self._name, self._city = Gtk.Entry(hexpand=True), Gtk.Entry(hexpand=True)
        self._bar = Gtk.ProgressBar(show_text=True, text=" ")
        self._told = Gtk.Label(label=f"{len(CUSTOMERS)} customers", xalign=0)
        self._list.get_selection().connect("changed", self._choose)
        self.add(self._layout())
        self._list.set_cursor(Gtk.TreePath(0))
        self.connect("destroy", Gtk.main_quit)

    def _layout(self) -> Gtk.Widget:
        form = Gtk.Grid(row_spacing=8, column_spacing=12)
        for row, (words, entry) in enumerate((("_Name", self._name), ("_City", self._city))):
            form.attach(Gtk.Label.new_with_mnemonic(words), 0, row, 1, 1)
            form.get_child_at(0, row).set_mnemonic_widget(entry)
            form.attach(entry, 1, row, 1, 1)
        buttons = Gtk.Box(spacing=8, homogeneous=True)
        for label, pressed in (
            ("Save", self._save),
            ("Delete", self._delete),
            ("Refresh", self._refresh),
            ("Export", self._export),
        ):
            button = Gtk.Button(label=label)
            button.connect("clicked", pressed)
            buttons.add(button)
        scrolled = Gtk.ScrolledWindow(vexpand=True, shadow_type=Gtk.ShadowType.IN)
        scrolled.add(self._list)
        outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin=16)
        for child in (scrolled, form, buttons, self._bar, self._told):
            outer.add(child)
        return outer

    def _chosen(self) -> Gtk.TreeIter | None:
        return self._list.get_selection().get_selected()[1]

    def _choose(self, _: Gtk.TreeSelection) -> None:
        if (row := self._chosen()) is not None:
            self._name.set_text(self._rows[row][0])
            self._city.set_text(self._rows[row][1])

    def _save(self, _: Gtk.Button) -> None:
        if (row := self._chosen()) is not None:
            self._rows[row][0], self._rows[row][1] = self._name.get_text(), self._city.get_text()
            self._told.set_text(f"Saved {self._name.get_text()}, {self._city.get_text()}")

    def _delete(self, _: Gtk.Button) -> None:
        dialog = Gtk.MessageDialog(transient_for=self, title="Delete", text=f"Delete {self._name.get_text()}?")
        dialog.add_buttons("Keep", 0, "Delete it", 1)
        dialog.connect("response", self._answered)
        dialog.show_all()

    def _answered(self, dialog: Gtk.Dialog, answer: int) -> None:
        dialog.destroy()
        row = self._chosen()
        if answer == 1 and row is not None:
            self._told.set_text(f"Deleted {self._rows[row][0]}")
            self._rows.remove(row)

    def _refresh(self, _: Gtk.Button) -> None:
        self._told.set_text("Loading …")
        GLib.timeout_add(2_000, self._tell, "The list is up to date")

    def _export(self, button: Gtk.Button) -> None:
        button.set_sensitive(False)
        self._told.set_text(f"Exporting {len(self._rows)} customers …")
        self._bar.set_fraction(0.0)
        GLib.timeout_add(STEP_MS, self._go_on, button)

    def _go_on(self, button: Gtk.Button) -> bool:
        done = min(1.0, self._bar.get_fraction() + STEP_MS / 1000 / self._export_s)
        self._bar.set_fraction(done)
        self._bar.set_text(f"{round(100 * done)} %")
        if done < 1.0:
            return True
        button.set_sensitive(True)
        return bool(self._tell("Export finished: customers.pdf"))

    def _tell(self, words: str) -> bool:
        self._told.set_text(words)
        return False


if __name__ == "__main__":
    window = Customers(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
    window.show_all()
    window.move(40, 40)
    Gtk.main()
