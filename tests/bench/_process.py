"""What a tree of processes costs: CPU time and resident memory, read from /proc (proc_pid_stat(5))."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return `pid` and all its living descendants that are acud's own (displays run in sessions of their own)."""
    parents = {int(p.name): _fields(p) for p in Path("/proc").iterdir() if p.name.isdigit()}
    found, session = [pid], parents[pid][3]
    for member in found:
        found += [child for child, f in parents.items() if f and int(f[1]) == member and f[3] == session]
    return found


def _fields(folder: Path) -> list[str]:
    try:
        return (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def cpu_s(pids: list[int]) -> float:
    """Return the CPU seconds these processes have used, their dead children's included."""
    rows = [_fields(Path(f"/proc/{pid}")) for pid in pids]
    return sum(sum(int(row[i]) for i in (11, 12)) for row in rows if row) * _TICK_S


def rss_mb(pids: list[int]) -> float:
    """Return the proportional set size (shared pages counted once over all) in MB; needs ptrace rights, as root has.

    A process that has ended meanwhile holds nothing.
    """
    total = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


class CpuShare:
    """Percent of one core that `pids` use while the block runs; read `percent` after it."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self.percent = 0.0

    def __enter__(self) -> Self:
        self._began_s, self._used_s = time.monotonic(), cpu_s(self._pids)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.percent = 100 * (cpu_s(self._pids) - self._used_s) / (time.monotonic() - self._began_s)
