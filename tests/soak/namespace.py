"""A mount namespace for the whole soak (mount_namespaces(7)): a small /dev/shm and a small disk that fill up for nobody
else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

INSIDE = "ACUD_SOAK_INSIDE"
SHM_SIZE, DISK_SIZE = "64m", "128m"


def enter(argv: list[str]) -> str:
    """Run this program again inside, with its mounts made by `prepare`; return why that cannot be, or do not return."""
    if os.environ.get(INSIDE):
        return ""
    probe = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/dev/shm"], capture_output=True, text=True
    )
    if probe.returncode:
        return f"no mount namespace: {probe.stderr.strip() or probe.returncode}"
    command = ["unshare", "--mount", sys.executable, "-m", "tests.soak", *argv]
    return os.execvpe(command[0], command, {**os.environ, INSIDE: "1"})


def prepare(home: Path) -> None:
    """Put a small file system on /dev/shm and on `home`; only inside."""
    for place, size, mode in ((Path("/dev/shm"), SHM_SIZE, "1777"), (home, DISK_SIZE, "0700")):
        place.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode={mode}", "none", str(place)], check=True)
