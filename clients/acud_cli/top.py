"""`acud top`: displays, waits and processes, live, as people know it from btop: keys sort, scroll, filter and open."""

from __future__ import annotations

import math
import os
import select
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from acud.base.errors import AcudError, DaemonDown
from acud.base.ids import short_id
from acud.protocol.evaluation import JudgeHealth
from acud.protocol.requests.daemon import ChildStatus, StatusReply
from acud.protocol.requests.waits import WaitListReply
from acud.types import Answer, DisplayInfo, WaitInfo
from acud_cli.exit_codes import Exit
from acud_cli.formatting import FittedTable, cost, count, duration, in_words, plain, shorten
from acud_cli.options import DURATION
from acud_cli.session import Session, console, pass_session, print_table
from acud_cli.wait_options import describe_place
from acud_cli.wait_text import describe_answer, format_wait, name_wait, style_state
from acud_client.sync import Client

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


_MOST_WAITS = 1000
_KEPT = 60
"""Readings that the sparklines are drawn from."""
_BARS = "▁▂▃▄▅▆▇█"
_FEWEST_ROWS = 2
"""Rows of a pane without the focus, if there is no room for more."""
_TITLE_LINES = 2


class TopSnapshot(msgspec.Struct, frozen=True):
    """One reading."""

    status: StatusReply
    waits: WaitListReply


@click.command(short_help="Show displays, waits and processes, live.")
@click.option("--once", is_flag=True, help="Print it once and return.")
@click.option("--interval", type=DURATION, default=1.0, show_default=True, help="Between two readings.")
@pass_session
def top(session: Session, *, once: bool, interval: float) -> int:
    """Show displays with frame rate and frame age, waits with their newest verdict, processes, judges and cost.

    Live on a terminal; with --once, with --json or into a pipe it prints one reading. Keys: Tab or 1 2 3 choose a
    list, ↑ ↓ PgUp PgDn Home End move in it, ← → choose the column to sort by and r turns it round, / filters, Enter
    shows a wait in full, space pauses, q ends.

    \b
    acud top
    acud top --interval 5s
    acud top --once | less
    """
    client = session.client()
    if once or session.json or not sys.stdout.isatty():
        view = _read(client)
        session.show(view, lambda: _print(view))
        return Exit.OK
    return _live(client, max(0.2, interval))


def _read(client: Client) -> TopSnapshot:
    return TopSnapshot(client.status(), client.wait_list(limit=_MOST_WAITS))


def _print(view: TopSnapshot) -> None:
    board = Board()
    board.take(view)
    for part in board.draw_all():
        print_table(part)


def _live(client: Client, interval_s: float) -> int:
    from rich.live import Live

    board, out = Board(), console()
    with _listen_to_keys() as key_within, Live(console=out, screen=True, auto_refresh=False) as live:
        due_s = 0.0
        try:
            while True:
                if time.monotonic() >= due_s and not board.paused:
                    _refresh(board, client)
                    due_s = time.monotonic() + interval_s
                live.update(board.draw_screen(out.width, out.height), refresh=True)
                key = key_within(interval_s if board.paused else max(0.0, due_s - time.monotonic()))
                if key and not board.press(key, lambda wait_id: format_wait(client.wait_show(wait_id, evaluations=0))):
                    return Exit.OK
        except KeyboardInterrupt:
            return Exit.OK


def _refresh(board: Board, client: Client) -> None:
    try:
        board.take(_read(client))
    except DaemonDown as fault:
        board.fault = str(fault)


# ---- keys ----------------------------------------------------------------------------------------------------------

_SEQUENCES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[5~": "pageup",
    "\x1b[6~": "pagedown",
    "\x1b[H": "home",
    "\x1b[1~": "home",
    "\x1b[F": "end",
    "\x1b[4~": "end",
    "\x1b[Z": "backtab",
    "\x1b": "escape",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
}


@contextmanager
def _listen_to_keys() -> Iterator[Callable[[float], str]]:
    """Return, in a context, a function that waits so many seconds for a key and names it, "" for none.

    Keys are read one by one and not shown meanwhile; without a terminal to read from there are none.
    """
    if not sys.stdin.isatty():
        yield _no_key
        return
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    tty.setcbreak(source)
    try:
        yield lambda seconds: _name_key(source, seconds)
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def _no_key(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _name_key(source: int, seconds: float) -> str:
    if not select.select([source], [], [], seconds)[0]:
        return ""
    first = os.read(source, 1)
    if first == b"\x1b":
        while select.select([source], [], [], 0.02)[0] and len(first) < 8:
            first += os.read(source, 1)
            if first[-1:].isalpha() or first.endswith(b"~"):
                break
    elif first[0] >= 0xC0:  # the first byte of UTF-8 gives how many follow
        first += os.read(source, 3 if first[0] >= 0xF0 else 2 if first[0] >= 0xE0 else 1)
    text = first.decode(errors="ignore").replace("\x1bO", "\x1b[")
    return _SEQUENCES.get(text, text if text.isprintable() else "")


# ---- what is shown -------------------------------------------------------------------------------------------------


def sparkline(values: list[float], width: int, most: float = 0.0) -> str:
    """Return the last `width` of `values` as bars, the highest being the highest of them or `most`."""
    shown = values[-width:]
    highest = max([most, *shown]) or 1.0
    return "".join(_BARS[min(7, math.ceil(7 * max(0.0, value) / highest))] for value in shown).rjust(width)


class Column(NamedTuple):
    """A column by which a list can be sorted: `key` of an item; the highest first where `falling`."""

    name: str
    key: Callable[[Any], Any]
    falling: bool = False


class TopList:
    """One list: what is in it, where it was scrolled to, what it is sorted by, and which row is selected."""

    def __init__(self, title: str, columns: tuple[Column, ...], name: Callable[[Any], str]) -> None:
        self.title = title
        self._columns = columns
        self._name = name
        self._sorted_by = 0
        self._turned = False
        self._items: list[Any] = []
        self._first = 0
        self._selected = ""

    def take(self, items: list[Any]) -> None:
        """Show `items` from now on, in the order that was chosen."""
        column = self._columns[self._sorted_by]
        self._items = sorted(items, key=column.key, reverse=column.falling != self._turned)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def order(self) -> str:
        column = self._columns[self._sorted_by]
        return f"{column.name} {'↓' if column.falling != self._turned else '↑'}"

    @property
    def selected(self) -> Any:
        """The item in the selected row, None when there is none."""
        return self._items[self._find_place()] if self._items else None

    def _find_place(self) -> int:
        return next((place for place, one in enumerate(self._items) if self._name(one) == self._selected), 0)

    def sort(self, step: int) -> None:
        """Sort by the next column, or the one before."""
        self._sorted_by = (self._sorted_by + step) % len(self._columns)
        self._turned = False
        self.take(self._items)

    def reverse(self) -> None:
        """Turn the order round."""
        self._turned = not self._turned
        self.take(self._items)

    def move(self, rows: int) -> None:
        """Select the row so many below."""
        if self._items:
            self._selected = self._name(self._items[max(0, min(len(self._items) - 1, self._find_place() + rows))])

    def visible_rows(self, rows: int) -> tuple[int, list[Any]]:
        """Return as many items as fit, the selected one among them, and the number of the first."""
        place = self._find_place()
        self._first = max(0, min(self._first, place, len(self._items) - rows))
        self._first = max(self._first, place - rows + 1)
        return self._first, self._items[self._first : self._first + rows]


_PAGE = 10
_MOVES = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -_PAGE, "pagedown": _PAGE, "home": -(10**6), "end": 10**6}
_HELP = "Tab list  ↑↓ row  ←→ sort  r turn  / filter  Enter open  space pause  q quit"
_SHORT_HELP = "Tab ↑↓  ←→ sort  r  / filter  Enter  q quit"


class Board:
    """What `acud top` knows and shows."""

    def __init__(self) -> None:
        self.paused = False
        self.fault = ""
        self._view: TopSnapshot | None = None
        self._at_s = 0.0
        self._fps: dict[str, deque[float]] = {}
        self._figures: dict[str, deque[float]] = {
            name: deque(maxlen=_KEPT) for name in ("changes", "judged", "queue", "memory")
        }
        self._waits_on: dict[str, int] = {}
        self._filter = ""
        self._typing = False
        self._opened: list[Text] = []
        self._focus = 0
        self._panes = (
            TopList(
                "waits",
                (
                    Column("time left", lambda one: one.remaining_s),
                    Column("condition", lambda one: name_wait(one).lower()),
                    Column("verdict", lambda one: (one.verdict.answer.value, one.verdict.detail)),
                    Column("where", lambda one: (_find_number(describe_place(one)), describe_place(one))),
                    Column("judged", lambda one: one.judged, falling=True),
                    Column("cost", lambda one: one.cost_usd or 0.0, falling=True),
                    Column("age", lambda one: one.created_utc_s),
                ),
                lambda one: one.wait_id,
            ),
            TopList(
                "displays",
                (
                    Column("frames", lambda one: one.fps, falling=True),
                    Column("name", lambda one: (_find_number(one.name), one.name)),
                    Column("state", lambda one: one.state.value),
                    Column("waits", lambda one: self._waits_on.get(one.name, 0), falling=True),
                    Column("age", lambda one: one.frame_age_s or 0.0),
                ),
                lambda one: one.name,
            ),
            TopList(
                "processes",
                (
                    Column("memory", lambda one: one.rss_mb, falling=True),
                    Column("name", lambda one: (one.kind, one.name)),
                    Column("jobs", lambda one: one.busy_jobs, falling=True),
                    Column("restarts", lambda one: one.restarts, falling=True),
                    Column("beat", lambda one: one.beat_age_s or 0.0, falling=True),
                ),
                lambda one: f"{one.kind} {one.name}",
            ),
        )

    # ---- readings --------------------------------------------------------------------------------------------------

    def take(self, view: TopSnapshot) -> None:
        now_s, before = time.monotonic(), self._view
        status = view.status
        past_s = now_s - self._at_s
        calls = status.judge_calls - before.status.judge_calls if before is not None else 0
        figures = {
            "changes": sum(one.fps for one in status.displays),
            "judged": max(0.0, calls / past_s) if before is not None and past_s > 0 else 0.0,
            "queue": float(status.queued_jobs),
            "memory": status.rss_mb + sum(one.rss_mb for one in status.children),
        }
        for name, value in figures.items():
            self._figures[name].append(value)
        self._fps = {one.name: deque([*self._fps.get(one.name, ()), one.fps], maxlen=_KEPT) for one in status.displays}
        self._view, self._at_s, self.fault = view, now_s, ""
        self._waits_on = {}
        for wait in view.waits.waits:
            self._waits_on[wait.display] = self._waits_on.get(wait.display, 0) + 1
        self._sort_and_filter()

    def _sort_and_filter(self) -> None:
        if self._view is None:
            return
        wanted = self._filter.lower()
        every: tuple[tuple[Any, ...], ...] = (
            self._view.waits.waits,
            self._view.status.displays,
            self._view.status.children,
        )
        words: tuple[Callable[[Any], str], ...] = (_matches_wait, lambda one: f"{one.name} {one.state}", _matches_child)
        for pane, items, found in zip(self._panes, every, words, strict=True):
            pane.take([one for one in items if wanted in found(one).lower()])

    # ---- keys ------------------------------------------------------------------------------------------------------

    def press(self, key: str, opened: Callable[[str], list[Text]]) -> bool:
        """Handle `key`; `opened` shows a wait in full. Return False when it ends the program."""
        if self._typing:
            self._edit_filter(key)
        elif self._opened:
            self._opened = []
        elif key in ("q", "Q"):
            return False
        elif key == "enter":
            self._open(opened)
        else:
            self._run_key(key)
        return True

    def _edit_filter(self, key: str) -> None:
        if key in ("enter", "escape"):
            self._typing = False
            self._filter = "" if key == "escape" else self._filter
        elif key == "backspace":
            self._filter = self._filter[:-1]
        elif len(key) == 1:
            self._filter += key
        self._sort_and_filter()

    def _open(self, opened: Callable[[str], list[Text]]) -> None:
        wait = self._panes[0].selected if self._focus == 0 else None
        if wait is None:
            return
        try:
            self._opened = opened(wait.wait_id)
        except AcudError as fault:
            self.fault = fault.message

    def _run_key(self, key: str) -> None:
        pane = self._panes[self._focus]
        if key in _MOVES:
            pane.move(_MOVES[key])
        elif key in ("tab", "backtab"):
            self._focus = (self._focus + (1 if key == "tab" else -1)) % len(self._panes)
        elif key in ("1", "2", "3"):
            self._focus = int(key) - 1
        elif key in ("left", "right"):
            pane.sort(1 if key == "right" else -1)
        elif key == "r":
            pane.reverse()
        elif key == "/":
            self._typing, self._filter = True, ""
        elif key == "escape":
            self._filter = ""
            self._sort_and_filter()
        elif key == " ":
            self.paused = not self.paused

    # ---- drawing ---------------------------------------------------------------------------------------------------

    def draw_all(self) -> list[RenderableType]:
        """Return all of one reading, for a pipe."""
        assert self._view is not None
        tables = [
            self._draw_table(place, [*pane.visible_rows(len(pane))[1]], marked=False)
            for place, pane in enumerate(self._panes)
        ]
        rest = self._view.waits.total - len(self._view.waits.waits)
        more = [_make_text(f"{rest} more waits")] if rest > 0 else []
        return [*self._draw_head(10**6), tables[1], _make_text(""), tables[0], *more, _make_text(""), tables[2]]

    def draw_screen(self, width: int, height: int) -> RenderableType:
        """Return a screenful of exactly `height` lines at most."""
        from rich.console import Group

        if self._view is None:
            return _make_text(self.fault or "…", "bold red")
        if self._opened:
            return Group(*self._opened[: height - 1], _make_text("any key: back", "dim"))
        head = self._draw_head(width)[: max(1, height // 3)]
        parts: list[RenderableType] = [*head]
        room = self._share_rows(height - len(head) - 1)
        for place, (pane, rows) in enumerate(zip(self._panes, room, strict=True)):
            if rows > 0:
                first, items = pane.visible_rows(rows)
                parts.append(self._draw_title(place, first, len(items), width))
                parts.append(self._draw_table(place, items, marked=place == self._focus))
        used = len(head) + sum(_TITLE_LINES + rows for rows in room if rows > 0)
        parts += [_make_text("")] * (height - 1 - used)
        return Group(*parts, self._draw_foot(width))

    def _share_rows(self, lines: int) -> list[int]:
        """Return how many rows each pane gets of `lines`: what it needs, else its share, the one with the focus the
        greatest. A pane whose title and header do not fit gets none.
        """
        order = sorted(range(len(self._panes)), key=lambda place: (place != self._focus, place))
        shown = order[: max(1, lines // (_FEWEST_ROWS + _TITLE_LINES))]
        lines -= _TITLE_LINES * len(shown)
        need = [max(1, len(pane)) if place in shown else 0 for place, pane in enumerate(self._panes)]
        rows = [min(_FEWEST_ROWS, most) for most in need]
        while sum(rows) < lines and rows != need:
            for place in (self._focus, 0, self._focus, 1, 2):
                if rows[place] < need[place] and sum(rows) < lines:
                    rows[place] += 1
        return rows

    def _draw_head(self, width: int) -> list[Text]:
        assert self._view is not None
        status = self._view.status
        words = [f"acud {status.version}", f"up {duration(status.uptime_s)}", count(len(status.displays), "display")]
        words += [f"{count(status.waits_live, 'live wait')}", f"{status.waits_ended} ended"]
        words += [f"{count(status.judge_calls, 'judge call')}, {cost(status.cost_usd_today)} today"]
        lines = _wrap_words([("bold", word) for word in words], width)
        lines += _wrap_words([*self._draw_sparks(), *(_describe_judge(one) for one in status.judges)], width)
        for reason in status.degraded[:2]:
            lines.append(_make_text(shorten(f"degraded: {in_words(reason)}", width), "yellow"))
        if self.fault:
            lines.append(_make_text(shorten(self.fault, width), "bold red"))
        return lines

    def _draw_sparks(self) -> Iterator[tuple[str, str]]:
        units = {"changes": "frames/s", "judged": "judged/s", "queue": "queued", "memory": "MB"}
        for name, values in self._figures.items():
            number = f"{values[-1]:.1f}" if name in ("changes", "judged") else f"{values[-1]:.0f}"
            yield "cyan", f"{sparkline(list(values), 8)} {number} {units[name]}"

    def _draw_title(self, place: int, first: int, rows: int, width: int) -> Text:
        pane = self._panes[place]
        seen = f"{first + 1}-{first + rows} of {len(pane)}" if rows < len(pane) else str(len(pane))
        found = f", with {self._filter!r}" if self._filter else ""
        words = f" {place + 1} {pane.title} {seen}, by {pane.order}{found} "
        style = "bold black on cyan" if place == self._focus else "bold cyan"
        return _make_text(shorten(words, width).ljust(width), style)

    def _draw_table(self, place: int, items: list[Any], *, marked: bool) -> FittedTable:
        table = (_tabulate_waits, self._tabulate_displays, _tabulate_processes)[place](items)
        if marked and self._panes[place].selected in items:
            table.mark(items.index(self._panes[place].selected))
        return table

    def _tabulate_displays(self, items: list[DisplayInfo]) -> FittedTable:
        table = FittedTable(
            "display",
            "changes",
            "fps",
            "state",
            "waits",
            "size",
            "age",
            "windows",
            "kind",
            flexible=("state",),
            spare=("kind", "windows", "age", "size"),
        )
        for one in items:
            name = one.name + (" *" if one.is_default else "")
            bars = _make_text(sparkline(list(self._fps.get(one.name, ())), 8, 1.0), "green" if one.fps else "dim")
            state = _make_text(shorten(_describe_display(one), 60), "" if one.state.value == "up" else "bold yellow")
            age = "-" if one.frame_age_s is None else duration(one.frame_age_s)
            size, kind = f"{one.width}x{one.height}" if one.width else "-", "managed" if one.managed else "added"
            waits = str(self._waits_on.get(one.name, 0))
            table.add_row(name, bars, f"{one.fps:.1f}", state, waits, size, age, str(len(one.windows)), kind)
        return table

    def _draw_foot(self, width: int) -> Text:
        if self._typing:
            return _make_text(shorten(f"filter: {self._filter}█  (Enter keeps it, Esc ends it)", width), "bold")
        words = _HELP if len(_HELP) <= width else _SHORT_HELP
        return _make_text(shorten(f"paused, space goes on  {words}" if self.paused else words, width), "dim")


_ANSWER_STYLE = {Answer.YES: "green", Answer.NO: "", Answer.UNKNOWN: "yellow"}


def _tabulate_waits(items: list[WaitInfo]) -> FittedTable:
    table = FittedTable(
        "left",
        "condition",
        "verdict",
        "where",
        "judged",
        "cost",
        "id",
        flexible=("condition", "verdict"),
        spare=("cost", "judged", "where"),
    )
    for one in items:
        left = style_state(one.state, duration(one.remaining_s))
        what, where = shorten(name_wait(one), 80), shorten(describe_place(one), 30)
        verdict = _make_text(shorten(describe_answer(one.verdict), 120), _ANSWER_STYLE[one.verdict.answer])
        spent = cost(one.cost_usd) if one.cost_usd else "-"
        table.add_row(left, what, verdict, where, str(one.judged), spent, one.wait_id)
    return table


def _tabulate_processes(items: list[ChildStatus]) -> FittedTable:
    table = FittedTable(
        "process",
        "state",
        "MB",
        "jobs",
        "restarts",
        "beat",
        "pid",
        "reason",
        flexible=("reason", "process"),
        spare=("pid", "beat", "reason", "restarts"),
    )
    for one in items:
        beat = "-" if one.beat_age_s is None else f"{one.beat_age_s:.1f} s"
        state = _make_text(plain(one.state), "green" if one.state == "ready" else "bold yellow")
        numbers = [f"{one.rss_mb:.0f}", str(one.busy_jobs), str(one.restarts), beat, str(one.pid)]
        table.add_row(plain(f"{one.kind} {short_id(one.name)}"), state, *numbers, shorten(one.reason, 50))
    return table


def _describe_display(one: DisplayInfo) -> str:
    state = f"{one.state}: {one.reason}" if one.reason else one.state.value
    return f"{state}, taken by {one.taken_by}" if one.taken_by else state


def _describe_judge(one: JudgeHealth) -> tuple[str, str]:
    return "red" if one.state == "down" else "green", plain(f"{one.name} {one.state}")


def _matches_wait(one: WaitInfo) -> str:
    return f"{name_wait(one)} {describe_answer(one.verdict)} {describe_place(one)} {one.wait_id}"


def _matches_child(one: ChildStatus) -> str:
    return f"{one.kind} {one.name} {one.state}"


def _find_number(name: str) -> int:
    digits = "".join(one for one in name if one.isdigit())[:9]
    return int(digits or -1)


def _wrap_words(words: list[tuple[str, str]], width: int) -> list[Text]:
    """Return words, each with its style, in lines that are not longer than `width`."""
    lines: list[Text] = []
    for style, word in words:
        piece = _make_text(shorten(word, width), style)
        if lines and lines[-1].cell_len + 2 + piece.cell_len <= width:
            lines[-1].append("  ").append_text(piece)
        else:
            lines.append(piece)
    return lines


def _make_text(words: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(words, style=style, no_wrap=True, overflow="ellipsis")
