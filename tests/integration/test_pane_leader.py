"""The first process of a pane: ends as its command did, and not before the terminal has read what that wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from acud.supervisor.terminal_sessions import pane_leader

ASKS, ANSWERS = b"\033[5n", b"\033[0n"
ON_ITS_TERMINAL = ("setsid", "--ctty", "env", "--default-signal=HUP")
"""These tests may be run under nohup; tmux resets signals."""


class Terminal:
    """A terminal with a leader that runs `words` of sh."""

    def __init__(self, words: str) -> None:
        self.fd, other = os.openpty()
        command = [*ON_ITS_TERMINAL, sys.executable, "-I", "-S", pane_leader.__file__, "sh", "-c", words]
        self.leader = subprocess.Popen(command, stdin=other, stdout=other, stderr=other)
        os.close(other)
        self.is_open = True

    def read_to(self, end: bytes) -> bytes:
        """Return what is written up to `end`, without it."""
        said = b""
        while end not in said:
            said += os.read(self.fd, 1024)
        return said.partition(end)[0].replace(b"\r\n", b"\n")

    def ended(self) -> int:
        """Answer what is asked, and return how the leader ends: a signal's number negative."""
        os.write(self.fd, ANSWERS)
        return self.leader.wait()

    def close(self) -> None:
        if self.is_open:
            os.close(self.fd)
            self.is_open = False


@pytest.fixture
def run() -> Iterator[Callable[[str], Terminal]]:
    made: list[Terminal] = []

    def start(words: str) -> Terminal:
        made.append(Terminal(words))
        return made[-1]

    yield start
    for one in made:
        one.close()
        one.leader.kill()
        one.leader.wait()


@pytest.mark.parametrize(
    ("words", "code"), [("echo a; exit 3", 3), ("echo a; kill -TERM $$", -15), ("echo a; kill -KILL $$", -9)]
)
def test_it_ends_as_its_command_once_all_is_read(run: Callable[[str], Terminal], words: str, code: int) -> None:
    terminal = run(words)
    assert terminal.read_to(ASKS) == b"a\n"
    assert terminal.leader.poll() is None
    assert terminal.ended() == code


def test_what_is_typed_ahead_is_no_answer(run: Callable[[str], Terminal]) -> None:
    terminal = run("echo a")
    os.write(terminal.fd, b"not read\n")
    terminal.read_to(ASKS)
    os.write(terminal.fd, b"x")
    assert terminal.ended() == 0


def test_signals_are_passed_on_and_those_from_keys_come_once(run: Callable[[str], Terminal]) -> None:
    terminal = run("trap 'echo told; exit 5' TERM; trap 'echo key' INT; echo ready; while :; do sleep 0.02; done")
    terminal.read_to(b"ready\r\n")
    os.write(terminal.fd, b"\003")
    assert terminal.read_to(b"key\r\n") == b"^C"
    terminal.leader.terminate()
    assert terminal.read_to(ASKS) == b"told\n"
    assert terminal.ended() == 5


def test_it_ends_with_its_terminal(run: Callable[[str], Terminal]) -> None:
    terminal = run("echo ready; exec sleep 600")
    terminal.read_to(b"ready\r\n")
    terminal.close()
    assert terminal.leader.wait() == -signal.SIGHUP


def test_it_asks_no_terminal_that_is_closed(run: Callable[[str], Terminal]) -> None:
    terminal = run("exit 3")
    terminal.read_to(ASKS)
    terminal.close()
    assert terminal.leader.wait() == 3


def test_a_command_that_leaves_another_group_in_front_and_a_raw_terminal(run: Callable[[str], Terminal]) -> None:
    front = "import os, signal as s, tty; s.signal(s.SIGTTOU, s.SIG_IGN); tty.setraw(0); os.setpgid(0, 0)"
    front += "; os.tcsetpgrp(0, os.getpgrp())"
    terminal = run(f"{sys.executable} -c '{front}'")
    terminal.read_to(ASKS)
    assert terminal.ended() == 0
