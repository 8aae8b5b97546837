"""Which waits another host can take over, and the words of one that was."""

import pytest

from acud.base.errors import InvalidRequest
from acud.types import (
    AllOf,
    Change,
    Criteria,
    FileState,
    NotOf,
    ProcessExit,
    Rearmed,
    Rect,
    ScreenImage,
    Stable,
    Target,
    Text,
    Then,
    Until,
    Widget,
    WindowTitle,
)
from acud.waits.rearmable import check_rearmable, rearmed_text

SCREEN = Target(display=":100")
DONE = Text("Done")


@pytest.mark.parametrize(
    ("until", "target"),
    [
        (DONE, SCREEN),
        (Criteria("the build has ended"), SCREEN),
        (AllOf((WindowTitle("Export"), NotOf(Widget("button", "Stop")))), SCREEN),
        (Stable(2.0), Target(region=Rect(0, 0, 10, 10))),
        (DONE, Target(window="Export 3")),
        (DONE, Target(monitor="1", ignore=(Rect(0, 0, 10, 10),))),
        (Then((DONE, Change())), SCREEN),  # counted from its stage's start
    ],
)
def test_a_wait_that_asks_what_new_programs_show_can_be_taken_over(until: Until, target: Target) -> None:
    check_rearmable(until, target)


@pytest.mark.parametrize(("until", "target", "why"), [
    (AllOf((DONE, FileState("/srv/a"))), SCREEN, "a file or process"),
    (ProcessExit(7), SCREEN, "a file or process"), (Then((DONE, ProcessExit(7))), SCREEN, "a file or process"),
    (DONE, Target(pty="build"), "terminal session"), (DONE, Target(window="0x1200003"), "id"),
    (DONE, Target(window="18874371"), "id"), (Change(), SCREEN, "pixels of this display"),
    (Then((Change(baseline=":100@1.2"), DONE)), SCREEN, "pixels of this display"),
    (ScreenImage(digest="0" * 32), SCREEN, "image"),
])  # fmt: skip
def test_a_wait_that_is_bound_to_its_host_is_refused_with_the_reason(until: Until, target: Target, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why) as refused:
        check_rearmable(until, target)
    assert "on_host_lost" in refused.value.hint


def test_the_words_name_both_hosts_and_say_what_is_lost() -> None:
    words = rearmed_text(Rearmed(43_200.0, "h3", ("h1", "h2")))
    assert "armed again on host h3 at 12:00:00 UTC, as host h2 was lost" in words
    assert "programs were started anew" in words
