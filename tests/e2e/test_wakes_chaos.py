"""SIGKILL of the supervisor, the delivery process or the receiver anywhere between a verdict and its acknowledgement.

Every wake is committed once; each is received or listed as undelivered; it comes twice only after a kill.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from acud.base.errors import AcudError
from acud.types import WaitInfo, WakeInfo, WakeState, WindowTitle
from acud_client import Client
from tests.e2e import faults
from tests.e2e.desktop import PATIENCE_S
from tests.fixtures.daemon import Daemon
from tests.fixtures.wake_receiver import ReceiverProcess as Receiver

HOLDS = WindowTitle("there is no such window", gone=True)
WAITS = 3
VICTIMS = ("supervisor", "relay", "receiver")


class Chaos:
    """One daemon, one receiver, and many seeded kills."""

    def __init__(self, daemon: Daemon, receiver: Receiver) -> None:
        self.daemon = daemon
        self.receiver = receiver
        self.display = daemon.client.display_create(64, 64).display.name
        self.kills: list[tuple[float, float]] = []
        """Between which UTC seconds each fell."""
        self.waits: list[WaitInfo] = []

    def run(self, seed: int) -> None:
        """Arm some waits, kill somebody at a moment that the seed decides, and wait until every wake is settled."""
        chance = random.Random(seed)
        made: list[WaitInfo] = []
        arming = threading.Thread(target=self._arm, args=(made,))
        size = self.receiver.size()
        arming.start()
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, 0.2))
        else:
            with contextlib.suppress(AssertionError):
                _busy(lambda: self.receiver.size() > size)
            time.sleep(chance.choice((0, 0.001, 0.003, 0.01, 0.03)))
        self._kill(VICTIMS[seed % len(VICTIMS)])
        arming.join()
        assert len(made) == WAITS
        self.waits += made
        for wait in made:
            faults.until(lambda wait=wait: self._settled(wait), f"seed {seed}: a wake for {wait.wait_id}")

    def _arm(self, made: list[WaitInfo]) -> None:
        with Client(self.daemon.paths, timeout_s=PATIENCE_S, patience_s=PATIENCE_S) as client:
            made.extend(client.wait_create(HOLDS, display=self.display, timeout_s=600).wait for _ in range(WAITS))

    def _kill(self, victim: str) -> None:
        begun_s = time.time()
        if victim == "relay":
            with contextlib.suppress(StopIteration, ProcessLookupError):
                pid = next(p for p, command in faults.family(self.daemon.paths).items() if "acud.delivery" in command)
                faults.kill(pid, signal.SIGKILL)
                self.kills.append((begun_s, time.time()))
        elif victim == "supervisor":
            self.daemon.kill()
            self.kills.append((begun_s, time.time()))
            self.daemon.start()
        else:
            self.receiver.kill()
            self.kills.append((begun_s, time.time()))
            time.sleep(0.1)
            self.receiver.start()

    def _settled(self, wait: WaitInfo) -> WakeInfo | None:
        try:
            found = self.daemon.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
        except AcudError:
            return None
        return found[0] if found and found[0].state in (WakeState.SENT, WakeState.UNDELIVERED) else None

    def check(self) -> Counter[int]:
        """Check every invariant over all runs; return how many wakes came how often."""
        ends = Counter(event.subject for event in faults.events(self.daemon, "wait.resolved"))
        assert ends == Counter(wait.wait_id for wait in self.waits)
        came: dict[str, list[dict[str, Any]]] = {}
        for row in self.receiver.taken():
            came.setdefault(row["key"], []).append(row)
        known = set()
        for wait in self.waits:
            (wake,) = self.daemon.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
            known.add(wake.wake_id)
            assert wake.state is WakeState.UNDELIVERED or wake.wake_id in came, wake
            self._check_repeats(came.get(wake.wake_id, []))
        assert set(came) <= known
        return Counter(len(rows) for rows in came.values())

    def _check_repeats(self, rows: list[dict[str, Any]]) -> None:
        for first, second in itertools.pairwise(rows):
            # What was on its way when somebody was killed may arrive long after; it says when it was sent, in seconds.
            sent_s, came_s = first["sent_utc_s"], second["came_utc_s"]
            after_a_kill = any(sent_s <= end_s and begun_s <= came_s for begun_s, end_s in self.kills)
            assert after_a_kill or second["reminder"], (first, second)


def _busy(found: Any, within_s: float = 5.0) -> None:
    end_s = time.monotonic() + within_s
    while not found():
        assert time.monotonic() < end_s
        time.sleep(0.0003)


def _settings(receiver: Receiver) -> str:
    wake = {
        "routes": ["webhook"],
        "webhook_url": f"http://127.0.0.1:{receiver.port}/",
        "webhook_secret": "s",
        "retry_first_s": 0.05,
        "retry_max_s": 0.2,
        "http_timeout_s": 60,
    }
    return faults.settings(wake=wake, daemon={"restart_limit": 1000})


def _storm(tmp_path: Path, seeds: range) -> Counter[int]:
    with Receiver(tmp_path) as receiver, Daemon(_settings(receiver)) as daemon:
        chaos = Chaos(daemon, receiver)
        for seed in seeds:
            chaos.run(seed)
        return chaos.check()


def test_no_kill_loses_or_forges_a_wake(tmp_path: Path) -> None:
    """A few kills; `scripts/soak` goes on with them for as long as one likes."""
    seeds = range(9)
    came = _storm(tmp_path, seeds)
    assert sum(came.values()) == len(seeds) * WAITS
