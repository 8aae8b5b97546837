"""`acud top`: displays, waits and processes, live, as people know it from btop: keys sort, scroll, filter and open."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
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
from acud_cli.terminal_keys import listen_to_keys
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
        view = _read_snapshot(client)
        session.show(view, lambda: _print_snapshot(view))
        return Exit.OK
    return _run_live(client, max(0.2, interval))


def _read_snapshot(client: Client) -> TopSnapshot:
    return TopSnapshot(client.status(), client.wait_list(limit=_MOST_WAITS))


def _print_snapshot(view: TopSnapshot) -> None:
    board = Board()
    board.show_snapshot(view)
    for part in board.draw_all():
        print_table(part)


def _run_live(client: Client, interval_s: float) -> int:
    from rich.live import Live

    board, out = Board(), console()
    with listen_to_keys() as key_within, Live(console=out, screen=True, auto_refresh=False) as live:
        due_s = 0.0
        try:
            while True:
                if time.monotonic() >= due_s and not board.paused:
                    _refresh_board(board, client)
                    due_s = time.monotonic() + interval_s
                live.update(board.draw_screen(out.width, out.height), refresh=True)
                key = key_within(interval_s if board.paused else max(0.0, due_s - time.monotonic()))
                if key and not board.press(key, lambda wait_id: format_wait(client.wait_show(wait_id, evaluations=0))):
                    return Exit.OK
        except KeyboardInterrupt:
            return Exit.OK


def _refresh_board(board: Board, client: Client) -> None:
    try:
        board.show_snapshot(_read_snapshot(client))
    except DaemonDown as fault:
        board.fault = str(fault)


def sparkline(values: list[float], width: int, most: float = 0.0) -> str:
    """Return the last `width` of `values` as bars, the highest being the highest of them or `most`."""
    shown = values[-width:]
    highest = max([most, *shown]) or 1.0
    return "".join(_BARS[min(7, math.ceil(7 * max(0.0, value) / highest))] for value in shown).rjust(width)


class Column(NamedTuple):
    """A column of a list: its name as `FittedTable` takes it, an item's cell, and what it is sorted by, the highest
    first where `falling`.
    """

    name: str
    cell: Callable[[Any], str | Text]
    key: Callable[[Any], Any]
    falling: bool = False


class TopList:
    """One list: what is in it, where it was scrolled to, what it is sorted by, and which row is selected. `name` tells
    items apart; `words` are those that a filter looks in.
    """

    def __init__(
        self, title: str, name: Callable[[Any], str], words: Callable[[Any], str], *columns: Column, sorted_by: int = 0
    ) -> None:
        self.title = title
        self.words = words
        self._columns = columns
        self._name = name
        self._sorted_by = sorted_by
        self._turned = False
        self._items: list[Any] = []
        self._first = 0
        self._selected = ""

    def show_items(self, items: list[Any]) -> None:
        """Show `items` from now on, in the chosen order."""
        column = self._columns[self._sorted_by]
        self._items = sorted(items, key=column.key, reverse=column.falling != self._turned)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def order(self) -> str:
        column = self._columns[self._sorted_by]
        return f"{column.name.rstrip('+-')} {'↓' if column.falling != self._turned else '↑'}"

    @property
    def selected(self) -> Any:
        """The item in the selected row, None in an empty list."""
        return self._items[self._find_place()] if self._items else None

    def _find_place(self) -> int:
        return next((place for place, one in enumerate(self._items) if self._name(one) == self._selected), 0)

    def sort(self, step: int) -> None:
        """Sort by the next column, or the one before."""
        self._sorted_by = (self._sorted_by + step) % len(self._columns)
        self._turned = False
        self.show_items(self._items)

    def reverse(self) -> None:
        """Turn the order round."""
        self._turned = not self._turned
        self.show_items(self._items)

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

    def tabulate(self, items: list[Any], *, marked: bool = False) -> FittedTable:
        """Return `items` as rows; `marked`: show which one is selected."""
        table = FittedTable(", ".join(column.name for column in self._columns))
        for one in items:
            table.add_row(*(column.cell(one) for column in self._columns))
        if marked and self.selected in items:
            table.mark(items.index(self.selected))
        return table


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
        self._waits_on: Counter[str] = Counter()
        self._filter = ""
        self._typing = False
        self._opened: list[Text] = []
        self._focus = 0
        self._panes = (_list_waits(), self._list_displays(), _list_processes())

    def _list_displays(self) -> TopList:
        return TopList(
            "displays",
            lambda one: one.name,
            lambda one: f"{one.name} {one.state}",
            Column(
                "display", lambda one: one.name + (" *" if one.is_default else ""), lambda one: _split_name(one.name)
            ),
            Column("changes", self._draw_changes, lambda one: one.fps, falling=True),
            Column("fps", lambda one: f"{one.fps:.1f}", lambda one: one.fps, falling=True),
            Column("state+", _draw_state, lambda one: one.state.value),
            Column("waits", lambda one: str(self._waits_on[one.name]), lambda one: self._waits_on[one.name], True),
            Column("size-", lambda one: f"{one.width}x{one.height}" if one.width else "-", lambda one: one.width),
            Column("age-", lambda one: _draw_age(one.frame_age_s), lambda one: one.frame_age_s or 0.0),
            Column("windows-", lambda one: str(len(one.windows)), lambda one: len(one.windows), falling=True),
            Column("kind-", lambda one: "managed" if one.managed else "added", lambda one: one.managed),
            sorted_by=2,
        )

    def _draw_changes(self, one: DisplayInfo) -> Text:
        return _make_text(sparkline(list(self._fps.get(one.name, ())), 8, 1.0), "green" if one.fps else "dim")

    def show_snapshot(self, view: TopSnapshot) -> None:
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
        self._waits_on = Counter(wait.display for wait in view.waits.waits)
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
        for pane, items in zip(self._panes, every, strict=True):
            pane.show_items([one for one in items if wanted in pane.words(one).lower()])

    def press(self, key: str, show_wait: Callable[[str], list[Text]]) -> bool:
        """Handle `key`; `show_wait` shows a wait in full. Return False when it ends the program."""
        if self._typing:
            self._edit_filter(key)
        elif self._opened:
            self._opened = []
        elif key in ("q", "Q"):
            return False
        elif key == "enter":
            self._open_wait(show_wait)
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

    def _open_wait(self, show_wait: Callable[[str], list[Text]]) -> None:
        wait = self._panes[0].selected if self._focus == 0 else None
        if wait is None:
            return
        try:
            self._opened = show_wait(wait.wait_id)
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

    def draw_all(self) -> list[RenderableType]:
        assert self._view is not None
        tables = [pane.tabulate(pane.visible_rows(len(pane))[1]) for pane in self._panes]
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
                parts.append(pane.tabulate(items, marked=place == self._focus))
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

    def _draw_foot(self, width: int) -> Text:
        if self._typing:
            return _make_text(shorten(f"filter: {self._filter}█  (Enter keeps it, Esc ends it)", width), "bold")
        words = _HELP if len(_HELP) <= width else _SHORT_HELP
        return _make_text(shorten(f"paused, space goes on  {words}" if self.paused else words, width), "dim")


_ANSWER_STYLE = {Answer.YES: "green", Answer.NO: "", Answer.UNKNOWN: "yellow"}


def _list_waits() -> TopList:
    return TopList(
        "waits",
        lambda one: one.wait_id,
        lambda one: f"{name_wait(one)} {describe_answer(one.verdict)} {describe_place(one)} {one.wait_id}",
        Column("left", lambda one: style_state(one.state, duration(one.remaining_s)), lambda one: one.remaining_s),
        Column("condition+", lambda one: shorten(name_wait(one), 80), lambda one: name_wait(one).lower()),
        Column("verdict+", _draw_verdict, lambda one: (one.verdict.answer.value, one.verdict.detail)),
        Column("where-", lambda one: shorten(describe_place(one), 30), lambda one: _split_name(describe_place(one))),
        Column("judged-", lambda one: str(one.judged), lambda one: one.judged, falling=True),
        Column("cost-", lambda one: cost(one.cost_usd) if one.cost_usd else "-", lambda one: one.cost_usd or 0.0, True),
        Column("id", lambda one: one.wait_id, lambda one: one.created_utc_s),
    )


def _draw_verdict(one: WaitInfo) -> Text:
    return _make_text(shorten(describe_answer(one.verdict), 120), _ANSWER_STYLE[one.verdict.answer])


def _list_processes() -> TopList:
    return TopList(
        "processes",
        lambda one: f"{one.kind} {one.name}",
        lambda one: f"{one.kind} {one.name} {one.state}",
        Column("process+", lambda one: plain(f"{one.kind} {short_id(one.name)}"), lambda one: (one.kind, one.name)),
        Column("state", _draw_readiness, lambda one: one.state),
        Column("MB", lambda one: f"{one.rss_mb:.0f}", lambda one: one.rss_mb, falling=True),
        Column("jobs", lambda one: str(one.busy_jobs), lambda one: one.busy_jobs, falling=True),
        Column("restarts-", lambda one: str(one.restarts), lambda one: one.restarts, falling=True),
        Column("reason+-", lambda one: shorten(one.reason, 50), lambda one: one.reason),
        Column("beat-", lambda one: _draw_age(one.beat_age_s), lambda one: one.beat_age_s or 0.0, falling=True),
        Column("pid-", lambda one: str(one.pid), lambda one: one.pid),
        sorted_by=2,
    )


def _draw_readiness(one: ChildStatus) -> Text:
    return _make_text(plain(one.state), "green" if one.state == "ready" else "bold yellow")


def _draw_state(one: DisplayInfo) -> Text:
    state = f"{one.state}: {one.reason}" if one.reason else one.state.value
    words = f"{state}, taken by {one.taken_by}" if one.taken_by else state
    return _make_text(shorten(words, 60), "" if one.state.value == "up" else "bold yellow")


def _draw_age(seconds: float | None) -> str:
    return "-" if seconds is None else duration(seconds)


def _describe_judge(one: JudgeHealth) -> tuple[str, str]:
    return "red" if one.state == "down" else "green", plain(f"{one.name} {one.state}")


def _split_name(name: str) -> tuple[int, str]:
    """Return a key by which :9 comes before :10."""
    return int("".join(filter(str.isdecimal, name))[:9] or -1), name


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
