"""Virtual time around one wait's machine: a film of a display, its capture, a judge. No clock, no sleep, no process.

The capture works as `acud.capture` does: a grab at once on damage, a trailing grab under a rate cap, one frame on
demand. A job picks the newest frame when it is dispatched.
"""

from __future__ import annotations

import heapq
import itertools
from bisect import bisect_right
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Protocol

from acud.types import Evidence, Verdict, WaitSpec, no
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.lifecycle import has_ended
from acud.waits.machine import arm, step

Key = Hashable
"""What the display shows; equal keys are equal pixels."""

GRAB_S = 0.0005
NOTICE_S = 0.0015
DISPATCH_S = 0.001
HASH_S = 0.005


class Film(Protocol):
    """A display over time: `changes` holds (second, key) in order, the first at 0."""

    changes: list[tuple[float, Key]]
    width: int
    height: int

    def tiles(self, before: Key, after: Key) -> int:
        """Return the tiles that differ, as an integer."""

    def identity(self, key: Key) -> str:
        """Return the identity of the view."""


@dataclass
class Look:
    """One judgement by the judge: the picture, when it was asked and when it answered, which leaf."""

    key: Key
    leaf: int
    asked_at: float
    answered_at: float


@dataclass
class Replay:
    """Plays a film to a wait until `until_s`, or until the wait has ended."""

    film: Film
    spec: WaitSpec
    judge_s: Callable[[], float]
    verdict: Callable[[int, Key], Verdict] = lambda leaf, key: no("not there")
    lose: Callable[[], str] = lambda: ""
    looks: list[Look] = field(default_factory=list)
    memoed: int = 0
    identities: int = 0
    grabs: int = 0
    ending: out.WaitEffect | None = None
    effects: list[tuple[float, out.WaitEffect]] = field(default_factory=list)
    keys: dict[int, Key] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._jobs = itertools.count()
        self._times = [when for when, _ in self.film.changes]
        self._fps, self._last_grab, self._trailing = 0.0, -1.0, False
        self._frame, self._tick, self._dues = 0, itertools.count(), {}
        self._tick_id = -1

    def run(self, until_s: float) -> Replay:
        """Arm at 0 and play."""
        self._at(until_s, lambda: self.tell(happened.DeadlinePassed(self.now)))
        for when, _ in self.film.changes[1:]:
            self._at(when, self._damage)
        armed = arm(self.spec, 0.0)
        self.wait = armed.wait
        self._obey(armed.effects)
        self.tell(happened.TargetLocated(0.0, ":1", 1, "x", self.film.width, self.film.height))
        while self._queue and not has_ended(self.wait.state):
            self.now, _, act = heapq.heappop(self._queue)
            act()
        return self

    def _at(self, when: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (max(when, self.now), next(self._order), act))

    def tell(self, event: happened.WaitEvent) -> None:
        """Step the machine and obey it."""
        stepped = step(self.wait, event)
        self.wait = stepped.wait
        self._obey(stepped.effects)

    def _obey(self, effects: tuple[out.WaitEffect, ...]) -> None:
        for effect in effects:
            self.effects.append((self.now, effect))
            match effect:
                case out.GrabRequest():
                    self._at(self.now + GRAB_S, lambda: self._grab(demanded=True))
                case out.FrameRateDemand(fps=fps):
                    self._fps = fps
                    self._damage()
                case out.TickRequest(at=at):
                    self._tick_id = next(self._tick)
                    if at is not None:
                        self._at(at, lambda mine=self._tick_id: self._wake(mine))
                case out.JobRequest():
                    if effect.kind not in self._dues:
                        self._at(self.now + DISPATCH_S, lambda kind=effect.kind: self._dispatch(kind))
                    self._dues[effect.kind] = effect
                case out.JobWithdrawal(kind=kind):
                    self._dues.pop(kind, None)
                case out.WaitResolved() | out.WaitTimedOut() | out.WaitCancelled() | out.WaitFailed():
                    self.ending = effect

    def _wake(self, mine: int) -> None:
        if mine == self._tick_id:
            self.tell(happened.Tick(self.now))

    # ---- capture ---------------------------------------------------------------------------------------------------

    def shown(self, when: float) -> Key:
        """Return what the display shows at `when`."""
        return self.film.changes[bisect_right(self._times, when) - 1][1]

    def _damage(self) -> None:
        if self._fps <= 0 or self._trailing:
            return
        self._trailing = True
        self._at(max(self.now + GRAB_S, self._last_grab + 1 / self._fps), lambda: self._grab(demanded=False))

    def _grab(self, demanded: bool) -> None:
        self._trailing = self._trailing and demanded
        self._last_grab = self.now
        self.grabs += 1
        key, before = self.shown(self.now), self.keys.get(self._frame)
        tiles = 0
        if key != before or not self._frame:
            tiles = self.film.tiles(before, key) if self._frame else -1
            self._frame += tiles != 0
            self.keys[self._frame] = key
        if tiles or demanded:
            frame, grabbed = self._frame, self.now
            self._at(self.now + NOTICE_S, lambda: self._notice(frame, None if tiles < 0 else tiles, grabbed))

    def _notice(self, frame: int, tiles: int | None, grabbed_at: float) -> None:
        self.tell(happened.FrameSeen(self.now, 1, frame, tiles, grabbed_at))

    # ---- judge -----------------------------------------------------------------------------------------------------

    def _dispatch(self, kind: out.JobKind) -> None:
        due = self._dues.pop(kind, None)
        if due is None:
            return
        job_id, frame, started = f"j{next(self._jobs)}", self._frame, self.now
        self.tell(happened.JobDispatched(self.now, job_id, kind))
        lost = self.lose()
        if lost:
            self._at(self.now + HASH_S, lambda: self.tell(happened.JobLost(self.now, job_id, lost, "lost")))
            return
        identity = self.film.identity(self.keys[frame])
        memoed = frozenset(want.index for want in due.asks if identity in want.memo)
        works = any(want.index not in memoed for want in due.asks)
        self.memoed += bool(due.asks) and not works
        self.identities += kind is out.JobKind.IDENTITY
        spent = self.judge_s() if works else HASH_S
        self._at(self.now + spent, lambda: self._answer(due, job_id, frame, identity, memoed, started))

    def _answer(
        self, due: out.JobRequest, job_id: str, frame: int, identity: str, memoed: frozenset[int], started: float
    ) -> None:
        key = self.keys[frame]
        verdicts = {want.index: self.verdict(want.index, key) for want in due.asks}
        asked = [want.index for want in due.asks if want.index not in memoed]
        self.screenshots += [Look(key, index, started, self.now) for index in asked]
        evidence = Evidence("kept.jpg", identity, ":1", 1, frame) if due.keep_evidence else None
        self.tell(
            happened.JobDone(self.now, job_id, 1, frame, identity, verdicts, memoed, gated=False, evidence=evidence)
        )
