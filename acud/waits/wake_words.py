"""What a wake says. It quotes screens, and stays one statement whatever they show."""

from __future__ import annotations

from acud.types import WakeInfo, WakeState

MAX_TEXT = 8000
"""Characters of a wait's wake: a receiver may have limits of its own, and an argument of a command has 128 KiB."""


def one_line(text: str) -> str:
    """Return `text` without line breaks and control characters: it may quote a screen, and must stay one statement."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def wait_text(message: str, wait_id: str) -> str:
    """Return the text of a wait's wake: how it ended, and the next call."""
    said = one_line(message)
    if len(said) > MAX_TEXT:
        said = said[: MAX_TEXT - 1] + "…"
    stop = "" if said.endswith((".", "!", "?", "…")) else "."
    return f"{said}{stop} Next: wait_result wait_id={wait_id}"


def sent_text(wake: WakeInfo) -> str:
    """Return the text as it is sent: a reminder says that it is one, after the words by which a wake is known."""
    if wake.state is not WakeState.REMINDING:
        return wake.text
    return f"{wake.text} (Reminder {wake.reminders}: sent before, and its result was not fetched yet.)"
