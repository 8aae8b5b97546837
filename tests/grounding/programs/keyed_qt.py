"""Qt widgets by key, for programs of the grounding set's halves: `PROGRAM TRUTH SCREEN PyQt5|PyQt6`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from icon_png import png
from truth_file import EVERY_MS, Boxes, TruthFile

BINDING = sys.argv[3]
W: Any = importlib.import_module(f"{BINDING}.QtWidgets")
C: Any = importlib.import_module(f"{BINDING}.QtCore")
G: Any = importlib.import_module(f"{BINDING}.QtGui")
app = W.QApplication(["acud-screen"])
app.setStyle("Fusion")
keyed: dict[str, Any] = {}
computed: dict[str, Callable[[], list[int]]] = {}


def keep(key: str, widget: Any) -> Any:
    keyed[key] = widget
    return widget


def at(widget: Any, rect: Any) -> list[int]:
    place = widget.mapToGlobal(rect.topLeft())
    return [place.x(), place.y(), rect.width(), rect.height()]


def icon(name: str, colour: str = "#2e3436") -> Any:
    if name.startswith("SP_"):
        return app.style().standardIcon(getattr(getattr(W.QStyle, "StandardPixmap", W.QStyle), name))
    made = G.QPixmap()
    made.loadFromData(png(name, 24, colour))
    return G.QIcon(made)


def icon_button(key: str, name: str, tip: str = "", said: str = "", colour: str = "#2e3436") -> Any:
    """Return a button that shows only an icon: `tip` and `said` (its accessible name) may both be ""."""
    made = W.QToolButton()
    made.setIcon(icon(name, colour))
    made.setIconSize(C.QSize(24, 24))
    if tip:
        made.setToolTip(tip)
    if said:
        made.setAccessibleName(said)
    return keep(key, made)


def laid(*parts: Any, across: bool = False) -> Any:
    """Return a layout of widgets, layouts and, for None, room that stretches."""
    made = W.QHBoxLayout() if across else W.QVBoxLayout()
    for part in parts:
        if part is None:
            made.addStretch()
        elif isinstance(part, W.QLayout):
            made.addLayout(part)
        else:
            made.addWidget(part)
    return made


def table(prefix: str, titles: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Any:
    """Return a table. Keys: `PREFIX-R-C` for each cell (from 1), `PREFIX-h-C` for headers, `PREFIX-R` for rows."""
    grid = W.QTableWidget(len(rows), len(titles))
    grid.setHorizontalHeaderLabels(list(titles))
    grid.verticalHeader().hide()
    view, head = grid.viewport(), grid.horizontalHeader()
    for r, values in enumerate(rows):
        for c, value in enumerate(values):
            grid.setItem(r, c, W.QTableWidgetItem(value))
            computed[f"{prefix}-{r + 1}-{c + 1}"] = lambda r=r, c=c: at(view, grid.visualItemRect(grid.item(r, c)))
        computed[f"{prefix}-{r + 1}"] = lambda r=r: at(
            view, grid.visualItemRect(grid.item(r, 0)).united(grid.visualItemRect(grid.item(r, len(titles) - 1)))
        )
    for c in range(len(titles)):
        computed[f"{prefix}-h-{c + 1}"] = lambda c=c: at(
            head.viewport(), C.QRect(head.sectionViewportPosition(c), 0, head.sectionSize(c), head.height())
        )
    return grid


def tree(prefix: str, title: str, branches: dict[str, tuple[str, ...]]) -> Any:
    """Return a tree, expanded. Keys: `PREFIX-NAME` for each node."""
    made = W.QTreeWidget()
    made.setHeaderLabel(title)
    for name, leaves in branches.items():
        top = W.QTreeWidgetItem(made, [name])
        computed[f"{prefix}-{name}"] = lambda top=top: at(made.viewport(), made.visualItemRect(top))
        for leaf in leaves:
            item = W.QTreeWidgetItem(top, [leaf])
            computed[f"{prefix}-{leaf}"] = lambda item=item: at(made.viewport(), made.visualItemRect(item))
    made.expandAll()
    return made


def tabs(prefix: str, closes: bool, *names: str) -> Any:
    """Return tabs over empty pages. Keys: `PREFIX-NAME` for each tab, `PREFIX-NAME-x` for its close button."""
    made = W.QTabWidget()
    made.setTabsClosable(closes)
    side = getattr(W.QTabBar, "ButtonPosition", W.QTabBar).RightSide
    for index, name in enumerate(names):
        made.addTab(W.QWidget(), name)
        computed[f"{prefix}-{name}"] = lambda i=index: at(made.tabBar(), made.tabBar().tabRect(i))
        if closes:
            keep(f"{prefix}-{name}-x", made.tabBar().tabButton(index, side))
    return made


def boxes() -> Boxes:
    found = {key: at(widget, widget.rect()) for key, widget in keyed.items()}
    found.update({key: compute() for key, compute in computed.items()})
    return found


def dark() -> None:
    colours = G.QPalette()
    roles = getattr(G.QPalette, "ColorRole", G.QPalette)
    for role, colour in ((roles.Window, "#2b2b30"), (roles.Base, "#1e1e22"), (roles.Button, "#3a3a40"),
                         (roles.AlternateBase, "#26262b"), (roles.WindowText, "#e6e6e6"), (roles.Text, "#e6e6e6"),
                         (roles.ButtonText, "#e6e6e6"), (roles.Highlight, "#3d6fb4"),
                         (roles.HighlightedText, "#ffffff")):  # fmt: skip
        colours.setColor(role, G.QColor(colour))
    off = getattr(G.QPalette, "ColorGroup", G.QPalette).Disabled
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        colours.setColor(off, role, G.QColor("#77777c"))
    app.setPalette(colours)


def run(screens: dict[str, Callable[[], list[Any]]]) -> None:
    """Show the windows of the screen that the command line names, and tell where their widgets are."""
    windows = screens[sys.argv[2]]()
    for one in windows:
        one.show()
    truth = TruthFile(boxes)
    timer = C.QTimer()
    timer.timeout.connect(lambda: None if truth.tell() else timer.stop())
    timer.start(EVERY_MS)
    (app.exec if BINDING == "PyQt6" else app.exec_)()
