"""Coordinates and names of controls in toolkits, scales and layouts that acud's rules were not written on."""

from __future__ import annotations

from functools import partial

from acud.types import Text, WaitState
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import PROGRAMS, SYSTEM_PYTHON, Pages, Record, judge_form, need, show, unseen, wait_for
from tests.fixtures.daemon import Daemon

_ORDER = ("entry:Recipient", "entry:Street", "button:Send", "button:Discard")
_ANNA = "type 'Anna' into the Recipient field"
_CSS_FORM = """<div style="{style}"><p><label for=recipient>Recipient</label><br><input id=recipient></p>
<p><label for=street>Street</label><br><input id=street></p><button>Send</button> <button>Discard</button></div>"""


def _fill(
    program: tuple[str, ...],
    rows: tuple[str, ...],
    instructions: tuple[str, ...],
    expected: dict[str, object],
    daemon: Daemon,
    env: tuple[str, ...] = (),
    manager: str = "",
) -> Outcome:
    if program[0] == SYSTEM_PYTHON:
        need(module={"wx": "wx", "qtview": "PyQt5", "pygame": "pygame"}[program[2]])
    else:
        need(program[0])
    record = Record(daemon.home)
    with show(daemon, 1280, 900, manager) as screen:
        screen.launch("env", *env, *program, str(record.path), *rows)
        screen.find_window("Order form")
        wait_for(record.read, bool)
        for row in rows:
            painted = screen.judge(Text(row.partition(":")[2]), timeout_s=30.0)
            assert painted.state == WaitState.RESOLVED, painted.verdict.detail
        return judge_form(screen, record.read, instructions, expected)


def _form(toolkit: str) -> tuple[str, ...]:
    return (SYSTEM_PYTHON, str(PROGRAMS / "strange_forms.py"), toolkit)


_AWT = ("java", "-Dsun.java2d.uiScale=2", str(PROGRAMS / "AwtForm.java"))


def _fill_page(
    body: str,
    switches: tuple[str, ...],
    instructions: tuple[str, ...],
    expected: dict[str, object],
    daemon: Daemon,
    manager: str = "",
) -> Outcome:
    with Pages(body, "Order form") as pages, show(daemon, 1280, 900, manager) as screen:
        screen.browse(pages.url, *switches, title="Order form")
        pages.until_loaded()
        return judge_form(screen, pages.read, instructions, expected)


def _fill_yad(
    env: tuple[str, ...], fields: tuple[str, ...], instruction: str, expected: str, daemon: Daemon
) -> Outcome:
    """The dialog prints its fields, parted by |, once its own OK is clicked by its pid's Return key."""
    need("yad", "xdotool")
    record = Record(daemon.home)
    with show(daemon, 1280, 900) as screen:
        words = " ".join(f"'--field={field}'" for field in fields)
        screen.launch(
            "env",
            *env,
            "sh",
            "-c",
            f"yad --form --title='Order form' {words} --button=Discard:3 --button=Send:0 > {record.path}; "
            f"echo code $? >> {record.path}",
        )
        window = screen.find_window("Order form")
        status, message = screen.do(instruction)
        if "code" not in (record.path.read_text() if record.path.exists() else ""):
            screen.run("xdotool", "windowfocus", "--sync", str(window), "key", "alt+s", check=False)
            screen.do("click the Send button")
        got = wait_for(lambda: record.path.read_text() if record.path.exists() else "", lambda text: "code" in text, 10)
        printed = f"{status}: {message}; it printed {got!r}"
        if got.startswith(expected):
            return Outcome(Answer.RIGHT, printed)
        is_nothing = got.startswith("|" * len(fields)) and status not in ("verified", "unverified")
        return Outcome(Answer.UNKNOWN if is_nothing else Answer.WRONG, printed)


def _click_pair(toolkit: str, pair: tuple[str, str], daemon: Daemon) -> Outcome:
    """Two buttons whose names are synonyms stand side by side: the one that is named in full is clicked."""
    rows = tuple(f"button:{name}" for name in pair)
    return _fill(_form(toolkit), rows, (f"click the {pair[0]} button",), {pair[0]: 1, pair[1]: 0}, daemon)


def _click_page_pair(pair: tuple[str, str], daemon: Daemon) -> Outcome:
    body = f"<p><button>{pair[0]}</button> <button>{pair[1]}</button></p>"
    return _fill_page(body, (), (f"click the {pair[1]} button",), {pair[1]: 1}, daemon)


_ZOOMED = _CSS_FORM.format(style="zoom:1.6")
_TURNED = _CSS_FORM.format(style="transform:scale(1.8);transform-origin:0 0;width:400px")
_FRAMED = (
    """<p style="height:90px">Please fill:</p><iframe style="margin-left:180px;width:600px;height:420px;border:1px """
    """solid" srcdoc="<script>addEventListener('input', e => parent.keep(e.target.id, e.target.value)); """
    """addEventListener('click', e => e.target.tagName == 'BUTTON' && parent.keep(e.target.textContent, 1))</script>"""
    f"""{_CSS_FORM.format(style="").replace('"', "&quot;")}"></iframe>"""
)
_POSTCODE = "<p><label>Postcode / ZIP <input id=code></label></p><p><label>Post office <input id=office></label></p>"
_BOTH = {"Recipient": "Anna", "Street": "Weg 7", "Send": 0, "Discard": 0}
_BOTH_WORDS = (_ANNA, "type 'Weg 7' into the Street field")
_RECIPIENT: dict[str, object] = {"recipient": "Anna"}

CASES: tuple[Case, ...] = (
    unseen("wxPython, labels above", partial(_fill, _form("wx"), _ORDER, _BOTH_WORDS, _BOTH)),
    unseen(
        "wxPython at GDK_SCALE=2 in icewm",
        partial(_fill, _form("wx"), _ORDER, _BOTH_WORDS, _BOTH, env=("GDK_SCALE=2",), manager="icewm"),
    ),
    unseen(
        "wxPython without accessibility, GDK_SCALE=2",
        partial(_fill, _form("wx"), _ORDER, _BOTH_WORDS, _BOTH, env=("GDK_SCALE=2", "NO_AT_BRIDGE=1", "GTK_MODULES=")),
    ),
    unseen("Qt in a magnified view", partial(_fill, _form("qtview"), _ORDER, _BOTH_WORDS, _BOTH)),
    unseen(
        "Qt in a magnified view at 1.5",
        partial(_fill, _form("qtview"), _ORDER, _BOTH_WORDS, _BOTH, env=("QT_SCALE_FACTOR=1.5",)),
    ),
    unseen("pygame fields beside labels", partial(_fill, _form("pygame"), _ORDER, _BOTH_WORDS, _BOTH)),
    unseen("AWT at scale 2, labels above", partial(_fill, _AWT, _ORDER, _BOTH_WORDS, _BOTH)),
    unseen("AWT at scale 2 in fluxbox", partial(_fill, _AWT, _ORDER, _BOTH_WORDS, _BOTH, manager="fluxbox")),
    unseen("Chromium, CSS zoom 1.6", partial(_fill_page, _ZOOMED, (), (_ANNA,), _RECIPIENT)),
    unseen("Chromium, transform scale 1.8", partial(_fill_page, _TURNED, (), (_ANNA,), _RECIPIENT)),
    unseen(
        "Chromium at device scale 1.5",
        partial(
            _fill_page,
            _CSS_FORM.format(style=""),
            ("--force-device-scale-factor=1.5",),
            (_ANNA,),
            _RECIPIENT,
            manager="jwm",
        ),
    ),
    unseen("Chromium, form in a frame", partial(_fill_page, _FRAMED, (), (_ANNA,), _RECIPIENT)),
    unseen("yad at GDK_SCALE=2", partial(_fill_yad, ("GDK_SCALE=2",), ("Recipient", "Street"), _ANNA, "Anna||")),
    unseen(
        "yad at GDK_DPI_SCALE=1.6", partial(_fill_yad, ("GDK_DPI_SCALE=1.6",), ("Recipient", "Street"), _ANNA, "Anna||")
    ),
    unseen("Delete beside Remove in wx", partial(_click_pair, "wx", ("Delete", "Remove"))),
    unseen("Quit beside Close in pygame", partial(_click_pair, "pygame", ("Quit", "Close"))),
    unseen("Search beside Find in Qt's view", partial(_click_pair, "qtview", ("Search", "Find"))),
    unseen("Settings beside Preferences on a page", partial(_click_page_pair, ("Settings", "Preferences"))),
    unseen("Submit beside Send on a page", partial(_click_page_pair, ("Submit", "Send"))),
    unseen(
        "a label that begins with the words",
        partial(
            _fill_page,
            _POSTCODE,
            (),
            ("type '3011' into the Postcode field", "set the Postcode field to '8004'"),
            {"code": "8004"},
        ),
    ),
    unseen(
        "a field found again with its value, pygame",
        partial(
            _fill,
            _form("pygame"),
            ("entry:Postcode", "entry:City"),
            (
                "type '30' into the Postcode field",
                "type 'Bern' into the City field",
                "type '11' into the Postcode field",
            ),
            {"Postcode": "3011", "City": "Bern"},
        ),
    ),
)
