"""Identities of a view in replay, from what was recorded of the whole frame."""

import numpy as np
import pytest
from numpy.typing import NDArray

from acud.features.recording.replay.frame_source import APART, ViewIdentities
from acud.types import Rect
from acud.waits.tiles import Grid

GRID = Grid(64, 64)
EVERY = GRID.all
Pixels = NDArray[np.uint8]


def picture(value: int = 0) -> Pixels:
    return np.full((64, 64, 4), value, np.uint8)


def never() -> Pixels:
    raise AssertionError("the tiles tell enough")


def test_the_whole_frame_has_the_identity_that_was_recorded() -> None:
    looks = ViewIdentities(GRID, Rect(0, 0, 64, 64), ())
    assert looks.identity("aa", EVERY, never) == "aa"


def test_tiles_tell_of_a_part_on_whole_tiles() -> None:
    looks = ViewIdentities(GRID, Rect(16, 16, 16, 16), ())
    first = looks.identity("aa", EVERY, never)
    assert looks.identity("bb", GRID.find_touching(Rect(48, 48, 1, 1)), never) == first
    second = looks.identity("cc", GRID.find_touching(Rect(16, 16, 1, 1)), never)
    assert second != first
    assert looks.identity("aa", EVERY, never) == first  # the whole frame is as it was, so the part is
    assert looks.guessed == 0


@pytest.mark.parametrize(("step", "same"), [(APART - 1, True), (APART, False)])
def test_the_video_tells_of_tiles_that_lie_partly_outside(step: int, same: bool) -> None:
    looks = ViewIdentities(GRID, Rect(20, 20, 20, 20), ())
    first = looks.identity("aa", EVERY, picture)
    after = picture()
    after[20, 20, 0] = step
    found = looks.identity("bb", GRID.find_touching(Rect(16, 16, 1, 1)), lambda: after)
    assert (found == first) is same
    assert looks.guessed == 1


def test_what_is_outside_or_ignored_is_not_looked_at() -> None:
    looks = ViewIdentities(GRID, Rect(16, 16, 32, 32), (Rect(0, 0, 20, 20),))
    first = looks.identity("aa", EVERY, picture)
    after = picture()
    after[16:36, 16:36] = 200  # the ignored box
    after[0:16, :] = 200  # above the crop
    assert looks.identity("bb", GRID.find_touching(Rect(32, 16, 1, 1)), lambda: after) == first


def test_an_identity_is_one_of_acuds() -> None:
    found = ViewIdentities(GRID, Rect(16, 16, 16, 16), ()).identity("aa", EVERY, never)
    assert len(found) == 16
    assert int(found, 16) >= 0
