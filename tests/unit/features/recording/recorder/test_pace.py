"""When the next frame is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.recording.recorder.service import FramePace


def test_nothing_noticed_nothing_due() -> None:
    assert FramePace(2).due_s() is None


def test_the_first_is_due_at_once_and_the_next_an_interval_later() -> None:
    pace = FramePace(2)
    pace.begin_anew()
    assert pace.due_s() == float("-inf")
    pace.note_taken(10.0)
    assert pace.due_s() is None
    pace.noticed = True
    assert pace.due_s() == 10.5


def test_a_rest_saves_nothing_up() -> None:
    pace = FramePace(2)
    pace.note_taken(10.0)
    pace.note_taken(100.0)
    pace.noticed = True
    assert pace.due_s() == 100.5


@given(st.lists(st.floats(0.0, 0.2), min_size=1, max_size=50), st.floats(0.5, 10))
def test_the_rate_is_never_exceeded(lateness: list[float], fps: float) -> None:
    """Frames taken when due, each grabbed up to 0.2 s before: over any span no more than `fps`."""
    pace = FramePace(fps)
    pace.note_taken(0.0)
    taken = [0.0]
    for late in lateness:
        pace.noticed = True
        due = pace.due_s()
        assert due is not None
        taken.append(due)
        pace.note_taken(due - late)
    assert len(taken) - 1 <= taken[-1] * fps + 1e-6
    assert pytest.approx(taken[-1]) == (len(taken) - 1) / fps
