"""The machine under any order of events: what always holds, whatever the supervisor does to it."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Cadence,
    Change,
    Criteria,
    GateKind,
    NotOf,
    Policy,
    Rect,
    Stable,
    Text,
    Then,
    WaitState,
    WindowTitle,
    no,
    unknown,
    yes,
)
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.condition_tree import leaves
from acud.waits.effects import JobKind
from acud.waits.look_turns import MOST_FLIGHTS, MOST_READINGS
from acud.waits.machine import step
from acud.waits.model import JobInFlight
from acud.waits.stages import count_stages, get_stage
from tests.unit.waits.rig import GRID, Rig, spec

UNTILS = [
    Criteria("x"), Text("x"), Change(), Change(share=0.3, settle_s=0.5), Stable(2.0), Stable(2.0, ignore_blinking=True),
    WindowTitle("save"), AllOf((Criteria("x"), Stable(1.0))),
    AnyOf((AllOf((WindowTitle("save"), Criteria("a"))), NotOf(Text("b")))), AnyOf((Change(), NotOf(Criteria("x")))),
    Then((Text("x"), Text("y"), NotOf(Text("x")))),
    Then((WindowTitle("save"), WindowTitle("save", gone=True), Stable(1.0))),
    Then((AllOf((Change(), Criteria("x"))), Change(settle_s=0.5))),
]  # fmt: skip
CROPS = [None, Rect(0, 0, 32, 32), Rect(5, 5, 32, 20)]
answers = st.sampled_from([no("n"), no("n"), no("n"), yes("y"), unknown("engine", "u")])


class Machine(RuleBasedStateMachine):
    """One wait, an honest world, a supervisor that may be slow, lossy and forgetful of order."""

    @initialize(
        until=st.sampled_from(UNTILS),
        cadence=st.sampled_from(list(Cadence)),
        gate=st.sampled_from([None, GateKind.NONE, GateKind.EXACT, GateKind.DHASH]),
        confirm=st.sampled_from([1, 1, 2]),
        crop=st.sampled_from(CROPS),
    )
    def arm(self, until: Any, cadence: Cadence, gate: GateKind | None, confirm: int, crop: Rect | None) -> None:
        self.rig = Rig(spec(until, Policy(cadence=cadence, gate=gate, confirm=confirm, min_interval_s=0.5)))
        self.noes: set[tuple[int, str]] = set()
        self.stage = 0
        self.rig.aim(crop)

    def grabbed(self, tiles: int | None) -> None:
        """Publish a frame, or say that nothing is new."""
        view_state = self.rig.wait.view_state
        epoch = view_state.view.epoch if view_state else 1
        if tiles == 0:
            self.rig.tell(happened.FrameSeen(self.rig.now, epoch, self.rig.frame, 0, self.rig.now))
        else:
            self.rig.change(tiles, epoch=epoch)

    @rule(tiles=st.integers(0, GRID.all) | st.none())
    def grab(self, tiles: int | None) -> None:
        self.grabbed(tiles)

    @rule(seconds=st.sampled_from([0.01, 0.2, 0.6, 1.0, 3.0, 31.0]))
    def pass_time(self, seconds: float) -> None:
        """Time, with the ticks that were asked for."""
        self.rig.later(seconds)

    @rule()
    def come_near_the_deadline(self) -> None:
        self.rig.tell(happened.DeadlineNear(self.rig.now))

    @rule(kind=st.sampled_from(list(JobKind)))
    def dispatch(self, kind: JobKind) -> None:
        if self.rig.wants(kind):
            self.check_due(self.rig.wait.requests.jobs[kind])
            self.rig.dispatch(kind)

    def check_due(self, due: out.JobRequest) -> None:
        view_state = self.rig.wait.in_view
        assert view_state is not None
        assert (due.source, due.crop, due.epoch) == (
            view_state.view.source,
            view_state.view.crop,
            view_state.view.epoch,
        )
        assert due.min_frame <= view_state.frame
        assert (due.kind is JobKind.JUDGE) == bool(due.asks)
        for want in due.asks:
            assert all((want.index, identity) in self.noes for identity in want.memo)
            assert not (want.memo and due.force)

    @precondition(lambda self: self.rig.wait.flights)
    @rule(data=st.data(), gated=st.sampled_from([False, False, False, True]))
    def land(self, data: st.DataObject, gated: bool) -> None:
        flight: JobInFlight = data.draw(st.sampled_from(self.rig.wait.flights))
        verdicts = {want.index: data.draw(answers) for want in flight.request.asks}
        frame = max(flight.frame, min(self.rig.frame, flight.frame + 1))
        identity = f"id{frame % 3}"
        picture = flight.request.keep_evidence and data.draw(st.booleans())
        before = self.rig.wait
        later = {
            stage: {index: data.draw(answers) for index in range(len(leaves(get_stage(before.spec.until, stage))))}
            for stage in flight.request.ahead
        }
        self.rig.answer(
            flight.job_id, verdicts, identity=identity, frame=frame, gated=gated, picture=picture, later=later
        )
        stayed = before.is_current(flight) and self.rig.wait.stage == before.stage
        if stayed and not gated and flight.request.kind is JobKind.JUDGE:
            self.remember(identity, verdicts)
        if flight.generation != before.generation:
            assert not ended_by(self.rig, before.state)

    def remember(self, identity: str, verdicts: dict[int, Any]) -> None:
        for index, verdict in verdicts.items():
            (self.noes.add if verdict.answer is Answer.NO else self.noes.discard)((index, identity))

    @precondition(lambda self: self.rig.wait.flights)
    @rule(data=st.data(), code=st.sampled_from(["frame_gone", "engine"]))
    def lose(self, data: st.DataObject, code: str) -> None:
        self.rig.lose(data.draw(st.sampled_from(self.rig.wait.flights)).job_id, code)

    @rule(titles=st.sampled_from([(), ("Editor",), ("Editor", "Save as")]))
    def windows(self, titles: tuple[str, ...]) -> None:
        self.rig.windows(*titles)

    @rule(crop=st.sampled_from(CROPS), epoch=st.integers(1, 2), size=st.sampled_from([(64, 48), (48, 48)]))
    def aim(self, crop: Rect | None, epoch: int, size: tuple[int, int]) -> None:
        """The target moves, the capture restarts, the display is resized."""
        before = self.rig.wait.view_state
        self.rig.aim(crop, epoch=epoch, size=size)
        after = self.rig.wait.view_state
        if before and after and not before.view.same_shape(after.view):
            self.noes.clear()

    @rule(dead=st.booleans())
    def lost(self, dead: bool) -> None:
        """The target goes out of view, or the display dies."""
        gone = unknown("window_missing", "no window")
        died = happened.SourceLost(self.rig.now, "display_down", "it died")
        self.rig.tell(died if dead else happened.TargetLost(self.rig.now, gone))

    @rule()
    def restart_policy(self) -> None:
        if self.rig.wait.state is WaitState.WATCHING:
            policy = Policy(cadence=Cadence.EVENT, min_interval_s=0.5)
            self.rig.tell(happened.SpecUpdated(self.rig.now, spec(self.rig.wait.spec.until, policy)))

    # ---- what always holds -----------------------------------------------------------------------------------------

    @invariant()
    def planning_twice_is_planning_once(self) -> None:
        """A tick at the same moment finds nothing left to do, so no loop can be busy."""
        again = step(self.rig.wait, happened.Tick(self.rig.now))
        assert again.effects == ()
        assert again.wait == self.rig.wait

    @invariant()
    def never_more_than_two_calls(self) -> None:
        """Two calls at most are in the air for what is watched now, and with readings that cost nothing four."""
        flights, leaves = self.rig.wait.in_flight(JobKind.JUDGE), self.rig.wait.leaves
        paid = [one for one in flights if any(not isinstance(leaves[ask.index], Text) for ask in one.request.asks)]
        assert len(paid) <= MOST_FLIGHTS
        assert len(flights) <= MOST_READINGS
        assert len(self.rig.wait.in_flight(JobKind.IDENTITY)) <= 1
        assert len(self.rig.wait.in_flight(JobKind.EVIDENCE)) <= 1

    @invariant()
    def the_next_tick_is_to_come(self) -> None:
        wake_at = self.rig.wait.requests.wake_at
        assert wake_at is None or wake_at > self.rig.now

    @invariant()
    def ends_once_and_only_with_a_yes(self) -> None:
        """There is one end; a resolution carries a yes and a picture, or the reason for none."""
        ends = [
            e
            for e in self.rig.all
            if isinstance(e, out.WaitResolved | out.WaitTimedOut | out.WaitCancelled | out.WaitFailed)
        ]
        assert len(ends) == (self.rig.wait.state is not WaitState.WATCHING)
        for end in ends:
            assert isinstance(end, out.WaitResolved)
            assert end.verdict.answer is Answer.YES
            assert bool(end.evidence.name) != bool(end.evidence.reason)

    @invariant()
    def stages_come_in_turn(self) -> None:
        """Each stage is reached once, with a yes and its picture or the reason for none."""
        if self.rig.wait.stage != self.stage:  # the memo is of the stage before
            self.stage = self.rig.wait.stage
            self.noes.clear()
        reached = [effect for effect in self.rig.all if isinstance(effect, out.StageReached)]
        assert [one.stage for one in reached] == list(range(self.rig.wait.stage))
        for one in reached:
            assert one.verdict.answer is Answer.YES
            assert bool(one.evidence.name) != bool(one.evidence.reason)
        if self.rig.wait.state is WaitState.RESOLVED:
            assert self.rig.wait.stage + 1 == count_stages(self.rig.wait.spec.until)

    @invariant()
    def failure_is_not_absence(self) -> None:
        """While the target is missing nothing that needs its pixels is answered."""
        wait = self.rig.wait
        if wait.missing is not None and wait.state is WaitState.WATCHING:
            assert not wait.requests.jobs
            if all(not isinstance(leaf, WindowTitle) for leaf in wait.leaves):
                assert wait.verdict.answer is Answer.UNKNOWN

    def teardown(self) -> None:
        """Whatever happened: given time, grabs and answers, the newest pixels are judged; and a deadline ends it."""
        if not hasattr(self, "rig"):
            return
        self.rig.aim(epoch=9)
        self.grabbed(None)
        for _ in range(30):
            self.settle()
        wait = self.rig.wait
        if wait.state is WaitState.WATCHING and wait.in_view is not None:
            assert not any(isinstance(leaf, Change | Stable) and wait.in_view.uncertain for leaf in wait.leaves)
        self.rig.tell(happened.DeadlinePassed(self.rig.now))
        assert self.rig.wait.state is not WaitState.WATCHING

    def settle(self) -> None:
        """Answer everything that is asked for; the judge says no."""
        for kind in list(self.rig.wait.requests.jobs):
            if not self.rig.wants(kind):
                continue
            job = self.rig.dispatch(kind)
            flight = next(f for f in self.rig.wait.flights if f.job_id == job)
            self.rig.answer(job, {want.index: no("n") for want in flight.request.asks}, identity="same", picture=True)
            if self.rig.wait.state is not WaitState.WATCHING:
                return
        if self.rig.wait.requests.grab_asked is not None:
            self.grabbed(0)
        self.rig.later(0.3)


def ended_by(rig: Rig, before: WaitState) -> bool:
    return before is WaitState.WATCHING and rig.wait.state is not WaitState.WATCHING


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
