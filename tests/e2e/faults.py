"""What the fault tests share: bounds, a judge that can be turned, a look for what a daemon left behind."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acud.base.errors import AcudError
from acud.base.paths import Paths
from acud.process import child_process
from acud.protocol.events import Event
from acud.protocol.requests.daemon import ChildStatus
from acud.types import Criteria, DisplayInfo, WaitInfo
from tests.e2e.desktop import PATIENCE_S as PATIENCE_S
from tests.e2e.desktop import until as until
from tests.fixtures.daemon import Daemon
from tests.fixtures.numbers import own_number
from tests.fixtures.painter import GREEN, LAMP

LAMP_IS_GREEN = Criteria("the lamp is green")


class Judge:
    """The scripted judge's file; `set` turns it. Yes once the lamp's middle is green, no otherwise."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "script.json"
        self.set()

    def set(self, **script: Any) -> None:
        """Write the script anew, as a whole: `delay_ms`, `fault`, …"""
        x, y = LAMP.x + LAMP.w // 2, LAMP.y + LAMP.h // 2
        rules = [{"pixel": [x, y, GREEN], "answer": "yes", "criteria": "lamp", "detail": "the lamp is green"}]
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps({"rules": rules, "default": "no", **script}))
        draft.replace(self.path)


def settings(judge: Judge | None = None, **sections: dict[str, Any]) -> str:
    """Return an acud.toml: bare displays of a number of their own, one evaluator, the scripted judge."""
    first = own_number()
    tables: dict[str, dict[str, Any]] = {
        "display": {"window_manager": "none", "session_bus": False, "first_number": first, "width": 640, "height": 480},
        "evaluator": {"workers": 1},
    }
    if judge is not None:
        tables["vision"] = {"backend": "scripted", "scripted": str(judge.path)}
    for name, table in sections.items():
        tables.setdefault(name, {}).update(table)
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
        for name, table in tables.items()
    )


# ---- seen through requests -----------------------------------------------------------------------------------------


def events(daemon: Daemon, topic: str = "", subject: str = "", after: int = 0) -> list[Event]:
    """Return every stored event of topics that begin with `topic`."""
    found: list[Event] = []
    while True:
        page = daemon.client.events_since(after, topic=topic, limit=1000)
        assert page.trimmed == 0
        found += page.events
        if len(page.events) < 1000:
            return [event for event in found if not subject or event.subject == subject]
        after = page.events[-1].n


def event(daemon: Daemon, topic: str, subject: str = "", after: int = 0) -> Event:
    """Return the first such event, once it is there."""
    return until(lambda: events(daemon, topic, subject, after), f"event {topic} {subject}")[0]


def judged(daemon: Daemon, wait: WaitInfo, answer: str, code: str = "") -> WaitInfo:
    """Return the wait once its newest verdict is `answer` (and `code`)."""

    def found() -> WaitInfo | None:
        info = daemon.client.wait_show(wait.wait_id).wait
        return info if (info.verdict.answer.value, info.verdict.code) == (answer, code) else None

    return until(found, f"{answer} {code} of {wait.wait_id}")


def ended(daemon: Daemon, wait: WaitInfo, state: str) -> WaitInfo:
    """Return the wait at its end, which is to be `state`, told by exactly one event."""
    reply = daemon.client.wait_end(wait.wait_id, timeout_s=PATIENCE_S)
    assert (reply.ended, reply.wait.state.value) == (True, state), reply.wait
    assert [e.topic for e in events(daemon, "wait.", wait.wait_id) if e.topic in ENDS] == [f"wait.{state}"]
    return reply.wait


ENDS = {"wait.resolved", "wait.timeout", "wait.cancelled", "wait.failed"}


def newest(daemon: Daemon) -> int:
    """Return the number of the newest event."""
    return daemon.client.events_since().newest


def tidy(daemon: Daemon) -> None:
    """Leave a daemon that runs to the next test, with no wait, display or ring."""
    daemon.tidy()
    until(lambda: not rings(daemon.paths), "no ring")


def child(daemon: Daemon, kind: str) -> ChildStatus:
    """Return the one child of that kind."""
    (found,) = (c for c in daemon.client.status().children if c.kind == kind)
    return found


def running(daemon: Daemon, kind: str, not_pid: int = 0) -> ChildStatus:
    """Return the one child of that kind once it runs, in another process than `not_pid`."""

    def found() -> ChildStatus | None:
        now = next((c for c in daemon.client.status().children if c.kind == kind), None)
        return now if now is not None and now.state == "ready" and now.pid != not_pid else None

    return until(found, f"{kind} ready")


def display(daemon: Daemon, name: str) -> DisplayInfo:
    """Return the watched display `name`."""
    return next(d for d in daemon.client.display_list().displays if d.name == name)


def refused(ask: Callable[[], Any]) -> AcudError | None:
    """Return the error that `ask` raises, None when it raises none."""
    try:
        ask()
    except AcudError as fault:
        return fault
    return None


# ---- seen on the machine -------------------------------------------------------------------------------------------


def family(paths: Paths) -> dict[int, str]:
    """Return every living process that was started with this ACU_HOME, by pid: daemon, children, displays.

    What capture processes are forked from has their command line, and is told by its own name.
    """
    found: dict[int, str] = {}
    mark, display = f"ACU_HOME={paths.home}".encode(), f"ACUD_DISPLAY_FOLDER={paths.displays}/".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                found_in = (entry / "environ").read_bytes().split(b"\0")
                if any(one == mark or one.startswith(display) for one in found_in):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    is_server = (entry / "comm").read_text().strip() == child_process.FORK_SERVER_NAME
                    found[int(entry.name)] = child_process.FORK_SERVER_NAME if is_server else command
            except OSError:
                continue  # it ended, or is not ours
    return found


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a process of this test's daemon."""
    assert pid > 1
    os.kill(pid, number)


def nothing_left(paths: Paths, *display_names: str) -> None:
    """Check that an ended daemon left no process, ring, socket, picture on its way, display or lock of one."""
    until(lambda: not family(paths), f"every process gone, there are {family(paths)}")
    left = [str(path) for folder in (paths.shm, paths.run, paths.spool, paths.displays) for path in _files(folder)]
    for name in display_names:
        number = name.lstrip(":")
        left += [p for p in (f"/tmp/.X11-unix/X{number}", f"/tmp/.X{number}-lock") if Path(p).exists()]
    assert not left
    assert not paths.shm.exists()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()] if folder.is_dir() else []


def rings(paths: Paths) -> set[str]:
    """Return the names of the rings in shared memory."""
    return {path.name for path in paths.shm.iterdir()}
