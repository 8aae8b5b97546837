"""The text of a wake. It quotes screens, and stays one statement whatever they show."""

from __future__ import annotations

from acud.base.untrusted_text import own_words, with_seen
from acud.types import WaitSpec, WakeInfo, WakeKind, WakeState, condition_text

MAX_TEXT = 8000
"""Characters of a wait's wake: receivers have limits of their own, and an argument of a command has 128 KiB."""


def one_line(text: str) -> str:
    """Return `text` without line breaks and control characters: it may quote a screen, and must stay one statement."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def job_text(wait_id: str, spec: WaitSpec, places: tuple[str, ...], outcome: str = "") -> str:
    """Return which wait ended: its agent's own note, then the condition. An `outcome` other than a yes stands before
    the condition, so that a timeout is not read as a success.
    """
    note = f"Note: {one_line(spec.note)} — " if spec.note else ""
    where = ", ".join(filter(None, places))
    words = _cut_text(one_line(spec.label or condition_text(spec.until)))
    return f"Job {wait_id}: {note}{f'{outcome}: ' if outcome else ''}{words}{f' ({where})' if where else ''}"


def not_seen_text(spec: WaitSpec) -> str:
    return f"not seen in {spec.timeout_s:g} s" if spec.timeout_s else "looked once, not seen"


def wait_text(message: str, wait_id: str, words: str = "") -> str:
    """Return the text of a wait's wake: how it ended, the next call, and last the `words` on the screen."""
    return next_text(message, f"wait_result wait_id={wait_id}", words)


def next_text(message: str, call: str, screen_words: str) -> str:
    """Return a wake's text. Words of a screen stand in a field of their own at its end, apart from acud's words."""
    words = _cut_text(one_line(message))
    stop = "" if words.endswith((".", "!", "?", "…")) else "."
    return with_seen(f"{words}{stop} Next: {call}", _cut_text(one_line(screen_words)))


def _cut_text(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def sent_text(wake: WakeInfo) -> str:
    """Return the text to send; a reminder is marked as one after acud's own words."""
    if wake.state is not WakeState.REMINDING:
        return wake.text
    own = own_words(wake.text)
    marked = f"{own} (Reminder {wake.reminders}: sent before, and its result was not fetched yet.)"
    return marked + wake.text.removeprefix(own)


def bare_text(kind: WakeKind, text: str, wait_id: str, task_id: str) -> str:
    """Return a wake's text without words that may be of a screen: every user can read a program's arguments."""
    if kind is WakeKind.TASK_STUCK:
        return f"[task_stuck_resume] {task_id}. Next: task_summary task_id={task_id}"
    own = own_words(text)
    if wait_id and own == text:  # nothing was seen, or an older acud did not mark it
        return next_text(f"[smart_wait {kind.value}] Job {wait_id}", f"wait_result wait_id={wait_id}", "")
    return own
