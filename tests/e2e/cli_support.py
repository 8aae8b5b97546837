"""The command line against a real daemon, and a terminal whose words the test decides."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest import mock

from acud.protocol.events import Event
from acud.types import DisplayInfo
from acud_cli.__main__ import run
from acud_client import Client
from tests.fixtures.daemon import Daemon
from tests.fixtures.numbers import own_number

PATIENCE_S = 120.0
_OWN_PROCESS = {"daemon start", "daemon restart", "daemon run", "fleet", "backup", "restore", "vacuum"}
"""Commands that start processes or run an event loop; the others run here, as a process costs 0.4 CPU seconds."""


def settings() -> str:
    """Return an acud.toml whose displays don't meet those of other tests on this machine, and which gives up no program
    that stands still for a moment.
    """
    return (
        f'[display]\nfirst_number = {own_number()}\n[vision]\nbackend = "ocr"\n[evaluator]\nworkers = 1\n'
        "[accessibility]\nwalk_s = 60\nanswer_s = 20\n"
    )


def _run_here(arguments: tuple[str, ...], env: dict[str, str], folder: Path | None = None) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True) for _ in "oe")
    with (
        mock.patch.dict(os.environ, env, clear=True),
        contextlib.chdir(folder or "."),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        found = run(list(arguments))
    out.seek(0)
    err.seek(0)
    return found, out.read(), err.read()


def acud(daemon: Daemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `acud …` in this process, in the daemon's environment."""
    return subprocess.CompletedProcess(arguments, *_run_here(arguments, daemon.env))


class CommandLine:
    """Runs `acud` with `home` as its ACU_HOME, in `folder` (where pictures without a name go) or here."""

    def __init__(self, home: Path, folder: Path | None = None) -> None:
        self._folder = folder
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.env = kept | {"ACU_HOME": str(home)}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Begin a command; its output can be read from the pipes."""
        return subprocess.Popen(
            [sys.executable, "-m", "acud_cli", *arguments],
            env=self.env,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command to its end and return its standard output; its exit code must be `code`."""
        return self.capture(*arguments, code=code)[0]

    def capture(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        """Do the same and return standard output and standard error."""
        if _OWN_PROCESS.isdisjoint((arguments[0], " ".join(arguments[:2]))):
            found, out, err = _run_here(arguments, self.env, self._folder)
        else:
            child = self.start(*arguments)
            out, err = child.communicate(timeout=PATIENCE_S)
            found = child.returncode
        assert found == code, f"{arguments}: exit code {found}, not {code}\n{out}\n{err}"
        assert "Traceback" not in err
        return out, err

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run a command with --json and return its document."""
        return json.loads(self.run(*arguments, "--json", code=code))


class Terminal:
    """An xterm on `display` titled `title` that shows each line given to `write`; ended by `close` or the `with`."""

    def __init__(self, display: DisplayInfo, folder: Path, title: str = "Downloads") -> None:
        self._pipe = folder / f"{title}.fifo"
        os.mkfifo(self._pipe)
        look = ["-T", title, "-geometry", "60x12+100+80", "-fa", "DejaVu Sans Mono", "-fs", "14", "-bg", "white"]
        script = 'while read -r line; do printf "%s\\n" "$line"; done < "$1"; exec sleep 600'
        self._process = subprocess.Popen(
            ["xterm", *look, "-e", "sh", "-c", script, "sh", str(self._pipe)],
            env=os.environ | {"DISPLAY": display.name, "XAUTHORITY": display.auth_file},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._writer = self._pipe.open("w", encoding="utf-8")  # opens when the shell in the terminal reads

    def write(self, line: str) -> None:
        """Show one more line."""
        self._writer.write(line + "\n")
        self._writer.flush()

    def close(self) -> None:
        """Close the window; twice is harmless."""
        self._writer.close()
        self._process.terminate()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def until_event(client: Client, topic: str, after: int, subject: str = "") -> Event:
    """Return the first event after number `after` on `topic` (about `subject`), as soon as there is one."""
    with client.events(topic=topic, after=after) as stream:
        for item in stream:
            if isinstance(item, Event) and subject in ("", item.subject):
                return item
    raise AssertionError("the stream ended")
