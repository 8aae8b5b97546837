"""Processes that a test has stand still for a moment, so that what it does meanwhile comes before they go on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.fixtures.patience import LONG_S


def halt(pid: int) -> None:
    """Have a process stand still; it does once this returns."""
    os.kill(pid, signal.SIGSTOP)
    end_s = time.monotonic() + LONG_S
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert time.monotonic() < end_s, "it runs on"


def go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
