"""A letter whose program, or another one, takes the keyboard from it: run by a system Python.

`thieves.py wx|gtk4|pygame KIND FILE`: `FILE` holds what was read, as JSON, after each change. Kinds: `input` (a modal
box of the same program asks for a text once a letter came), `standing` (a modal Yes/No box is open from the start),
`find` (wx: so is a dialog that is not modal), `dmenu` and `zenity` (that program is started at the first letter),
`panel` (pygame: a click opens xmessage over the right half).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LETTER, DIALOG = "Letter3", "Interruption"
_OTHERS = {
    "dmenu": ("sh", "-c", "printf 'alpha\\nbeta\\n' | dmenu -p Run"),
    "zenity": ("zenity", "--question", f"--title={DIALOG}", "--text=Delete the old backup?"),
    "panel": (
        "xmessage", "-geometry", "300x300+320+20", "-title", DIALOG, "-buttons", "Delete:7", "Delete the backup?",
    ),
}  # fmt: skip


class Record:
    """What was read, kept in a file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self.state: dict[str, Any] = {"letter": "", "dialog": "", "answer": "", "clicks": []}
        self.note("letter", "")

    def note(self, key: str, value: object) -> None:
        self.state[key] = value
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self.state), encoding="utf-8")
        new.replace(self._path)


def show_wx(kind: str, record: Record) -> None:
    import wx  # type: ignore[import-not-found]

    app = wx.App()
    frame = wx.Frame(None, title=LETTER, pos=(20, 20), size=(600, 360))
    text = wx.TextCtrl(frame, style=wx.TE_MULTILINE)
    text.SetName("Letter")

    def ask() -> None:
        if kind == "find":
            frame.data = wx.FindReplaceData()
            frame.find = wx.FindReplaceDialog(frame, frame.data, DIALOG)
            frame.find.Show()
            return
        if kind == "standing":
            box: Any = wx.MessageDialog(frame, "Overwrite the file?", DIALOG, wx.YES_NO | wx.NO_DEFAULT)
        elif kind == "input":
            box = wx.TextEntryDialog(frame, "Pass phrase?", DIALOG)
            for child in box.GetChildren():
                child.Bind(wx.EVT_TEXT, lambda event: record.note("dialog", event.GetString()))
        else:
            subprocess.Popen(_OTHERS[kind])
            return
        record.note("answer", str(box.ShowModal()))

    once = iter([ask])

    def changed(_: Any) -> None:
        record.note("letter", text.GetValue())
        if kind not in ("standing", "find") and (action := next(once, None)):
            wx.CallLater(60, action)

    text.Bind(wx.EVT_TEXT, changed)
    frame.Show()
    text.SetFocus()
    if kind in ("standing", "find"):
        wx.CallLater(300, ask)
    app.MainLoop()


def show_gtk4(kind: str, record: Record) -> None:
    import gi  # type: ignore[import-not-found]

    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk  # type: ignore[import-not-found]

    app = Gtk.Application()

    def start(_: Any) -> None:
        window = Gtk.ApplicationWindow(application=app, title=LETTER, default_width=600, default_height=360)
        view = Gtk.TextView()
        window.set_child(view)

        def ask() -> bool:
            if kind in _OTHERS:
                subprocess.Popen(_OTHERS[kind])
                return False
            box = Gtk.MessageDialog(
                transient_for=window, modal=True, buttons=Gtk.ButtonsType.YES_NO, text="Overwrite?", title=DIALOG
            )
            if kind == "input":
                entry = Gtk.Entry()
                entry.connect("changed", lambda one: record.note("dialog", one.get_text()))
                box.get_message_area().append(entry)
            box.connect("response", lambda one, answer: (record.note("answer", str(answer)), one.destroy()))
            box.present()
            return False

        once = iter([ask])

        def changed(buffer: Any) -> None:
            record.note("letter", buffer.get_text(*buffer.get_bounds(), True))
            if kind != "standing" and (action := next(once, None)):
                GLib.timeout_add(60, action)

        view.get_buffer().connect("changed", changed)
        window.present()
        if kind == "standing":
            GLib.timeout_add(300, ask)

    app.connect("activate", start)
    app.run()


def show_pygame(kind: str, record: Record) -> None:
    """Show a letter that pygame draws: letters and clicks are read as a game reads them."""
    import pygame  # type: ignore[import-not-found]

    pygame.display.init()
    pygame.font.init()
    surface = pygame.display.set_mode((600, 360))
    pygame.display.set_caption(LETTER)
    font = pygame.font.Font(pygame.font.match_font("dejavusans"), 18)
    once = iter([_OTHERS[kind]])
    text, due = "", 0.0
    while True:
        surface.fill((250, 250, 240))
        for line in range(0, len(text), 50):
            surface.blit(font.render(text[line : line + 50], True, (0, 0, 0)), (10, 10 + line // 50 * 26))
        pygame.display.flip()
        event = pygame.event.wait(30)
        if due and time.monotonic() > due:
            due = 0.0
            if command := next(once, None):
                subprocess.Popen(command)
        if event.type == pygame.QUIT:
            return
        if event.type == pygame.KEYDOWN and event.unicode:
            text += event.unicode
            record.note("letter", text)
            due = due or time.monotonic() + 0.06
        if event.type == pygame.MOUSEBUTTONDOWN:
            record.note("clicks", [*record.state["clicks"], list(event.pos)])
            due = time.monotonic() + 0.06 if kind == "panel" else due


if __name__ == "__main__":
    toolkit, kind, path = sys.argv[1:]
    {"wx": show_wx, "gtk4": show_gtk4, "pygame": show_pygame}[toolkit](kind, Record(path))
