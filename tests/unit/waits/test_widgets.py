"""Conditions on widgets over a tree: what matches, in which place, and what cannot be known."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from acud.accessibility.nodes import AccessibleApp, FailedApp, Node, State, Tree
from acud.base.errors import InvalidRequest
from acud.types import Answer, Rect, Verdict, WaitState, Widget, WindowInfo, no, unknown, widget_condition, yes
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits.effects import JobKind
from acud.waits.validation import check_until
from acud.waits.widgets import WidgetPlace, WidgetsSeen, judge_widget
from tests.unit.waits.rig import Rig, spec

ON = State.ENABLED | State.SENSITIVE | State.SHOWING | State.VISIBLE
FIELD = ON | State.EDITABLE | State.FOCUSABLE
EVERYWHERE = WidgetPlace()


def node(role: str, name: str, states: int = ON, text: str = "", **more: object) -> Node:
    return replace(Node("", 0, -1, 0, role, name, states, Rect(10, 10, 40, 20), 1, text=text), **more)


NODES = (
    node("push button", "Submit", State.SHOWING | State.VISIBLE),
    node("push button", "Cancel", box=Rect(200, 10, 40, 20), window=2),
    node("check box", "Agree", ON | State.CHECKED),
    node("check box", "Some", ON | State.INDETERMINATE),
    node("text", "Name", FIELD, "Ada"),
    node("text", "Iban", FIELD, "secret"),
    node("password text", "Password", FIELD, secure=True),
    node("slider", "Volume", ON, "40", span=(0.0, 200.0)),
    node("progress bar", "", ON, "0.92", span=(0.0, 1.0)),
    node("spin button", "Weight", FIELD, "1,5 kg"),
    node("push button", "Below", State.VISIBLE | State.ENABLED),
    node("text", "Gtk4", FIELD, app=1),
)
FORM, OTHER = WindowInfo(1, "Form", Rect(0, 0, 100, 100), pid=7), WindowInfo(2, "Other", Rect(150, 0, 100, 100), pid=7)
XTERM = WindowInfo(3, "xterm", Rect(0, 200, 100, 100), pid=9)
TREE = Tree((AccessibleApp("form", 7), AccessibleApp("four", 7, "GTK", "4.8")), NODES)


def judge(
    text: str, tree: Tree = TREE, windows: tuple[WindowInfo, ...] = (FORM, OTHER), place: WidgetPlace = EVERYWHERE,
    *, was_there: bool = False, redacted: Callable[[str], str] = str,
) -> Verdict:  # fmt: skip
    seen = WidgetsSeen(tree, windows, lambda one: "iban" if one.name == "Iban" else "", redacted)
    leaf = check_until(widget_condition(text))
    assert isinstance(leaf, Widget)
    return judge_widget(leaf, seen, place, was_there=was_there)


@pytest.mark.parametrize(("text", "answer", "words"), [
    ('button "submit"', "yes", 'button "Submit" at 10,10 (40x20 px), disabled'),
    ('push button "Submit" enabled', "no", 'button "Submit" at 10,10 (40x20 px), disabled: not enabled'),
    ('button ~"mit" disabled', "yes", ""), ("button /^sub/ disabled", "yes", ""),
    ('button "Sub"', "no", 'no button "Sub" is there'), ('link "Submit"', "no", 'no link "Submit" is there'),
    ('"Submit" gone', "no", "it is still there"), ('button "Export" gone', "yes", 'no button "Export" is there'),
    ('checkbox "Agree" checked', "yes", "enabled, checked"),
    ('check box "Some" unchecked', "no", "mixed: not unchecked"), ('check box "Some" mixed', "yes", ""),
    ('entry "Name" = "Ada"', "yes", 'it reads "Ada"'), ('entry "Name" = "ada"', "no", ""),
    ('textbox "Name" contains "da"', "yes", ""), ('textbox "Name" > 3', "unknown", "not one number"),
    ('slider "Volume" >= 40', "yes", 'it reads "40"'), ('slider "Volume" >= 40 %', "no", "it is at 20 %"),
    ("progress bar >= 92", "yes", "it is at 92 %"), ('spin button "Weight" = 1.5', "yes", ""),
    ('password "Password" = "x"', "unknown", "never read"),
    ('entry "Iban" = "secret"', "unknown", "redaction rule 'iban'"), ('entry "Gtk4" = ""', "unknown", "GTK 4"),
    ('button "Submit" = "x"', "unknown", "no value"), ('button "Below" enabled', "yes", "scrolled out of sight"),
    ("button disabled", "yes", '"Submit"'),
])  # fmt: skip
def test_a_widget_is_judged_by_role_name_states_and_value(text: str, answer: str, words: str) -> None:
    verdict = judge(text)
    assert verdict.answer == answer
    assert words in verdict.detail
    assert "secret" not in verdict.detail


def test_only_what_lies_in_the_target_counts() -> None:
    assert judge('"Cancel"', place=WidgetPlace(window=2)).answer is Answer.YES
    assert judge('"Cancel"', place=WidgetPlace(window=1)).answer is Answer.NO
    assert judge('"Cancel"', place=WidgetPlace(box=Rect(190, 0, 100, 50))).answer is Answer.YES
    assert judge('"Cancel"', place=WidgetPlace(box=Rect(0, 0, 210, 50))).answer is Answer.NO
    assert judge('"Cancel"', place=WidgetPlace(ignore=(Rect(200, 0, 50, 50),))).answer is Answer.NO


def test_a_field_without_a_name_is_called_by_the_label_beside_it() -> None:
    field = node("text", "", FIELD, "Ada", ref="1", box=Rect(80, 10, 90, 20))
    label = node("label", "Given name", ref="2", box=Rect(10, 10, 60, 20))
    form = Tree((AccessibleApp("form", 7),), (label, field))
    verdict = judge('textbox "given name" = "Ada"', form)
    words = 'textbox "Given name" at 80,10 (90x20 px), enabled: it reads "Ada"'
    assert verdict == yes(words, (Rect(80, 10, 90, 20),), 1)
    assert judge('button "Given name"', form).answer is Answer.NO


@pytest.mark.parametrize("text", ['button "Export"', 'button "Export" gone'])
def test_what_no_program_tells_is_unknown_while_one_is_silent(text: str) -> None:
    every = (FORM, OTHER, XTERM)
    mute = judge(text, windows=every)
    assert (mute.answer, mute.code) == (Answer.UNKNOWN, "no_accessibility")
    assert '"xterm"' in mute.detail
    assert "start it" in mute.detail
    assert judge(text, windows=every, place=WidgetPlace(window=1)).answer is not Answer.UNKNOWN
    assert judge(text, windows=every, was_there=True).answer is not Answer.UNKNOWN
    for gap in (
        replace(TREE, failed=(FailedApp("form", 7, "it did not answer"),)),
        replace(TREE, silent=(FailedApp("form", 7, "it tells nothing of its page"),)),
        replace(TREE, truncated="nodes", left_out=3),
    ):
        assert judge(text, gap, was_there=True).code == "incomplete"
    assert judge('button "Submit"', replace(TREE, failed=(FailedApp("x", 7, "hung"),))).answer is Answer.YES


def test_words_of_programs_are_redacted_and_quoted() -> None:
    said = node("push button", 'Say "no" ' + "x" * 400)
    verdict = judge("button", Tree((AccessibleApp("a", 7),), (said,)), redacted=lambda text: text.replace("no", "***"))
    assert r'button "Say \"***\" xxx' in verdict.detail
    assert len(verdict.detail) < 200


@pytest.mark.parametrize(("leaf", "words"), [
    (Widget("knob"), "no widget has the role"), (Widget('buton "OK"'), "did you mean button?"),
    (Widget("button", gone=True, value="1"), "gone has no state or value"),
    (widget_condition('"a" enabled and disabled'), "enabled and disabled"),
    (widget_condition('slider >= "loud"'), "compared with 'loud'"), (Widget(), "names no widget"),
    (widget_condition(r"button /(a)\1/"), "widget name pattern"),
])  # fmt: skip
def test_a_condition_that_makes_no_sense_is_refused(leaf: Widget, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        check_until(leaf)


# ---- in a wait -----------------------------------------------------------------------------------------------------


def give_verdict(rig: Rig, verdict: Verdict, read_at: float | None = None) -> None:
    rig.tell(happened.WidgetsRead(rig.now, {0: verdict}, rig.now if read_at is None else read_at))


def test_a_state_that_paints_nothing_ends_a_wait_with_a_picture_of_the_moment() -> None:
    rig = Rig(spec(widget_condition('button "Submit" enabled'))).start()
    assert rig.wait.verdict.code == "not_judged"
    give_verdict(rig, no("disabled"))
    rig.later(5)
    assert not rig.wants(JobKind.JUDGE)
    give_verdict(rig, yes("enabled"))
    assert rig.asked(out.GrabRequest)
    rig.later(0.1)
    rig.same()
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    assert rig.asked(out.TextReadRequest)
    give_verdict(rig, yes("enabled"))
    assert rig.wait.state is WaitState.RESOLVED


def test_a_state_that_is_another_after_the_picture_keeps_the_wait_going() -> None:
    rig = Rig(spec(widget_condition('button "Submit" enabled'))).start()
    give_verdict(rig, yes("enabled"))
    rig.later(0.1)
    rig.same()
    rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    give_verdict(rig, no("disabled"))
    assert (rig.wait.state, rig.wait.pending) == (WaitState.WATCHING, None)


@pytest.mark.parametrize("has_picture", [False, True])
def test_a_yes_stays_one_when_its_program_stalls_before_the_picture(has_picture: bool) -> None:
    rig = Rig(spec(widget_condition('button "Submit" enabled'))).start()
    give_verdict(rig, yes("enabled"))
    if has_picture:
        rig.later(0.1)
        rig.same()
        rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    give_verdict(rig, unknown("incomplete", "it did not answer for 0.5 s"))
    rig.later(0.1)
    rig.same()
    if not has_picture:
        rig.answer(rig.dispatch(JobKind.EVIDENCE), {}, picture=True)
    give_verdict(rig, unknown("incomplete", "it did not answer for 0.5 s"))
    rig.later(0.1)
    if rig.wait.state is WaitState.WATCHING:
        rig.tell(happened.DeadlinePassed(rig.now))
    assert rig.wait.state is WaitState.RESOLVED


def test_what_widgets_said_of_a_lost_target_is_known_no_more() -> None:
    rig = Rig(spec(widget_condition('dialog "Saving" gone'))).start()
    give_verdict(rig, no("it is still there"))
    rig.tell(happened.TargetLost(rig.now, unknown("window_missing", "no window")))
    assert rig.wait.verdict.code == "window_missing"
    rig.aim()
    rig.change(None)
    assert rig.wait.verdict.answer is Answer.UNKNOWN
