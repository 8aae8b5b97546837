"""Five tasks for an agent with nothing but acud's tools: what it is told, what is on its displays, and how it is known
that the task is done.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

PROGRAMS = Path(__file__).with_name("programs.py")
SYSTEM_PYTHON = "/usr/bin/python3"
_BUILD = """#!/bin/sh
for part in core frames waits store clients; do echo "compiling $part"; sleep 1; done
echo "waits/planner.c:41: error: 'verdict' undeclared"
echo "store/rows.c:7: error: expected ';'"
echo "clients/cli.c:112: error: too few arguments"
echo "BUILD FAILED: 3 errors"
"""
_FIX = """#!/bin/sh
echo "$1" > "$RESULTS/fixed"; echo "fixing $1 errors"
"""


class Task(NamedTuple):
    """`prompt` has the displays' names as {0} and {1}; `programs` are what each display shows."""

    name: str
    prompt: str
    programs: Sequence[Sequence[str]]
    is_done: Callable[[World], bool]


def _editor_done(world: World) -> bool:
    saved = world.results / "report.txt"
    return saved.exists() and saved.read_text(encoding="utf-8").splitlines()[-1:] == ["Total: 42"]


def _registered(world: World) -> bool:
    wanted = {
        "Name": "Ada Lovelace", "E-mail": "ada@example.org", "City": "London", "Phone": "555 0100",
        "Plan": "Premium", "News": True, "Code": "4831",
    }  # fmt: skip
    return world.result("registration.json") == wanted


def _fixed(world: World) -> bool:
    fixed = world.results / "fixed"
    return fixed.exists() and fixed.read_text(encoding="utf-8").strip() == "3"


def _transferred(world: World) -> bool:
    names = ("Export", "Import")
    return len(world.wakes) >= 2 and all((world.results / f"{name}.acknowledged").exists() for name in names)


def _sent(world: World) -> bool:
    return world.result("invoice.json") == {"customer": "Northwind", "amount": "129.50"}


TASKS = (
    Task(
        "save_dialog",
        "In the editor on display {0}, add the line 'Total: 42' at the end of the document. Then save it as report.txt "
        "in the folder that the dialog proposes. You are done when the editor says that it is saved.",
        (("editor",),),
        _editor_done,
    ),
    Task(
        "late_page",
        "On display {0} is a registration. Name: Ada Lovelace, e-mail: ada@example.org, city: London, phone: 555 0100, "
        "plan: Premium, with the newsletter. Go on to the next page; it takes some seconds. There, type the "
        "confirmation code that it shows and finish. You are done when it says Registered.",
        (("registration",),),
        _registered,
    ),
    Task(
        "build",
        "On display {0} is a terminal. Run ./build in it. When the build has ended, run ./fix with the number of "
        "errors that it reports as its argument. You are done when the terminal says that it fixes them.",
        (("xterm",),),
        _fixed,
    ),
    Task(
        "two_displays",
        "On display {0} is a window Export, on display {1} a window Import. Start both; they take different, unknown "
        "times. You are woken (by webhook) when a wait of yours ends, so arm one for each and stop looking meanwhile. "
        "As soon as each is complete, press its Acknowledge button. You are done when both are acknowledged.",
        (("transfer", "Export", "6"), ("transfer", "Import", "10")),
        _transferred,
    ),
    Task(
        "unexpected_dialog",
        "In the invoice on display {0}, enter the customer Northwind and the amount 129.50, and send it. Whatever "
        "comes up, stay signed in. You are done when the window says that the invoice was sent.",
        (("invoice",),),
        _sent,
    ),
)
BY_NAME = {task.name: task for task in TASKS}


class World:
    """A daemon with a task's displays and programs, and a receiver of wakes. `acud` is the command and its words."""

    def __init__(self, home: Path, acud: Sequence[str], env: dict[str, str], receiver: str) -> None:
        self.home = home
        self.acud = acud
        self.results = home / "results"
        self.results.mkdir()
        self.displays: list[str] = []
        self.wakes: list[str] = []
        self.came = threading.Condition()
        self.env = {**env, "ACU_HOME": str(home / "acud"), "HOME": str(home)}
        (home / "acud").mkdir(mode=0o700)
        (home / "acud" / "acud.toml").write_text(
            f'[vision]\nbackend = "ocr"\n[wake]\nroutes = ["webhook"]\nwebhook_url = "{receiver}"\n'
            'webhook_secret = "a key for this task alone"\n',
            encoding="utf-8",
        )

    def run(self, *words: str) -> str:
        """Run `acud …` and return what it printed. Raises: RuntimeError with what it said."""
        done = subprocess.run([*self.acud, *words], env=self.env, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"acud {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def result(self, name: str) -> Any:
        """Return what a program left as JSON, None where it left nothing."""
        file = self.results / name
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    def wake(self, text: str) -> None:
        """Take a wake."""
        with self.came:
            self.wakes.append(text)
            self.came.notify_all()

    def next_wake(self, after: int, timeout_s: float) -> str:
        """Return the wake number `after` (the first is 0), "" when none came in time."""
        with self.came:
            self.came.wait_for(lambda: len(self.wakes) > after, timeout_s)
            return self.wakes[after] if len(self.wakes) > after else ""


@contextmanager
def playing(task: Task, acud: Sequence[str], env: dict[str, str] | None = None) -> Iterator[World]:
    """Start a daemon of its own with what `task` needs; end all of it at the end."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="acud-task-")))
        worlds: list[World] = []
        url = stack.enter_context(_receiver(lambda text: worlds[0].wake(text)))
        world = World(home, acud, dict(os.environ) | (env or {}), url)
        worlds.append(world)
        world.run("daemon", "start")
        stack.callback(world.run, "daemon", "stop")
        for program in task.programs:
            made = json.loads(world.run("display", "create", "800x600", "--json"))
            shown = made.get("display", made)
            world.displays.append(shown["name"])
            stack.enter_context(_program(world, shown, program))
        yield world


@contextmanager
def _program(world: World, shown: dict[str, Any], program: Sequence[str]) -> Iterator[None]:
    own = {
        "DISPLAY": shown["name"], "XAUTHORITY": shown["auth_file"], "DBUS_SESSION_BUS_ADDRESS": shown["bus_address"],
        "RESULTS": str(world.results), "HOME": str(world.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
        "GTK_THEME": "Adwaita",
    }  # fmt: skip
    command = [SYSTEM_PYTHON, str(PROGRAMS), *program]
    if program[0] == "xterm":
        for name, text in (("build", _BUILD), ("fix", _FIX)):
            (world.home / name).write_text(text, encoding="utf-8")
            (world.home / name).chmod(0o755)
        command = ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "11", "-T", "Terminal", "-e", "bash", "--norc"]
    running = subprocess.Popen(command, env=own, cwd=world.home, start_new_session=True)
    try:
        title = {"xterm": "Terminal", "transfer": program[-2] if len(program) > 2 else ""}.get(program[0])
        _until_shown(world, shown["name"], title or program[0].capitalize().replace("Editor", "Notes"))
        yield
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait()


def _until_shown(world: World, display: str, title: str) -> None:
    world.run("wait", "--window", title, "-d", display, "--timeout", "60")
    time.sleep(1.0)  # its widgets are told a moment after its window


@contextmanager
def _receiver(take: Callable[[str], None]) -> Iterator[str]:
    """Serve a webhook on loopback; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            take(str(json.loads(body).get("text", "")))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/wake"
    finally:
        server.shutdown()
        server.server_close()


def own_acud() -> list[str]:
    """Return the command of the acud that this Python has."""
    return [sys.executable, "-m", "acud_cli"]
