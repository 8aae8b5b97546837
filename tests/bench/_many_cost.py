"""What the processes of a daemon cost, by their kind: CPU time in nanoseconds, proportional memory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

KINDS = ("supervisor", "capture", "evaluator", "Xvfb")


def by_kind(supervisor: int) -> dict[str, list[int]]:
    """Return the processes of the daemon whose supervisor has this pid, by kind, X servers included."""
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    found["supervisor"].append(supervisor)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _parent(folder) == supervisor:
            kind = _kind(folder)
            if kind in found:
                found[kind].append(int(folder.name))
    return found


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _kind(folder: Path) -> str:
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    modules = [word.decode() for word in words if word.startswith(b"acud.")]
    return modules[0].removeprefix("acud.") if modules else Path(words[0].decode()).name


def cpu_s(pids: list[int]) -> float:
    """Return the CPU seconds of these processes' threads, to the nanosecond (Linux: proc/PID/task/TID/schedstat)."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(FileNotFoundError):  # it ended meanwhile
                total += int(task.read_text(encoding="ascii").split()[0])
    return total / 1e9


def waited_s(pids: list[int]) -> float:
    """Return the seconds these processes' threads could have run and had no core: other load of the machine, mostly."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            total += int(task.read_text(encoding="ascii").split()[1])
    return total / 1e9


def cpu_by_kind(kinds: dict[str, list[int]]) -> dict[str, float]:
    return {kind: cpu_s(pids) for kind, pids in kinds.items()}


def slope(points: list[tuple[float, float]]) -> float:
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
