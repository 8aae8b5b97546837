"""A form that does what the lines of its standard input say; run by the system's own Python.

widget_program.py gtk3 | PyQt5 | PyQt6 [TITLE]

`enable`, `check`, `progress PERCENT`, `type TEXT`, `dialog`, `close`: what it does to its button "Submit", its check
box "Agree", its bar, its field "Name" and its dialog "Saving".
"""

import importlib
import sys

TITLE = (*sys.argv, "Form")[2]
LINES = sys.stdin.buffer.raw
"""Not buffered: of two lines that come at once the second one is still there to be told of."""


class Gtk3:
    """The form in GTK 3."""

    def __init__(self) -> None:
        import gi

        gi.require_version("Gtk", "3.0")
        from gi.repository import GLib, Gtk

        self.gtk = Gtk
        self.window = Gtk.Window(title=TITLE)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin=16)
        self.submit, self.agree = Gtk.Button(label="Submit"), Gtk.CheckButton(label="Agree")
        self.submit.set_sensitive(False)
        self.bar, self.name, self.secret = Gtk.ProgressBar(), Gtk.Entry(), Gtk.Entry(visibility=False, text="hunter2")
        label = Gtk.Label(label="_Name", use_underline=True, mnemonic_widget=self.name)
        for widget in (self.submit, self.agree, self.bar, label, self.name, self.secret):
            box.add(widget)
        self.window.add(box)
        self.window.connect("destroy", Gtk.main_quit)
        GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN, self.read)
        self.window.show_all()
        self.run = Gtk.main

    def read(self, *_: object) -> bool:
        return obey(self, LINES.readline().decode())

    def enable(self, _: str) -> None:
        self.submit.set_sensitive(True)

    def check(self, _: str) -> None:
        self.agree.set_active(True)

    def progress(self, percent: str) -> None:
        self.bar.set_fraction(float(percent) / 100)

    def type(self, text: str) -> None:
        self.name.set_text(text)

    def dialog(self, _: str) -> None:
        self.open = self.gtk.Dialog(title="Saving", transient_for=self.window)
        self.open.get_content_area().add(self.gtk.Label(label="Writing the file"))
        self.open.show_all()

    def close(self, _: str) -> None:
        self.open.destroy()


class Qt:
    """The form in Qt."""

    def __init__(self, package: str) -> None:
        widgets = self.widgets = importlib.import_module(f"{package}.QtWidgets")
        core = importlib.import_module(f"{package}.QtCore")
        self.app = widgets.QApplication(sys.argv)
        self.window = widgets.QWidget()
        self.window.setWindowTitle(TITLE)
        form = widgets.QFormLayout(self.window)
        self.submit, self.agree = widgets.QPushButton("Submit"), widgets.QCheckBox("Agree")
        self.submit.setEnabled(False)
        self.bar, self.name, self.secret = widgets.QProgressBar(), widgets.QLineEdit(), widgets.QLineEdit("hunter2")
        self.bar.setRange(0, 200)
        self.secret.setEchoMode(widgets.QLineEdit.EchoMode.Password)
        for label, widget in (("", self.submit), ("", self.agree), ("", self.bar), ("&Name", self.name)):
            form.addRow(label, widget)
        form.addRow("&Password", self.secret)
        self.told = core.QSocketNotifier(sys.stdin.fileno(), core.QSocketNotifier.Type.Read)
        self.told.activated.connect(lambda *_: obey(self, LINES.readline().decode()))
        self.window.show()
        self.run = self.app.exec_ if package == "PyQt5" else self.app.exec

    def enable(self, _: str) -> None:
        self.submit.setEnabled(True)

    def check(self, _: str) -> None:
        self.agree.setChecked(True)

    def progress(self, percent: str) -> None:
        self.bar.setValue(int(percent) * 2)

    def type(self, text: str) -> None:
        self.name.setText(text)

    def dialog(self, _: str) -> None:
        self.open = self.widgets.QDialog(self.window)
        self.open.setWindowTitle("Saving")
        self.widgets.QVBoxLayout(self.open).addWidget(self.widgets.QLabel("Writing the file"))
        self.open.show()

    def close(self, _: str) -> None:
        self.open.close()


def obey(form: object, line: str) -> bool:
    word, _, rest = line.strip().partition(" ")
    if not word:
        sys.exit(0)
    getattr(form, word)(rest)
    return True


made = Gtk3() if sys.argv[1] == "gtk3" else Qt(sys.argv[1])
made.run()
