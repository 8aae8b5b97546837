"""The closed half of the grounding set is what was committed, and both halves are of one kind."""

import pytest

from tests.grounding import closed, half, screens, work

HALVES = pytest.mark.parametrize("part", [work.HALF, closed.HALF], ids=["work", "closed"])


def test_what_the_closed_half_shows_and_asks_is_pinned() -> None:
    assert closed.HALF.sha256() == closed.SHA256


@HALVES
def test_a_half_is_large_enough(part: half.Half) -> None:
    asked = part.descriptions()
    assert len(part.screens) >= 8
    assert len(asked) >= 90
    assert {one.screen for one in asked} == set(part.screens)
    assert sum(one.tag == "icon" for one in asked) >= 28
    assert sum(one.want == "none" for one in asked) >= len(asked) // 12
    assert sum(one.want == "several" for one in asked) >= len(asked) // 25
    assert {one.tag for one in asked} == {"", "icon"}


def test_the_halves_share_no_screen_and_no_question() -> None:
    assert not set(work.HALF.screens) & set(closed.HALF.screens)
    assert not (set(work.HALF.screens) | set(closed.HALF.screens)) & set(screens.ALL)
    asked = [{(one.words, one.want) for one in part.descriptions()} for part in (work.HALF, closed.HALF)]
    assert not {want for want in asked[0] & asked[1] if want[1] not in ("none", "several")}
    assert all(len({(one.screen, one.words) for one in part.descriptions()}) == len(part.descriptions())
               for part in (work.HALF, closed.HALF))  # fmt: skip
