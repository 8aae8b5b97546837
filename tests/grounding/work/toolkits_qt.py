"""Qt screens of the half to work with: `toolkits_qt.py TRUTH SCREEN PyQt5|PyQt6`."""

from __future__ import annotations

from typing import Any

from keyed_qt import W, at, computed, dark, icon_button, keep, laid, run, table, tabs, tree


def clinic() -> list[Any]:
    main = W.QMainWindow()
    main.setWindowTitle("Riverside Vets - Visits")
    bar = main.addToolBar("Main")
    for part in (
        icon_button("save", "SP_DialogSaveButton", "Save the day"),
        icon_button("bin", "SP_TrashIcon"),
        icon_button("reload", "SP_BrowserReload"),
        icon_button("up", "SP_ArrowUp", "Earlier visit"),
        icon_button("down", "SP_ArrowDown", "Later visit"),
        icon_button("folder", "SP_DirOpenIcon", "", "Open records"),
        icon_button("home", "SP_DirHomeIcon"),
        icon_button("info", "SP_MessageBoxInformation"),
    ):
        bar.addWidget(part)
    visits = table(
        "visit",
        ("Time", "Pet", "Owner", "Reason"),
        (
            ("09:00", "Biscuit", "H. Moss", "Vaccination"),
            ("09:30", "Nacho", "P. Vega", "Limping"),
            ("10:15", "Biscuit", "J. Stone", "Check-up"),
            ("11:00", "Luna", "A. Fox", "Teeth"),
            ("11:40", "Otto", "H. Moss", "Vaccination"),
        ),
    )
    form = W.QFormLayout()
    weight = keep("weight", W.QDoubleSpinBox())
    weight.setSuffix(" kg")
    vet = keep("vet", W.QComboBox())
    vet.addItems(["Dr. Amari", "Dr. Bell", "Dr. Cho"])
    for label, widget in (
        ("Weight:", weight),
        ("Vet:", vet),
        ("Next visit:", keep("next", W.QDateEdit())),
        ("Notes:", keep("notes", W.QLineEdit())),
    ):
        form.addRow(label, widget)
    invoice = keep("invoice", W.QPushButton("Create invoice"))
    invoice.setEnabled(False)
    done = keep("done", W.QPushButton("Mark as done"))
    sedate = keep("sedate", W.QCheckBox("Needs sedation"))
    body = W.QWidget()
    body.setLayout(laid(visits, form, laid(sedate, None, invoice, done, across=True)))
    main.setCentralWidget(body)
    main.resize(760, 600)
    main.move(70, 60)
    return [main]


def code_editor() -> list[Any]:
    dark()
    pale = "#d8d8d8"
    main = W.QWidget()
    main.setWindowTitle("harvest - Editor")
    menus = W.QMenuBar()
    for name in ("File", "Edit", "Selection", "View", "Run", "Help"):
        action = menus.addMenu(name).menuAction()
        computed[f"menu-{name}"] = lambda action=action: at(menus, menus.actionGeometry(action))
    side = [
        icon_button("files", "folder-documents", "Explorer", colour=pale),
        icon_button("search", "edit-find", colour=pale),
        icon_button("branch", "emblem-synchronizing", "", "Synchronise", colour=pale),
        icon_button("debug", "media-playback-start", "Run and debug", colour=pale),
        icon_button("puzzle", "application-x-addon", colour=pale),
        None,
        icon_button("person", "avatar-default", colour=pale),
        icon_button("cog", "emblem-system", colour=pale),
    ]
    files = tree(
        "file",
        "HARVEST",
        {"src": ("main.py", "field.py", "tractor.py"), "tests": ("test_field.py",), "docs": ("guide.md", "main.md")},
    )
    files.setFixedWidth(210)
    pages = tabs("tab", True, "main.py", "field.py", "guide.md")
    text = W.QPlainTextEdit("from field import Field\n\n\ndef main() -> None:\n    print(Field(3, 4).area())")
    W.QVBoxLayout(pages.widget(0)).addWidget(text)
    find = keep("find", W.QLineEdit())
    find.setPlaceholderText("Find")
    swap = keep("swap", W.QLineEdit())
    swap.setPlaceholderText("Replace")
    bar = laid(
        find,
        icon_button("prev", "go-up", colour=pale),
        icon_button("next", "go-down", colour=pale),
        swap,
        keep("one", W.QPushButton("Replace")),
        keep("every", W.QPushButton("Replace All")),
        icon_button("shut", "window-close", colour=pale),
        across=True,
    )
    state = laid(
        keep("errors", W.QLabel("2 errors, 1 warning")),
        None,
        keep("line", W.QLabel("Ln 5, Col 34")),
        keep("spaces", W.QPushButton("Spaces: 4")),
        keep("code", W.QPushButton("UTF-8")),
        across=True,
    )
    right = laid(pages, bar)
    main.setLayout(laid(laid(laid(*side), files, right, across=True), state))
    main.layout().setMenuBar(menus)
    main.resize(960, 600)
    main.move(80, 60)
    return [main]


def addresses() -> list[Any]:
    main = W.QDialog()
    main.setWindowTitle("Checkout - step 2 of 3")
    halves = laid(_address("bill", "Billing address"), _address("ship", "Delivery address"), across=True)
    same = keep("same", W.QCheckBox("Deliver to the billing address"))
    pay = W.QGroupBox("Payment")
    ways = [
        keep(key, W.QRadioButton(text))
        for key, text in (("card", "Card"), ("transfer", "Bank transfer"), ("cash", "Cash on delivery"))
    ]
    ways[0].setChecked(True)
    number, expires = keep("number", W.QLineEdit()), keep("expires", W.QLineEdit())
    number.setPlaceholderText("0000 0000 0000 0000")
    expires.setPlaceholderText("MM/YY")
    pay.setLayout(
        laid(
            laid(*ways, across=True),
            laid(number, expires, icon_button("hint", "dialog-question", "What is this?"), across=True),
        )
    )
    voucher = laid(keep("voucher", W.QLineEdit()), keep("redeem", W.QPushButton("Redeem")), across=True)
    order = keep("order", W.QPushButton("Place order"))
    order.setEnabled(False)
    ends = laid(
        keep("back", W.QPushButton("< Back")), None, keep("cancel", W.QPushButton("Cancel")), order, across=True
    )
    main.setLayout(laid(halves, same, pay, W.QLabel("Voucher code"), voucher, ends))
    main.move(140, 60)
    return [main]


def _address(key: str, title: str) -> Any:
    group = W.QGroupBox(title)
    parts: list[Any] = []
    for name in ("Full name", "Street and number", "Town"):
        parts += [W.QLabel(name), keep(f"{key}-{name.split()[0].lower()}", W.QLineEdit())]
    country = keep(f"{key}-country", W.QComboBox())
    country.addItems(["Norway", "Sweden", "Denmark"])
    group.setLayout(laid(*parts, W.QLabel("Country"), country))
    return group


def confirm_delete() -> list[Any]:
    main = W.QWidget()
    main.setWindowTitle("Snapshots")
    listed = W.QListWidget()
    listed.addItems([f"{day} June, 02:00" for day in (3, 4, 5, 6, 7)])
    behind = laid(W.QPushButton("Restore"), W.QPushButton("Delete"), W.QPushButton("Schedule…"), across=True)
    main.setLayout(laid(W.QLabel("Nightly snapshots of /srv"), listed, behind))
    main.resize(700, 560)
    main.move(60, 50)
    ask = W.QDialog(main)
    ask.setWindowTitle("Delete snapshot")
    ask.setModal(True)
    word = keep("word", W.QLineEdit())
    word.setPlaceholderText("Type DELETE")
    go = keep("go", W.QPushButton("Delete for ever"))
    go.setEnabled(False)
    ask.setLayout(
        laid(
            W.QLabel("The snapshot of 5 June cannot be brought back."),
            keep("again", W.QCheckBox("Don't ask again")),
            word,
            laid(
                icon_button("help", "help-about"),
                icon_button("copy", "edit-copy", "Copy the path"),
                None,
                keep("keep", W.QPushButton("Keep it")),
                go,
                across=True,
            ),
        )
    )
    ask.resize(420, 200)
    ask.move(200, 180)
    return [main, ask]


run({function.__name__: function for function in (clinic, code_editor, addresses, confirm_delete)})
