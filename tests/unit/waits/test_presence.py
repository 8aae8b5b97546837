"""What is absent while its place is hidden is unknown; windows that show, hide or took along what was seen."""

from __future__ import annotations

import pytest

from acud.types import Answer, NotOf, Rect, Text, Then, Until, Widget, WindowInfo, WindowTitle, no, yes
from acud.waits import events as happened
from acud.waits.effects import JobKind
from tests.unit.waits.rig import Rig, spec

OWN = WindowInfo(7, "Uploader", Rect(10, 10, 30, 30))
SEEN = Rect(15, 15, 10, 10)
GONE = Text("Uploading", gone=True)


def _show(rig: Rig, *windows: WindowInfo) -> None:
    rig.tell(happened.WindowsSeen(rig.now, windows))
    rig.later(1.0)
    rig.change(0b1)


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        ((WindowInfo(8, "Report", Rect(24, 24, 40, 24)), OWN), 'covered by "Report" (window:0x8)'),
        ((WindowInfo(8, "Beside", Rect(40, 10, 20, 20)), OWN), ""),
        ((OWN, WindowInfo(8, "Below", Rect(0, 0, 64, 48))), ""),
        ((WindowInfo(8, "", Rect(0, 0, 64, 48), kind="popup"), OWN), "covered by window:0x8"),
        ((WindowInfo(7, "Uploader", Rect(10, 10, 30, 30), "unmapped"),), "minimised or unmapped"),
        ((WindowInfo(8, "Report", Rect(0, 0, 30, 30)), WindowInfo(7, "Uploader", Rect(30, 30, 30, 10))), ""),
        ((WindowInfo(8, "Report", Rect(36, 34, 9, 9)), WindowInfo(7, "Uploader", Rect(30, 30, 30, 10))), "Report"),
        ((WindowInfo(8, "Report", Rect(0, 0, 64, 48)),), ""),
    ],
)
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
