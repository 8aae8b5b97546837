"""A verdict from the window list or a terminal, and its picture, are of one moment."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from acud.types import AllOf, Answer, AnyOf, Change, Criteria, Stable, Target, Text, Until, WaitState, WindowTitle, yes
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from tests.unit.waits.rig import Rig, spec

EVIDENCE, JUDGE = JobKind.EVIDENCE, JobKind.JUDGE
GONE = WindowTitle("Export", gone=True)
PANE = Target(pty="build")


def find_resolved(rig: Rig) -> out.WaitResolved:
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.evidence.name
    return rig.ending


def gone() -> Rig:
    rig = Rig(spec(GONE)).start()
    rig.windows("Export")
    rig.windows("Editor")
    return rig


def test_the_picture_is_of_a_frame_that_is_no_older_than_the_list() -> None:
    rig = gone()
    assert rig.asked(out.GrabRequest)
    assert not rig.wants(EVIDENCE)
    rig.tell(happened.FrameSeen(rig.now, 1, rig.frame, 0, rig.now - 0.1))  # grabbed before the list was read
    assert not rig.wants(EVIDENCE)
    rig.same()
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    assert find_resolved(rig).evidence.frame == rig.frame


def test_a_window_that_is_back_before_the_picture_keeps_the_wait_going() -> None:
    rig = gone()
    rig.windows("Export")
    assert rig.wait.pending is None
    assert (rig.wait.state, rig.wait.verdict.answer) == (WaitState.WATCHING, Answer.NO)
    rig.same()
    assert not rig.wants(EVIDENCE)
    rig.windows("Editor")
    rig.same()
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    find_resolved(rig)


def test_a_picture_of_after_the_window_came_back_is_none_of_its_absence() -> None:
    """The fault: the picture came 4 s after the verdict, and showed the window."""
    rig = gone()
    rig.same()
    job = rig.dispatch(EVIDENCE)
    rig.windows("Export")
    rig.change(1)
    rig.later(4)
    rig.answer(job, {}, picture=True)
    assert rig.wait.state is WaitState.WATCHING
    assert rig.wait.verdict.detail == 'the window "Export" is there'


def test_a_picture_of_the_absence_counts_though_the_window_is_back_when_it_comes() -> None:
    rig = gone()
    rig.same()
    job, frame = rig.dispatch(EVIDENCE), rig.frame
    rig.windows("Export")
    rig.change(1)
    rig.answer(job, {}, frame=frame, picture=True)
    assert find_resolved(rig).verdict.detail.startswith('no window titled "Export" is there')


def test_a_picture_of_a_newer_frame_waits_for_the_list_of_that_moment() -> None:
    rig = gone()
    rig.same()
    job = rig.dispatch(EVIDENCE)
    rig.frame += 1  # grabbed and pictured before its notice is read
    rig.answer(job, {}, picture=True)
    assert rig.wait.state is WaitState.WATCHING
    assert rig.asked(out.GrabRequest)
    rig.same()
    find_resolved(rig)


def test_the_window_of_a_newer_picture_comes_with_that_list() -> None:
    rig = gone()
    rig.same()
    job = rig.dispatch(EVIDENCE)
    rig.frame += 1
    rig.answer(job, {}, picture=True)
    rig.windows("Export")
    assert rig.wait.state is WaitState.WATCHING
    assert rig.wait.pending is None


def test_a_broken_yes_whose_picture_never_comes_is_dropped() -> None:
    rig = gone()
    rig.same()
    job = rig.dispatch(EVIDENCE)
    rig.windows("Export")
    rig.lose(job)
    assert rig.wait.state is WaitState.WATCHING
    assert rig.wait.pending is None


@pytest.mark.parametrize("back", [True, False])
def test_a_deadline_before_the_picture_tells_what_the_list_says_then(back: bool) -> None:
    rig = gone()
    rig.same()
    rig.dispatch(EVIDENCE)
    if back:
        rig.windows("Export")
    rig.tell(happened.DeadlinePassed(rig.now))
    assert isinstance(rig.ending, out.WaitTimedOut if back else out.WaitResolved)


def test_a_part_that_denies_nothing_leaves_the_yes_alone() -> None:
    rig = Rig(spec(AnyOf((GONE, Change())))).start()
    rig.windows("Export")
    rig.change(1)
    rig.windows("Export", "Editor")
    rig.same()
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    assert "changed tiles" in find_resolved(rig).verdict.detail


def test_words_judged_on_a_frame_before_the_window_went_are_judged_again() -> None:
    rig = Rig(spec(AllOf((GONE, Criteria("the file is there"))))).start()
    rig.windows("Export")
    rig.windows("Editor")
    rig.same()
    job, before = rig.dispatch(), rig.frame
    rig.windows("Export")
    rig.windows("Editor")
    rig.answer(job, {1: yes("seen")}, frame=before, picture=True)
    assert rig.wait.state is WaitState.WATCHING
    rig.change(1)
    rig.same()
    assert rig.wait.state is WaitState.WATCHING
    rig.later(2)
    rig.judge({1: yes("seen")}, picture=True)
    rig.same()
    find_resolved(rig)


def test_quiet_that_ended_before_its_picture_is_waited_for_again() -> None:
    rig = Rig(spec(Stable(1.0))).start()
    rig.later(1)
    rig.same()
    job = rig.dispatch(EVIDENCE)
    rig.change(1)
    rig.answer(job, {}, picture=True)
    assert rig.wait.state is WaitState.WATCHING
    rig.later(1)
    rig.same()
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    find_resolved(rig)


def test_quiet_whose_picture_was_taken_before_it_ended_has_held() -> None:
    rig = Rig(spec(Stable(1.0))).start()
    rig.later(1)
    rig.same()
    job, frame = rig.dispatch(EVIDENCE), rig.frame
    rig.change(1)
    rig.answer(job, {}, frame=frame, picture=True)
    find_resolved(rig)


def test_a_change_that_came_stays_one_on_later_pictures() -> None:
    rig = Rig(spec(Change())).start()
    rig.change(1)
    job = rig.dispatch(EVIDENCE)
    rig.change(2)
    rig.answer(job, {}, picture=True)
    find_resolved(rig)


# ---- terminals -----------------------------------------------------------------------------------------------------


def pane(rig: Rig, text: str) -> None:
    rig.tell(happened.TerminalSeen(rig.now, text, rig.now))


def test_a_terminal_is_read_again_after_its_picture() -> None:
    rig = Rig(spec(Text("done"), target=PANE)).start()
    pane(rig, "working")
    rig.later(1)
    pane(rig, "done")
    assert rig.asked(out.GrabRequest)
    rig.later(0.1)
    rig.same()
    rig.later(0.1)
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    assert rig.asked(out.TextReadRequest)
    assert rig.wait.state is WaitState.WATCHING
    pane(rig, "done")
    find_resolved(rig)


def test_a_terminal_that_reads_otherwise_after_its_picture_keeps_the_wait_going() -> None:
    rig = Rig(spec(Text("done"), target=PANE)).start()
    pane(rig, "done")
    rig.later(0.1)
    rig.same()
    rig.answer(rig.dispatch(EVIDENCE), {}, picture=True)
    pane(rig, "working again")
    assert rig.wait.state is WaitState.WATCHING
    assert rig.wait.pending is None


# ---- any order -----------------------------------------------------------------------------------------------------

STEPS = ("open", "close", "list", "grab", "tell", "tell", "dispatch", "land", "land old", "time")
FEW = settings(max_examples=150)


class World:
    """A display on which a window comes and goes. Lists and frames are told in order, late; pictures at any time."""

    def __init__(self, until: Until) -> None:
        self.rig = Rig(spec(until))
        self.there = self.listed = False
        self.shows: dict[int, bool] = {}
        self.told: list[happened.WaitEvent | bool] = []
        self.jobs: list[tuple[str, int]] = []
        self.rig.aim()
        for step in ("open", "list", "grab", "tell", "tell", "close", "list", "tell"):
            self.do(step)

    def list(self) -> None:
        if self.listed is not self.there:
            self.listed = self.there
            self.told.append(self.there)

    def grab(self) -> None:
        """Grab what is there; a frame never precedes its windows."""
        if self.there is not self.shows.get(self.rig.frame):
            self.rig.frame += 1
            self.shows[self.rig.frame] = self.there
        self.list()
        self.told.append(happened.FrameSeen(self.rig.now, 1, self.rig.frame, 1, self.rig.now))

    def tell(self) -> None:
        match self.told.pop(0) if self.told else None:
            case bool() as there:
                self.rig.windows(*(("Export",) if there else ("Editor",)))
            case happened.FrameSeen() as seen:
                self.rig.tell(replace(seen, at=self.rig.now))

    def do(self, step: str) -> None:
        self.rig.later(0.01)
        match step:
            case "open" | "close":
                self.there = step == "open"
            case "list":
                self.list()
            case "grab":
                self.grab()
            case "tell":
                self.tell()
            case "dispatch":
                kind = next((kind for kind in (EVIDENCE, JUDGE) if self.rig.wants(kind)), None)
                if kind is not None:
                    self.jobs.append((self.rig.dispatch(kind), self.rig.frame))
            case "land" | "land old" if self.jobs:
                job, frame = self.jobs.pop(0)
                verdicts = {1: yes("seen")} if len(self.rig.wait.leaves) > 1 else {}
                frame = self.rig.frame if step == "land" else frame
                self.rig.answer(job, verdicts, frame=frame, picture=True)
            case "time":
                self.rig.later(1.0)


@FEW
@given(
    until=st.sampled_from([GONE, AllOf((GONE, Criteria("x")))]),
    steps=st.lists(st.sampled_from(STEPS), min_size=20, max_size=40),
)
def test_no_picture_ever_shows_the_window_that_is_said_to_be_gone(until: Until, steps: list[str]) -> None:
    world = World(until)
    for step in steps:
        if world.rig.wait.state is WaitState.WATCHING:
            world.do(step)
    if isinstance(world.rig.ending, out.WaitResolved) and world.rig.ending.evidence.name:
        assert not world.shows[world.rig.ending.evidence.frame]
