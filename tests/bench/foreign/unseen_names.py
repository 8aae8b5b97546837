"""Titles, chords, clipboards, notifications and quotes in spellings that acud's rules were not written on."""

from __future__ import annotations

import io
import re
import subprocess
import unicodedata
from functools import partial

from PIL import Image

from acud.base.errors import AcudError, NotFound
from acud.types import Criteria, NotificationText, Text, Until, WaitState, Widget, WindowTitle
from acud.types.actions import ClipboardGet, ClipboardSet, Key, WaitIdle
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import PROGRAMS, SYSTEM_PYTHON, Pages, Record, need, show, unseen, wait_for
from tests.fixtures.daemon import Daemon

_UTF8 = ("env", "LC_ALL=C.UTF-8")


def _title(command: tuple[str, ...], class_name: str, asked: Until, is_there: bool, daemon: Daemon) -> Outcome:
    """A window of that title is there, or no window of it is: is it so for acud?"""
    need(command[0])
    with show(daemon, 1024, 768, "openbox") as screen:
        screen.launch(*_UTF8, *command)
        found = wait_for(
            lambda: screen.run("xdotool", "search", "--onlyvisible", "--class", class_name, check=False), bool
        )
        assert found, "no window opened"
        screen.act(WaitIdle(0.5, 3.0))
        wait = screen.judge(asked, timeout_s=4.0)
        printed = f"{wait.state}: {wait.verdict.detail}; titles {screen.list_titles()}"
        is_right = (wait.state == WaitState.RESOLVED) == is_there
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, printed)


def _chord(chord: str, expected: tuple[str, ...], may_refuse: bool, daemon: Daemon) -> Outcome:
    need("xev")
    log = daemon.home / f"xev-{abs(hash(chord))}.log"
    with show(daemon, 800, 600) as screen:
        screen.launch("sh", "-c", f"exec xev -event keyboard > {log}")
        window = screen.find_window("Event Tester")
        screen.run("xdotool", "windowfocus", "--sync", str(window))
        words = screen.act(Key(chord), target="window:Event Tester")

        def read() -> tuple[str, ...]:
            found = re.findall(r"KeyPress event.*?keysym 0x[0-9a-f]+, (\w+)\)", log.read_text(), re.DOTALL)
            return tuple(name for name in found)

        got = wait_for(read, lambda keys: len(keys) >= len(expected), 3.0) if not words else read()
        printed = f"{words or 'done'}; xev got {got}"
        if words:
            return Outcome(Answer.WRONG if got else Answer.RIGHT if may_refuse else Answer.UNKNOWN, printed)
        return Outcome(Answer.RIGHT if got == expected else Answer.WRONG, printed)


def _clipboard(kind: str, data: bytes, expected: str, daemon: Daemon) -> Outcome:
    """xclip owns the clipboard in one form alone. `expected`: its text, or "" where it has none."""
    need("xclip")
    command = ["xclip", "-quiet", "-selection", "clipboard", "-t", kind, "-i"]
    quiet = subprocess.DEVNULL
    with (
        show(daemon, 640, 480) as screen,
        subprocess.Popen(command, env=screen.env, stdin=subprocess.PIPE, stderr=quiet) as owner,
    ):
        assert owner.stdin
        owner.stdin.write(data)
        owner.stdin.close()
        wait_for(lambda: screen.run("xclip", "-selection", "clipboard", "-o", "-t", "TARGETS", check=False), bool, 10.0)
        is_wrong = False
        try:
            text = daemon.client.desktop_action([ClipboardGet()], display=screen.name).text
            printed, is_right = repr(text), text == expected and bool(expected)
            is_wrong = not is_right
        except AcudError as fault:
            printed = f"{type(fault).__name__}: {fault} {fault.hint}"
            is_right = isinstance(fault, NotFound) and not expected
        owner.terminate()
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG if is_wrong else Answer.UNKNOWN, printed)


def _clipboard_picture(form: str, daemon: Daemon) -> Outcome:
    """A picture is there in another form than PNG: it is no text, and as a picture it is given or refused by name."""
    held = io.BytesIO()
    Image.new("RGB", (20, 20), "teal").save(held, form.upper())
    return _clipboard(f"image/{form}", held.getvalue(), "", daemon)


def _clipboard_round(text: str, daemon: Daemon) -> Outcome:
    """What acud puts there another program reads."""
    need("xclip")
    with show(daemon, 640, 480) as screen:
        screen.act(ClipboardSet(text))
        got = screen.run("xclip", "-selection", "clipboard", "-o", check=False)
        return Outcome(Answer.RIGHT if got == text else Answer.WRONG, repr(got))


_WX_NOTE = (
    "import wx, wx.adv\napp = wx.App()\nf = wx.Frame(None, title='Sender'); f.Show()\n"
    "n = wx.adv.NotificationMessage('Export', 'Export & upload finished', f)\nwx.CallLater(500, n.Show)\napp.MainLoop()"
)
_GDBUS = (
    "gdbus", "call", "--session", "--dest=org.freedesktop.Notifications",
    "--object-path=/org/freedesktop/Notifications", "--method=org.freedesktop.Notifications.Notify",
    "mailer", "0", "", "New mail", "<b>Export</b> &amp; upload <i>finished</i>", "[]", "{}", "5000",
)  # fmt: skip


def _notification(command: tuple[str, ...], words: str, daemon: Daemon, module: str = "") -> Outcome:
    """A program notifies of something: a wait for its words holds, and the scene has them."""
    need(command[0], module=module)
    with show(daemon, 800, 600, "openbox") as screen:
        wait_id, _ = screen.arm(NotificationText(words), timeout_s=15.0)
        screen.launch(*command)
        end = screen.end(wait_id)
        is_right = end.state == WaitState.RESOLVED
        return Outcome(Answer.RIGHT if is_right else Answer.UNKNOWN, f"{end.state}: {end.verdict.detail}")


def _timeout_names(came: tuple[str, ...], title: str, daemon: Daemon) -> Outcome:
    """A dialog came while the text did not: the timeout names it, and the nearest text."""
    need(came[0])
    with Pages("<p>Order 4417 is reedy</p>", "Orders") as pages, show(daemon, manager="icewm") as screen:
        screen.browse(pages.url, title="Orders")
        screen.judge(Text("Order 4417"), timeout_s=40.0)
        wait_id, _ = screen.arm(Text("Order 4417 is ready"), timeout_s=12.0)
        screen.launch(*came)
        screen.find_window(title)
        end = screen.end(wait_id)
        printed = f"{end.state}: {end.verdict.detail}"
        is_told = title in printed and "reedy" in printed
        return Outcome(Answer.RIGHT if is_told else Answer.UNKNOWN, printed)


def _quoted(sentence: str, is_there: bool, daemon: Daemon) -> Outcome:
    with Pages("<p>Upload done</p><p>Fertig</p>", "Jobs") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Jobs")
        screen.judge(Text("Upload done"), timeout_s=40.0)
        try:
            wait = screen.judge(Criteria(sentence), timeout_s=4.0)
        except AcudError as fault:
            return Outcome(Answer.UNKNOWN, f"{type(fault).__name__}: {fault}")
        is_right = (wait.state == WaitState.RESOLVED) == is_there
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, f"{wait.state}: {wait.verdict.detail}")


def _no_widgets(beside: tuple[str, ...], title: str, daemon: Daemon) -> Outcome:
    """A program that tells no widgets is there: `widget gone` names it at arming; a window as the target avoids it."""
    need(beside[0], module="wx")
    record = Record(daemon.home)
    form = (SYSTEM_PYTHON, str(PROGRAMS / "strange_forms.py"), "wx", str(record.path), "button:Send")
    with show(daemon, 1280, 800, "openbox") as screen:
        screen.launch(*form)
        screen.find_window("Order form")
        screen.launch(*beside)
        screen.find_window(title)
        gone = Widget("button", "Discard", gone=True)
        reply = daemon.client.wait_create(gone, display=screen.name, timeout_s=6.0)
        shown = wait_for(lambda: daemon.client.wait_show(reply.wait.wait_id).wait, lambda wait: title in str(wait), 3.0)
        early = f"{reply} {shown}"
        whole = screen.end(reply.wait.wait_id)
        narrow = screen.judge(gone, target="window:Order form", timeout_s=8.0)
        ends = "; its window: ".join(f"{one.state}: {one.verdict.detail}" for one in (whole, narrow))
        printed = f"at arming: {reply.wait.note!r}; {ends}"
        if whole.state == WaitState.RESOLVED:
            return Outcome(Answer.WRONG, printed)
        is_named = beside[0] in early.lower() or title.lower() in early.lower()
        return Outcome(Answer.RIGHT if is_named and narrow.state == WaitState.RESOLVED else Answer.UNKNOWN, printed)


_NFD = unicodedata.normalize("NFD", "Übersicht März")
_PNG = io.BytesIO()
Image.new("RGB", (20, 20), "teal").save(_PNG, "PNG")

CASES: tuple[Case, ...] = (
    unseen(
        "xcalc with umlauts",
        partial(_title, ("xcalc", "-title", "Übersicht März"), "xcalc", WindowTitle("Übersicht März"), True),
    ),
    unseen("xedit in Japanese", partial(_title, ("xedit", "-title", "東京の予定"), "xedit", WindowTitle("東京"), True)),
    unseen(
        "xcalc in Greek is not gone",
        partial(_title, ("xcalc", "-title", "Ελλάδα"), "xcalc", WindowTitle("Ελλάδα", gone=True), False),
    ),
    unseen(
        "xmessage in Cyrillic, pattern",
        partial(
            _title, ("xmessage", "-title", "Отчёт 12", "x"), "Xmessage", WindowTitle(r"Отч[её]т \d+", regex=True), True
        ),
    ),
    unseen(
        "xload with an accent",
        partial(_title, ("xload", "-title", "Café crème"), "xload", WindowTitle("Café crème"), True),
    ),
    unseen(
        "urxvt, decomposed title",
        partial(_title, ("urxvt", "-title", _NFD), "urxvt", WindowTitle("Übersicht März"), True),
    ),
    unseen(
        "urxvt, decomposed question",
        partial(_title, ("urxvt", "-title", "Übersicht März"), "urxvt", WindowTitle(_NFD), True),
    ),
    unseen(
        "urxvt, no-break space",
        partial(_title, ("urxvt", "-title", "Save\u00a0As…"), "urxvt", WindowTitle("Save As"), True),
    ),
    unseen(
        "urxvt, sharp s",
        partial(_title, ("urxvt", "-title", "Straßenliste"), "urxvt", WindowTitle("STRASSENLISTE"), True),
    ),
    unseen(
        "urxvt, direction mark",
        partial(_title, ("urxvt", "-title", "\u200eReport\u200f 7"), "urxvt", WindowTitle("Report 7"), True),
    ),
    unseen(
        "urxvt, another name", partial(_title, ("urxvt", "-title", "Märkte"), "urxvt", WindowTitle("Markte"), False)
    ),
    unseen("chord Control-a", partial(_chord, "Control-a", ("Control_L", "a"), False)),
    unseen("chord CTRL + A", partial(_chord, "CTRL + A", ("Control_L", "a"), True)),
    unseen("chord ctrl a", partial(_chord, "ctrl a", (), True)),
    unseen("chord ^a", partial(_chord, "^a", ("Control_L", "a"), True)),
    unseen("chord Shift Tab", partial(_chord, "shift Tab", (), True)),
    unseen("chord PageDown", partial(_chord, "PageDown", ("Next",), False)),
    unseen("chord page down", partial(_chord, "page down", ("Next",), True)),
    unseen("chord ctrl++", partial(_chord, "ctrl++", ("Control_L", "Shift_L", "plus"), True)),
    unseen("chord cmd-shift-k", partial(_chord, "cmd-shift-k", ("Super_L", "Shift_L", "K"), True)),
    unseen("chord return", partial(_chord, "return", ("Return",), False)),
    unseen("chord ctrl+enter, in words", partial(_chord, "ctrl and enter", (), True)),
    unseen("clipboard, PNG alone", partial(_clipboard, "image/png", _PNG.getvalue(), "")),
    unseen("clipboard, BMP alone", partial(_clipboard_picture, "bmp")),
    unseen("clipboard, JPEG alone", partial(_clipboard_picture, "jpeg")),
    unseen("clipboard, files alone", partial(_clipboard, "x-special/gnome-copied-files", b"copy\nfile:///tmp/a", "")),
    unseen("clipboard, Latin-1 alone", partial(_clipboard, "STRING", "Café".encode("latin-1"), "Café")),
    unseen(
        "clipboard, text/plain alone", partial(_clipboard, "text/plain;charset=utf-8", "Zürich ✓".encode(), "Zürich ✓")
    ),
    unseen("clipboard, there and back", partial(_clipboard_round, "Zürich ✓ 東京\nline")),
    unseen(
        "notification by zenity",
        partial(_notification, ("zenity", "--notification", "--text=Export & upload finished"), "upload finished"),
    ),
    unseen(
        "notification by wx", partial(_notification, (SYSTEM_PYTHON, "-c", _WX_NOTE), "Export & upload", module="wx")
    ),
    unseen("notification with markup", partial(_notification, _GDBUS, "Export & upload finished")),
    unseen(
        "a timeout names yad",
        partial(
            _timeout_names, ("yad", "--title=Session expired", "--text=Log in again", "--button=OK"), "Session expired"
        ),
    ),
    unseen(
        "a timeout names xmessage",
        partial(_timeout_names, ("xmessage", "-title", "Low disk", "Only 2 MB left"), "Low disk"),
    ),
    unseen("quotes „…“", partial(_quoted, "„Upload done“ is visible", True)),
    unseen("quotes «…»", partial(_quoted, "« Upload done » is visible", True)),
    unseen("quotes 「…」", partial(_quoted, "「Upload done」 is visible", True)),
    unseen("quotes ‹…›, absent", partial(_quoted, "‹Upload failed› is visible", False)),
    unseen("quotes ‚…‘", partial(_quoted, "‚Fertig‘ is visible", True)),
    unseen("quotes `…`", partial(_quoted, "`Upload done` is visible", True)),
    unseen("widget gone beside xcalc", partial(_no_widgets, ("xcalc",), "Calculator")),
    unseen("widget gone beside urxvt", partial(_no_widgets, ("urxvt", "-title", "Shell"), "Shell")),
)
