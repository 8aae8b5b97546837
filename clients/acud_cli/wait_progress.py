"""Staying with a wait until it ends: a live status line for people, plain lines for files, silence for programs."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from acud.errors import DaemonDown
from acud.protocol.requests.waits import WaitResultReply
from acud.types import WaitInfo
from acud_cli.exit_codes import Exit, of_state
from acud_cli.formatting import count, duration, shortened
from acud_cli.session import Session, as_json, console, print_lines, warn
from acud_cli.wait_options import tell_notes
from acud_cli.wait_text import ending_lines, styled
from acud_client.call import POLL_S, is_away
from acud_client.sync import Client

if TYPE_CHECKING:
    from rich.text import Text

PATIENCE_S = 60.0
"""How long to stay while the daemon is away: it may be restarting, and the wait outlives that."""

_AWAY = "the daemon is away; the wait is kept, and goes on when it is back"
_AWAY_LOOK_S = 0.1
_LIVE_POLL_S = 0.5
_MARGIN = 6
"""Columns left free: the spinner, and the ^C that a terminal echoes, which must not wrap the line."""
_LINES_POLL_S = 2.0


def stay(session: Session, client: Client, wait: WaitInfo, greeting: str = "", notes: tuple[str, ...] = ()) -> int:
    """Print `greeting` and `notes`, wait for the end, show it, and return the exit code; Ctrl-C leaves the wait to the
    daemon.
    """
    try:
        if greeting and not session.json:
            warn(greeting)
        tell_notes(notes)
        reply = _follow(session, client, wait)
    except KeyboardInterrupt:
        return _detach(session, wait.wait_id)
    session.show(reply, lambda: print_lines(ending_lines(reply)))
    return of_state(reply.wait.state)


def _follow(session: Session, client: Client, wait: WaitInfo) -> WaitResultReply:
    shown = Quiet() if session.json else LiveStatus(wait) if sys.stderr.isatty() else ProgressLines()
    with shown.context():
        return _poll(client, wait.wait_id, shown)


def _poll(client: Client, wait_id: str, shown: Quiet) -> WaitResultReply:
    heard_s = time.monotonic()
    while True:
        try:
            reply = client.wait_result(wait_id, block_s=shown.poll_s)
        except DaemonDown as fault:
            if not is_away(fault) or time.monotonic() - heard_s > PATIENCE_S:
                raise
            shown.away()
            time.sleep(_AWAY_LOOK_S)
            continue
        if reply.ended:
            return reply
        heard_s = time.monotonic()
        shown.update(reply.wait)


def _detach(session: Session, wait_id: str) -> int:
    if session.json:
        print(as_json({"detached": True, "wait_id": wait_id}), flush=True)
        return Exit.DETACHED
    warn(f"detached: {wait_id} goes on in the daemon")
    warn(f"  come back:  acud wait result {wait_id}")
    warn(f"  end it:     acud wait cancel {wait_id}")
    return Exit.DETACHED


class Quiet:
    """For a program: nothing but the end."""

    poll_s = POLL_S

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which updates may come."""
        return nullcontext()

    def update(self, wait: WaitInfo) -> None:
        """Take the newest state."""

    def away(self) -> None:
        """Take that the daemon does not answer now."""


class ProgressLines(Quiet):
    """For a file or a pipe: one line whenever the verdict's words change."""

    poll_s = _LINES_POLL_S

    def __init__(self) -> None:
        self._last = ""

    def update(self, wait: WaitInfo) -> None:
        """Print the verdict when it says something new."""
        words = f"{wait.verdict.answer}: {wait.verdict.detail}" if wait.judged else ""
        if words:
            self._tell(words, f"{duration(max(0.0, wait.spec.timeout_s - wait.remaining_s))}  {words}")

    def away(self) -> None:
        """Print once that the daemon is away."""
        self._tell(_AWAY, f"note: {_AWAY}")

    def _tell(self, words: str, line: str) -> None:
        if words != self._last:
            self._last = words
            warn(line)


class LiveStatus(Quiet):
    """For a terminal: one line, rewritten four times a second; it is gone when the wait ends."""

    poll_s = _LIVE_POLL_S

    def __init__(self, wait: WaitInfo) -> None:
        self._wait = wait
        self._at_s = time.monotonic()
        self._away = False

    def context(self) -> AbstractContextManager[Any]:
        """Return a context in which the line is on the terminal."""
        from rich.live import Live

        return Live(get_renderable=self._line, console=console(stderr=True), refresh_per_second=8, transient=True)

    def update(self, wait: WaitInfo) -> None:
        """Show the newest state from now on."""
        self._wait, self._away = wait, False
        self._at_s = time.monotonic()

    def away(self) -> None:
        """Show that the daemon is away."""
        self._away = True

    def _line(self) -> Text:
        since_s = time.monotonic() - self._at_s
        width = console(stderr=True).width
        words = f"{_AWAY}  ·  " if self._away else ""
        return styled(shortened(words + status_words(self._wait, since_s), width - _MARGIN), _spinner())


def _spinner() -> str:
    return "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[int(time.monotonic() * 8) % 10]


def status_words(wait: WaitInfo, since_s: float) -> str:
    """Return one line about a wait that is still watched, `since_s` after it was asked for."""
    left_s = max(0.0, wait.remaining_s - since_s)
    numbers = f"{count(wait.frames_seen, 'frame')}, {count(wait.judge_calls, 'judge call')}"
    parts = [f"watching {wait.display}", f"{duration(left_s)} left", numbers]
    if wait.judged:
        parts.append(f"{wait.verdict.answer}: {wait.verdict.detail}")
    return "  ·  ".join(parts + ([wait.note] if wait.note else []))
