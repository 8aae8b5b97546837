"""What the machine shows of a daemon without asking it: processes, memory, descriptors, shared memory, the store."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from acud.base.paths import Paths
from acud.process.child_process import FORK_SERVER_NAME
from tests.soak.oracle import END_STATES, Rest, Stored, Wake

_KINDS = {
    "acud.supervisor": "supervisor", "acud.capture": "capture", "acud.evaluator": "evaluator", "acud.delivery": "relay",
    "acud.features.recording.recorder": "recorder", "acud_web": "web", "Xvfb": "display",
}  # fmt: skip


class Seen:
    """One process: `kind` ("program" for what is none of acud's own), start time in ticks, so that pids are told
    apart."""

    def __init__(self, pid: int, kind: str, started: int, state: str) -> None:
        self.pid, self.kind, self.started, self.state = pid, kind, started, state


def family(paths: Paths) -> list[Seen]:
    """Return the living processes of this ACU_HOME by their environment, those of its displays too, or below one."""
    mark, display = f"ACU_HOME={paths.home}".encode(), f"ACUD_DISPLAY_FOLDER={paths.displays}/".encode()
    found: dict[int, Seen] = {}
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        pid = int(entry.name)
        try:
            words = (entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()
            parents[pid] = int(words[1])
            if words[0] == "Z":
                found[pid] = Seen(pid, "zombie", int(words[19]), "Z")
            elif any(one == mark or one.startswith(display) for one in _environment(entry)):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                kind = "forks" if (entry / "comm").read_text().strip() == FORK_SERVER_NAME else _kind(command)
                found[pid] = Seen(pid, kind, int(words[19]), words[0])
        except OSError:
            continue  # it ended, or is not ours
    ours = {pid for pid, seen in found.items() if seen.kind != "zombie"}
    return [seen for pid, seen in found.items() if seen.kind != "zombie" or parents[pid] in ours]


def _environment(entry: Path) -> list[bytes]:
    return (entry / "environ").read_bytes().split(b"\0")


def _kind(command: str) -> str:
    return next((kind for word, kind in _KINDS.items() if word in command), "program")


def pids(paths: Paths, kind: str) -> list[int]:
    return [seen.pid for seen in sorted(family(paths), key=lambda s: (s.started, s.pid)) if seen.kind == kind]


def rss_mb(pid: int) -> float | None:
    """Return the resident memory of a process in MiB; None when it ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def rest(paths: Paths, supervisor: int) -> Rest:
    """Return what there is now; `supervisor` is its pid. What captures are forked from stays, and is left out."""
    living = family(paths)
    processes = Counter(seen.kind for seen in living if seen.kind not in ("zombie", "program", "forks"))
    return Rest(
        processes=dict(processes),
        rings=len(list(paths.shm.iterdir())) if paths.shm.is_dir() else 0,
        spool=len(list(paths.spool.iterdir())) if paths.spool.is_dir() else 0,
        zombies=sum(seen.kind == "zombie" for seen in living),
        supervisor_fds=descriptors(supervisor),
        supervisor_threads=threads(supervisor),
    )


class StoreView:
    """The store, read without writing, beside the daemon."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def waits(self) -> list[Stored]:
        sql = "SELECT wait_id, state, json_extract(verdict, '$.detail') FROM wait_jobs"
        return [Stored(*row) for row in self._rows(sql)]

    def wakes(self) -> list[Wake]:
        return [Wake(*row) for row in self._rows("SELECT wake_id, wait_id, state FROM outbox WHERE wait_id <> ''")]

    def ends(self) -> list[tuple[str, str]]:
        """Return the stored events of ends: topic and wait id."""
        marks = ", ".join("?" for _ in END_STATES)
        return self._rows(f"SELECT topic, subject FROM events WHERE topic IN ({marks}) ORDER BY n", *END_STATES)

    def no_verdicts(self, wait_id: str) -> int:
        sql = "SELECT count(*) FROM evaluations WHERE wait_id = ? AND json_extract(verdict, '$.answer') = 'no'"
        return int(self._rows(sql, wait_id)[0][0])

    def integrity(self) -> str:
        return str(self._rows("PRAGMA integrity_check")[0][0])

    def _rows(self, sql: str, *values: object) -> list[tuple[object, ...]] | list[tuple[str, str]]:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=30)) as database:
            return database.execute(sql, values).fetchall()
