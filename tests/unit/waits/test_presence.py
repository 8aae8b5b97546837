"""What is absent while its place is hidden is unknown; windows that show, hide or took along what was seen."""

import pytest

from acud.types import (
    AllOf,
    Answer,
    Change,
    Criteria,
    NotOf,
    Rect,
    Stable,
    Text,
    Then,
    Until,
    Widget,
    WindowInfo,
    WindowTitle,
    no,
    yes,
)
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.presence import judge_hidden_region, list_negations
from tests.unit.waits.rig import Rig, spec

OWN = WindowInfo(7, "Uploader", Rect(10, 10, 30, 30))
SEEN = Rect(15, 15, 10, 10)
GONE = Text("Uploading", gone=True)


def _show(rig: Rig, *windows: WindowInfo) -> None:
    rig.tell(happened.WindowsSeen(rig.now, windows))
    rig.later(1.0)
    rig.change(0b1)


@pytest.mark.parametrize(("windows", "why"), [
    ((WindowInfo(8, "Report", Rect(24, 24, 40, 24)), OWN), 'covered by "Report" (window:0x8)'),
    ((WindowInfo(8, "Beside", Rect(40, 10, 20, 20)), OWN), ""),
    ((OWN, WindowInfo(8, "Below", Rect(0, 0, 64, 48))), ""),
    ((WindowInfo(8, "", Rect(0, 0, 64, 48), kind="popup"), OWN), "covered by window:0x8"),
    ((WindowInfo(7, "Uploader", Rect(10, 10, 30, 30), "unmapped"),), "minimised or unmapped"),
    ((WindowInfo(8, "Report", Rect(0, 0, 30, 30)), WindowInfo(7, "Uploader", Rect(30, 30, 30, 10))), ""),
    ((WindowInfo(8, "Report", Rect(36, 34, 9, 9)), WindowInfo(7, "Uploader", Rect(30, 30, 30, 10))), "Report"),
    ((WindowInfo(8, "Report", Rect(0, 0, 64, 48)),), ""),
    ((WindowInfo(7, "Uploader", OWN.bounds, "covered", frame=Rect(10, 4, 30, 12)),), "is rolled up"),
    ((WindowInfo(7, "Uploader", Rect(200, 10, 30, 30), "covered"),), "was moved out of sight"),
])  # fmt: skip
@pytest.mark.parametrize("until", [GONE, NotOf(Text("Uploading")), Then((WindowTitle("Uploader"), GONE))])
def test_what_is_absent_while_its_place_is_hidden_is_unknown(
    until: Until, windows: tuple[WindowInfo, ...], why: str
) -> None:
    """`windows`: after it was seen; "" where it is gone for certain."""
    rig = Rig(spec(until)).start()
    _show(rig, OWN)
    if isinstance(until, Then):
        rig.same()
        rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
        rig.change(0b1)
    there = yes("it is there", (SEEN,)) if isinstance(until, NotOf) else no("still there", (SEEN,))
    rig.judge(there)
    _show(rig, *windows)
    rig.judge(no("not there") if isinstance(until, NotOf) else yes("not there"))
    if not why:
        assert rig.wait.verdict.answer is Answer.YES
        return
    assert (rig.wait.verdict.answer, rig.wait.verdict.code) == (Answer.UNKNOWN, "covered")
    assert why in rig.wait.note
    rig.tell(happened.WindowsSeen(rig.now, (OWN,)))
    rig.judge(there)
    assert (rig.wait.verdict.answer, rig.wait.note) == (Answer.NO, "")


def test_a_reading_that_is_older_than_the_windows_keeps_its_place() -> None:
    rig = Rig(spec(GONE)).start()
    _show(rig, OWN)
    rig.judge(no("still there", (SEEN,)))
    _show(rig, WindowInfo(7, "Uploader", OWN.bounds, "covered", frame=Rect(10, 4, 30, 6)))
    rig.judge(no("still there", (SEEN,)))
    rig.later(1.0)
    rig.change(0b1)
    rig.judge(yes("not there"))
    assert rig.wait.verdict.code == "covered"


def test_a_widget_is_told_under_other_windows_but_not_while_its_own_is_minimised() -> None:
    rig = Rig(spec(Widget("push button", "Stop", gone=True))).start()
    over = WindowInfo(8, "Report", Rect(0, 0, 64, 48))
    _show(rig, OWN)
    rig.tell(happened.WidgetsRead(rig.now, {0: no("still there", (SEEN,))}, rig.now))
    _show(rig, WindowInfo(7, "Uploader", OWN.bounds, "unmapped"))
    rig.tell(happened.WidgetsRead(rig.now, {0: yes("gone")}, rig.now))
    assert rig.wait.verdict.code == "covered"
    _show(rig, over, OWN)
    assert rig.wait.verdict.answer is Answer.YES


UNDER = (WindowInfo(8, "Report", Rect(0, 0, 64, 48)), OWN)
NO_SPINNER = Criteria("the upload dialog has gone")


@pytest.mark.parametrize(
    ("until", "first", "later", "why"),
    [
        (GONE, UNDER, UNDER, '"Uploader" (window:0x7) is covered by "Report"'),
        (NotOf(Text("Uploading")), (OWN,), UNDER, "is covered by"),
        (GONE, (OWN,), (WindowInfo(7, "Uploader", OWN.bounds, "unmapped"),), "minimised or unmapped"),
        (NO_SPINNER, (OWN,), UNDER, "is covered by"),
        (NotOf(Criteria("the upload dialog is open")), (OWN,), UNDER, "is covered by"),
        # A window that hides a part of the target from the beginning, or one that was minimised then, hides nothing
        # that was looked at; nor is it doubted where the condition asks for what is there.
        (GONE, (WindowInfo(8, "Report", Rect(0, 0, 50, 48)), OWN), None, ""),
        (GONE, (WindowInfo(7, "Uploader", OWN.bounds, "unmapped"),), None, ""),
        (GONE, (UNDER[0], WindowInfo(7, "Desktop", Rect(0, 0, 64, 48), is_desktop=True)), None, ""),
        (NO_SPINNER, UNDER, None, ""),
        (AllOf((Text("Done"), NotOf(Text("Error")))), UNDER, None, ""),
        (GONE, (OWN,), (), ""),
    ],
)
def test_what_was_never_seen_is_unknown_while_it_may_be_hidden(
    until: Until, first: tuple[WindowInfo, ...], later: tuple[WindowInfo, ...] | None, why: str
) -> None:
    rig = Rig(spec(until)).start()
    _show(rig, *first)
    if later is not None:
        _show(rig, *later)
    holds = {index: not negated for index, negated in enumerate(list_negations(until))}
    rig.answer(rig.dispatch(), {index: yes("so it is", ()) if one else no("not there") for index, one in holds.items()})
    assert (rig.wait.verdict.answer, rig.wait.verdict.code) == (
        (Answer.UNKNOWN, "covered") if why else (Answer.YES, "")
    )
    assert why in rig.wait.note
    if why:
        rig.tell(happened.WindowsSeen(rig.now, (OWN,)))
        rig.answer(
            rig.dispatch(), {index: yes("so it is", ()) if one else no("not there") for index, one in holds.items()}
        )
        assert (rig.wait.verdict.answer, rig.wait.note) == (Answer.YES, "")


@pytest.mark.parametrize(
    ("until", "windows", "why"),
    [
        (Change(), (WindowInfo(8, "Report", Rect(0, 0, 64, 48), pid=2), OWN), "covered"),
        (Change(), (WindowInfo(8 << 21, "Report", Rect(0, 0, 64, 48)), OWN), "covered"),
        (Stable(1), (WindowInfo(7, "Uploader", OWN.bounds, "unmapped"),), "covered"),
        # A part is in sight; a window of the same program; one that closed; and a text that may come in any window.
        (Change(), (WindowInfo(8, "Report", Rect(0, 0, 20, 48), pid=2), OWN), ""),
        (Change(), (WindowInfo(8, "Question", Rect(0, 0, 64, 48)), OWN), ""),
        (Change(), (WindowInfo(8, "Report", Rect(0, 0, 64, 48), pid=2),), ""),
        (AllOf((Stable(1), Text("Done"))), (WindowInfo(8, "Report", Rect(0, 0, 64, 48), pid=2), OWN), ""),
    ],
)
def test_changes_and_quiet_of_a_region_are_unknown_while_other_programs_hide_it(
    until: Until, windows: tuple[WindowInfo, ...], why: str
) -> None:
    rig = Rig(spec(until)).start()
    _show(rig, OWN)
    hidden = judge_hidden_region(rig.wait, windows, Rect(12, 12, 20, 20))
    assert (hidden.code if hidden else "") == why
