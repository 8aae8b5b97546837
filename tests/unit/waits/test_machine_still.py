"""A display that stands still costs a bounded number of jobs, and no change of a target is missed or made up.

Both are looked at again and again in random histories: notices late or withheld, jobs slow, lost or answered out of
order, targets of whole and of partial tiles, windows moved, hidden and shown again.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.types import AllOf, AnyOf, Change, Criteria, Rect, Stable, Until
from acud.waits.effects import JobKind
from acud.waits.lifecycle import has_ended
from tests.unit.waits.world import SHAPE, World

OUTCOMES = ("done", "frame_gone", "engine", "silent", "old")
STILL_S = 10.0
BURST = 12
"""Jobs that a still display may cost at once: what was pending when it came to rest, each lost a few times."""
MOST_PER_S = 2.0
WORD_S = 1.0
"""What has changed by then has been told."""

CHANGES: list[Until] = [Change(), Change(settle_s=0.5), AnyOf((Change(), Criteria("x")))]
OTHERS: list[Until] = [Stable(1.0), Criteria("x"), AllOf((Criteria("x"), Stable(0.5))), Change(share=0.4)]
TARGETS: list[tuple[Rect | None, tuple[Rect, ...]]] = [
    (None, ()), (None, (Rect(3, 3, 20, 4),)), (Rect(0, 0, 32, 32), ()), (Rect(5, 5, 32, 20), ()),
    (Rect(17, 17, 7, 7), ()), (Rect(0, 0, 64, 48), (Rect(4, 4, 20, 20),)),
]  # fmt: skip
SPOTS = [(18, 18), (20, 20), (28, 12), (12, 30), (40, 40), (60, 2), (60, 2), (1, 1)]
PLACES = [None, None, (16, 16), (16, 16), (5, 5), (20, 21)]


class History:
    """One wait and whatever may happen around it."""

    def __init__(self, chance: random.Random, untils: list[Until]) -> None:
        self.chance = chance
        self.world = World(chance.choice(untils), *chance.choice(TARGETS))

    def go_on(self) -> None:
        happens = [self.paint] * 6 + [self.hear] * 5 + [self.dispatch] * 3 + [self.take] * 2 + [self.land] * 3
        self.chance.choice([*happens, self.rest, self.pass_time, self.world.grab, self.move])()

    def paint(self) -> None:
        """Paint a box of the window or of what is behind it; three colours, so that it may be as it was."""
        inside = self.chance.random() < 0.4
        (x, y), (w, h) = self.chance.choice(SPOTS), self.chance.choice([(1, 1), (3, 3), (3, 3), (16, 9), (40, 30)])
        pixels = self.world.window if inside else self.world.back
        if inside:
            x, y = x % SHAPE[0], y % SHAPE[1]
        pixels[y : y + h, x : x + w] = self.chance.randint(1, 3)
        if self.chance.random() < 0.8:
            self.world.grab()

    def rest(self) -> None:
        """Nothing happens for long: what the target looks like is known."""
        self.world.stand_still(2.0)

    def hear(self) -> None:
        for _ in range(min(self.chance.randint(1, 4), len(self.world.notices))):
            self.world.hear()

    def dispatch(self) -> None:
        for kind in [kind for kind in JobKind if kind in self.world.wait.requests.jobs]:
            self.world.dispatch(kind)

    def take(self) -> None:
        if self.world.ring and self.world.flying:
            self.world.take(self.chance.choice(sorted(self.world.flying)))

    def land(self) -> None:
        if self.world.ring and self.world.flying:
            outcome = self.chance.choice(["done"] * 6 + ["frame_gone", "engine", "silent"])
            self.world.land(self.chance.choice(sorted(self.world.flying)), outcome)

    def pass_time(self) -> None:
        self.world.now += self.chance.choice([0.01, 0.2, 0.6, 1.5])

    def move(self) -> None:
        """The window is moved, hidden or shown; its list precedes the frame that shows it."""
        place = self.chance.choice(PLACES)
        if self.world.region is None and place != self.world.place:
            self.world.grab()
            while self.world.notices:
                self.world.hear()
            self.world.flying.clear()  # what jobs of another view tell is stale
            self.world.place = place
            self.world.aim()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_a_still_display_costs_few_jobs_however_they_end(seed: int) -> None:
    history, limit = History(random.Random(seed), CHANGES + OTHERS), int(BURST + MOST_PER_S * STILL_S)
    for _ in range(30):
        history.go_on()
        outcome = history.chance.choice(OUTCOMES)
        jobs = history.world.fork().stand_still(STILL_S, outcome, limit + 1)
        assert jobs <= limit, f"more than {limit} jobs in {STILL_S:g} s where each is {outcome}"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_no_change_is_missed_or_made_up(seed: int) -> None:
    """A second after the last paint the wait holds if its target differs from the baseline, and only if it ever did.

    What could not be compared is unknown, and says so.
    """
    history = History(random.Random(seed), CHANGES)
    for _ in range(6):
        for _ in range(8):
            history.go_on()
        world = history.world.fork()
        world.stand_still(WORD_S)
        view_state = world.wait.view_state
        if world.base is None or world.crop is None or view_state is None:
            continue
        held = has_ended(world.wait.state) or any(one.holds_from is not None for one in view_state.changes.values())
        if world.look(world.screen()) != world.base:
            assert held or any(one.doubt for one in view_state.changes.values()), "missed"
        elif held and len(world.looks) == 1:
            assert any(one.unsure for one in view_state.changes.values()), "made up"


def test_a_neighbour_that_paints_while_evaluators_are_busy_hides_no_change() -> None:
    """The history that was missed for ever, with 1,000 jobs a second."""
    world = World(Change(), Rect(1, 1, 7, 7))
    world.stand_still(1.0)
    world.back[1:8, 1:8] = 9
    world.grab()
    world.hear()
    world.dispatch(JobKind.IDENTITY)
    world.back[0:4, 60:64] = 9
    world.grab()
    world.hear()
    assert world.stand_still(WORD_S) < BURST
    assert has_ended(world.wait.state)


@pytest.mark.parametrize("painted", [False, True])
def test_a_window_that_was_hidden_is_compared_by_its_look(painted: bool) -> None:
    world = World(Change())
    world.stand_still(1.0)
    world.place = None
    world.aim()
    world.stand_still(0.5)
    if painted:
        world.window[0, 0] = 1
    world.place = (16, 16)
    world.aim()
    world.stand_still(WORD_S)
    assert has_ended(world.wait.state) is painted
