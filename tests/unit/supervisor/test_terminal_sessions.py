"""Terminals out of a /proc, and what tmux prints."""

from pathlib import Path

import pytest

from acud.supervisor.terminal_sessions import processes, tmux
from acud.waits.terminals import TmuxSession


def process(root: Path, pid: int, parent: int, session: int, tty: int = 0, name: str = "x", env: str = "") -> None:
    """Make a process of a fixture /proc; `tty` is the kernel's device number."""
    folder = root / str(pid)
    folder.mkdir()
    folder.joinpath("stat").write_text(f"{pid} ({name}) S {parent} {pid} {session} {tty} -1 4194304 0 0\n")
    folder.joinpath("environ").write_text(env.replace(" ", "\0"))


def pts(minor: int) -> int:
    return minor & 0xFF | 136 << 8 | (minor & 0xFFF00) << 12


def test_a_terminal_belongs_to_its_session_leader(tmp_path: Path) -> None:
    process(tmp_path, 1, 0, 1)
    process(tmp_path, 30, 1, 30, name="openbox (a) b)")
    process(tmp_path, 40, 30, 30, pts(0), "xterm")  # started from another terminal, which it does not show
    process(tmp_path, 50, 40, 50, pts(300), "bash) S 1", "A=1 WINDOWID=77 B=2")
    process(tmp_path, 51, 50, 50, pts(300), "make")
    process(tmp_path, 60, 1, 60, 4 << 8 | 1, "login")  # tty1: no pseudo-terminal
    (tmp_path / "self").mkdir()
    (found,) = processes.list_ttys(tmp_path)
    assert (found.name, found.leader, found.command, found.chain) == ("pts/300", 50, "bash) S 1", (40, 30))
    assert found.window_hint == 77
    assert processes.list_ancestors(51, tmp_path) == (51, 50, 40, 30)
    assert processes.find_tty(51, tmp_path) is None
    assert processes.find_tty(999, tmp_path) is None
    assert processes.list_ancestors(999, tmp_path) == (999,)


def test_a_window_hint_is_a_number_or_nothing(tmp_path: Path) -> None:
    for pid, env in ((50, "WINDOWID=-1"), (51, "XWINDOWID=5"), (52, "WINDOWID=99999999999999")):
        process(tmp_path, pid, 1, pid, pts(pid), env=env)
    assert [found.window_hint for found in processes.list_ttys(tmp_path)] == [0, 0, 0]


LISTING = """S $0 build 2
S $3 S $0 x
C $0 0 51
C $0 1 52
C $3  53
P $0 1 0 1 %0 /dev/pts/4
P $0 1 0 0 %1 /dev/pts/5
P $0 0 0 1 %2 /dev/pts/6
P $3 1 1 1 %3 /dev/pts/7
P $3 1 1 0 %4 /dev/pts/8
some line of a later tmux
"""


def test_a_listing_tells_sessions_clients_and_what_they_see() -> None:
    found = tmux.read_listing(LISTING)
    assert found.names == {"$0": "build 2", "$3": "S $0 x"}
    assert found.clients == (("$0", 51), ("$3", 53))  # 52 is a control client: it draws nothing
    assert found.shown_panes("build 2") == ("%0", "%1")
    assert found.shown_panes("S $0 x") == ("%3",)
    assert found.shown_panes("build") == ()
    first = found.sessions({pid: (pid, 9) for _, pid in found.clients})[0]
    assert first == TmuxSession("build 2", "$0", ((51, 9),), ("pts/4", "pts/5", "pts/6"))
    assert tmux.read_listing("") == tmux.Listing({}, (), ())


def test_texts_are_told_apart_by_a_mark_no_screen_knows() -> None:
    asked = tmux.capture_arguments({"%0": None, "%12": None}, "mark-x:")
    assert asked[:5] == ["display-message", "-p", "-t", "%0", "mark-x:0 E #{history_size} #{alternate_on}"]
    said = "mark-x:0 E 0 0\n\nmark-x:0 S\nmark-y:12 S\nhello\n\nmark-x:12 E 3 1\nmark-x:12 S\nworld\n"
    panes = tmux.read_panes(said, "mark-x:", {})
    assert {pane: output.screen for pane, output in panes.items()} == {"%0": "mark-y:12 S\nhello\n", "%12": "world\n"}
    assert panes["%12"].mark is None  # a program draws there
    session = TmuxSession("a", "$0")
    assert tmux.with_text(session, ("%0", "%12"), panes).pane == "mark-y:12 S\nhello\n\nworld\n"
    assert tmux.with_text(session, ("%0", "%7"), panes).pane is None
    assert tmux.with_text(session, (), panes).pane is None


def test_what_was_written_follows_the_end_of_the_history_of_before() -> None:
    before = tmux.HistoryMark(2, "onetwo")
    said = "m0 E 4 0\none\ntwo\nthree\nfour\nm0 B\none\ntwo\nm0 W\nthree\nfour\nfive\nm0 S\nfive\n"
    (output,) = tmux.read_panes(said, "m", {"%0": before}).values()
    assert (output.written, output.moved, output.mark) == (
        "three\nfour\nfive",
        None,
        tmux.HistoryMark(4, "onetwothreefour"),
    )
    (moved,) = tmux.read_panes(said.replace("B\none", "B\nzero"), "m", {"%0": before}).values()
    assert (moved.written, moved.moved) == (None, before)


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        ("zero\none\ntwo\nthree\nfour", "three\nfour"),  # the oldest lines were dropped
        ("o\nne t\nwo\nthree", "three"),  # another width
        ("one\ntwo\none\ntwo\nthree", "three"),  # twice: nothing older counts as new
        ("eight\nnine", "eight\nnine"),  # more was written than is kept, or it was cleared
        ("one\ntwo", ""),
    ],
)
def test_what_was_written_is_found_where_lines_are_counted_anew(kept: str, written: str) -> None:
    assert tmux.find_written(kept, tmux.HistoryMark(2, "onetwo")) == written
    assert tmux.find_written(kept, tmux.HistoryMark(2, "")) is None
    assert tmux.find_written(kept, tmux.HistoryMark(0, "")) == kept


def test_no_server_is_no_session_and_other_complaints_are_faults() -> None:
    assert tmux.is_server_missing("no server running on /tmp/tmux-1/default")
    assert tmux.is_server_missing("error connecting to /tmp/x (No such file or directory)")
    assert tmux.is_server_missing("server exited unexpectedly")
    assert not tmux.is_server_missing("error connecting to /tmp/x (Permission denied)")
    assert not tmux.is_server_missing("cannot start tmux: No such file or directory")
    assert tmux.build_tmux_prefix("tmux", "work")[-2:] == ["-L", "work"]
    assert tmux.build_tmux_prefix("tmux", "/a/b")[-2:] == ["-S", "/a/b"]
