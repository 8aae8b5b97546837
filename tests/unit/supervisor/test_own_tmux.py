"""The words for acud's own tmux server and what they are answered with; keys as people write them."""

import pytest

from acud.base.errors import InvalidRequest
from acud.supervisor.terminal_sessions import own_tmux
from acud.supervisor.terminal_sessions.key_names import tmux_key
from acud.waits.terminals import OutputMark, checksum_line, parse_output_mark, parse_session_name


@pytest.mark.parametrize(("chord", "named"), [
    ("ctrl+c", "C-c"), ("C-c", "C-c"), ("^C", "C-c"), ("Control+Alt+x", "C-M-x"), ("Return", "Enter"),
    ("shift+Tab", "BTab"), ("Page_Up", "PPage"), ("ctrl+Left", "C-Left"), ("f12", "F12"), ("q", "q"), ("+", "+"),
    ("ctrl++", "C-+"), (";", ";"), (" ", " "),
])  # fmt: skip
def test_a_chord_is_named_as_tmux_does(chord: str, named: str) -> None:
    assert tmux_key(chord) == named


@pytest.mark.parametrize("chord", ["", "hello", "ctrl+hello", "hyper+x", "F13", "\x03", "ctrl+", "-t"])
def test_what_is_no_key_is_refused(chord: str) -> None:
    with pytest.raises(InvalidRequest, match="no key of a terminal"):
        tmux_key(chord)


def test_a_session_that_runs_and_two_that_ended() -> None:
    said = (
        "T a %0 41 0 x x 12 3 4 80 24 1700000000 x77 x1 /bin/sh\n"
        "T b %1 42 1 x3 x 0 0 0 80 24 1700000000 x x0 make -j 4\n"
        "T c %2 43 1 x x15 0 0 0 80 24 1700000000 x x0 \n"
        "T d nonsense\nelse\n"
    )
    a, b, c = own_tmux.read_states(said)
    assert (a.end, a.exit_code, a.line, a.cell, a.start_ticks, a.is_shell) == ("", None, 16, 16 * 80 + 3, 77, True)
    assert (b.end, b.exit_code, b.command) == ("exit status 3", 3, "make -j 4")
    assert (c.end, c.exit_code) == ("killed by SIGTERM", -15)


def test_what_was_written_since_a_mark() -> None:
    since = OutputMark(7, checksum_line("$ make"))

    def said(drawn: int, at: int, before: str) -> str:
        return f"M{drawn} 24 {at}\n{before}\nM\nnew\n\nM\nwhole\nscreen\n"

    assert own_tmux.read_since(said(0, 3, "$ make  "), since, "M") == "new\n\n"
    assert own_tmux.read_since(said(0, 24, "$ make"), since, "M") == ""  # it is below the screen: nothing was written
    assert own_tmux.read_since(said(0, 3, "$ clear"), since, "M") == "whole\nscreen\n"
    assert own_tmux.read_since(said(1, 3, "$ make"), since, "M") == "whole\nscreen\n"
    assert own_tmux.read_since("M", since, "M") is None


def test_a_word_that_ends_in_a_semicolon_parts_no_commands() -> None:
    words = own_tmux.open_arguments("a", ["x;", "y"], "/a#b", (80, 24), {}, shown="x; y;", is_shell=False)
    assert "x\\;" in words
    assert "x; y\\;" in words
    assert "/a##b" in words
    assert own_tmux.key_arguments("a", [";"])[-1] == "\\;"


def test_a_mark_in_a_target() -> None:
    named = parse_session_name("build:12.3fa0")
    assert (named.name, named.since, named.text) == ("build", OutputMark(12, "3fa0"), "build:12.3fa0")
    assert parse_session_name("tmux:/run/x/build:0.").since == OutputMark(0)
    assert parse_output_mark("12.3fa0") == named.since
    for wrong in ("build:12", "build:x.3fa0", "build:12.3FA0"):
        with pytest.raises(InvalidRequest):
            parse_session_name(wrong)
    with pytest.raises(InvalidRequest, match="no mark"):
        parse_output_mark("12")
