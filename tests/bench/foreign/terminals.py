"""Terminals: lines that scroll off, echoes of what is typed, full-screen programs, shells of several kinds."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from acud.protocol.requests.waits import WaitCreate
from acud.types import Answer as Said
from acud.types import Text, Until, WaitInfo, WaitState
from tests.bench.foreign.case import SETTINGS as PLAIN
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

SETTINGS = PLAIN + "[pty]\npoll_s = 0.2\n"
_PATIENCE_S = 30.0
_ENTER = ("Enter",)


@contextmanager
def _session(daemon: Daemon, *command: str) -> Iterator[str]:
    """Open a session of `command` and return its name, once it has written something and rests."""
    opened = daemon.client.terminal_open(command, block_s=_PATIENCE_S)
    try:
        yield opened.terminal.name
    finally:
        daemon.client.terminal_close(opened.terminal.name)


def _until(daemon: Daemon, wait_id: str, *states: WaitState, answer: Said | None = None) -> WaitInfo:
    """Return the wait once it is in one of `states` or says `answer`, or as it is after half a minute."""
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        now = daemon.client.wait_show(wait_id).wait
        if now.state in states or now.verdict.answer is answer or time.monotonic() > until_s:
            return now
        time.sleep(0.05)


def _armed(daemon: Daemon, name: str, until: Until) -> str:
    return daemon.client.wait_create(until, f"pty:{name}", timeout_s=120).wait.wait_id


def _compare(found: WaitInfo, *, answer: Said = Said.YES, words: str = "") -> Outcome:
    """Return right for a verdict with that answer, in which `words` are."""
    is_right = found.verdict.answer is answer and words in found.verdict.detail
    printed = f"{found.state}: {found.verdict.answer}: {found.verdict.detail}"
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, printed)


def _appear(daemon: Daemon, name: str, text: str, typed: str, keys: tuple[str, ...] = _ENTER) -> Outcome:
    """`text` is not there; once `typed` is, it is."""
    wait_id = _armed(daemon, name, Text(text))
    before = _until(daemon, wait_id, WaitState.RESOLVED, answer=Said.NO)
    if before.verdict.answer is not Said.NO:
        return Outcome(Answer.WRONG, f"before: {before.verdict.answer}: {before.verdict.detail}")
    daemon.client.terminal_type(name, typed, keys=keys, moment="now")
    return _compare(_until(daemon, wait_id, WaitState.RESOLVED), words=text)


def _judge_echo(daemon: Daemon, shell: tuple[str, ...], line: str) -> Outcome:
    """What is typed holds the text that is waited for: its echo does not count, its output does.

    `line` has GO for a file that it waits for, and writes READY then.
    """
    with tempfile.TemporaryDirectory() as folder, _session(daemon, *shell) as name:
        go, is_begun = Path(folder, "go"), Path(folder, "begun")
        wait = WaitCreate(Text("READY"), timeout_s=120)
        typed = line.replace("GO", str(go)).replace("BEGUN", str(is_begun))
        reply = daemon.client.terminal_type(name, typed, keys=_ENTER, wait=wait, moment="now", block_s=0.0)
        assert reply.wait is not None
        until_s = time.monotonic() + _PATIENCE_S
        while not is_begun.exists() and time.monotonic() < until_s:
            time.sleep(0.05)
        looked = daemon.client.terminal_read(name)  # the echo stands there now
        early = _until(daemon, reply.wait.wait.wait_id, WaitState.RESOLVED, answer=Said.NO)
        if early.verdict.answer is Said.YES or "READY" not in looked.text + typed:
            return Outcome(Answer.WRONG, f"on the echo: {early.verdict.detail}")
        go.touch()
        return _compare(_until(daemon, early.wait_id, WaitState.RESOLVED), words="READY")


_SH = "touch BEGUN; until test -e GO; do sleep 0.1; done; echo READY"
_PY = (
    "import os,time; open('BEGUN','w').close(); [time.sleep(.1) for _ in iter(lambda: os.path.exists('GO'), True)]; "
    "print('READY')"
)


def _judge_scrolled(daemon: Daemon) -> Outcome:
    """A line that a thousand others push off within a moment."""
    with _session(daemon, "sh") as name:
        return _appear(daemon, name, "number 17 of", "for n in $(seq 1000); do echo number $n of 1000; done; clear")


def _judge_pattern(daemon: Daemon) -> Outcome:
    """A coloured line that scrolls off is found by a pattern."""
    with _session(daemon, "bash", "--norc") as name:
        wait_id = _armed(daemon, name, Text(r"^PASS \d+ of 40$", regex=True))
        _until(daemon, wait_id, answer=Said.NO)
        typed = r"printf '\033[1;32mPA''SS\033[0m 40 of 40\n'; seq 500"
        daemon.client.terminal_type(name, typed, keys=_ENTER, moment="now")
        return _compare(_until(daemon, wait_id, WaitState.RESOLVED), words="PASS 40 of 40")


def _judge_mode(daemon: Daemon) -> Outcome:
    """vim's mode line, which a full-screen program draws."""
    with _session(daemon, "vim", "-u", "NONE", "-c", "set showmode", "-N") as name:
        return _appear(daemon, name, "-- INSERT --", "i", ())


def _judge_pager(daemon: Daemon) -> Outcome:
    """The second page of a pager is not there before it is turned."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page")
        page.write_text("".join(f"line {number} of the page\n" for number in range(1, 90)))
        with _session(daemon, "less", str(page)) as name:
            return _appear(daemon, name, "line 60 of the page", " ", ())


def _judge_left(daemon: Daemon) -> Outcome:
    """A full-screen program that is left is gone: the screen of before is back."""
    with _session(daemon, "sh") as name:
        daemon.client.terminal_type(name, "top", keys=_ENTER, moment="now")
        there = _until(daemon, _armed(daemon, name, Text("load average")), WaitState.RESOLVED)
        wait_id = _armed(daemon, name, Text("load average", gone=True))
        if (
            there.verdict.answer is not Said.YES
            or _until(daemon, wait_id, answer=Said.NO).verdict.answer is not Said.NO
        ):
            return Outcome(Answer.WRONG, f"top: {there.verdict.detail}")
        daemon.client.terminal_type(name, "q", moment="now")
        return _compare(_until(daemon, wait_id, WaitState.RESOLVED))


def _judge_hidden_input(daemon: Daemon) -> Outcome:
    """What is typed into a password prompt is not shown, and is no output."""
    with _session(daemon, "dash") as name:
        daemon.client.terminal_type(name, "stty -echo; printf 'Pass''word: '; read p; stty echo; echo", keys=_ENTER)
        wait_id = _armed(daemon, name, Text("hunter2"))
        _until(daemon, wait_id, answer=Said.NO)
        daemon.client.terminal_type(name, "hunter2", keys=_ENTER, block_s=_PATIENCE_S)
        time.sleep(1.0)  # several looks at the terminal
        return _compare(daemon.client.wait_show(wait_id).wait, answer=Said.NO)


CASES = (
    Case("sh: the echo of a command is no output", lambda daemon: _judge_echo(daemon, ("sh",), _SH)),
    Case("sh: a line that scrolls off at once", _judge_scrolled),
    Case("bash: a pattern in colour that scrolls off", _judge_pattern),
    Case("less: the next page", _judge_pager),
    Case(
        "python: the echo of a call is no output",
        lambda daemon: _judge_echo(daemon, ("python3", "-q"), _PY),
        held_out=True,
    ),
    Case("vim: the mode line", _judge_mode, held_out=True),
    Case("top: gone when it is left", _judge_left, held_out=True),
    Case("dash: a password that is typed", _judge_hidden_input, held_out=True),
)
