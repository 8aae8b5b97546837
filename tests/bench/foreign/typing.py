"""Focus thieves and modal dialogs of several toolkits: what is typed, pressed or dragged reaches one window.
Waits on what was typed: its echo is no evidence, what stands there is told, quiet is that after the last key.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from acud.base.errors import Refused
from acud.protocol.requests.waits import WaitCreate
from acud.types import DisplayInfo, Policy, Stable, Text, Until, WaitInfo, WaitState, WindowInfo, number_condition
from acud.types.actions import (
    Action,
    Click,
    ClipboardSet,
    Drag,
    InputAction,
    Key,
    Launch,
    Point,
    TypeText,
    WaitIdle,
    WindowDo,
    WindowList,
    WindowVerb,
)
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_LETTERS = Path(__file__).with_name("programs") / "letters.py"
_LONG = "the quick brown fox jumps over the lazy dog " * 220
_PATIENCE_S = 30.0
_TCL = (
    "package require Tk; wm title . Letter2; pack [text .t]; focus -force .t; "
    "after 300 {tk_messageBox -parent . -title Session -type yesno -message Restore?; wm title . Answered}"
)
_XTERM = (
    'stty raw -echo; dd bs=1 count=1 2>/dev/null >"$0"; (zenity --entry --title=Session --text=Name >/dev/null &); '
    'cat >>"$0"'
)


@contextmanager
def _shown(daemon: Daemon, *command: str) -> Iterator[DisplayInfo]:
    display = daemon.client.display_create(640, 480).display
    try:
        daemon.client.desktop_action(Launch(command), display=display.name)
        yield display
    finally:
        daemon.client.display_remove(display.name, force=True)


def _titled(daemon: Daemon, display: DisplayInfo, title: str) -> WindowInfo:
    until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until_s:
        windows = daemon.client.desktop_action(WindowList(title), display=display.name).windows
        if windows and windows[0].visibility != "unmapped":
            return windows[0]
        time.sleep(0.05)
    raise TimeoutError(f"no window {title!r} came")


def _refused(daemon: Daemon, display: DisplayInfo, action: InputAction) -> Refused | str:
    try:
        reply = daemon.client.desktop_action(action, target="window:Letter2", display=display.name)
    except Refused as fault:
        return fault
    return f"done {reply.done}"


def _judge_thief(daemon: Daemon, toolkit: str) -> Outcome:
    """A modal dialog of the program opens 60 ms after the first letter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "read.json")
        with _shown(daemon, "/usr/bin/python3", str(_LETTERS), toolkit, "thief", str(path)) as display:
            letter = _titled(daemon, display, "Letter2").bounds
            daemon.client.desktop_action(Click(Point(letter.x + 90, letter.y + 90)), display=display.name)
            fault = _refused(daemon, display, TypeText(_LONG))
            if isinstance(fault, str):
                return Outcome(Answer.WRONG, fault)
            read = json.loads(path.read_text())
        is_right = fault.facts["sent"] - 8 <= len(read["letter"]) <= fault.facts["sent"] and len(read["dialog"]) <= 8
        printed = f"letter {len(read['letter'])}, dialog {len(read['dialog'])}: {fault.message}"
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, printed)


def _judge_standing(daemon: Daemon, toolkit: str, action: InputAction) -> Outcome:
    """A modal Yes/No box stands open over the letter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "read.json")
        with _shown(daemon, "/usr/bin/python3", str(_LETTERS), toolkit, "standing", str(path)) as display:
            _titled(daemon, display, "Session")
            _titled(daemon, display, "Letter2")
            fault = _refused(daemon, display, action)
            read = json.loads(path.read_text())
        is_right = isinstance(fault, Refused) and '"Session"' in fault.message and "; nothing was" in fault.message
        is_untouched = not read["letter"] and not read["answer"]
        return Outcome(Answer.RIGHT if is_right and is_untouched else Answer.WRONG, str(fault))


def _judge_message_box(daemon: Daemon) -> Outcome:
    """Tcl's own message box stands open; wish tells of no widgets and declares no modality."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "letter.tcl")
        script.write_text(_TCL)
        with _shown(daemon, "wish", str(script)) as display:
            _titled(daemon, display, "Session")
            fault = _refused(daemon, display, TypeText("no\n"))
            answered = daemon.client.desktop_action(WindowList("Answered"), display=display.name).windows
    is_right = isinstance(fault, Refused) and "nothing was typed" in fault.message and not answered
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, str(fault))


def _judge_other_program(daemon: Daemon) -> Outcome:
    """Another program's dialog (zenity) opens once an xterm has read the first letter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "read")
        with _shown(daemon, "xterm", "-T", "Letter2", "-e", "sh", "-c", _XTERM, str(path)) as display:
            _titled(daemon, display, "Letter2")
            daemon.client.desktop_action(WindowDo("Letter2", WindowVerb.FOCUS), display=display.name)
            fault = _refused(daemon, display, TypeText(_LONG))
            if isinstance(fault, str):
                return Outcome(Answer.WRONG, fault)
            until_s = time.monotonic() + _PATIENCE_S
            while path.stat().st_size < fault.facts["sent"] and time.monotonic() < until_s:
                time.sleep(0.05)
            size = path.stat().st_size
        return Outcome(Answer.RIGHT if size == fault.facts["sent"] else Answer.WRONG, f"read {size}: {fault.message}")


def _judge_question(daemon: Daemon, action: InputAction) -> Outcome:
    command = "xterm -T Letter2 -e cat & exec zenity --question --title=Session --text=Restore"
    with _shown(daemon, "sh", "-c", command) as display:
        _titled(daemon, display, "Letter2")
        _titled(daemon, display, "Session")
        daemon.client.desktop_action(WindowDo("Session", WindowVerb.FOCUS), display=display.name)
        fault = _refused(daemon, display, action)
        stands = daemon.client.desktop_action(WindowList("Session"), display=display.name).windows
    is_right = isinstance(fault, Refused) and "nothing was" in fault.message and bool(stands)
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, str(fault))


_HOLD_S = 2.5
"""So long the commands below wait before they write."""
_SHELLS = {
    "xterm": ("xterm", "-geometry", "60x14", "-e", "env", "PS1=> ", "sh"),
    "bash": ("xterm", "-geometry", "60x14", "-fa", "Mono", "-fs", "12", "-e", "bash", "--norc"),
    "python": ("xterm", "-geometry", "60x14", "-fa", "Mono", "-fs", "12", "-e", "python3", "-q"),
}


def _judge_echo(
    daemon: Daemon, shell: str, actions: tuple[Action, ...], until: Until, *, apart: bool = False
) -> Outcome:
    """A command writes after a while what it names; `apart`: the wait is armed after the typing."""
    with _shown(daemon, *_SHELLS[shell]) as display:
        _titled(daemon, display, "")
        began_s = time.monotonic()
        if apart:
            daemon.client.desktop_action(actions, display=display.name)
            armed = daemon.client.wait_create(until, display=display.name, timeout_s=_PATIENCE_S).wait
        else:
            wait = WaitCreate(until, timeout_s=_PATIENCE_S)
            reply = daemon.client.desktop_action(actions, display=display.name, wait=wait, block_s=0).wait
            assert reply is not None
            armed = reply.wait
        ended = daemon.client.wait_result(armed.wait_id, block_s=_PATIENCE_S).wait
    return _outcome_after(ended, time.monotonic() - began_s)


def _outcome_after(ended: WaitInfo, took_s: float) -> Outcome:
    is_right = ended.state is WaitState.RESOLVED and took_s >= _HOLD_S
    printed = f"{ended.state} after {took_s:.1f} s: {ended.verdict.detail}"
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, printed)


def _await_text(daemon: Daemon, display: DisplayInfo, text: str) -> str:
    armed = daemon.client.wait_create(Text(text), display=display.name, timeout_s=_PATIENCE_S).wait
    return daemon.client.wait_result(armed.wait_id, block_s=_PATIENCE_S).wait.verdict.detail


def _judge_fresh(daemon: Daemon) -> Outcome:
    """What stands there is not enough for a fresh wait; a command writes it again after a while."""
    with _shown(daemon, *_SHELLS["bash"]) as display:
        _titled(daemon, display, "")
        daemon.client.desktop_action(TypeText("echo FINISHED\n"), display=display.name)
        _await_text(daemon, display, "FINISHED")
        began_s = time.monotonic()
        wait = WaitCreate(Text("FINISHED"), timeout_s=_PATIENCE_S, policy=Policy(fresh=True))
        again = _command("echo FINISHED")
        reply = daemon.client.desktop_action(again, display=display.name, wait=wait, block_s=_PATIENCE_S).wait
    assert reply is not None
    return _outcome_after(reply.wait, time.monotonic() - began_s)


def _judge_standing_text(daemon: Daemon) -> Outcome:
    """A text stood there when the wait began: the verdict says so."""
    with _shown(daemon, "zenity", "--info", "--title=Told", "--text=Upload complete") as display:
        _await_text(daemon, display, "Upload complete")
        detail = _await_text(daemon, display, "Upload complete")
    return Outcome(Answer.RIGHT if "was there when the wait began" in detail else Answer.WRONG, detail)


def _judge_quiet(daemon: Daemon, keys: str, *, changes: bool) -> Outcome:
    """Quiet after a key: on the screen that it brings, and never on the one before it."""
    with _shown(daemon, *_SHELLS["xterm"]) as display:
        _titled(daemon, display, "")
        daemon.client.desktop_action(WaitIdle(1.0, 10.0), display=display.name)
        wait = WaitCreate(Stable(1.0, ignore_blinking=True), timeout_s=6.0)
        reply = daemon.client.desktop_action(Key(keys), display=display.name, wait=wait, block_s=20.0).wait
    assert reply is not None
    is_right = (reply.wait.state is WaitState.RESOLVED) is changes
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, f"{reply.wait.state}: {reply.wait.verdict.detail}")


def _command(text: str) -> tuple[Action, ...]:
    return (TypeText(f"sleep {_HOLD_S}; {text}\n"),)


_ECHO = partial(_judge_echo, until=Text("READY"))
_ENTERED = (TypeText(f"sleep {_HOLD_S}; echo READY"), Key("Return"))
_PASTED = (ClipboardSet(f"sleep {_HOLD_S}; echo READY", "primary"), Key("shift+Insert"), Key("Return"))
_PYTHON = (TypeText(f"import time; time.sleep({_HOLD_S}); print('READY')\n"),)
_FILLED = (TypeText(f"seq 11; sleep {_HOLD_S}; {': ; ' * 30}echo READY\n"),)
_ARGUMENT = (TypeText(f"sh -c 'sleep {_HOLD_S}; echo $0' READY\n"),)
_SHORT = (TypeText(f"x() {{ sleep {_HOLD_S}; echo $1; }}\nx READY\n"),)
_TOTALLED = partial(
    _judge_echo, shell="bash", actions=_command("echo Total: 95"), until=number_condition("Total >= 90")
)
_TYPE, _KEYS, _DRAG = TypeText("no way"), Key("n Return"), Drag(Point(200, 60), Point(20, 60))
CASES: tuple[Case, ...] = (
    Case("GTK 3: a modal dialog opens while typing", partial(_judge_thief, toolkit="gtk3")),
    Case("GTK 3: text under a modal box", partial(_judge_standing, toolkit="gtk3", action=_TYPE)),
    Case("Qt 5: a modal dialog opens while typing", partial(_judge_thief, toolkit="qt5")),
    Case("Qt 5: chords under a modal box", partial(_judge_standing, toolkit="qt5", action=_KEYS)),
    Case("Tk: text under a dialog with a grab", partial(_judge_standing, toolkit="tk", action=_TYPE)),
    Case("Qt 6: a drag under a modal box", partial(_judge_standing, toolkit="qt6", action=_DRAG), held_out=True),
    Case("Tcl: text under tk_messageBox", _judge_message_box, held_out=True),
    Case("xterm: zenity opens while typing", _judge_other_program, held_out=True),
    Case("xterm: text beside zenity's question", partial(_judge_question, action=_TYPE), held_out=True),
    Case("xterm: the echo of a command", partial(_ECHO, shell="xterm", actions=_command("echo READY"))),
    Case("xterm: a command, then Enter, the wait later", partial(_ECHO, shell="xterm", actions=_ENTERED, apart=True)),
    Case("zenity: a text stands there at arming", _judge_standing_text),
    Case("xterm: quiet after a key that changes nothing", partial(_judge_quiet, keys="Shift_L", changes=False)),
    Case("xterm: quiet after keys", partial(_judge_quiet, keys="l s Return", changes=True), held_out=True),
    Case("bash: what was pasted", partial(_ECHO, shell="bash", actions=_PASTED), held_out=True),
    Case("bash: the number of a command", _TOTALLED, held_out=True),
    Case("bash: fresh, while it stands there", _judge_fresh, held_out=True),
    Case("bash: a short command behind a prompt", partial(_ECHO, shell="bash", actions=_SHORT)),
    Case("bash: an echo over many rows", partial(_ECHO, shell="bash", actions=_FILLED), held_out=True),
    Case("xterm: an argument that is written again", partial(_ECHO, shell="xterm", actions=_ARGUMENT), held_out=True),
    Case("python: the echo at its prompt", partial(_ECHO, shell="python", actions=_PYTHON), held_out=True),
    Case("xterm: chords beside zenity's question", partial(_judge_question, action=_KEYS), held_out=True),
)
