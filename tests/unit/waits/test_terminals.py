"""From a session's name to its window, and its text against a leaf."""

import pytest

from acud.base.patterns import count_matches
from acud.types import AllOf, Answer, NotOf, Rect, Text, TextLeaf, Then, Verdict, WindowInfo, number_condition, unknown
from acud.waits import events as happened
from acud.waits.terminals import (
    SessionName,
    SessionSurvey,
    TmuxSession,
    Tty,
    find_window,
    judge_pane,
    parse_session_name,
    unknown_session,
)
from tests.unit.waits.rig import Rig, spec


def window(number: int, pid: int, visibility: str = "full", kind: str = "normal") -> WindowInfo:
    return WindowInfo(number, f"window {number}", Rect(0, 0, 10, 10), visibility, pid, "", kind)  # type: ignore[arg-type]


BUILD = parse_session_name("build")
TTY = parse_session_name("/dev/pts/3")
SHELL = Tty("pts/3", 50, "bash", (40, 30))


def code(found: Verdict | int) -> str:
    """Return the code of a verdict; a window is a fault of the test."""
    assert isinstance(found, Verdict)
    return found.code


def test_a_name_is_written_one_way() -> None:
    assert SessionName("tty", "pts/3") == TTY
    assert parse_session_name("tmux:/a/b/c") == SessionName("tmux", "c", "/a/b")
    assert [parse_session_name(text).text for text in ("pts/3", "tmux:x", "tmux:s/x")] == ["pts/3", "x", "tmux:s/x"]


def test_a_tty_is_shown_by_the_nearest_parent_with_a_window() -> None:
    survey = SessionSurvey(0.0, (SHELL,))
    assert find_window(TTY, survey, (window(1, 30), window(2, 40))) == 2
    assert find_window(TTY, survey, (window(1, 30), window(2, 50))) == 1  # its own window shows something else
    assert find_window(TTY, survey, (window(3, 40, kind="popup"), window(4, 40, kind="dialog"), window(2, 40))) == 2
    assert code(find_window(TTY, survey, (window(1, 31), window(2, 0)))) == "not_viewable"
    assert code(find_window(TTY, SessionSurvey(0.0), (window(1, 30),))) == "session_missing"


def test_one_program_with_many_windows_is_told_apart_by_its_hint_or_not_at_all() -> None:
    windows = (window(1, 40), window(2, 40))
    hinted = Tty("pts/3", 50, "bash", (40,), window_hint=2)
    assert find_window(TTY, SessionSurvey(0.0, (hinted,)), windows) == 2
    unsaid = find_window(TTY, SessionSurvey(0.0, (SHELL,)), windows)
    assert code(unsaid) == "window_missing"
    assert "window:0x1, window:0x2" in unsaid.detail  # type: ignore[union-attr]
    elsewhere = Tty("pts/3", 50, "bash", (40,), window_hint=9)
    assert code(find_window(TTY, SessionSurvey(0.0, (elsewhere,)), windows)) == "window_missing"


def test_a_tmux_session_is_shown_by_the_topmost_client_that_can_be_seen() -> None:
    session = TmuxSession("build", "$1", ((50, 40), (51, 41)))
    survey = SessionSurvey(0.0, sessions=(session,))
    assert find_window(BUILD, survey, (window(1, 40, "unmapped"), window(2, 41, "covered"))) == 2
    assert find_window(BUILD, survey, (window(1, 40, "unmapped"),)) == 1
    assert code(find_window(BUILD, survey, (window(1, 99),))) == "not_viewable"
    assert code(find_window(BUILD, SessionSurvey(0.0, sessions=(TmuxSession("build", "$1"),)), ())) == "not_viewable"
    assert code(find_window(BUILD, SessionSurvey(0.0), ())) == "session_missing"
    assert code(find_window(BUILD, SessionSurvey(0.0, fault="timed out"), ())) == "session_unread"


def test_a_pane_of_tmux_names_its_session() -> None:
    inside = TmuxSession("build", "$1", ((50, 40),), ("pts/3",))
    found = find_window(TTY, SessionSurvey(0.0, (SHELL,), (inside,)), (window(1, 99),))
    assert "pty:build" in found.detail  # type: ignore[union-attr]


def test_the_error_lists_what_there_is() -> None:
    survey = SessionSurvey(
        0.0, (SHELL, Tty("pts/4", 60, "vim", (61,))), (TmuxSession("a", "$1"), TmuxSession("b", "$2", ((1,),)))
    )
    said = str(unknown_session(BUILD, survey, (window(1, 40),)))
    for part in ("pts/3 (window 'window 1')", "pts/4 (vim, no window there)", "tmux a (detached)", "tmux b (attached)"):
        assert part in said
    assert "sessions found: none; tmux: no answer" in str(
        unknown_session(BUILD, SessionSurvey(0.0, fault="no answer"), ())
    )


# ---- text ----------------------------------------------------------------------------------------------------------

PANE = "make  all\ncc -O2 -c ｆull.c\nerror: 3 tests\n  failed\n"


@pytest.mark.parametrize(("leaf", "answer"), [
    (Text("make all"), "yes"), (Text("MAKE ALL"), "yes"), (Text("MAKE", match_case=True), "no"),
    (Text("-02"), "no"), (Text("full.c"), "yes"), (Text("3 tests failed"), "yes"), (Text("passed"), "no"),
    (Text("passed", gone=True), "yes"), (Text("failed", gone=True), "no"),
    (Text(r"^error: \d+", regex=True), "yes"), (Text(r"^all", regex=True), "no"),
    (Text("fail"), "yes"), (Text("fail", whole_words=True), "no"), (Text("failed", whole_words=True), "yes"),
    (Text("fail", whole_words=True, gone=True), "yes"), (Text("l", count=5), "yes"), (Text("l", count=6), "no"),
    (Text("e", regex=True, count=4), "yes"), (Text("e", regex=True, count=5), "no"),
    (number_condition("error = 3 tests"), "yes"), (number_condition("error > 3"), "no"),
    (number_condition("= 3 tests"), "yes"), (number_condition("passed = 3"), "unknown"),
    (Text(r"ERROR", regex=True, match_case=True), "no"), (Text(r"\d tests$", regex=True, gone=True), "no"),
])  # fmt: skip
def test_text_of_a_pane(leaf: TextLeaf, answer: str) -> None:
    assert judge_pane(leaf, PANE).answer == answer


def test_a_pattern_is_found_anywhere_in_a_long_line() -> None:
    for place_of in (0, 150, 199, 250, 299, 300, 450, 590):
        line = "x" * place_of + "needle 7" + "x" * 600
        assert judge_pane(Text(r"needle \d", regex=True), line).answer is Answer.YES


# ---- in the machine ------------------------------------------------------------------------------------------------


def test_text_is_answered_while_nothing_shows_the_terminal() -> None:
    rig = Rig(spec(Text("ready")))
    rig.tell(happened.TargetLost(rig.now, unknown("not_viewable", "detached")))
    assert rig.wait.verdict.code == "not_viewable"
    rig.tell(happened.TerminalSeen(rig.now, "not yet"))
    assert rig.wait.verdict.answer is Answer.NO
    rig.tell(happened.TerminalSeen(rig.now, None))
    assert rig.wait.verdict.code == "not_viewable"
    rig.tell(happened.TerminalSeen(rig.now, "ready."))
    assert rig.wait.state == "resolved"


def test_a_text_that_scrolled_off_is_one_that_was_written() -> None:
    rig = Rig(
        spec(AllOf((Text("ready"), NotOf(Text("busy")), number_condition("errors < 3"), Text("made", gone=True))))
    )
    rig.tell(happened.TargetLost(rig.now, unknown("not_viewable", "detached")))
    rig.tell(happened.TerminalSeen(rig.now, "$ make", rig.now, "busy\nerrors 2\nready\nmade\n$ make"))
    assert rig.wait.verdict.answer is Answer.YES
    assert 'the terminal reads "ready", which has scrolled off since' in rig.wait.verdict.detail


def test_what_scrolled_off_does_not_count_in_the_next_stage() -> None:
    rig = Rig(spec(Then((Text("one"), Text("two")))))
    rig.tell(happened.TargetLost(rig.now, unknown("not_viewable", "detached")))
    rig.tell(happened.TerminalSeen(rig.now, "one", rig.now, "two\none"))
    rig.tell(happened.TerminalSeen(rig.now, "three", rig.now, "three"))
    assert rig.wait.state == "watching"
    rig.tell(happened.TerminalSeen(rig.now, "three", rig.now, "two\nthree"))
    assert rig.wait.state == "resolved"


def test_a_paused_or_dead_display_forgets_the_text() -> None:
    rig = Rig(spec(Text("x", gone=True)))
    rig.tell(happened.SourceLost(rig.now, "paused", "paused"))
    assert rig.wait.terminal_text is None
    assert rig.wait.verdict.code == "paused"


def test_a_pattern_is_searched_once_in_each_line() -> None:
    """A screen of which a line changes costs one search, also for waits that ask for the same."""
    count_matches.cache_clear()
    screen = [f"step {number}" for number in range(50)]
    for pane in (screen, [*screen[1:], "step 50"]):
        for _ in range(20):
            assert judge_pane(Text("step [0-9]+ failed", regex=True), "\n".join(pane)).answer is Answer.NO
    assert count_matches.cache_info().misses == 51
