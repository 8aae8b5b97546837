"""Waits on hosts that are told apart by the label `is`, and what breaks those hosts."""

from __future__ import annotations

import json
from pathlib import Path

from acud.protocol.events import Event
from acud.types import Change, Rect, Until, WaitInfo, WakeAddress
from acud_client.stream import EventStream
from tests.e2e.desktop import Desk
from tests.fixtures import nkey_files
from tests.fixtures.fleet_rig import LONG_S, Fleet, until

PING = 'ping_interval: "2s"\nping_max: 2\n'


class Users:
    """Users of the servers with an nkey each, whose seeds lie in `folder`."""

    def __init__(self, folder: Path, *names: str) -> None:
        self._folder = folder
        keys = {name: nkey_files.user(folder / name) for name in names}
        users = "".join(f"{{ nkey: {key} }}\n" for key in keys.values())
        self.config = f"{PING}authorization {{ users = [\n{users}] }}\n"

    def seed(self, name: str) -> str:
        """The file of a user's seed."""
        return str(self._folder / name)

    def login(self, name: str) -> str:
        """What `[fleet]` says of a user."""
        return f"nkey_seed_file = {json.dumps(self.seed(name))}\n"


def armed(fleet: Fleet, host: str, what: Until | None = None, wake: WakeAddress | None = None) -> WaitInfo:
    """Return a wait on a display of `host`, for a change unless it is for `what`."""
    task = fleet.client.task_register("breaking", labels={"is": host}).view.task
    assert task.display.startswith(f"{host}/")
    return fleet.client.wait_create(
        what or Change(), task_id=task.task_id, timeout_s=600, wake=wake or WakeAddress()
    ).wait


def paint(fleet: Fleet, wait: WaitInfo) -> None:
    """Change what `wait` looks at, and hold it until its own host says that the wait has ended."""
    host, _, name = wait.display.partition("/")
    client = fleet.daemons[host].client
    shown = next(one for one in client.display_list().displays if one.name == name)
    with Desk(name, shown.auth_file) as desk:
        desk.fill(Rect(0, 0, 200, 200), 0xC02020)
        assert client.wait_result(wait.wait_id, block_s=LONG_S, peek=True).ended


def heard(stream: EventStream, topic: str, subject: str) -> Event:
    """Return the next event on `topic` about `subject`; what else happens may be told before it."""
    for item in iter(lambda: stream.next(timeout_s=LONG_S), None):
        if isinstance(item, Event) and (item.topic, item.subject) == (topic, subject):
            return item
    raise AssertionError(f"no {topic} about {subject} in {LONG_S:g} s")


def kill(fleet: Fleet, host: str) -> None:
    """SIGKILL a daemon and see its fleet process end."""
    daemon = fleet.daemons[host]
    pids = [child.pid for child in daemon.client.status().children if child.kind == "fleet"]
    daemon.kill()
    for pid in pids:
        until(lambda pid=pid: _state(pid) in "ZX", f"the end of {pid}")  # type: ignore[misc]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return "X"
