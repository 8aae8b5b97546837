"""A form in wxPython, or in Qt within a view that is magnified: run by a system Python.

`strange_forms.py wx|qtview|pygame FILE KIND:LABEL …`; the kinds are `entry`, `button` and `check`. `FILE` holds the
state by label as JSON: a text, a number of clicks, or a truth value.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TITLE = "Order form"
Rows = Sequence[tuple[str, str]]


class State:
    """What the form holds, kept in a file."""

    def __init__(self, path: str, rows: Rows) -> None:
        self._path = Path(path)
        self._by_label: dict[str, Any] = {
            label: {"entry": "", "button": 0, "check": False}[kind] for kind, label in rows
        }
        self._write()

    def set(self, label: str, value: object) -> None:
        self._by_label[label] = value
        self._write()

    def count(self, label: str) -> None:
        self.set(label, self._by_label[label] + 1)

    def _write(self) -> None:
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self._by_label), encoding="utf-8")
        new.replace(self._path)


def show_wx(state: State, rows: Rows) -> None:
    """Show it in wxPython: a label above each field, as its sizers lay them out."""
    import wx  # type: ignore[import-not-found]

    app = wx.App()
    frame = wx.Frame(None, title=TITLE, pos=(30, 30))
    panel = wx.Panel(frame)
    sizer = wx.BoxSizer(wx.VERTICAL)
    for kind, label in rows:
        if kind == "button":
            made: Any = wx.Button(panel, label=label)
            made.Bind(wx.EVT_BUTTON, lambda _, label=label: state.count(label))
        elif kind == "check":
            made = wx.CheckBox(panel, label=label)
            made.Bind(wx.EVT_CHECKBOX, lambda event, label=label: state.set(label, event.IsChecked()))
        else:
            sizer.Add(wx.StaticText(panel, label=label), 0, wx.LEFT | wx.TOP, 10)
            made = wx.TextCtrl(panel, size=(260, -1))
            made.Bind(wx.EVT_TEXT, lambda event, label=label: state.set(label, event.GetString()))
        sizer.Add(made, 0, wx.LEFT | wx.RIGHT | wx.TOP, 10)
    panel.SetSizer(sizer)
    outer = wx.BoxSizer()
    outer.Add(panel, 1, wx.EXPAND)
    frame.SetSizerAndFit(outer)
    frame.Show()
    panel.SetFocusIgnoringChildren()
    app.MainLoop()


def show_qtview(state: State, rows: Rows) -> None:
    """Show it in Qt, as widgets in a graphics view that is magnified and scrolled."""
    from PyQt5 import QtCore, QtWidgets  # type: ignore[import-not-found]

    app = QtWidgets.QApplication([TITLE])
    form = QtWidgets.QWidget()
    layout = QtWidgets.QFormLayout(form)
    for kind, label in rows:
        if kind == "button":
            made: Any = QtWidgets.QPushButton(label)
            made.clicked.connect(lambda _, label=label: state.count(label))
            layout.addRow(made)
        elif kind == "check":
            made = QtWidgets.QCheckBox(label)
            made.toggled.connect(lambda on, label=label: state.set(label, on))
            layout.addRow(made)
        else:
            made = QtWidgets.QLineEdit()
            made.textChanged.connect(lambda text, label=label: state.set(label, text))
            layout.addRow(label, made)
    scene = QtWidgets.QGraphicsScene()
    scene.addWidget(form)
    view = QtWidgets.QGraphicsView(scene)
    view.setWindowTitle(TITLE)
    view.setAlignment(QtCore.Qt.AlignLeft | QtCore.Qt.AlignTop)
    view.scale(1.7, 1.7)
    view.setGeometry(40, 40, 620, 480)
    view.show()
    app.exec_()


def show_pygame(state: State, rows: Rows) -> None:
    """Show it in pygame: fields and buttons that the program draws by itself, labels at the left."""
    import pygame  # type: ignore[import-not-found]

    pygame.display.init()
    pygame.font.init()
    surface = pygame.display.set_mode((620, 90 * len(rows) + 40))
    pygame.display.set_caption(TITLE)
    font = pygame.font.Font(pygame.font.match_font("dejavusans"), 22)
    texts = {label: "" for kind, label in rows if kind == "entry"}
    boxes = {}
    for number, (kind, label) in enumerate(rows):
        left = 240 if kind == "entry" else 40
        boxes[label] = pygame.Rect(left, 30 + 90 * number, 320 if kind == "entry" else 200, 44)
    focus = ""
    while True:
        surface.fill((236, 238, 242))
        for kind, label in rows:
            box = boxes[label]
            pygame.draw.rect(surface, (255, 255, 255) if kind == "entry" else (200, 214, 240), box)
            pygame.draw.rect(surface, (30, 60, 160) if label == focus else (90, 90, 90), box, 2)
            surface.blit(font.render(label, True, (20, 20, 20)), (40 if kind == "entry" else box.x + 20, box.y + 10))
            if kind == "entry":
                surface.blit(font.render(texts[label], True, (20, 20, 20)), (box.x + 8, box.y + 10))
        pygame.display.flip()
        event = pygame.event.wait()
        if event.type == pygame.QUIT:
            return
        if event.type == pygame.MOUSEBUTTONDOWN:
            hit = [(kind, label) for kind, label in rows if boxes[label].collidepoint(event.pos)]
            focus = hit[0][1] if hit and hit[0][0] == "entry" else ""
            if hit and hit[0][0] == "button":
                state.count(hit[0][1])
        if event.type == pygame.KEYDOWN and focus:
            is_back = event.key == pygame.K_BACKSPACE
            texts[focus] = texts[focus][:-1] if is_back else texts[focus] + event.unicode
            state.set(focus, texts[focus])


if __name__ == "__main__":
    toolkit, path, *words = sys.argv[1:]
    wanted = [(word.partition(":")[0], word.partition(":")[2]) for word in words]
    makers: dict[str, Callable[[State, Rows], None]] = {"wx": show_wx, "qtview": show_qtview, "pygame": show_pygame}
    makers[toolkit](State(path, wanted), wanted)
