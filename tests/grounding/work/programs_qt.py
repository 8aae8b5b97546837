"""Qt screens of desktop programs in the half to work with: `programs_qt.py TRUTH SCREEN PyQt5|PyQt6`."""

from __future__ import annotations

from typing import Any

from keyed_qt import C, W, at, computed, dark, icon, icon_button, keep, keyed, laid, run, table, tabs, tree

ORDERS = (
    ("1001", "Aster Ltd", "2026-02-03", "140.00", "paid"), ("1002", "Bruno Kiel", "2026-02-03", "89.90", "open"),
    ("1003", "Aster Ltd", "2026-02-07", "12.50", "open"), ("1004", "Cedar Café", "2026-02-09", "310.00", "paid"),
    ("1005", "Dora Lund", "2026-02-11", "47.25", "late"), ("1006", "Bruno Kiel", "2026-02-14", "89.90", "paid"),
)  # fmt: skip


def database() -> list[Any]:
    main = W.QMainWindow()
    main.setWindowTitle("shop.sqlite - Table Browser")
    for name in ("File", "Edit", "Query", "Tools", "Help"):
        action = main.menuBar().addMenu(name).menuAction()
        computed[f"menu-{name.lower()}"] = lambda action=action: at(
            main.menuBar(), main.menuBar().actionGeometry(action)
        )
    bar = main.addToolBar("Main")
    commit = keep("commit", W.QPushButton("Write changes"))
    revert = keep("revert", W.QPushButton("Revert changes"))
    revert.setEnabled(False)
    for part in (
        icon_button("open", "document-open", "Open database"),
        icon_button("run", "media-playback-start", colour="#2a7d2a"),
        icon_button("stop", "media-playback-stop", colour="#a02020"),
        icon_button("save", "document-save", "", "Save query"),
        icon_button("history", "document-open-recent"),
        commit,
        revert,
    ):
        bar.addWidget(part)
    schema = tree(
        "schema",
        "Schema",
        {
            "Tables": ("customers", "orders", "order_items", "stock"),
            "Views": ("late_orders",),
            "Indices": ("orders_by_day",),
        },
    )
    schema.setFixedWidth(190)
    sql = keep("sql", W.QPlainTextEdit("SELECT id, customer, day, total, state\nFROM orders\nWHERE total > 10;"))
    sql.setFixedHeight(90)
    grid = table("order", ("id", "customer", "day", "total", "state"), ORDERS)
    grid.setCurrentCell(2, 1)
    filters = laid(*(_filter(f"filter-{name}") for name in ("id", "customer", "day", "total", "state")), across=True)
    limit = keep("limit", W.QSpinBox())
    limit.setRange(1, 9999)
    limit.setValue(500)
    pager = laid(
        icon_button("first", "go-first"),
        icon_button("back", "go-previous", "Earlier rows"),
        keep("range", W.QLabel("1 - 6 of 6")),
        icon_button("forward", "go-next"),
        icon_button("last", "go-last"),
        None,
        W.QLabel("Row limit"),
        limit,
        keep("nulls", W.QCheckBox("Show NULL as text")),
        across=True,
    )
    pages = tabs("tab", True, "Query 1", "Query 2", "Structure")
    pages.widget(0).setLayout(laid(sql, filters, grid, pager))
    body = W.QWidget()
    body.setLayout(laid(schema, pages, across=True))
    main.setCentralWidget(body)
    main.statusBar().addWidget(keep("status", W.QLabel("6 rows in 4 ms")))
    main.statusBar().addPermanentWidget(keep("encoding", W.QLabel("UTF-8")))
    main.resize(1000, 640)
    main.move(60, 50)
    C.QTimer.singleShot(900, lambda: _order_menu(main, grid))
    # A place that never stays, until the menu is open and has one of its own.
    computed["pop-copy"] = lambda: [-1, -1, C.QTime.currentTime().msec(), 1]
    return [main]


def _filter(key: str) -> Any:
    made = keep(key, W.QLineEdit())
    made.setPlaceholderText("Filter")
    return made


def _order_menu(main: Any, grid: Any) -> None:
    menu = W.QMenu(main)
    for key, label, name in (
        ("copy", "Copy", "edit-copy"),
        ("copy-row", "Copy row as INSERT", ""),
        ("", "", ""),
        ("null", "Set to NULL", ""),
        ("same", "Show only this value", ""),
        ("not-same", "Hide this value", ""),
        ("", "", ""),
        ("export", "Export…", "document-save-as"),
        ("delete", "Delete row", "user-trash"),
    ):
        if not key:
            menu.addSeparator()
            continue
        action = menu.addAction(icon(name), label) if name else menu.addAction(label)
        action.setEnabled(key != "null")
        computed[f"pop-{key}"] = lambda action=action: at(menu, menu.actionGeometry(action))
    menu.popup(grid.viewport().mapToGlobal(grid.visualItemRect(grid.item(2, 1)).center()))


def tax_form() -> list[Any]:
    main = W.QDialog()
    main.setWindowTitle("Income Tax 2025 - M. Okafor")
    steps = W.QListWidget()
    for n, name in enumerate(("You", "Family", "Wages", "Property", "Deductions", "Review")):
        item = W.QListWidgetItem(f"{n + 1}. {name}")
        item.setIcon(icon("object-select", "#2a7d2a") if n < 2 else icon("go-next"))
        steps.addItem(item)
        computed[f"step-{name.lower()}"] = lambda item=item: at(steps.viewport(), steps.visualItemRect(item))
    steps.setCurrentRow(2)
    steps.setFixedWidth(150)
    employers = table(
        "employer",
        ("Employer", "Gross", "Tax paid", ""),
        (("Northway Buses", "31,200", "5,480", ""), ("City Museum", "4,150", "310", "")),
    )
    for r in range(2):
        employers.setCellWidget(r, 3, keep(f"remove-{r + 1}", W.QPushButton("Remove")))
    employers.setFixedHeight(110)
    top = laid(
        keep("add", W.QPushButton("Add employer")),
        keep("import", W.QPushButton("Import slips…")),
        None,
        icon_button("scan", "scanner", "Scan a paper slip"),
        icon_button("calc", "accessories-calculator"),
        icon_button("help", "help-about"),
        across=True,
    )
    groups = laid(_costs("travel", "Travel to work", "Kilometres"), _costs("home", "Home office", "Days"), across=True)
    church = laid(W.QLabel("Did you get unemployment pay?"), *_yes_no("pay"), None, across=True)
    abroad = laid(W.QLabel("Did you work abroad?"), *_yes_no("abroad"), None, across=True)
    iban = keep("iban", W.QLineEdit("DE02 1203 0000 0000 2020 51"))
    form = W.QFormLayout()
    form.addRow("Refund to (IBAN)", iban)
    form.addRow("Note to the tax office", keep("note", W.QLineEdit()))
    total = keep("total", W.QLabel("<b>Estimated refund: 412.60</b>"))
    file_it = keep("file", W.QPushButton("Submit return"))
    file_it.setEnabled(False)
    ends = laid(
        keep("draft", W.QPushButton("Save draft")),
        None,
        total,
        None,
        keep("back", W.QPushButton("< Back")),
        keep("next", W.QPushButton("Next >")),
        file_it,
        across=True,
    )
    page = laid(W.QLabel("<h3>Wages and work costs</h3>"), top, employers, groups, church, abroad, form, None, ends)
    main.setLayout(laid(steps, page, across=True))
    main.resize(900, 640)
    main.move(90, 50)
    return [main]


def _costs(key: str, title: str, what: str) -> Any:
    group = W.QGroupBox(title)
    amount = keep(f"{key}-count", W.QSpinBox())
    amount.setRange(0, 300)
    amount.setValue(18)
    form = W.QFormLayout()
    form.addRow(what, amount)
    form.addRow("Amount", keep(f"{key}-amount", W.QLineEdit("0.00")))
    form.addRow(keep(f"{key}-flat", W.QCheckBox("Use the flat rate")))
    receipts = icon_button(f"{key}-clip", "mail-attachment", "Attach receipts")
    form.addRow(laid(None, receipts, icon_button(f"{key}-info", "dialog-information"), across=True))
    group.setLayout(form)
    return group


def _yes_no(key: str) -> list[Any]:
    group = W.QButtonGroup(W.QApplication.instance())
    made = [keep(f"{key}-yes", W.QRadioButton("Yes")), keep(f"{key}-no", W.QRadioButton("No"))]
    for one in made:
        group.addButton(one)
    made[1].setChecked(True)
    return made


JOBS = (
    ("Documents", "Daily 01:00", "NAS", True),
    ("Photos", "Sunday 03:00", "USB disk", True),
    ("Mail", "Hourly", "NAS", False),
    ("Whole system", "Monthly", "Cloud", True),
)


def backup_planner() -> list[Any]:
    dark()
    pale = "#d8d8d8"
    main = W.QWidget()
    main.setWindowTitle("Backup Planner")
    jobs = table(
        "job", ("Job", "When", "Where to", "On", "", "", ""), tuple((*job[:3], "", "", "", "") for job in JOBS)
    )
    for r, job in enumerate(JOBS):
        on = keep(f"on-{r + 1}", W.QCheckBox())
        on.setChecked(job[3])
        jobs.setCellWidget(r, 3, on)
        for c, (key, name, tip) in enumerate(
            (("go", "media-playback-start", "Run now"), ("edit", "document-edit", ""), ("bin", "user-trash", "")), 4
        ):
            jobs.setCellWidget(r, c, icon_button(f"{key}-{r + 1}", name, tip, colour=pale))
    for c, width in enumerate((130, 120, 100, 40, 40, 40, 40)):
        jobs.setColumnWidth(c, width)
    jobs.setFixedHeight(180)
    bar = laid(
        keep("new", W.QPushButton("New job")),
        keep("restore", W.QPushButton("Restore files…")),
        icon_button("disk", "drive-harddisk-usb", "Eject the disk", colour=pale),
        icon_button("log", "view-list", colour=pale),
        icon_button("key", "dialog-password", "", "Encryption key", colour=pale),
        None,
        icon_button("bell", "preferences-system-notifications", colour=pale),
        icon_button("cog", "emblem-system", colour=pale),
        across=True,
    )
    bottom = laid(_calendar(), _plan(), across=True)
    left = keep("progress", W.QProgressBar())
    left.setValue(38)
    foot = laid(
        W.QLabel("Photos:"),
        left,
        keep("pause", W.QPushButton("Pause")),
        keep("cancel", W.QPushButton("Cancel")),
        across=True,
    )
    main.setLayout(laid(bar, jobs, bottom, foot))
    main.resize(880, 680)
    main.move(110, 40)
    return [main]


def _calendar() -> Any:
    made = W.QCalendarWidget()
    made.setSelectedDate(C.QDate(2026, 3, 18))
    made.setGridVisible(True)
    keep("month-back", made.findChild(W.QToolButton, "qt_calendar_prevmonth"))
    keep("month-on", made.findChild(W.QToolButton, "qt_calendar_nextmonth"))
    keep("month", made.findChild(W.QToolButton, "qt_calendar_monthbutton"))
    keep("year", made.findChild(W.QToolButton, "qt_calendar_yearbutton"))
    days = made.findChild(W.QTableView, "qt_calendar_calendarview")

    def of_day(day: int) -> list[int]:
        model = days.model()
        cells = [model.index(r, c) for r in range(1, 7) for c in range(1, 8)]
        first = next(n for n, one in enumerate(cells) if one.data() == 1)
        return at(days.viewport(), days.visualRect(cells[first + day - 1]))

    for day in range(1, 32):
        computed[f"day-{day}"] = lambda day=day: of_day(day)
    return made


def _plan() -> Any:
    time = keep("time", W.QTimeEdit(C.QTime(3, 0)))
    copies, days = keep("copies", W.QSpinBox()), keep("days", W.QSpinBox())
    copies.setValue(7)
    days.setSuffix(" days")
    days.setValue(30)
    rule = keep("rule", W.QComboBox())
    rule.addItems(["Every week", "Every day", "Every month"])
    speed = keep("speed", W.QSlider(C.Qt.Orientation.Horizontal))
    speed.setValue(60)
    form = W.QFormLayout()
    for label, widget in (
        ("Repeat", rule),
        ("Start at", time),
        ("Copies to keep", copies),
        ("Delete after", days),
        ("Speed limit", speed),
    ):
        form.addRow(label, widget)
    form.addRow(keep("encrypt", W.QCheckBox("Encrypt the copies")))
    form.addRow(keep("battery", W.QCheckBox("Not on battery")))
    ends = laid(keep("apply", W.QPushButton("Apply")), keep("reset", W.QPushButton("Reset")), across=True)
    keyed["reset"].setEnabled(False)
    form.addRow(ends)
    group = W.QGroupBox("Plan for Photos")
    group.setLayout(form)
    return group


LEFT = (
    ("..", "", ""), ("drafts", "folder", "3 Mar"), ("scans", "folder", "1 Feb"), ("budget.ods", "48 K", "2 Mar"),
    ("letter.odt", "22 K", "28 Feb"), ("notes.txt", "2 K", "11 Mar"), ("photo_014.jpg", "3.1 M", "7 Jan"),
)  # fmt: skip
RIGHT = (
    ("..", "", ""), ("2024", "folder", "30 Dec"), ("2025", "folder", "12 Jan"), ("letter.odt", "21 K", "20 Feb"),
    ("notes.txt", "1 K", "9 Mar"), ("readme.md", "4 K", "5 May"),
)  # fmt: skip


def file_panes() -> list[Any]:
    main = W.QWidget()
    main.setWindowTitle("Twin Commander")
    tools = laid(
        icon_button("new-folder", "folder-new", "New folder"),
        icon_button("new-tab", "tab-new"),
        icon_button("cut", "edit-cut"),
        icon_button("copy", "edit-copy", "Copy to clipboard"),
        icon_button("paste", "edit-paste", "", "Paste"),
        icon_button("star", "starred", "Favourite places", colour="#c08a00"),
        icon_button("lens", "edit-find"),
        icon_button("hidden", "view-reveal", "Show hidden files"),
        icon_button("terminal", "utilities-terminal"),
        icon_button("swap", "object-flip-horizontal", "Swap the panes"),
        None,
        icon_button("trash", "user-trash"),
        across=True,
    )
    keyed["paste"].setEnabled(False)
    panes = laid(_pane("l", "/home/ada/papers", LEFT), _pane("r", "/media/stick/archive", RIGHT), across=True)
    command = keep("command", W.QLineEdit())
    command.setPlaceholderText("Command")
    keys = {
        "view": "F3 View", "edit": "F4 Edit", "f-copy": "F5 Copy", "move": "F6 Move", "mkdir": "F7 Folder",
        "delete": "F8 Delete", "quit": "F10 Quit",
    }  # fmt: skip
    foot = laid(*(keep(key, W.QPushButton(text)) for key, text in keys.items()), across=True)
    main.setLayout(laid(tools, panes, laid(W.QLabel("papers $"), command, across=True), foot))
    main.resize(1040, 620)
    main.move(80, 60)
    return [main]


def _pane(key: str, path: str, files: tuple[tuple[str, ...], ...]) -> Any:
    where = keep(f"{key}-path", W.QLineEdit(path))
    drive = keep(f"{key}-drive", W.QComboBox())
    drive.addItems(["Disk", "Stick"] if key == "l" else ["Stick", "Disk"])
    head = laid(
        drive,
        icon_button(f"{key}-back", "go-previous"),
        icon_button(f"{key}-up", "go-up", "Parent folder"),
        icon_button(f"{key}-home", "go-home"),
        where,
        icon_button(f"{key}-reload", "view-refresh"),
        across=True,
    )
    grid = table(f"{key}-file", ("Name", "Size", "Changed"), files)
    grid.setShowGrid(False)
    grid.setColumnWidth(0, 210)
    for r, (name, size, _) in enumerate(files):
        kind = "go-up" if name == ".." else "folder" if size == "folder" else "text-x-generic"
        grid.item(r, 0).setIcon(icon(kind, "#4a6fa5" if size == "folder" else "#555555"))
    if key == "l":
        grid.selectRow(4)
    free = W.QProgressBar()
    free.setValue(72 if key == "l" else 20)
    free.setFormat("%p % used")
    words = "1 of 6 selected, 22 K" if key == "l" else "5 items"
    status = keep(f"{key}-status", W.QLabel(words))
    return laid(head, grid, laid(status, None, keep(f"{key}-free", free), across=True))


run({function.__name__: function for function in (database, tax_form, backup_planner, file_panes)})
