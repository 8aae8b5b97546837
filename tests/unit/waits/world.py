"""A display of true pixels, a capture, notices on their way and evaluators that read the ring: what a wait lives in.

Frames that touch no tile of the target are withheld from the wait (`acud.waits.frame_coalescing`), as the
supervisor does, and jobs take the newest frame of the ring, whether its notice has come or not.
"""

from __future__ import annotations

import copy
import hashlib
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from acud.types import Evidence, Rect, Until, no, unknown
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.frame_coalescing import MOST_BEHIND, ChangeBuffer, can_coalesce, is_relevant
from acud.waits.lifecycle import has_ended
from acud.waits.machine import Wait, arm, step
from tests.unit.waits.rig import GRID, HEIGHT, WIDTH, spec

Pixels = npt.NDArray[np.uint8]
SHAPE = 32, 20
"""Width and height of the window."""
TRIP_S = 0.001
"""What a job takes in the still world."""


@dataclass
class Flying:
    """A job in the air; `frame`: the one it took, None before it did."""

    kind: JobKind
    min_frame: int
    asks: tuple[int, ...]
    keeps: bool
    frame: int | None = None


@dataclass
class World:
    """One wait; its target is `region`, or the window where that is None."""

    until: Until
    region: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    now: float = 100.0
    back: Pixels = field(default_factory=lambda: np.zeros((HEIGHT, WIDTH), np.uint8))
    window: Pixels = field(default_factory=lambda: np.full(SHAPE[::-1], 7, np.uint8))
    place: tuple[int, int] | None = (16, 16)
    ring: list[Pixels] = field(default_factory=list)
    notices: deque[happened.FrameSeen] = field(default_factory=deque)
    flying: dict[str, Flying] = field(default_factory=dict)
    heard: int = -1
    jobs: int = 0
    asked_grab: bool = False
    asked_look: bool = False
    reel: ChangeBuffer = field(default_factory=ChangeBuffer)
    since: int = 0
    dozing: bool = False
    base: str | None = None
    looks: set[str] = field(default_factory=set)
    """What the target looked like in any frame since its baseline."""

    def __post_init__(self) -> None:
        armed = arm(spec(self.until), self.now)
        self.wait: Wait = armed.wait
        self._obey(armed.effects)
        self.aim()

    def fork(self) -> World:
        """Return a world that goes its own way from here; frozen values are shared."""
        other = copy.copy(self)
        other.back, other.window = self.back.copy(), self.window.copy()
        other.ring, other.notices, other.looks = list(self.ring), deque(self.notices), set(self.looks)
        other.flying = {job: copy.copy(one) for job, one in self.flying.items()}
        other.reel = copy.deepcopy(self.reel)
        return other

    # ---- the display ---------------------------------------------------------------------------------------------

    @property
    def crop(self) -> Rect | None:
        """Where the target is now; None: it cannot be seen."""
        if self.region is not None or self.place is None:
            return self.region
        return Rect(*self.place, *SHAPE)

    def screen(self) -> Pixels:
        shown = self.back.copy()
        if self.place is not None:
            x, y = self.place
            shown[y : y + SHAPE[1], x : x + SHAPE[0]] = self.window
        return shown

    def look(self, pixels: Pixels) -> str:
        crop = self.crop
        assert crop is not None
        part = pixels[crop.y : crop.bottom, crop.x : crop.right].copy()
        for box in self.ignore:
            part[box.y : box.bottom, box.x : box.right] = 0
        return hashlib.sha256(part.tobytes()).hexdigest()[:16]

    def aim(self) -> None:
        if self.crop is None:
            self.tell(happened.TargetLost(self.now, unknown("not_viewable", "it is minimised")))
        else:
            self.tell(happened.TargetLocated(self.now, ":1", 1, "x1", WIDTH, HEIGHT, self.crop, self.ignore))

    def grab(self) -> None:
        """Publish a frame when it differs from the newest, or say that a demanded one does not; its notice may wait."""
        pixels, asked = self.screen(), self.asked_grab
        look = happened.TargetLook(self.look(pixels)) if self.asked_look and self.crop is not None else None
        self.asked_grab = self.asked_look = False
        tiles: int | None = None
        if self.ring:
            differs = pixels != self.ring[-1]
            tiles = sum(1 << i for i in range(12) if differs[_tile(i)].any())
        if tiles != 0:
            self.ring.append(pixels)
        if tiles != 0 or asked:
            self.notices.append(happened.FrameSeen(self.now, 1, len(self.ring) - 1, tiles, self.now, look=look))

    # ---- the supervisor ------------------------------------------------------------------------------------------

    def hear(self) -> None:
        seen = self.notices.popleft()
        self.heard = seen.frame
        if self.crop is not None and self.wait.in_view is not None and self.base is not None:
            self.looks.add(self.look(self.ring[seen.frame]))
        if self.dozing:
            if seen.tiles:
                self.reel.record(seen)
            if seen.tiles is not None and self.reel.count - self.since < MOST_BEHIND and seen.tiles:
                return
            self.tell(happened.Tick(self.now))
        elif seen.tiles:
            self.reel.record(seen)
        grab = self.wait.requests.grab_asked is not None and seen.grabbed_at >= self.wait.requests.grab_asked
        if grab or is_relevant(self.wait, seen):
            self.tell(seen)
        if not has_ended(self.wait.state) and can_coalesce(self.wait):
            self.dozing, self.since = True, self.reel.count

    def tell(self, event: happened.WaitEvent) -> None:
        """Step the wait, after the frames that were held back."""
        if self.dozing:
            self.dozing = False
            held = tuple(one for one in self.reel.since(self.since) if is_relevant(self.wait, one))
            if held:
                self.tell(happened.FramesSeen(event.at, held))
        first = self.base is None
        stepped = step(self.wait, event)
        self.wait = stepped.wait
        view_state = self.wait.view_state
        if first and view_state is not None and view_state.looked and self.crop is not None and view_state.frame >= 0:
            self.base = self.look(self.ring[view_state.frame])
            self.looks = {self.base}
        self._obey(stepped.effects)

    def _obey(self, effects: tuple[out.WaitEffect, ...]) -> None:
        self.asked_grab |= any(isinstance(effect, out.GrabRequest) for effect in effects)
        self.asked_look |= any(isinstance(effect, out.GrabRequest) and effect.look for effect in effects)

    def dispatch(self, kind: JobKind) -> None:
        due = self.wait.requests.jobs[kind]
        self.jobs += 1
        job = f"j{self.jobs}"
        self.flying[job] = Flying(kind, due.min_frame, tuple(want.index for want in due.asks), due.keep_evidence)
        self.tell(happened.JobDispatched(self.now, job, kind))

    # ---- evaluators ----------------------------------------------------------------------------------------------

    def take(self, job: str) -> None:
        """Have a job take its frame: the newest in the ring."""
        self.flying[job].frame = len(self.ring) - 1

    def land(self, job: str, outcome: str = "done") -> None:
        """Bring a job back: done, lost with a code, or done without a word (`silent`) or of an old frame (`old`)."""
        one = self.flying.pop(job)
        if outcome in ("frame_gone", "engine"):
            self.tell(happened.JobLost(self.now, job, outcome, "it is gone"))
            return
        frame = one.min_frame if outcome == "old" else len(self.ring) - 1 if one.frame is None else one.frame
        shown = self.crop is not None and outcome != "silent"
        identity = self.look(self.ring[frame]) if shown else ""
        kept = Evidence("kept.jpg", epoch=1, frame=frame) if one.keeps else None
        verdicts = {index: no("not there") for index in one.asks}
        self.tell(happened.JobDone(self.now, job, 1, frame, identity, verdicts, evidence=kept, heard=self.heard))

    def stand_still(self, seconds: float, outcome: str = "done", most: int = 1_000) -> int:
        """Let the display stand still: notices and answers come, ticks are kept. Return how many jobs that takes, and
        go no further than to `most`.
        """
        before, end = self.jobs, self.now + seconds
        self.grab()  # damage has its trailing grab
        while self.now <= end and not has_ended(self.wait.state) and self.jobs - before < most:
            if self.notices:
                self.hear()
            elif self.asked_grab:
                self.grab()
            elif self.flying:
                self.now += TRIP_S
                self.land(next(iter(self.flying)), outcome)
            elif self.wait.requests.jobs:
                self.dispatch(next(iter(self.wait.requests.jobs)))
            elif self.wait.requests.wake_at is not None and self.wait.requests.wake_at <= end:
                self.now = max(self.now, self.wait.requests.wake_at)
                self.tell(happened.Tick(self.now))
            else:
                break
        self.now = max(self.now, end)
        return self.jobs - before


def _tile(index: int) -> tuple[slice, slice]:
    box = GRID.tile(index)
    return slice(box.y, box.bottom), slice(box.x, box.right)
