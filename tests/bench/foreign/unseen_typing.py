"""Letters, chords and clicks that others catch, fields that change what they get, and echoes that are no evidence."""

from __future__ import annotations

import re
from functools import partial

from acud.protocol.requests.waits import WaitCreate
from acud.types import Policy, Text, WaitState
from acud.types.actions import Click, Key, Point, TypeText, WaitIdle
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import PROGRAMS, SYSTEM_PYTHON, Pages, Record, need, show, unseen, wait_for
from tests.fixtures.daemon import Daemon

_LINE = "Pack my box with five dozen liquor jugs; how vexingly quick daft zebras jump. "
_LONG = _LINE * 5
_LETTER, _DIALOG = "Letter3", "Interruption"


def _thief(toolkit: str, kind: str, record: Record) -> tuple[str, ...]:
    if toolkit == "swing":
        need("java")
        return ("java", str(PROGRAMS / "SwingThief.java"), str(record.path))
    need(*((kind,) if kind in ("dmenu", "zenity") else ()), module={"gtk4": "gi"}.get(toolkit, toolkit))
    return (SYSTEM_PYTHON, str(PROGRAMS / "thieves.py"), toolkit, kind, str(record.path))


def _type_under_thief(toolkit: str, kind: str, target: str, daemon: Daemon, manager: str = "") -> Outcome:
    """The letter is taken over while it is typed: refused, with a range that holds how many letters arrived."""
    record = Record(daemon.home)
    with show(daemon, 1024, 768, manager) as screen:
        screen.launch(*_thief(toolkit, kind, record))
        screen.find_window(_LETTER)
        screen.act(Click(Point(120, 150)), WaitIdle(), target=f"window:{_LETTER}")
        words = screen.act(TypeText(_LONG), target=target)
        state = record.settle()
        printed = f"{words or 'done'}; it holds {str(state)[:300]}"
        if not words:
            return Outcome(Answer.RIGHT if state["letter"] == _LONG else Answer.WRONG, printed)
        stated = re.search(r"(\d+) of \d+ letters", words)
        if not stated:
            return Outcome(Answer.WRONG, printed)
        missing = int(stated[1]) - len(state["letter"])
        if "how many of them arrived is not known" in words:
            return Outcome(Answer.UNKNOWN if missing >= 0 else Answer.WRONG, printed)
        admitted = int(found[1]) if (found := re.search(r"the last (\d+) may be lost", words)) else 0
        is_fair = _LONG.startswith(state["letter"]) and 0 <= missing <= admitted
        return Outcome(Answer.RIGHT if is_fair else Answer.WRONG, printed)


def _type_under_box(toolkit: str, manager: str, daemon: Daemon) -> Outcome:
    """A modal box stands open over the letter: refused before the first key, and the box is named."""
    record = Record(daemon.home)
    with show(daemon, 1024, 768, manager) as screen:
        screen.launch(*_thief(toolkit, "standing", record))
        screen.find_window(_LETTER)
        if toolkit != "gtk4":
            screen.find_window(_DIALOG)
        screen.act(WaitIdle())
        words = screen.act(TypeText("no yes nonsense\n"), target=f"window:{_LETTER}")
        state = record.settle()
        printed = f"{words or 'done'}; it holds {state}"
        is_untouched = not (state["letter"] or state["answer"] or state["dialog"])
        return Outcome(Answer.RIGHT if words and is_untouched and _DIALOG in words else Answer.WRONG, printed)


def _click_under_panel(daemon: Daemon) -> Outcome:
    """Another program's window comes over the place of the second click: it gets none."""
    need("xmessage")
    record = Record(daemon.home)
    with show(daemon, 1024, 768, "openbox") as screen:
        screen.launch(*_thief("pygame", "panel", record))
        window = screen.find_window(_LETTER)
        screen.run("xdotool", "windowmove", "--sync", str(window), "20", "20", check=False)
        words = screen.act(WaitIdle(), Click(Point(60, 300)), target=f"window:{_LETTER}")
        if not wait_for(lambda: record.read()["clicks"], bool, 5.0):
            return Outcome(Answer.UNKNOWN, f"the first click did not arrive: {words or 'done'}")
        screen.find_window(_DIALOG)
        words = screen.act(Click(Point(420, 200)), Key("Return"), target=f"window:{_LETTER}")
        stands = _DIALOG in str(screen.list_titles())
        printed = f"{words or 'done'}; the box stands: {stands}; {record.read()}"
        return Outcome(Answer.RIGHT if words and stands else Answer.WRONG, printed)


def _return_into_question(daemon: Daemon) -> Outcome:
    """After its first words another program asks whether to delete: the Return of the same list does not answer it."""
    record = Record(daemon.home)
    with show(daemon, 1024, 768, "fluxbox") as screen:
        screen.launch(*_thief("wx", "zenity", record))
        screen.find_window(_LETTER)
        screen.act(Click(Point(120, 150)), WaitIdle(), target=f"window:{_LETTER}")
        words = screen.act(TypeText("Dear Ms Wu"), WaitIdle(1.0, 8.0), Key("Return"), TypeText("thanks"))
        opened = screen.run("xdotool", "search", "--onlyvisible", "--name", _DIALOG, check=False)
        printed = f"{words or 'done'}; the question stands: {bool(opened)}; {record.read()}"
        text = record.read()["letter"]
        is_safe = bool(opened) and (bool(words) or text == "Dear Ms Wu\nthanks")
        return Outcome(Answer.RIGHT if is_safe else Answer.WRONG, printed)


def _type_beside_find(manager: str, daemon: Daemon) -> Outcome:
    """A dialog that is not modal stands beside the letter: typing into the letter's window is no fault."""
    record = Record(daemon.home)
    with show(daemon, 1024, 768, manager) as screen:
        screen.launch(*_thief("wx", "find", record))
        screen.find_window(_LETTER)
        screen.find_window(_DIALOG)
        words = screen.act(WaitIdle(), TypeText("seen"), target=f"window:{_LETTER}")
        state = record.settle()
        printed = f"{words or 'done'}; it holds {state}"
        if words:
            return Outcome(Answer.UNKNOWN if not state["letter"] else Answer.WRONG, printed)
        return Outcome(Answer.RIGHT if state["letter"] == "seen" else Answer.WRONG, printed)


def _type_under_chooser(daemon: Daemon) -> Outcome:
    """The editor's own Open dialog stands over it: what is meant for the text is not typed into the dialog."""
    need("mousepad")
    file = daemon.home / "draft.txt"
    file.write_text("")
    with show(daemon, 1024, 768, "icewm") as screen:
        screen.launch("mousepad", str(file))
        screen.find_window("draft")
        screen.act(WaitIdle(), Key("ctrl+o"))
        screen.find_window("Open")
        words = screen.act(WaitIdle(), TypeText("seen"), Key("ctrl+s"), target="window:draft")
        printed = f"{words or 'done'}; the file holds {file.read_text()!r}; windows {screen.list_titles()}"
        return Outcome(Answer.RIGHT if words and "Open" in words else Answer.WRONG, printed)


def _fill_field(body: str, instruction: str, wanted: str, may_be_verified: bool, daemon: Daemon) -> Outcome:
    """A page's field changes what it gets: "verified" only where all of it is there."""
    with Pages(body, "Claim form") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Claim form")
        pages.until_loaded()
        status, message = screen.do(instruction)
        state = wait_for(pages.read, lambda held: held.get("name") == wanted, 4.0)
        printed = f"{status}: {message}; it holds {state}"
        is_right = (status == "verified") == may_be_verified and state.get("name") == wanted
        if is_right:
            return Outcome(Answer.RIGHT, printed)
        return Outcome(Answer.WRONG if status == "verified" else Answer.UNKNOWN, printed)


def _field(script: str, more: str = "", attributes: str = "") -> str:
    return (
        f'<p><label for=name>Claimant</label> <input id=name size=40 {attributes} oninput="{script}"></p>{more}'
        "<p>Please give the name as in your passport.</p>"
    )


_STRIPS = _field("this.value = this.value.replace(/ /g, '')")
_SHORT = _field("", attributes="maxlength=8")
_STEALS = _field(
    "if (this.value.length == 3) document.getElementById('other').focus()", "<p>Other <input id=other></p>"
)
_EATS = _field("this.value = this.value.replace(/(.)\\1/g, '$1')")
_SWAPS = _field("this.value = this.value.replace('Marie', 'Maria')")
_CAPS = _field("this.value = this.value.toUpperCase()")
_ASKS = _field("if (this.value.length == 2) setTimeout(() => keep('prompt', prompt('Coupon?')), 60)")
_FULL = "Anne Marie Scott"


def _type_into_prompt(daemon: Daemon) -> Outcome:
    """The page's prompt opens while its field is typed into: not "verified", and the letters that went are counted."""
    with Pages(_ASKS, "Claim form") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Claim form")
        pages.until_loaded()
        status, message = screen.do(f"type '{_LINE}' into the Claimant field")
        state = pages.settle()
        printed = f"{status}: {message}; it holds {state}"
        if status == "verified":
            return Outcome(Answer.RIGHT if str(state.get("name")).strip() == _LINE.strip() else Answer.WRONG, printed)
        return Outcome(
            Answer.RIGHT if re.search(r"\d+ of \d+ letters|unverified", printed) else Answer.UNKNOWN, printed
        )


def _echo(terminal: tuple[str, ...], command: str, words: str, daemon: Daemon) -> Outcome:
    """The shell notes when a command is done: a wait for what it prints does not end on the echo, 5 s before."""
    need(terminal[0])
    done = daemon.home / f"done-{terminal[0]}-{len(command)}"
    rc = daemon.home / "bashrc"
    rc.write_text(f"PS1='shell % '; PROMPT_COMMAND='[ -e {done}.armed ] && date +%s.%N > {done}'\n")
    with show(daemon, 1024, 768) as screen:
        screen.launch(*terminal, "bash", "--rcfile", str(rc), "-i")
        screen.judge(Text("shell"), timeout_s=30.0)
        done.with_suffix(".armed").touch()
        reply = daemon.client.desktop_action(
            [TypeText(command)], display=screen.name, wait=WaitCreate(Text(words), timeout_s=30.0)
        )
        assert reply.wait is not None
        wait = screen.end(reply.wait.wait.wait_id)
        ended_s = float(wait_for(lambda: done.read_text() if done.exists() else "", bool, 20.0) or 0)
        early_s = ended_s - wait.ended_utc_s
        printed = f"{wait.state}: {wait.verdict.detail}; {early_s:.1f} s before the command's end"
        if wait.state != WaitState.RESOLVED:
            return Outcome(Answer.UNKNOWN, printed)
        return Outcome(Answer.WRONG if early_s > 1.0 else Answer.RIGHT, printed)


def _only_echo(launch: tuple[str, ...], before: tuple[str, ...], words: str, daemon: Daemon) -> Outcome:
    """Nothing but what acud typed shows the words: the wait for them does not hold."""
    need(launch[0])
    with show(daemon, 1024, 768, "openbox") as screen:
        screen.launch(*launch)
        screen.judge(Text("note"), timeout_s=30.0)
        for chord in before:
            screen.act(TypeText(chord) if len(chord) == 1 else Key(chord), WaitIdle())
        reply = daemon.client.desktop_action(
            [WaitIdle(), TypeText(words)], display=screen.name, wait=WaitCreate(Text(words), timeout_s=6.0)
        )
        assert reply.wait is not None
        wait = screen.end(reply.wait.wait.wait_id)
        is_right = wait.state == WaitState.TIMEOUT
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, f"{wait.state}: {wait.verdict.detail}")


_SEARCH = """<p><label>Search <input id=search></label></p><p id=result>No search yet</p><script>
document.getElementById('search').oninput = e => { if (e.target.value.endsWith('42')) setTimeout(() => {
    document.getElementById('result').textContent = 'Found: ' + e.target.value + ', due in May';
    keep('shown', Date.now()) }, 5000) }</script>"""
_TWICE = """<p>Job 1: READY</p><p id=result>Job 2: running</p><script>setTimeout(() => {
    document.getElementById('result').textContent = 'Job 2: READY'; keep('shown', Date.now()) }, 9000)</script>"""


def _echo_in_page(daemon: Daemon) -> Outcome:
    """A search box shows what was typed at once, the result 5 s later."""
    with Pages(_SEARCH, "Invoices") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Invoices")
        pages.until_loaded()
        reply = daemon.client.gui_do(
            "type 'Invoice 42' into the Search field",
            display=screen.name,
            wait=WaitCreate(Text("Invoice 42"), timeout_s=30.0),
        )
        assert reply.wait is not None
        wait = screen.end(reply.wait.wait.wait_id)
        shown_s = wait_for(pages.read, lambda state: "shown" in state, 15.0)["shown"] / 1000
        early_s = shown_s - wait.ended_utc_s
        printed = f"{wait.state}: {wait.verdict.detail}; {early_s:.1f} s before the result"
        if wait.state != WaitState.RESOLVED:
            return Outcome(Answer.UNKNOWN, printed)
        return Outcome(Answer.WRONG if early_s > 0.5 else Answer.RIGHT, printed)


def _there_already(is_fresh: bool, daemon: Daemon) -> Outcome:
    """One READY stands there: told as such, or with `fresh` the second one is waited for."""
    with Pages(_TWICE, "Jobs") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Jobs")
        screen.judge(Text("Job 2: running"), timeout_s=30.0)
        wait = screen.judge(Text("READY"), timeout_s=30.0, policy=Policy(fresh=is_fresh))
        is_shown = "shown" in pages.read()
        printed = f"{wait.state}: {wait.verdict.detail}; the second is there: {is_shown}"
        is_right = is_shown if is_fresh else "was there" in wait.verdict.detail
        return Outcome(Answer.RIGHT if wait.state == WaitState.RESOLVED and is_right else Answer.WRONG, printed)


_ARMED = "sleep 5; echo READY\n"
_PYTHON = "python3 -c 'import time; time.sleep(5); print(\"all READY\")'\n"
_WRAPS = "sleep 5; echo the backup of the archive is READY now # and this is a remark that wraps\n"

CASES: tuple[Case, ...] = (
    unseen("wx asks for a text", partial(_type_under_thief, "wx", "input", f"window:{_LETTER}")),
    unseen(
        "wx asks for a text, no target, icewm", partial(_type_under_thief, "wx", "input", "screen", manager="icewm")
    ),
    unseen("GTK 4 asks for a text", partial(_type_under_thief, "gtk4", "input", f"window:{_LETTER}")),
    unseen("Swing asks for a text", partial(_type_under_thief, "swing", "input", f"window:{_LETTER}")),
    unseen("dmenu over wx", partial(_type_under_thief, "wx", "dmenu", f"window:{_LETTER}")),
    unseen("dmenu over pygame, no target", partial(_type_under_thief, "pygame", "dmenu", "screen")),
    unseen("zenity over GTK 4, fluxbox", partial(_type_under_thief, "gtk4", "zenity", "screen", manager="fluxbox")),
    unseen("a box stands over wx, icewm", partial(_type_under_box, "wx", "icewm")),
    unseen("a box stands over wx, jwm", partial(_type_under_box, "wx", "jwm")),
    unseen("a box stands over GTK 4, fluxbox", partial(_type_under_box, "gtk4", "fluxbox")),
    unseen("mousepad under its Open dialog", _type_under_chooser),
    unseen("wx beside its Find dialog", partial(_type_beside_find, "icewm")),
    unseen("wx beside its Find dialog, fluxbox", partial(_type_beside_find, "fluxbox")),
    unseen("a click under a panel that came", _click_under_panel),
    unseen("Return after a question came", _return_into_question),
    unseen("a page's prompt while typing", _type_into_prompt),
    unseen(
        "a field that strips spaces",
        partial(_fill_field, _STRIPS, f"type '{_FULL}' into Claimant", "AnneMarieScott", False),
    ),
    unseen(
        "a field of eight letters", partial(_fill_field, _SHORT, f"type '{_FULL}' into Claimant", "Anne Mar", False)
    ),
    unseen(
        "a page that moves the focus on", partial(_fill_field, _STEALS, f"type '{_FULL}' into Claimant", "Ann", False)
    ),
    unseen(
        "a field that eats double letters",
        partial(_fill_field, _EATS, f"type '{_FULL}' into Claimant", "Ane Marie Scot", False),
    ),
    unseen(
        "a field that corrects a name",
        partial(_fill_field, _SWAPS, f"type '{_FULL}' into Claimant", "Anne Maria Scott", False),
    ),
    unseen(
        "a field that is quoted in German",
        partial(_fill_field, _field(""), f"type „{_FULL}“ into Claimant", _FULL, True),
    ),
    unseen(
        "a field that is quoted in Japanese",
        partial(_fill_field, _field(""), f"type 「{_FULL}」 into Claimant", _FULL, True),
    ),
    unseen(
        "a field that is quoted in French",
        partial(_fill_field, _field(""), f"type « {_FULL} » into Claimant", _FULL, True),
    ),
    unseen("echo in urxvt", partial(_echo, ("urxvt", "-fn", "xft:DejaVu Sans Mono:size=14", "-e"), _ARMED, "READY")),
    unseen("echo in st, Python", partial(_echo, ("st", "-f", "DejaVu Sans Mono:size=14", "-e"), _PYTHON, "READY")),
    unseen(
        "echo that wraps in urxvt",
        partial(_echo, ("urxvt", "-geometry", "40x20", "-fn", "xft:DejaVu Sans Mono:size=14", "-e"), _WRAPS, "READY"),
    ),
    unseen("only an echo in featherpad", partial(_only_echo, ("featherpad", "/tmp/note"), (), "READY")),
    unseen(
        "only an echo in vim",
        partial(
            _only_echo,
            ("urxvt", "-fn", "xft:DejaVu Sans Mono:size=14", "-e", "vim", "-n", "-u", "NONE", "/tmp/note"),
            ("i",),
            "all READY",
        ),
    ),
    unseen("a search box and its late result", _echo_in_page),
    unseen("a second READY, fresh", partial(_there_already, True)),
    unseen("a READY that stood there", partial(_there_already, False)),
)
