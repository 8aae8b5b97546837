"""What is watched all the while: ends of waits as they are told, memory, and how late this process itself is run."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import defaultdict
from types import TracebackType
from typing import Self

from acud.base.errors import AcudError
from acud.protocol.events import Event
from acud_client import Client
from tests.soak.ledger import Ledger, now_s
from tests.soak.machine import family, rss_mb
from tests.soak.oracle import END_STATES
from tests.soak.slopes import Slope, slope
from tests.soak.world import World

_EVERY_S = 2.0
_YOUNG_S = 40.0
"""A process grows while it warms up; only what comes after is growth."""
_STALL_S = 0.5


class Sampling:
    """Threads that watch a world from the outside; use in `with`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._stop = threading.Event()
        self.stalls: list[tuple[float, float]] = []
        self.memory: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
        self.peaks: dict[str, float] = defaultdict(float)
        self._calm_from_s = math.inf
        self._born: dict[tuple[int, int], float] = {}
        self.ears = Ears(world)
        jobs = (self._watch_stalls, self._sample)
        self._threads = [threading.Thread(target=job, daemon=True) for job in jobs]

    def __enter__(self) -> Self:
        self.ears.start()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self.ears.stop()

    def _watch_stalls(self) -> None:
        while not self._stop.is_set():
            before_s = now_s()
            time.sleep(0.05)
            if (late_s := now_s() - before_s - 0.05) > _STALL_S:
                self.stalls.append((before_s, late_s))

    def _sample(self) -> None:
        while not self._stop.wait(_EVERY_S):
            now = now_s()
            for seen in family(self._world.daemon.paths):
                born_s = self._born.setdefault((seen.pid, seen.started), now)
                rss = rss_mb(seen.pid)
                if rss is None or seen.kind in ("zombie", "program"):
                    continue
                self.peaks[seen.kind] = max(self.peaks[seen.kind], rss)
                if now - born_s >= _YOUNG_S:
                    self.memory[seen.kind][seen.pid].append((now, rss))

    def begin_calm(self) -> None:
        """Measure growth from now on: every process has done everything once, and none is to be ended."""
        self._calm_from_s = now_s()

    @property
    def calm_min(self) -> float:
        """For how long growth has been measured; 0 before `begin_calm`."""
        return max(0.0, now_s() - self._calm_from_s) / 60

    def slopes(self) -> dict[str, Slope]:
        """Return the growth of each kind of process in MiB per hour, measured since `begin_calm`."""
        return {
            kind: slope(
                {pid: [s for s in life if s[0] >= self._calm_from_s] for pid, life in self.memory[kind].items()}
            )
            for kind in sorted(self.peaks)
        }


class Ears:
    """Hears ends of waits over the event stream, from the first number on, over restarts of the daemon."""

    def __init__(self, world: World) -> None:
        self._ledger: Ledger = world.ledger
        self._client = Client(world.daemon.paths, timeout_s=30, patience_s=30)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self.newest = 0

    def start(self) -> None:
        self._thread.start()

    def _hear(self) -> None:
        with self._client.events(topic="wait.", after=0) as stream:
            while not self._stop.is_set():
                with contextlib.suppress(AcudError):
                    event = stream.next(timeout_s=0.5)
                    if isinstance(event, Event) and event.topic in END_STATES:
                        self._ledger.tell(now_s(), event.topic, event.subject)
                    self.newest = stream.position

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._client.close()
