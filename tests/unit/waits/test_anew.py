"""What was there before: told, and not counted where acud itself typed it or something new is asked for."""

import pytest

from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    NotOf,
    Policy,
    ScreenImage,
    Stable,
    Text,
    Until,
    Widget,
    WindowTitle,
    no,
    unknown,
    yes,
)
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.anew import WAS_THERE, add_typed, find_typed
from acud.waits.read_text import is_echo
from acud.waits.terminals import judge_pane
from tests.unit.waits.rig import Rig, spec

READY = Text("READY")
LONG = "read x </tmp/of-root/of-123/a_terminal_counts_what/go; echo READY\n"
FRESH = Policy(fresh=True, hold_s=0.0)


def is_over(rig: Rig) -> bool:
    """Tell whether the wait has resolved; a yes is pictured first."""
    return isinstance(rig.ending, out.WaitResolved)


def see(rig: Rig, times: int, tiles: int = 1) -> None:
    """Show another frame, on which the thing is there so often."""
    rig.change(tiles)
    rig.later(2.1)
    verdict = yes("reads it", times=times) if times else no("not there")
    rig.judge(verdict, picture=True)


# ---- what is typed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "pane", "answer"),
    [
        ("sleep 12; echo READY\n", "$ sleep 12; echo READY\n", Answer.NO),
        ("sleep 12; echo READY\n", "$ sleep 12; echo READY\nREADY\n$ ", Answer.YES),
        ("sleep 12; echo READY\n", "$ sleep 3\nsleep 12; echo READY\n$ sleep 12; echo READY", Answer.NO),
        ("sleep 12; echo READY\n", "READY\n", Answer.YES),  # the screen was cleared
        ("echo 'Deployment READY'\n", "$ echo 'Deployment READY'\nDeployment READY\n", Answer.YES),
        ("clear; echo Build READY\n", "Build READY\n$ ", Answer.YES),
        ("make; echo Build READY\n", "$ make; echo Build READY\n[12:01] Build READY\n$ ", Answer.YES),
        (LONG, f"> {LONG[:40]}\n{LONG[40:]}", Answer.NO),
        (LONG, f"> {LONG[:40]}\n{LONG[40:]}READY", Answer.YES),
        ("read x </tmp/go; echo READY\n", "$ read x </tmp/qo; ecl\no READY\n", Answer.NO),
        ("sleep 12; echo READY && date\n", "$ sleep 12; echo READY && da", Answer.NO),  # typed in part
        ("sleep 12; echo 'READY'\n", "$ sleep 12; ech0 READY'\n", Answer.NO),  # as engines read it
        ("sleep 12; echo READY\n", "a long prompt $ sleep 12; echo\nREADY\n", Answer.NO),  # wrapped
        ("Order READY\n", "Search: Order READY\nOrder READY found: 3", Answer.YES),
        ("print('READY')\n", ">>> print('READY')\nREADY\n", Answer.YES),
        ("ls READY\n", "user@host:~$ ls READY\n", Answer.NO),
        ("./fox READY\n", "user@host:~$ ./fox READY\na fox\nREADY\n", Answer.YES),
        (LONG, LONG[40:], Answer.NO),  # its beginning has scrolled off
        (LONG, f"{LONG[40:]}READY", Answer.YES),
        ("make; ./deploy --now READY\n", "ploy --now READY\n", Answer.NO),
        ("make; ./deploy --now READY\n", "--now READY\n", Answer.YES),  # all of it may be what was written
        ('echo "a; b READY"\n', '$ echo "a; b READY"\na; b READY\n', Answer.YES),
    ],
)
def test_the_echo_of_a_command_is_no_evidence(typed: str, pane: str, answer: Answer) -> None:
    verdict = judge_pane(READY, pane, find_typed(READY, add_typed((), typed)).echoes)
    assert verdict.answer is answer
    assert (answer is Answer.YES) or "typed" in verdict.detail


def test_typed_text_is_kept_in_lines() -> None:
    lines = add_typed(add_typed(add_typed((), "sleep 1; ec"), "ho READY\nda"), "te")
    assert lines == ("sleep 1; echo READY\n", "date")
    assert add_typed(add_typed(("Anna",), ""), "Bern") == ("Anna", "Bern")
    found = find_typed(READY, lines)
    assert (len(found.echoes), found.once) == (1, 0)
    assert is_echo(found.echoes, "$ sleep 1; echo ", "")
    assert find_typed(READY, ("READY\n", "echo READY")).once == 2
    assert find_typed(Text("READY", gone=True), lines).echoes == ()


def test_text_that_begins_a_line_or_stays_in_a_field_is_shown_once_for_nothing() -> None:
    rig = Rig(spec(READY)).start()
    rig.judge(no("not there"))
    rig.tell(happened.Typed(rig.now, "READY"))
    see(rig, 1)
    assert not is_over(rig)
    assert "what acud itself typed" in rig.wait.verdict.detail
    see(rig, 2)
    assert is_over(rig)


@pytest.mark.parametrize("before", ["", "sleep 5; echo READY"])
def test_what_was_typed_after_a_job_left_is_no_evidence_for_it(before: str) -> None:
    """Its frame may show the echo, of which its evaluator knows nothing; `before`: what was typed by then."""
    rig = Rig(spec(READY)).start()
    rig.judge(no("not there"))
    if before:
        rig.tell(happened.Typed(rig.now, before))
    rig.change(1)
    rig.later(2.1)
    job = rig.dispatch()
    rig.tell(happened.Typed(rig.now, "sleep 5; echo READY\n".removeprefix(before)))
    rig.answer(job, {0: yes("reads the echo", times=1)}, picture=True)
    assert (is_over(rig), rig.wait.verdict.code) == (False, "not_judged")
    see(rig, 0)
    assert rig.wait.verdict.answer is Answer.NO
    see(rig, 1)
    assert is_over(rig)


def test_what_came_back_after_it_was_away_is_new() -> None:
    rig = Rig(spec(READY)).start()
    rig.tell(happened.Typed(rig.now, "READY"))
    for times in (1, 0, 1):
        assert not is_over(rig)
        see(rig, times) if rig.frame > 1 else rig.judge(yes("", times=times))
        rig.change(1)
    assert is_over(rig)


def test_a_terminal_is_told_what_was_typed_and_counts_what_it_wrote() -> None:
    rig = Rig(spec(READY, FRESH)).start()
    rig.tell(happened.TerminalSeen(rig.now, "READY\n$ ", rig.now))
    rig.tell(happened.Typed(rig.now, "sleep 1; echo READY\n"))
    rig.tell(happened.TerminalSeen(rig.now, "READY\n$ sleep 1; echo READY", rig.now, "READY\n$ sleep 1; echo READY"))
    assert rig.wait.verdict.answer is Answer.NO
    gone = "READY\n$ sleep 1; echo READY\n" + "line\n" * 40
    rig.tell(happened.TerminalSeen(rig.now, "line\n" * 20, rig.now, gone))
    assert rig.wait.verdict.answer is Answer.NO  # what scrolled off is what was there
    rig.tell(happened.TerminalSeen(rig.now, "READY\n", rig.now))
    assert rig.wait.verdict.answer is Answer.YES


# ---- what was there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", [READY, ScreenImage(digest="0" * 32), Text("Ready", regex=True)])
def test_what_stood_there_at_arming_is_told_unless_the_target_changed_before_the_first_look(leaf: Until) -> None:
    rig = Rig(spec(leaf)).start()
    rig.judge(yes("reads it"), picture=True)
    assert isinstance(rig.ending, out.WaitResolved)
    assert rig.ending.verdict.detail == f"reads it; {WAS_THERE}"
    late = Rig(spec(leaf)).start()
    late.change(1)
    late.judge(yes("reads it"), picture=True)
    assert isinstance(late.ending, out.WaitResolved)
    assert late.ending.verdict.detail == "reads it"


def test_a_window_and_a_widget_that_stood_there_are_told_and_fresh_asks_for_others() -> None:
    told = Rig(spec(AnyOf((WindowTitle("Save"), Widget("button", "OK"))))).start()
    told.tell(happened.WidgetsRead(told.now, {1: yes('button "OK"', times=1)}))
    assert WAS_THERE in told.wait.verdict.detail
    rig = Rig(spec(WindowTitle("Save"), FRESH)).start()
    rig.windows("Save")
    assert rig.wait.verdict.answer is Answer.NO
    assert "only what comes anew counts" in rig.wait.verdict.detail
    rig.windows("Save", "Save As")
    assert rig.wait.verdict.answer is Answer.YES


def test_fresh_asks_for_one_more_or_for_one_after_it_was_away() -> None:
    rig = Rig(spec(READY, FRESH)).start()
    rig.judge(yes("reads it", times=2), picture=True)
    assert not is_over(rig)
    see(rig, 2)
    see(rig, 1)
    assert not is_over(rig)
    see(rig, 2)
    assert is_over(rig)


def test_fresh_counts_what_is_in_a_window_that_comes_later() -> None:
    rig = Rig(spec(READY, FRESH))
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no window")))
    rig.start()
    rig.judge(yes("reads it", times=1), picture=True)
    assert is_over(rig)


def test_of_all_parts_one_that_is_new_is_enough_and_of_any_each_must_be() -> None:
    both = Rig(spec(AllOf((WindowTitle("Report"), READY)), FRESH)).start()
    both.windows("Report")
    both.judge({1: no("not there")})
    see_text = {1: yes("reads it", times=1)}
    both.change(1)
    both.later(2.1)
    both.judge(see_text, picture=True)
    assert both.wait.verdict.answer is Answer.YES
    old = Rig(spec(AllOf((WindowTitle("Report"), READY)), FRESH)).start()
    old.windows("Report")
    old.judge(see_text, picture=True)
    assert old.wait.verdict.answer is Answer.NO
    gone = Rig(spec(NotOf(WindowTitle("Report")), FRESH)).start()
    gone.windows("Other")
    assert gone.wait.verdict.answer is Answer.NO
    gone.windows("Report")
    gone.windows("Other")
    assert gone.wait.verdict.answer is Answer.YES


# ---- quiet after an action -----------------------------------------------------------------------------------------


def test_quiet_counts_from_the_last_key_of_an_action_and_not_before_something_changed() -> None:
    rig = Rig(spec(Stable(1.0))).start()
    rig.tell(happened.Acting(rig.now))
    rig.later(3.0)
    rig.same()
    assert rig.wait.verdict.detail == "the action goes on"
    rig.tell(happened.Acting(rig.now, is_over=True))
    rig.later(3.0)
    rig.same()
    assert rig.wait.verdict.detail == "nothing has changed yet since the action began"
    rig.change(1)
    rig.later(0.5)
    rig.same()
    assert rig.wait.verdict.answer is Answer.NO
    rig.later(0.6)
    rig.same()
    assert rig.wait.verdict.answer is Answer.YES


def test_what_changed_during_the_action_is_quiet_so_long_after_its_last_key() -> None:
    rig = Rig(spec(Stable(1.0))).start()
    rig.tell(happened.Acting(rig.now))
    rig.change(1)
    rig.later(3.0)
    rig.tell(happened.Acting(rig.now, is_over=True))
    rig.same()
    assert rig.wait.verdict.answer is Answer.NO
    rig.later(1.1)
    rig.same()
    assert rig.wait.verdict.answer is Answer.YES


def test_a_window_that_the_action_opens_has_changed_by_that() -> None:
    rig = Rig(spec(Stable(1.0)))
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no window")))
    rig.tell(happened.Acting(rig.now))
    rig.start()
    rig.tell(happened.Acting(rig.now, is_over=True))
    rig.later(1.1)
    rig.same()
    assert rig.wait.verdict.answer is Answer.YES
