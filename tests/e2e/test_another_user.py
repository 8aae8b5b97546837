"""Another user of the host finds no way to the daemon, its files, its frames or its displays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e.conftest import BARE, SCRIPTED
from tests.fixtures.daemon import Daemon

_STRANGER = "65534"

# Run by the system's own Python, which every user may start.
_TRIES = r"""
import json, os, signal, socket, struct, sys
places, pids, number = json.loads(sys.argv[1])
found = {}
def attempt(what, call):
    try:
        found[what] = repr(call())
    except PermissionError:
        found[what] = "permission denied"
def dial(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        return "connected"
for place in places:
    attempt("list or read " + place, lambda: os.listdir(place) if os.path.isdir(place) else open(place, "rb").read(1))
    attempt("connect to " + place, lambda: dial(place))
    attempt("write to " + place, lambda: open(place + "/planted", "w"))
for pid in pids:
    attempt(f"read the environment of {pid}", lambda: open(f"/proc/{pid}/environ", "rb").read(1))
    attempt(f"end {pid}", lambda: os.kill(pid, signal.SIGTERM))
with socket.socket(socket.AF_UNIX) as x:
    x.connect(f"/tmp/.X11-unix/X{number}")
    # A setup request without a cookie (X Window System Protocol, section 8); 0: refused.
    x.sendall(struct.pack("<BxHHHHxx", 0x6C, 11, 0, 0, 0))
    found["open the display"] = {0: "refused", 1: "accepted"}.get(x.recv(1)[0])
print(json.dumps(found))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_gets_nowhere() -> None:
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("the system has no Python of its own")
    with TemporaryDirectory(prefix="acud-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)  # the way to ACU_HOME is open; ACU_HOME is what closes
        with Daemon(settings=SCRIPTED + BARE, home=Path(folder, "home")) as daemon:
            display = daemon.client.display_create(320, 240).display
            number = int(display.name.lstrip(":"))
            paths = daemon.paths
            places = [
                *(paths.home, paths.run, paths.run / "control", paths.run / "events", paths.run / "children"),
                *(paths.shm, paths.database, paths.request_key, paths.config, paths.evidence, paths.recordings),
                *(Path(display.auth_file), paths.debug_log, next(paths.shm.iterdir())),
            ]
            assert all(place.exists() for place in places)
            x_server = int(Path(f"/tmp/.X{number}-lock").read_text())
            asked = json.dumps([[str(place) for place in places], [daemon.pid, x_server], number])
            who = ("setpriv", f"--reuid={_STRANGER}", f"--regid={_STRANGER}", "--clear-groups", "--inh-caps=-all")
            done = subprocess.run([*who, python, "-c", _TRIES, asked], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            found = json.loads(done.stdout)
            assert found.pop("open the display") == "refused"
            assert len(found) == 3 * len(places) + 4
            assert {what: how for what, how in found.items() if how != "permission denied"} == {}
            assert daemon.client.status().pid == daemon.pid
