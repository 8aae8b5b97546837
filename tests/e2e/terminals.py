"""Terminals for tests: a tmux server of its own, with sessions shown in xterms or by nobody."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.e2e.desktop import Desk, until


class Tmux:
    """A private tmux server. `socket` is its path; `with` ends it and everything in it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="acud-test-tmux-")
        self.socket = str(Path(self._folder.name, "server"))
        self._env = {"PATH": os.environ["PATH"], "HOME": self._folder.name, "LANG": "C.UTF-8", "TERM": "xterm"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        subprocess.run(self.command("kill-server"), env=self._env, check=False, stderr=subprocess.DEVNULL)
        self._folder.cleanup()

    def command(self, *words: str) -> list[str]:
        """Return a call of this server."""
        return ["tmux", "-u", "-f", "/dev/null", "-S", self.socket, *words]

    def run(self, *words: str) -> str:
        """Run a tmux command; return what it printed."""
        done = subprocess.run(self.command(*words), env=self._env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def session(self, name: str) -> str:
        """Start a session of a program that only echoes what is typed; return its target's words."""
        self.run("new-session", "-d", "-s", name, "-x", "70", "-y", "12", "cat")
        return f"pty:tmux:{self.socket}/{name}"

    def type(self, name: str, text: str) -> None:
        """Have `text` appear in the session."""
        self.run("send-keys", "-t", f"={name}:", "-l", text)
        self.run("send-keys", "-t", f"={name}:", "Enter")

    def flood(self, name: str, form: str, lines: int) -> None:
        """Have `lines` numbered lines written to the session at once."""
        tty = self.run("display-message", "-p", "-t", f"={name}:", "#{pane_tty}")
        Path(tty).write_text("".join(f"{form % number}\r\n" for number in range(lines)), encoding="utf-8")

    def show(self, desk: Desk, name: str, title: str) -> subprocess.Popen[bytes]:
        """Show the session in an xterm on the desk, and return that once tmux draws in it."""
        before = self.clients(name)
        command = self.command("attach-session", "-t", f"={name}")
        program = desk.run("xterm", "-T", title, "-fa", "DejaVu Sans Mono", "-fs", "12", "-geometry", "70x13+0+0",
                           "-xrm", "*allowTitleOps: false", "-e", *command)  # fmt: skip
        until(lambda: self.clients(name) > before, f"a client of {name}")
        return program

    def clients(self, name: str) -> int:
        """Return how many clients show the session."""
        return len(self.run("list-clients", "-t", f"={name}").splitlines())
