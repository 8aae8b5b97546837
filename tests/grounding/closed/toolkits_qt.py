"""Qt screens of the closed half: `toolkits_qt.py TRUTH SCREEN PyQt5|PyQt6`."""

from __future__ import annotations

from typing import Any

from keyed_qt import C, W, computed, dark, icon_button, keep, laid, run, table, tabs, tree


def warehouse() -> list[Any]:
    main = W.QWidget()
    main.setWindowTitle("Stock - Hall B")
    blue = "#1c5aa8"
    bar = laid(
        icon_button("scan", "camera-photo", "Scan a barcode", colour=blue),
        icon_button("plus", "list-add", colour=blue),
        icon_button("minus", "list-remove", colour=blue),
        icon_button("pencil", "document-edit", "", "Edit item", blue),
        icon_button("mail", "mail-unread", "Send to supplier", colour=blue),
        icon_button("flag", "mail-mark-important", colour=blue),
        icon_button("full", "view-fullscreen", colour=blue),
        icon_button("eye", "view-reveal", "Show hidden items", colour=blue),
        None,
        keep("what", W.QLineEdit()),
        icon_button("look", "system-search", colour=blue),
        across=True,
    )
    stock = table(
        "item",
        ("Part no.", "Name", "Shelf", "In stock", "Price"),
        (
            ("A-100", "Hinge, steel", "4", "120", "2.40"),
            ("A-101", "Hinge, brass", "4", "35", "5.10"),
            ("B-220", "Door handle", "7", "0", "12.80"),
            ("C-031", "Wood screw", "1", "8000", "0.03"),
            ("C-032", "Anchor bolt", "1", "950", "0.35"),
            ("D-900", "Padlock", "7", "61", "9.99"),
        ),
    )
    amount = keep("amount", W.QSpinBox())
    amount.setRange(0, 999)
    shelf = keep("shelf", W.QComboBox())
    shelf.addItems(["Shelf 1", "Shelf 4", "Shelf 7"])
    total = keep("total", W.QLineEdit("0.00"))
    total.setReadOnly(True)
    tax = keep("tax", W.QLineEdit("19 %"))
    move = laid(
        laid(W.QLabel("Amount"), amount),
        laid(W.QLabel("Move to"), shelf),
        laid(W.QLabel("Total"), total, tax),
        across=True,
    )
    book = keep("book", W.QPushButton("Book out"))
    book.setEnabled(False)
    ends = laid(
        keep("low", W.QCheckBox("Low stock only")),
        None,
        keep("csv", W.QPushButton("Save as CSV")),
        book,
        keep("order", W.QPushButton("Reorder")),
        across=True,
    )
    main.setLayout(laid(bar, stock, move, ends))
    main.resize(740, 560)
    main.move(110, 70)
    return [main]


def hotel() -> list[Any]:
    main = W.QDialog()
    main.setWindowTitle("New reservation")
    first, second = _room("one", "Room 1"), _room("two", "Room 2")
    dates = W.QFormLayout()
    dates.addRow("Arrival", keep("arrival", W.QDateEdit()))
    dates.addRow("Departure", keep("departure", W.QDateEdit()))
    dates.addRow("Booked by", keep("booker", W.QLineEdit()))
    dates.addRow("Remarks", keep("remarks", W.QPlainTextEdit()))
    extras = W.QGroupBox("Extras")
    extras.setLayout(
        laid(
            *(
                keep(key, W.QCheckBox(text))
                for key, text in (("breakfast", "Breakfast"), ("parking", "Parking space"), ("late", "Late check-out"))
            ),
            across=True,
        )
    )
    stars = keep("quality", W.QSlider(C.Qt.Orientation.Horizontal))
    tools = laid(
        icon_button("mic", "SP_MediaVolume", "Read aloud"),
        icon_button("computer", "SP_ComputerIcon"),
        icon_button("back", "SP_ArrowBack"),
        icon_button("forth", "SP_ArrowForward", "", "Next reservation"),
        icon_button("warn", "SP_MessageBoxWarning", "Conflicts"),
        icon_button("list", "SP_FileDialogDetailedView"),
        None,
        across=True,
    )
    confirm = keep("confirm", W.QPushButton("Reserve"))
    ends = laid(
        keep("quote", W.QPushButton("Send quote")), None, keep("away", W.QPushButton("Discard")), confirm, across=True
    )
    main.setLayout(
        laid(
            tools,
            laid(first, second, across=True),
            dates,
            extras,
            laid(W.QLabel("Room quality"), stars, across=True),
            ends,
        )
    )
    main.resize(560, 640)
    main.move(160, 60)
    return [main]


def _room(key: str, title: str) -> Any:
    group = W.QGroupBox(title)
    form = W.QFormLayout(group)
    kind = keep(f"{key}-kind", W.QComboBox())
    kind.addItems(["Single", "Double", "Suite"])
    for label, widget in (
        ("Type", kind),
        ("Adults", keep(f"{key}-adults", W.QSpinBox())),
        ("Children", keep(f"{key}-children", W.QSpinBox())),
        ("", keep(f"{key}-smoke", W.QCheckBox("Smoking"))),
    ):
        form.addRow(label, widget)
    form.addRow(keep(f"{key}-remove", W.QPushButton("Remove")))
    return group


def trips() -> list[Any]:
    dark()
    pale = "#e0e0e0"
    main = W.QMainWindow()
    main.setWindowTitle("Wayfarer")
    bar = main.addToolBar("Tools")
    for part in (
        icon_button("pin", "mark-location", "Drop a pin", colour=pale),
        icon_button("here", "find-location", colour=pale),
        icon_button("in", "zoom-in", colour=pale),
        icon_button("out", "zoom-out", colour=pale),
        icon_button("fit", "zoom-fit-best", "", "Whole route", pale),
        icon_button("snap", "camera-photo", colour=pale),
        icon_button("sun", "weather-clear", "Forecast", colour=pale),
        icon_button("heart", "emote-love", colour=pale),
        icon_button("user", "avatar-default", colour=pale),
    ):
        bar.addWidget(part)
    pages = tabs("trip", True, "Lisbon", "Tallinn", "Alps by train")
    legs = W.QListWidget()
    legs.addItems(["Walk to Rossio, 8 min", "Tram 28, 22 min", "Ferry to Cacilhas, 10 min", "Bus 101, 14 min"])
    for r in range(4):
        computed[f"leg-{r + 1}"] = lambda r=r: _item(legs, r)
    W.QVBoxLayout(pages.widget(0)).addWidget(legs)
    regions = tree("place", "Saved places", {"Portugal": ("Belem", "Sintra"), "Estonia": ("Old Town", "Kadriorg")})
    regions.setFixedWidth(200)
    start, goal = keep("start", W.QLineEdit()), keep("goal", W.QLineEdit())
    by = keep("by", W.QComboBox())
    by.addItems(["Public transport", "Bicycle", "On foot"])
    toll = keep("toll", W.QCheckBox("Avoid stairs"))
    offline = keep("offline", W.QPushButton("Keep offline"))
    offline.setEnabled(False)
    route = laid(
        laid(W.QLabel("From"), start),
        icon_button("swap", "object-flip-horizontal", colour=pale),
        laid(W.QLabel("To"), goal),
        laid(W.QLabel("Travel by"), by),
        across=True,
    )
    body = W.QWidget()
    body.setLayout(
        laid(
            route,
            laid(regions, pages, across=True),
            laid(toll, None, offline, keep("show", W.QPushButton("Find routes")), across=True),
        )
    )
    main.setCentralWidget(body)
    main.resize(860, 580)
    main.move(90, 70)
    return [main]


def _item(listed: Any, r: int) -> list[int]:
    rect = listed.visualItemRect(listed.item(r))
    place = listed.viewport().mapToGlobal(rect.topLeft())
    return [place.x(), place.y(), rect.width(), rect.height()]


def overwrite() -> list[Any]:
    main = W.QMainWindow()
    main.setWindowTitle("Recipes - goulash.txt")
    bar = main.addToolBar("File")
    for name in ("Open", "Save", "Share"):
        bar.addAction(name)
    main.setCentralWidget(W.QPlainTextEdit("500 g beef\n3 onions\n2 spoons of paprika"))
    main.resize(760, 600)
    main.move(80, 60)
    ask = W.QDialog(main)
    ask.setWindowTitle("File exists")
    ask.setModal(True)
    other = keep("other", W.QLineEdit("goulash-2.txt"))
    both = keep("both", W.QRadioButton("Keep both files"))
    both.setChecked(True)
    ask.setLayout(
        laid(
            W.QLabel("goulash.txt is already there. What should happen?"),
            both,
            keep("replace", W.QRadioButton("Replace the old one")),
            W.QLabel("New name"),
            laid(
                other,
                icon_button("reset", "edit-undo"),
                icon_button("pick", "folder-open", "Choose a folder"),
                across=True,
            ),
            laid(
                keep("compare", W.QPushButton("Compare…")),
                None,
                keep("stop", W.QPushButton("Cancel")),
                keep("go", W.QPushButton("Continue")),
                across=True,
            ),
        )
    )
    ask.resize(440, 220)
    ask.move(240, 220)
    return [main, ask]


run({function.__name__: function for function in (warehouse, hotel, trips, overwrite)})
