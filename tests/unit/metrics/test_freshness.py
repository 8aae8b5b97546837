"""When data is too old."""

import pytest

from acud.supervisor.freshness import explain_late_beat, explain_stale_frame

FLOOR_S, LATE_S = 30.0, 5.0


@pytest.mark.parametrize(
    ("age_s", "wanted_for_s"),
    [
        (1e6, None),  # nobody wants frames: nothing is claimed of it
        (35.0, 60.0),  # the floor's grab and its heartbeat may still be on their way
        (1e6, 5.0),  # demand has only just begun, and the grab it causes is under way
        (None, 5.0),
    ],
)
def test_fresh_enough(age_s: float | None, wanted_for_s: float | None) -> None:
    assert explain_stale_frame(age_s, wanted_for_s, FLOOR_S, LATE_S) == ""


@pytest.mark.parametrize(
    ("age_s", "words"), [(35.1, "compared with the screen 35 s ago"), (None, "no frame came for 6 s")]
)
def test_stale_while_frames_are_wanted(age_s: float | None, words: str) -> None:
    assert words in explain_stale_frame(age_s, 5.9, FLOOR_S, LATE_S)


def test_a_child_is_late_after_so_long() -> None:
    assert explain_late_beat(5.0, LATE_S) == ""
    assert explain_late_beat(6.4, LATE_S) == "it has said nothing for 6 s"
