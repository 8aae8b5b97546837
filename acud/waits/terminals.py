"""Terminal sessions: their names, the window that shows one, and verdicts on their text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Literal
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import InvalidRequest, NotFound
from acud.base.patterns import compile_pattern, count_matches
from acud.types import Answer, Echo, Leaf, ScreenNumber, Text, TextLeaf, Verdict, WindowInfo, no, unknown, yes
from acud.waits.read_text import (
    BUT_TYPED,
    ECHO_LETTERS,
    LabelPlace,
    comparable,
    find_label_places,
    find_line_start,
    find_places,
    is_echo,
    judge_only_number,
    judge_places,
    normalise_text,
    read_leading_number,
)

NAMES = "name a terminal (pty:pts/3, pty:/dev/pts/3) or a tmux session (pty:build, pty:tmux:<socket>/build)"
_TTY = re.compile(r"(?:/dev/)?pts/(\d{1,7})", re.ASCII)
_SOCKET_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_CELL_END = re.compile(r"\s{2,}|\t|[|│┃]")  # what separates columns in a terminal
_MARK = re.compile(r"(\d{1,9})\.([0-9a-f]{4}|)", re.ASCII)
_SHOWN = 8
_MAX_TITLE = 40
_MAX_QUOTE = 200


class OutputMark(Struct, frozen=True):
    """A moment in the output of a terminal: the `line` that it writes next, counted from its first one, and a checksum
    of the line before. If that line differs now, the screen was cleared or redrawn: then everything is newer.
    """

    line: int
    check: str = ""

    @property
    def text(self) -> str:
        return f"{self.line}.{self.check}"


def parse_output_mark(text: str) -> OutputMark:
    """Return the mark that `text` spells. Raises: InvalidRequest."""
    found = _MARK.fullmatch(text)
    if found is None:
        hint = "take it from the answer of the call that typed"
        raise InvalidRequest(f"{text[:40]!r} is no mark of a terminal's output", hint=hint)
    return OutputMark(int(found[1]), found[2])


def checksum_line(line: str) -> str:
    return f"{crc32(line.rstrip().encode()) & 0xFFFF:04x}"


class SessionName(Struct, frozen=True):
    """The name of a session, parsed. `socket`: of tmux, a name or an absolute path ("": the one of sessions that acud
    opened, then the default one). `since`: only output after that moment is meant.
    """

    kind: Literal["tty", "tmux"]
    name: str
    socket: str = ""
    since: OutputMark | None = None

    @property
    def text(self) -> str:
        mark = f":{self.since.text}" if self.since is not None else ""
        return f"tmux:{self.socket}/{self.name}{mark}" if self.socket else f"{self.name}{mark}"


def parse_session_name(text: str) -> SessionName:
    """Return the session that `text` (what follows `pty:`) names. Raises: InvalidRequest."""
    tty = _TTY.fullmatch(text)
    if tty is not None:
        return SessionName("tty", f"pts/{int(tty[1])}")
    if not text.startswith("tmux:"):
        name, since = _split_mark(text)
        return SessionName("tmux", _check_name(name, text), since=since)
    socket, slash, name = text.removeprefix("tmux:").rpartition("/")
    if slash and not (_SOCKET_NAME.fullmatch(socket) or _is_plain_path(socket)):
        raise InvalidRequest(f"{socket!r} is not a tmux socket's name or absolute path", hint=NAMES)
    name, since = _split_mark(name)
    return SessionName("tmux", _check_name(name, text), socket, since)


def _split_mark(text: str) -> tuple[str, OutputMark | None]:
    """Split a mark from a session's name, which holds no colon."""
    name, colon, mark = text.partition(":")
    return (name, parse_output_mark(mark)) if colon and _MARK.fullmatch(mark) else (text, None)


def _is_plain_path(path: str) -> bool:
    parts = path.split("/")
    return path.startswith("/") and len(parts) > 1 and all(part not in {"", ".", ".."} for part in parts[1:])


def _check_name(name: str, text: str) -> str:
    # tmux itself turns `:` and `.` in names into `_`.
    if not name or len(name) > 200 or not name.isprintable() or any(c in name for c in ":./"):
        raise InvalidRequest(f"{text!r} is not a terminal session's name", hint=NAMES)
    return name


class Tty(Struct, frozen=True):
    """A terminal device in use. `chain`: the parents of its session leader, nearest first.

    `window_hint`: the window that the leader's environment names (WINDOWID; 0: none).
    """

    name: str
    leader: int
    command: str
    chain: tuple[int, ...]
    window_hint: int = 0


class TmuxSession(Struct, frozen=True):
    """A tmux session. `chains`: for each client that shows it, the client's pid and its parents.

    `ttys`: the terminals of its panes. `pane`: the text of its current window, None when not asked for. `written`: its
    panes' output since the last survey, and after it all that their screens show.
    """

    name: str
    session_id: str
    chains: tuple[tuple[int, ...], ...] = ()
    ttys: tuple[str, ...] = ()
    pane: str | None = None
    written: str = ""


class SessionSurvey(Struct, frozen=True):
    """The sessions at one moment. `begun_s`: CLOCK_MONOTONIC before the first look. `fault`: why tmux did not answer.
    `since_s`: when the last survey began; `written` begins at its end.
    """

    begun_s: float
    ttys: tuple[Tty, ...] = ()
    sessions: tuple[TmuxSession, ...] = ()
    fault: str = ""
    since_s: float = float("-inf")

    def tty(self, name: str) -> Tty | None:
        return next((tty for tty in self.ttys if tty.name == name), None)

    def session(self, name: str) -> TmuxSession | None:
        return next((session for session in self.sessions if session.name == name), None)


def find_window(name: SessionName, survey: SessionSurvey, windows: tuple[WindowInfo, ...]) -> Verdict | int:
    """Return the id of the topmost window that shows the session, or why there is none."""
    if name.kind == "tty":
        return _find_tty_window(name, survey, windows)
    session = survey.session(name.name)
    if session is None:
        if survey.fault:
            return unknown("session_unread", f"tmux does not tell its sessions: {survey.fault}")
        return unknown("session_missing", f"no tmux session {name.text!r} is there now")
    if not session.chains:
        return unknown("not_viewable", f"session {name.text} is detached: no window shows it")
    found = {window for chain in session.chains for window in _find_windows(chain, windows)[:1]}
    shown = [w for w in windows if w.window_id in found]
    viewable = [w for w in shown if w.visibility != "unmapped"]
    if not shown:
        detail = f"session {name.text} is attached, but by no window of this display{_describe_unowned(windows)}"
        return unknown("not_viewable", detail)
    return (viewable or shown)[0].window_id


def _find_tty_window(name: SessionName, survey: SessionSurvey, windows: tuple[WindowInfo, ...]) -> Verdict | int:
    tty = survey.tty(name.name)
    if tty is None:
        return unknown("session_missing", f"no session has the terminal {name.name} now")
    found = _find_windows(tty.chain, windows)
    if len(found) > 1 and tty.window_hint in found:
        return tty.window_hint
    if len(found) > 1:
        ids = ", ".join(f"window:{window:#x}" for window in found[:_SHOWN])
        detail = f"one program shows {name.name} and other terminals in {len(found)} windows; name the window: {ids}"
        return unknown("window_missing", detail)
    if found:
        return found[0]
    inside = next((f"; it is a pane of tmux session {s.name}: pty:{s.name}" for s in survey.sessions
                   if name.name in s.ttys), "")  # fmt: skip
    detail = f"{name.name} ({tty.command}) is shown by no window of this display{inside or _describe_unowned(windows)}"
    return unknown("not_viewable", detail)


def _find_windows(chain: tuple[int, ...], windows: tuple[WindowInfo, ...]) -> list[int]:
    """Return the client windows of the first process in `chain` that has any."""
    for pid in chain:
        own = [w.window_id for w in windows if w.pid == pid and w.kind == "normal"]
        if own:
            return own
    return []


def _describe_unowned(windows: tuple[WindowInfo, ...]) -> str:
    """Return how many windows name no process, so that they match no terminal; "" for none."""
    unnamed = [w for w in windows if not w.pid and w.kind != "popup"]
    return f" (windows there that do not say of which process they are: {len(unnamed)})" if unnamed else ""


def unknown_session(name: SessionName, survey: SessionSurvey, windows: tuple[WindowInfo, ...]) -> NotFound:
    """Return the error for a missing session, with a list of those there are."""
    what = f"no terminal {name.name}" if name.kind == "tty" else f"no tmux session {name.text!r}"
    names = [f"{tty.name} ({_describe_tty(tty, survey, windows)})" for tty in survey.ttys[:_SHOWN]]
    names += [
        f"tmux {session.name} ({'attached' if session.chains else 'detached'})" for session in survey.sessions[:_SHOWN]
    ]
    fault = f"; tmux: {survey.fault}" if survey.fault else ""
    return NotFound(f"{what} is there", hint=f"sessions found: {', '.join(names) or 'none'}{fault}")


def _describe_tty(tty: Tty, survey: SessionSurvey, windows: tuple[WindowInfo, ...]) -> str:
    found = _find_tty_window(SessionName("tty", tty.name), survey, windows)
    title = next((w.title for w in windows if w.window_id == found), None)
    return f"window {title[:_MAX_TITLE]!r}" if title is not None else f"{tty.command}, no window there"


def judge_pane(leaf: TextLeaf, pane: str, echoes: Sequence[Echo] = ()) -> Verdict:
    """Return the verdict on `leaf` from what a terminal shows now, apart from `echoes` of what acud typed.

    Plain text is found across line breaks, white space folded; a pattern is tried line by line. A number stands after
    its label in a line.
    """
    if isinstance(leaf, ScreenNumber):
        return _judge_number(leaf, pane, echoes)
    times = _count_places(leaf, pane, echoes)
    found = _find_line(leaf, pane, echoes) if times else None
    lines = len(pane.splitlines())
    if 0 < times < leaf.count:
        return no(f'"{leaf.text}" is there {times} of {leaf.count} times', times=times)
    if found is None:
        words = f'"{leaf.text}" is in none of the {lines} lines of the terminal'
        words += f", {BUT_TYPED}" if echoes and _count_places(leaf, pane) else ""
        return yes(words) if leaf.gone else no(words)
    quoted = f'the terminal {"still " if leaf.gone else ""}reads "{found[:_MAX_QUOTE]}"'
    return no(quoted) if leaf.gone else yes(quoted, times=times)


def judge_written(leaf: TextLeaf, output: str, echoes: Sequence[Echo] = ()) -> Verdict | None:
    """Return a yes if `output`, no longer shown, had what `leaf` asks for; else None."""
    parts = output.splitlines() if isinstance(leaf, ScreenNumber) else [output]
    found = next((one for one in (judge_pane(leaf, part, echoes) for part in parts) if one.answer is Answer.YES), None)
    return replace(found, detail=f"{found.detail}, which has scrolled off since") if found is not None else None


def _judge_number(leaf: ScreenNumber, pane: str, echoes: Sequence[Echo]) -> Verdict:
    lines = [normalise_text(line) for line in pane.splitlines()]
    if not leaf.label:
        return judge_only_number(leaf, lines)
    places: list[LabelPlace] = []
    for line in pane.splitlines():
        if echoes and _count_places(Text(leaf.label), line) != _count_places(Text(leaf.label), line, echoes):
            continue
        cells = [normalise_text(cell) for cell in _CELL_END.split(line) if cell.strip()]
        for cell, beside in zip_longest(cells, cells[1:], fillvalue=""):
            places += [
                replace(place, number=read_leading_number(leaf, beside)) if place.ends and not place.leads else place
                for place in find_label_places(leaf, cell)
            ]
    return judge_places(leaf, places)


def search_lines(leaves: Iterable[Leaf], text: str) -> Iterator[None]:
    """Search each line of `text` for the patterns of `leaves`, so that later verdicts on them are quick; yield after
    each line, where the search may pause.
    """
    for leaf in leaves:
        if isinstance(leaf, Text) and leaf.regex:
            for line in text.splitlines():
                _count_in(leaf, line)
                yield


def _count_in(leaf: Text, line: str) -> int:
    return count_matches(leaf.text, normalise_text(line), ignore_case=not leaf.match_case)


def _count_new(leaf: Text, line: str, echoes: Sequence[Echo]) -> int:
    found = _count_in(leaf, line)
    if not (found and echoes):
        return found
    text, pattern = normalise_text(line), compile_pattern(leaf.text, ignore_case=not leaf.match_case)
    return sum(not is_echo(echoes, text[:start], text[end:]) for start, end in pattern.spans(text))


def _count_places(leaf: Text, pane: str, echoes: Sequence[Echo] = ()) -> int:
    """Return how often the text is there, echoes apart: plain text across line breaks, a pattern line by line."""
    if leaf.regex:
        return sum(_count_new(leaf, line, echoes) for line in pane.splitlines())
    lines = [line for line in pane.splitlines() if line.strip()]
    edges = [len(line.rstrip()) for line in lines]
    lines = [normalise_text(line) for line in lines]
    read_as = normalise_text if leaf.match_case else comparable
    rows = [read_as(line) for line in lines]
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    text = " ".join(rows)
    places = list(find_places(read_as(leaf.text), text, whole_words=leaf.whole_words))
    return sum(not (echoes and is_echo(echoes, *_split_around(text, starts, edges, *place))) for place in places)


def _split_around(text: str, starts: list[int], edges: list[int], start: int, end: int) -> tuple[str, str]:
    """Return the text before a place in its wrapped line, and after it in its row."""
    begins = starts[find_line_start(bisect_right(starts, start) - 1, edges, slack=1)]
    return text[max(begins, start - 2 * ECHO_LETTERS) : start], text[end : starts[bisect_left(starts, end)]]


def _find_line(leaf: Text, pane: str, echoes: Sequence[Echo]) -> str:
    """Return the first line with the text, or the text itself if it spans several lines."""
    lines = (normalise_text(line) for line in pane.splitlines())
    return next((line for line in lines if _count_places(leaf, line, echoes)), normalise_text(leaf.text))
