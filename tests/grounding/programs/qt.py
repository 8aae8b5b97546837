"""Qt screens of the grounding set: `qt.py TRUTH SCREEN PyQt5|PyQt6`. Each tells where its keyed widgets are."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

binding = sys.argv[3]
W: Any = importlib.import_module(f"{binding}.QtWidgets")
C: Any = importlib.import_module(f"{binding}.QtCore")
app = W.QApplication(["acud-screen"])
keyed: dict[str, Any] = {}
computed: dict[str, Callable[[], list[int]]] = {}


def keep(key: str, widget: Any) -> Any:
    keyed[key] = widget
    return widget


def at(widget: Any, rect: Any) -> list[int]:
    place = widget.mapToGlobal(rect.topLeft())
    return [place.x(), place.y(), rect.width(), rect.height()]


def preferences() -> Any:
    dialog = W.QDialog()
    dialog.setWindowTitle("Preferences")
    tabs = W.QTabWidget()
    for name in ("General", "Appearance", "Network", "Advanced"):
        page = W.QWidget()
        tabs.addTab(page, name)
    for index, name in enumerate(("general", "appearance", "network", "advanced")):
        computed[f"t-{name}"] = lambda i=index: at(tabs.tabBar(), tabs.tabBar().tabRect(i))
    page = W.QVBoxLayout(tabs.widget(0))
    start = W.QGroupBox("Startup")
    inside = W.QVBoxLayout(start)
    for key, text in (
        ("restore", "&Restore last session"),
        ("tray", "Start minimised to tray"),
        ("updates", "Check for updates"),
    ):
        inside.addWidget(keep(key, W.QCheckBox(text)))
    page.addWidget(start)
    back = W.QGroupBox("Backup")
    inner = W.QVBoxLayout(back)
    inner.addWidget(keep("b-updates", W.QCheckBox("Back up automatically")))
    inner.addWidget(keep("b-browse", W.QPushButton("Browse...")))
    page.addWidget(back)
    logs = W.QGroupBox("Logs")
    below = W.QVBoxLayout(logs)
    below.addWidget(keep("l-browse", W.QPushButton("Browse...")))
    page.addWidget(logs)
    form = W.QFormLayout()
    language = keep("lang", W.QComboBox())
    language.addItems(["English", "Deutsch", "Polski"])
    form.addRow("&Language:", language)
    form.addRow("Volume:", keep("volume", W.QSlider(C.Qt.Orientation.Horizontal)))
    form.addRow("Recent files:", keep("recent", W.QSpinBox()))
    page.addLayout(form)
    buttons = W.QHBoxLayout()
    for key, text in (("help", "Help"), ("ok", "OK"), ("cancel", "Cancel"), ("apply", "Apply")):
        buttons.addWidget(keep(key, W.QPushButton(text)))
    keyed["apply"].setEnabled(False)
    layout = W.QVBoxLayout(dialog)
    layout.addWidget(tabs)
    layout.addLayout(buttons)
    return dialog


def table() -> Any:
    main = W.QMainWindow()
    main.setWindowTitle("Orders")
    bar = main.addToolBar("Main")
    for key, text in (("refresh", "Refresh"), ("export", "Export"), ("print", "Print")):
        keep(key, bar.widgetForAction(bar.addAction(text)))
    grid = W.QTableWidget(5, 4)
    grid.setHorizontalHeaderLabels(["Order", "Customer", "Total", "Status"])
    rows = (("1001", "Alice Moreau", "19.90", "Paid"), ("1002", "Bogdan Ilic", "250.00", "Open"),
            ("1003", "Chen Wei", "75.10", "Paid"),
            ("1004", "Dora Kis", "12.00", "Open"), ("1005", "Emil Berg", "99.99", "Cancelled"))  # fmt: skip
    for y, values in enumerate(rows):
        for x, value in enumerate(values):
            grid.setItem(y, x, W.QTableWidgetItem(value))
            computed[f"c-{value}" if x != 3 else f"s-{y}"] = lambda r=y, c=x: at(
                grid.viewport(), grid.visualItemRect(grid.item(r, c))
            )
    head = grid.horizontalHeader()
    for index, name in enumerate(("order", "customer", "total", "status")):
        computed[f"h-{name}"] = lambda i=index: at(
            head.viewport(), C.QRect(head.sectionViewportPosition(i), 0, head.sectionSize(i), head.height())
        )
    body = W.QWidget()
    layout = W.QVBoxLayout(body)
    line = W.QHBoxLayout()
    box = keep("filter", W.QLineEdit())
    box.setPlaceholderText("Filter orders")
    line.addWidget(box)
    line.addWidget(keep("go", W.QPushButton("Search")))
    layout.addLayout(line)
    layout.addWidget(grid)
    main.setCentralWidget(body)
    main.resize(640, 420)
    return main


def wizard() -> Any:
    made = W.QWizard()
    made.setWindowTitle("Setup Wizard")
    made.setWizardStyle(W.QWizard.WizardStyle.ClassicStyle if binding == "PyQt6" else W.QWizard.ClassicStyle)
    page = W.QWizardPage()
    page.setTitle("Licence agreement")
    page.setSubTitle("Please read the terms before you go on.")
    layout = W.QVBoxLayout(page)
    text = keep("terms", W.QTextEdit())
    text.setReadOnly(True)
    text.setPlainText("These are the terms.\nThey are short.")
    layout.addWidget(text)
    layout.addWidget(keep("accept", W.QRadioButton("I accept the agreement")))
    layout.addWidget(keep("refuse", W.QRadioButton("I do not accept the agreement")))
    made.addPage(page)
    made.addPage(W.QWizardPage())
    for key, which in (("back", "BackButton"), ("next", "NextButton"), ("cancel", "CancelButton")):
        number = getattr(W.QWizard.WizardButton if binding == "PyQt6" else W.QWizard, which)
        keyed_buttons.append((key, number))
    return made


keyed_buttons: list[tuple[str, Any]] = []


def login() -> Any:
    dialog = W.QDialog()
    dialog.setWindowTitle("Sign in")
    layout = W.QFormLayout(dialog)
    layout.addRow(W.QLabel("Welcome back"))
    layout.addRow("User name", keep("user", W.QLineEdit()))
    secret = keep("pass", W.QLineEdit())
    secret.setEchoMode(W.QLineEdit.EchoMode.Password)
    layout.addRow("Password", secret)
    server = keep("server", W.QComboBox())
    server.addItems(["production", "staging"])
    layout.addRow("Server", server)
    layout.addRow(keep("remember", W.QCheckBox("Remember me")))
    line = W.QHBoxLayout()
    for key, text in (("forgot", "Forgot password?"), ("create", "Create account"), ("signin", "Sign in")):
        line.addWidget(keep(key, W.QPushButton(text)))
    layout.addRow(line)
    return dialog


window = {function.__name__: function for function in (preferences, table, wizard, login)}[sys.argv[2]]()
window.move(120, 60)
window.show()
for key, number in keyed_buttons:
    keep(key, window.button(number))
told = Path(sys.argv[1])
state: dict[str, Any] = {"last": None, "same": 0}


def tell() -> None:
    now = {key: at(widget, widget.rect()) for key, widget in keyed.items()}
    now.update({key: compute() for key, compute in computed.items()})
    state["same"] = state["same"] + 1 if now == state["last"] else 0
    state["last"] = now
    if state["same"] == 4:
        part = told.with_suffix(".part")
        part.write_text(json.dumps(now))
        part.replace(told)


timer = C.QTimer()
timer.timeout.connect(tell)
timer.start(200)
(app.exec if hasattr(app, "exec") else app.exec_)()
