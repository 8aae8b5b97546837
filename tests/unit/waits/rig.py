"""A wait in the hand: feed it events one by one, look at what it asks for."""

from __future__ import annotations

from typing import TypeVar

from acud.types import Criteria, Evidence, Policy, Rect, Target, Until, Verdict, WaitSpec, WindowInfo, no
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.machine import StoredBaseline, arm, step
from acud.waits.tiles import Grid

WIDTH, HEIGHT = 64, 48
GRID = Grid(WIDTH, HEIGHT)
NOT_THERE = no("not there")
E = TypeVar("E", bound=out.WaitEffect)


def spec(
    until: Until | None = None, policy: Policy | None = None, target: Target | None = None, timeout_s: float = 300.0
) -> WaitSpec:
    """Return a wait on a display of 4 x 3 tiles; what is gone need not be held."""
    return WaitSpec(until or Criteria("x"), target or Target(), timeout_s, policy or Policy(hold_s=0.0))


class Rig:
    """One wait and everything it asked for. Grabs are notified at the moment they start."""

    def __init__(self, wanted: WaitSpec, stored: dict[int, StoredBaseline] | None = None, stage: int = 0) -> None:
        self.now = 100.0
        self.frame = 0
        self.jobs = 0
        self.all: list[out.WaitEffect] = []
        armed = arm(wanted, self.now, stored, stage=stage)
        self.wait = armed.wait
        self.last = armed.effects
        self.all += armed.effects

    def tell(self, event: happened.WaitEvent) -> tuple[out.WaitEffect, ...]:
        stepped = step(self.wait, event)
        self.wait, self.last = stepped.wait, stepped.effects
        self.all += stepped.effects
        return stepped.effects

    def aim(
        self,
        crop: Rect | None = None,
        ignore: tuple[Rect, ...] = (),
        touched: dict[str, int | None] | None = None,
        *,
        epoch: int = 1,
        server: str = "x1",
        size: tuple[int, int] = (WIDTH, HEIGHT),
        source: str = ":1",
    ) -> None:
        self.tell(happened.TargetLocated(self.now, source, epoch, server, *size, crop, ignore, touched or {}))

    def start(self, crop: Rect | None = None, ignore: tuple[Rect, ...] = ()) -> Rig:
        self.aim(crop, ignore)
        self.change(None)
        return self

    def change(self, tiles: int | None, *, epoch: int = 1, look: happened.TargetLook | None = None) -> None:
        self.frame += 1
        self.tell(happened.FrameSeen(self.now, epoch, self.frame, tiles, self.now, look=look))

    def same(self) -> None:
        self.tell(happened.FrameSeen(self.now, 1, self.frame, 0, self.now))

    def later(self, seconds: float) -> None:
        """Let time pass, ticking whenever the wait asked for it."""
        end = self.now + seconds
        while self.wait.requests.wake_at is not None and self.wait.requests.wake_at <= end:
            self.now = max(self.now, self.wait.requests.wake_at)
            self.tell(happened.Tick(self.now))
        self.now = end

    def dispatch(self, kind: JobKind = JobKind.JUDGE) -> str:
        """Send the due of this kind; return its job."""
        assert kind in self.wait.requests.jobs, f"no {kind} due: {self.wait.requests.jobs}"
        self.jobs += 1
        self.tell(happened.JobDispatched(self.now, f"j{self.jobs}", kind))
        return f"j{self.jobs}"

    def answer(
        self,
        job: str,
        verdict: Verdict | dict[int, Verdict] = NOT_THERE,
        *,
        identity: str = "",
        frame: int | None = None,
        memoed: frozenset[int] = frozenset(),
        gated: bool = False,
        picture: bool = False,
        later: dict[int, dict[int, Verdict]] | None = None,
    ) -> None:
        """Bring a result back; by default on the newest frame, whose identity is its number."""
        frame = self.frame if frame is None else frame
        verdicts = verdict if isinstance(verdict, dict) else {0: verdict}
        evidence = Evidence("kept.jpg", epoch=1, frame=frame) if picture else None
        found = identity or f"id{frame}"
        epoch = next((flight.request.epoch for flight in self.wait.flights if flight.job_id == job), 1)
        shown = {} if gated else verdicts
        done = happened.JobDone(self.now, job, epoch, frame, found, shown, memoed, gated, evidence, later=later or {})
        self.tell(done)

    def judge(self, verdict: Verdict | dict[int, Verdict] = NOT_THERE, **more: object) -> None:
        self.answer(self.dispatch(), verdict, **more)  # type: ignore[arg-type]

    def identify(self, identity: str) -> None:
        self.answer(self.dispatch(JobKind.IDENTITY), {}, identity=identity)

    def lose(self, job: str, code: str = "engine") -> None:
        self.tell(happened.JobLost(self.now, job, code, "it died"))

    def windows(self, *titles: str) -> None:
        found = tuple(WindowInfo(i + 1, title, Rect(0, 0, 16, 16)) for i, title in enumerate(titles))
        self.tell(happened.WindowsSeen(self.now, found))

    def asked(self, kind: type[E]) -> list[E]:
        return [effect for effect in self.last if isinstance(effect, kind)]

    def wants(self, kind: JobKind) -> bool:
        return kind in self.wait.requests.jobs

    @property
    def ending(self) -> out.WaitEffect | None:
        ends = (out.WaitResolved, out.WaitTimedOut, out.WaitCancelled, out.WaitFailed, out.WaitEndedByFleet)
        return next((effect for effect in self.all if isinstance(effect, ends)), None)
