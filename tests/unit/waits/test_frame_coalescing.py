"""A wait that dozes asks for the same things at the same times as one that is told of every frame."""

from collections.abc import Iterator

import hypothesis.strategies as st
from hypothesis import given, settings

from acud.types import AllOf, AnyOf, Cadence, Change, Criteria, GateKind, NotOf, Policy, Rect, Stable, Text, Until
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.frame_coalescing import MOST_BEHIND, ChangeBuffer, apply_frames, can_coalesce
from acud.waits.view_state import MARKS
from acud.waits.view_updates import apply_frame
from tests.unit.waits.rig import GRID, NOT_THERE, Rig, spec

UNTILS: list[Until] = [
    Criteria("x"), Stable(1.0), Change(share=0.9), AllOf((Criteria("x"), Stable(0.6))), AnyOf((Text("x"), Stable(1.5))),
    AnyOf((NotOf(Stable(0.7)), Criteria("x"))),
]  # fmt: skip
CALL_S = 0.35
AT_LEAST_S = 0.01

frames = st.lists(
    st.tuples(st.floats(AT_LEAST_S, 0.9), st.one_of(st.integers(1, GRID.all), st.just(GRID.all))),
    min_size=1,
    max_size=40,
)


class World:
    """One wait in a world that answers grabs at once and judges after `CALL_S`; `lazy`: frames are told when needed."""

    def __init__(self, until: Until, policy: Policy, crop: Rect | None, *, lazy: bool) -> None:
        self.lazy, self.log, self.holds_from = lazy, [], 0
        self.rig = Rig(spec(until, policy))
        self.reel, self.since, self.dozing = ChangeBuffer(), 0, False
        self.calls: list[tuple[float, str, int]] = []
        self.rig.aim(crop)
        self.tell(happened.FrameSeen(self.rig.now, 1, 1, None, self.rig.now))
        self.rig.frame = 1

    def tell(self, event: happened.WaitEvent) -> None:
        """Tell what was held back, then `event`; do what is asked for until nothing is."""
        if self.dozing:
            self.dozing = False
            self._step(happened.FramesSeen(event.at, self.reel.since(self.since)))
        self._step(event)

    def _step(self, event: happened.WaitEvent) -> None:
        for effect in self.rig.tell(event):
            self._note(effect)
            if isinstance(effect, out.GrabRequest):
                now = self.rig.now
                self.tell(happened.FrameSeen(now, 1, self.rig.frame, 0, now))
            elif isinstance(effect, out.JobRequest):
                self._send(effect.kind)

    def _note(self, effect: out.WaitEffect) -> None:
        if isinstance(effect, out.JobRequest):
            self.log.append((round(self.rig.now, 6), effect.kind, effect.force, effect.asks))
        elif not isinstance(effect, out.TickRequest):
            self.log.append((round(self.rig.now, 6), type(effect)))

    def _send(self, kind: JobKind) -> None:
        if kind in self.rig.wait.requests.jobs:
            self.calls.append((self.rig.now + CALL_S, self.rig.dispatch(kind), self.rig.frame))

    def until(self, at: float) -> None:
        """Let time pass: ticks and answers come in their order."""
        while (moment := min(self._moments(), default=at + 1)) <= at:
            self.rig.now = max(self.rig.now, moment)
            if self.calls and self.calls[0][0] <= moment:
                self._answer(*self.calls.pop(0)[1:])
            else:
                self.tell(happened.Tick(self.rig.now))
        self.rig.now = at

    def _moments(self) -> Iterator[float]:
        if self.calls:
            yield self.calls[0][0]
        if self.rig.wait.requests.wake_at is not None and self.rig.ending is None:
            yield self.rig.wait.requests.wake_at

    def _answer(self, job: str, frame: int) -> None:
        flight = next(f for f in self.rig.wait.flights if f.job_id == job)
        asked = {want.index: NOT_THERE for want in flight.request.asks}
        self.tell(happened.JobDone(self.rig.now, job, 1, frame, f"id{frame}", asked))

    def frame(self, tiles: int) -> None:
        self.rig.frame += 1
        seen = happened.FrameSeen(self.rig.now, 1, self.rig.frame, tiles, self.rig.now)
        self.reel.record(seen)
        if self.dozing and self.reel.count - self.since < MOST_BEHIND:
            self.holds_from += 1
            return
        self.tell(seen)
        if self.lazy and self.rig.ending is None and can_coalesce(self.rig.wait):
            self.dozing, self.since = True, self.reel.count


@settings(max_examples=60, deadline=None)
@given(
    until=st.sampled_from(UNTILS),
    cadence=st.sampled_from(list(Cadence)),
    gate=st.sampled_from([None, GateKind.EXACT, GateKind.NONE]),
    crop=st.sampled_from([None, Rect(0, 0, 32, 32), Rect(5, 5, 32, 20)]),
    film=frames,
)
def test_the_same_is_asked_at_the_same_times(
    until: Until, cadence: Cadence, gate: GateKind | None, crop: Rect | None, film: list[tuple[float, int]]
) -> None:
    policy = Policy(cadence=cadence, gate=gate, interval_s=0.5, min_interval_s=0.8)
    worlds = [World(until, policy, crop, lazy=lazy) for lazy in (False, True)]
    for gap_s, tiles in [*film, (30.0, 1)]:
        for world in worlds:
            world.until(world.rig.now + gap_s)
            world.frame(tiles)
    told, dozed = worlds
    assert dozed.log == told.log


def test_a_judged_wait_on_a_playing_display_dozes_most_of_the_time() -> None:
    world = World(Criteria("x"), Policy(), None, lazy=True)
    for _ in range(100):
        world.until(world.rig.now + 0.1)
        world.frame(GRID.all)
    assert world.holds_from > 70


def test_a_change_is_told_of_every_frame() -> None:
    rig = Rig(spec(Change(share=0.9))).start()
    assert not can_coalesce(rig.wait)


def test_a_wait_that_has_nothing_to_judge_yet_is_awake() -> None:
    rig = Rig(spec(Criteria("x"))).start()
    rig.judge()
    assert not can_coalesce(rig.wait)


def test_a_reel_gives_the_frames_after_a_count_and_no_more_than_it_keeps() -> None:
    reel = ChangeBuffer()
    for n in range(MARKS + 5):
        reel.record(happened.FrameSeen(1.0, 1, n, 1, 1.0))
    assert [frame.frame for frame in reel.since(reel.count - 3)] == [MARKS + 2, MARKS + 3, MARKS + 4]
    assert reel.since(reel.count) == ()
    assert len(reel.since(0)) == MARKS


@settings(max_examples=60, deadline=None)
@given(
    until=st.sampled_from([Criteria("x"), Stable(1.0)]),
    crop=st.sampled_from([None, Rect(0, 0, 32, 32), Rect(5, 5, 32, 20)]),
    film=frames,
    epochs=st.sampled_from([(1,), (1, 2)]),
)
def test_frames_taken_together_leave_what_they_leave_one_by_one(
    until: Until, crop: Rect | None, film: list[tuple[float, int]], epochs: tuple[int, ...]
) -> None:
    view_state = Rig(spec(until)).start(crop).wait.view_state
    assert view_state is not None
    at, held = 100.0, []
    for n, (gap_s, tiles) in enumerate(film):
        at += gap_s
        held.append(happened.FrameSeen(at, epochs[n % len(epochs)], n + 2, tiles, at - 0.01, at - 0.02))
    after = view_state
    for frame in held:
        after = apply_frame(after, frame, every_tile=False, hidden_s=0.2)
    assert apply_frames(view_state, held, every_tile=False, hidden_s=0.2) == after
