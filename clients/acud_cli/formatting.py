"""Text for people: safe for a terminal, and numbers, durations, times and money in words.

A window title or a recognised line may hold escape sequences that move the cursor, rewrite lines above, set the
terminal's title or reverse the reading order. `plain` shows them as visible escapes; then they are only text.
"""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING

from acud.base.ids import short_id

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

# C0 and C1 controls and DEL (ECMA-48), line and paragraph separators, the bidirectional controls (Unicode UAX 9),
# invisible tags, and lone surrogates, which no terminal encoding can carry.
_DANGEROUS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def plain(text: str) -> str:
    """Return `text` on one line with every control character as a visible escape (`\\x1b`)."""
    return _DANGEROUS.sub(_escape, text)


def shorten(text: str, width: int) -> str:
    """Return `text` made plain and cut to `width` characters, the cut marked by an ellipsis."""
    clean = plain(text)
    return clean if len(clean) <= width else clean[: max(0, width - 1)] + "…"


def plain_json(text: str) -> str:
    """Return JSON `text` (which escapes C0 itself) with the other dangerous characters as `\\uXXXX`."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def duration(seconds: float) -> str:
    """Return a span: `0.42 s`, `4.2 s`, `12 s`, `5:00`, `1:02:03`, `3 d 04:00`."""
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds < 10:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours:02}:{minutes:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_given(seconds: float) -> str:
    """Return how long a wait looks: `for 5:00`; without time it looks once."""
    return f"for {duration(seconds)}" if seconds else "for one look"


def milliseconds(value: float) -> str:
    """Return a latency: `0.4 ms`, `142 ms`, `3.2 s`."""
    if value < 10:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def local_time(utc_s: float) -> str:
    """Return the time of day here, to the millisecond: `14:03:22.417`."""
    return datetime.fromtimestamp(utc_s).astimezone().strftime("%H:%M:%S.%f")[:-3]


def local_moment(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s).astimezone().strftime("%Y-%m-%d %H:%M:%S")


_UNANSWERED = re.compile(r"(?:\w+: )?\[Errno \d+\] Connect call failed \('([^']*)', (\d+)[^)]*\)")
_EXCEPTION = re.compile(r"\b[A-Z]\w*(?:Error|Timeout|Exception): (?=\S)|\[Errno \d+\] ")


def in_words(reason: str) -> str:
    """Return the reason of a fault without a library's own names and numbers."""
    return _EXCEPTION.sub("", _UNANSWERED.sub(r"nothing answers at \1:\2", reason))


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cost(usd: float | None) -> str:
    """Return an amount in US dollars; an unknown amount is marked, never shown as nothing."""
    if usd is None:
        return "cost unknown"
    # Single judgements cost fractions of a cent: two significant digits distinguish them from nothing.
    digits = 2 if usd == 0 or usd >= 1 else 4 if usd >= 0.001 else 6
    return f"${usd:.{digits}f}"


_GAP = 2
_FIRST = 1.6
"""How much more room the first flexible column gets than the others."""
_LEAST = 18
"""Columns that a flexible column has at least, before a spare one is left out for it."""


class FittedTable:
    """Rows in columns without lines around them; `columns` names them: "state, title+, made-, id".

    On a terminal columns marked `-` are left out if they are empty, and where it is too narrow others of them, from the
    right; then those marked `+` share what the others leave, the first with the greater part. In a pipe everything is
    there, as wide as it needs, and ids are whole.
    """

    def __init__(self, columns: str) -> None:
        marked = columns.split(", ")
        self._columns = [name.rstrip("+-") for name in marked]
        marks = {name: one[len(name) :] for name, one in zip(self._columns, marked, strict=True)}
        self._flexible = [name for name in self._columns if "+" in marks[name]]
        self._spare = [name for name in reversed(self._columns) if "-" in marks[name]]
        self._rows: list[tuple[Text, ...]] = []
        self._marked = -1

    def add_row(self, *cells: str | Text) -> None:
        """Add one row; its texts are `plain` already."""
        from rich.text import Text

        self._rows.append(tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells))

    def mark(self, row: int) -> None:
        """Show the row of this number, from 0, as selected."""
        self._marked = row

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table

        rows = [tuple(map(_shorten_id, row)) for row in self._rows] if console.is_terminal else self._rows
        widths = self._fit_columns(rows, options.max_width, skip_empty=console.is_terminal)
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
        for name, width in widths.items():
            table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
        shown = [place for place, name in enumerate(self._columns) if name in widths]
        for number, row in enumerate(rows):
            table.add_row(*(row[place] for place in shown), style="reverse" if number == self._marked else None)
        yield table

    def _fit_columns(self, rows: list[tuple[Text, ...]], room: int, *, skip_empty: bool) -> dict[str, int]:
        widths = {
            name: max([len(name), *(row[place].cell_len for row in rows)])
            for place, name in enumerate(self._columns)
            if not (skip_empty and name in self._spare and all(row[place].plain in ("", "-") for row in rows))
        }
        for name in (name for name in self._spare if name in widths):
            least = (min(width, _LEAST) if one in self._flexible else width for one, width in widths.items())
            if sum(least) + _GAP * (len(widths) - 1) <= room:
                break
            del widths[name]
        left = room - _GAP * (len(widths) - 1) - sum(w for name, w in widths.items() if name not in self._flexible)
        shared = {name: _FIRST if name == self._flexible[0] else 1.0 for name in self._flexible if name in widths}
        # The narrowest first: what it does not need is left for the others.
        for name in sorted(shared, key=lambda name: widths[name] / shared[name]):
            widths[name] = max(1, min(widths[name], int(left * shared[name] / sum(shared.values()))))
            left -= widths[name]
            del shared[name]
        return widths


def _shorten_id(cell: Text) -> Text:
    """Return a cell as a terminal shows it: of an id the ending, by which every command finds it."""
    from rich.text import Text

    short = short_id(cell.plain)
    return cell if short == cell.plain else Text(short, style=cell.style)


def moment(utc_s: float) -> str:
    """Return the time of day here for today, else the day too."""
    whole = local_moment(utc_s)
    return whole[11:] if whole[:10] == local_moment(time.time())[:10] else whole[:16]
