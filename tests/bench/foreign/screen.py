"""A display for `tests/bench/foreign` with strangers' programs on it, and what they write down of what reached them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

from acud.base.errors import AcudError
from acud.protocol.requests.gui import DoReply
from acud.types import Policy, Until, WaitInfo
from acud.types.actions import Action, Launch, WindowList
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

PROGRAMS = Path(__file__).with_name("programs")
SYSTEM_PYTHON = "/usr/bin/python3"
_PATIENCE_S = 60.0
_SETTLES_S = 4.0
_LISTS_S = 8.0
_CHROMIUM = ("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-features=Translate")

_Value = TypeVar("_Value")


class Missing(Exception):
    """This machine lacks what a case needs."""


def need(*programs: str, module: str = "") -> None:
    """Raise `Missing` where a program is not on the PATH, or the system's Python lacks `module`."""
    for program in programs:
        if shutil.which(program) is None:
            raise Missing(program)
    if (
        module
        and subprocess.run([SYSTEM_PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode
    ):
        raise Missing(f"{SYSTEM_PYTHON}: {module}")


def unseen(name: str, check: Callable[[Daemon], Outcome]) -> Case:
    """Return a case whose program or layout was not used while the rules were written."""
    return Case(name, check, held_out=True)


class Screen:
    """A managed display on which programs are started; they end with it."""

    def __init__(self, daemon: Daemon, width: int, height: int, manager: str) -> None:
        self.client = daemon.client
        self.home = daemon.home
        self.display = self.client.display_create(width, height, window_manager=manager).display
        self.name = self.display.name
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.env = {**kept, "DISPLAY": self.name, "XAUTHORITY": self.display.auth_file, "LANG": "C.UTF-8"}

    def launch(self, *command: str) -> int:
        return self.client.desktop_action([Launch(command)], display=self.name).pid

    def run(self, *command: str, check: bool = True) -> str:
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=check, timeout=60).stdout

    def find_window(self, title: str) -> int:
        """Return the id of the window once it shows."""
        line = re.compile(rf'(0x[0-9a-f]+) ".*{re.escape(title)}.*"')

        def read() -> list[str]:
            ids = line.findall(self.run("xwininfo", "-root", "-tree", check=False))
            return [one for one in ids if "IsViewable" in self.run("xwininfo", "-id", one, check=False)]

        found = wait_for(read, bool)
        assert found, f"no window {title!r} opened"
        wait_for(self.list_titles, lambda titles: any(title in one for one in titles), _LISTS_S)
        return int(found[0], 16)

    def list_titles(self) -> list[str]:
        return [one.title for one in self.client.desktop_action([WindowList()], display=self.name).windows]

    def act(self, *actions: Action, target: str = "screen") -> str:
        """Do the actions; return "" or the refusal's words."""
        try:
            self.client.desktop_action(list(actions), display=self.name, target=target)
        except AcudError as fault:
            return str(fault)
        return ""

    def arm(
        self, until: Until, target: str = "screen", timeout_s: float = 12.0, policy: Policy | None = None
    ) -> tuple[str, str]:
        """Arm a wait; return its id, and the words of its note."""
        wait = self.client.wait_create(
            until, target, display=self.name, timeout_s=timeout_s, policy=policy or Policy()
        ).wait
        return wait.wait_id, wait.note

    def end(self, wait_id: str) -> WaitInfo:
        """Return the wait once it has ended."""
        return self.client.wait_end(wait_id).wait

    def judge(
        self, until: Until, target: str = "screen", timeout_s: float = 12.0, policy: Policy | None = None
    ) -> WaitInfo:
        return self.end(self.arm(until, target, timeout_s, policy)[0])

    def do(self, *instructions: str, target: str = "screen") -> tuple[str, str]:
        """Do what the words say; return the status, or "refused", and the words of the answer."""
        try:
            reply: DoReply = self.client.gui_do(
                instructions[0], target, display=self.name, then=instructions[1:], block_s=40.0
            )
        except AcudError as fault:
            return "refused", str(fault)
        return str(reply.status), reply.message

    def browse(self, url: str, *switches: str, title: str = "") -> None:
        """Open Chromium on `url`, with a profile of its own, and return when its window is named `title`."""
        need("chromium")
        profile = tempfile.mkdtemp(prefix="profile-", dir=self.home)
        self.launch(*_CHROMIUM, f"--user-data-dir={profile}", *switches, url)
        if title:
            self.find_window(title)


@contextmanager
def show(daemon: Daemon, width: int = 1024, height: int = 768, manager: str = "") -> Iterator[Screen]:
    """Give a display; `manager`: the command of its window manager."""
    if manager:
        need(manager.split()[0])
    screen = Screen(daemon, width, height, manager)
    try:
        yield screen
    finally:
        daemon.client.display_remove(screen.name, force=True)


def wait_for(read: Callable[[], _Value], holds: Callable[[_Value], bool], for_s: float = _PATIENCE_S) -> _Value:
    until_s = time.monotonic() + for_s
    while not holds(value := read()) and time.monotonic() < until_s:
        time.sleep(0.02)
    return value


class Record:
    """A JSON file that a program keeps."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="record-", dir=folder)) / "state.json"

    def read(self) -> dict[str, Any]:
        """Return what it holds now; nothing yet: nothing."""
        if not self.path.exists():
            return {}
        kept: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return kept

    def settle(self, for_s: float = 1.5) -> dict[str, Any]:
        """Return what it holds once it has not changed for `for_s`: a slow program reads on after the last key."""
        wait_for(lambda: time.time() - self.path.stat().st_mtime, lambda age_s: age_s > for_s)
        return self.read()


class Pages(ThreadingHTTPServer):
    """Serves one page, and keeps what the page's script reports of its fields and clicks."""

    _SCRIPT = """<script>
    const state = {};
    let count = 0;
    const tell = () => fetch('/state', {method: 'POST', keepalive: true, body: JSON.stringify([++count, state])});
    window.keep = (name, value) => { state[name] = value; tell(); };
    const name = e => e.target.id || e.target.textContent.trim();
    addEventListener('input', e => keep(e.target.id, e.target.type == 'checkbox' ? e.target.checked : e.target.value));
    addEventListener('click', e => e.target.tagName == 'BUTTON' && keep(name(e), (state[name(e)] || 0) + 1));
    addEventListener('load', () => keep('loaded', true));
    </script>"""

    def __init__(self, body: str, title: str = "Page", style: str = "font:16px sans-serif;margin:24px") -> None:
        self.page = (
            f'<!doctype html><meta charset="utf-8"><title>{title}</title>{self._SCRIPT}<body style="{style}">{body}'
        )
        self.state: dict[str, Any] = {}
        self.newest, self.changed_s = 0, time.monotonic()
        super().__init__(("127.0.0.1", 0), _PageHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"

    def __enter__(self) -> Pages:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def read(self) -> dict[str, Any]:
        return dict(self.state)

    def settle(self, for_s: float = 1.5) -> dict[str, Any]:
        """Return what the page reported once nothing came for `for_s`."""
        wait_for(lambda: time.monotonic() - self.changed_s, lambda age_s: age_s > for_s)
        return self.read()

    def until_loaded(self) -> None:
        """Return once the page's script has run."""
        wait_for(self.read, lambda state: "loaded" in state)


class _PageHandler(BaseHTTPRequestHandler):
    server: Pages

    def do_GET(self) -> None:
        data = self.server.page.encode() if self.path.split("?")[0] == "/" else b""
        self.send_response(200 if data else 404)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        number, state = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if number > self.server.newest:  # requests may overtake each other
            self.server.newest, self.server.state, self.server.changed_s = number, state, time.monotonic()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Print nothing."""


def judge_form(
    screen: Screen,
    read: Callable[[], dict[str, Any]],
    instructions: tuple[str, ...],
    expected: dict[str, object],
    target: str = "screen",
) -> Outcome:
    """Do the instructions; right where the program got what was meant, unknown where nothing was done and that is said.

    What reached another control, or was not done and is called verified, is wrong.
    """
    before = read()
    status, message = screen.do(*instructions, target=target)
    wanted = {**before, **expected}
    after = wait_for(
        read, lambda state: {**wanted, **state} == wanted and expected.items() <= state.items(), _SETTLES_S
    )
    printed = f"{status}: {message}; it holds {after}"
    if {name: after.get(name) for name in wanted} == wanted:
        return Outcome(Answer.RIGHT, printed)
    strays = {name for name in {*before, *after} - {*expected} if before.get(name) != after.get(name)}
    if strays or status == "verified":
        return Outcome(Answer.WRONG, printed)
    return Outcome(Answer.UNKNOWN, printed)
