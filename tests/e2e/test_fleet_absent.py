"""A daemon without `[fleet] url` pays nothing for fleets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.fixtures.daemon import Daemon


def test_no_process_is_started_and_nothing_is_imported(daemon: Daemon) -> None:
    status = daemon.client.status()
    assert status.fleet == {}
    assert not [child for child in status.children if child.kind == "fleet"]
    for child in (*(one.pid for one in status.children if one.pid), status.pid):
        assert "/nats/" not in Path(f"/proc/{child}/maps").read_text(encoding="utf-8")


def test_neither_supervisor_nor_clients_import_nats() -> None:
    code = "import sys, acud.supervisor.__main__, acud_client; print('nats' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ".:clients"}
    )
    assert done.stdout.strip() == "False"
