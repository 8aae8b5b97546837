"""The windows of the five tasks (GTK 3), run by the system's own Python.

programs.py editor | registration | transfer NAME SECONDS | invoice   with the folder that gets the results in $RESULTS
"""

import json
import os
import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402 - the version has to be named first

RESULTS = Path(os.environ["RESULTS"])


def column(*widgets: Gtk.Widget) -> Gtk.Box:
    """Return the widgets below each other."""
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=10, margin=16)
    for widget in widgets:
        box.pack_start(widget, isinstance(widget, Gtk.ScrolledWindow), True, 0)
    return box


def labelled(label: str, widget: Gtk.Widget) -> Gtk.Box:
    """Return the widget with its label before it."""
    box = Gtk.Box(spacing=12)
    words = Gtk.Label(label=label, xalign=0, width_chars=10)
    words.set_mnemonic_widget(widget)
    box.pack_start(words, False, False, 0)
    box.pack_start(widget, True, True, 0)
    return box


def button(label: str, pressed: object) -> Gtk.Button:
    """Return a button."""
    made = Gtk.Button(label=label)
    made.connect("clicked", pressed)
    return made


class Editor(Gtk.Window):
    """A text editor whose Save asks for a name."""

    def __init__(self) -> None:
        super().__init__(title="Notes")
        self.text = Gtk.TextView()
        self.text.get_accessible().set_name("Document")
        self.text.get_buffer().set_text("Apples: 12\nPears: 30\n")
        pane = Gtk.ScrolledWindow()
        pane.add(self.text)
        self.said = Gtk.Label(label="Not saved yet", xalign=0)
        self.add(column(button("Save", self.save), pane, self.said))

    def save(self, _: Gtk.Widget) -> None:
        dialog = Gtk.FileChooserDialog(title="Save Document", parent=self, action=Gtk.FileChooserAction.SAVE)
        dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, "Save", Gtk.ResponseType.ACCEPT)
        dialog.set_current_folder(str(RESULTS))
        dialog.set_current_name("Untitled.txt")
        if dialog.run() == Gtk.ResponseType.ACCEPT:
            buffer = self.text.get_buffer()
            name = Path(dialog.get_filename()).name
            (RESULTS / name).write_text(buffer.get_text(*buffer.get_bounds(), True), encoding="utf-8")
            self.said.set_text(f"Saved as {name}")
        dialog.destroy()


class Registration(Gtk.Window):
    """A form whose second page comes some seconds later, with a code to copy."""

    def __init__(self) -> None:
        super().__init__(title="Registration")
        self.entries = {label: Gtk.Entry() for label in ("Name", "E-mail", "City", "Phone")}
        self.plan = Gtk.ComboBoxText()
        for plan in ("Basic", "Standard", "Premium"):
            self.plan.append_text(plan)
        self.plan.set_active(0)
        self.news = Gtk.CheckButton(label="Send me the newsletter")
        self.code, self.said = Gtk.Entry(), Gtk.Label(xalign=0)
        self.pages = Gtk.Stack()
        rows = [labelled(label, entry) for label, entry in self.entries.items()]
        self.pages.add_named(column(*rows, labelled("Plan", self.plan), self.news, button("Next", self.check)), "form")
        self.pages.add_named(column(Gtk.Label(label="Checking your details, please wait")), "checking")
        self.question = Gtk.Label(xalign=0)
        finish = button("Finish", self.finish)
        self.pages.add_named(column(self.question, labelled("Code", self.code), finish, self.said), "confirm")
        self.add(self.pages)

    def check(self, _: Gtk.Widget) -> None:
        self.pages.set_visible_child_name("checking")
        GLib.timeout_add(4000, self.confirm)

    def confirm(self) -> bool:
        self.question.set_text("Almost done. Your confirmation code is 4831")
        self.pages.set_visible_child_name("confirm")
        return False

    def finish(self, _: Gtk.Widget) -> None:
        told = {label: entry.get_text() for label, entry in self.entries.items()}
        told |= {"Plan": self.plan.get_active_text(), "News": self.news.get_active(), "Code": self.code.get_text()}
        (RESULTS / "registration.json").write_text(json.dumps(told), encoding="utf-8")
        self.said.set_text("Registered")


class Transfer(Gtk.Window):
    """Something that takes its time, and then wants to be acknowledged."""

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(title=name)
        self.name, self.step_ms, self.done = name, int(seconds * 10), 0
        self.said = Gtk.Label(label=f"{name}: ready", xalign=0)
        self.begin, self.acknowledge = button("Start", self.start), button("Acknowledge", self.finish)
        self.acknowledge.set_sensitive(False)
        self.add(column(self.said, self.begin, self.acknowledge))

    def start(self, _: Gtk.Widget) -> None:
        self.begin.set_sensitive(False)
        GLib.timeout_add(self.step_ms, self.step)

    def step(self) -> bool:
        self.done += 1
        self.said.set_text(f"{self.name}: {self.done} %")
        if self.done == 100:
            self.said.set_text(f"{self.name} is complete")
            self.acknowledge.set_sensitive(True)
        return self.done < 100

    def finish(self, _: Gtk.Widget) -> None:
        (RESULTS / f"{self.name}.acknowledged").touch()
        self.said.set_text(f"{self.name} is acknowledged")


class Invoice(Gtk.Window):
    """A form that asks something else at the wrong moment."""

    def __init__(self) -> None:
        super().__init__(title="Invoice")
        self.customer, self.amount, self.asked = Gtk.Entry(), Gtk.Entry(), False
        self.said = Gtk.Label(label="Draft", xalign=0)
        fields = labelled("Customer", self.customer), labelled("Amount", self.amount)
        self.add(column(*fields, button("Send", self.send), self.said))

    def send(self, _: Gtk.Widget) -> None:
        if not self.asked:
            self.asked = True
            dialog = Gtk.MessageDialog(parent=self, modal=True, text="Your session is about to expire")
            dialog.set_title("Session")
            dialog.add_buttons("Sign out", Gtk.ResponseType.CANCEL, "Stay signed in", Gtk.ResponseType.OK)
            stays = dialog.run() == Gtk.ResponseType.OK
            dialog.destroy()
            self.said.set_text("Not sent: the session was renewed, send again" if stays else "Signed out")
            return
        told = {"customer": self.customer.get_text(), "amount": self.amount.get_text()}
        (RESULTS / "invoice.json").write_text(json.dumps(told), encoding="utf-8")
        self.said.set_text("The invoice was sent")


def main(kind: str, *rest: str) -> None:
    made = {"editor": Editor, "registration": Registration, "invoice": Invoice}
    window = Transfer(rest[0], float(rest[1])) if kind == "transfer" else made[kind]()
    window.set_default_size(560, 380)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    Gtk.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
