"""Notifications: their text for an event, and how often a person gets one.

They quote agents and people; the screen only if the settings ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from acud.base.rate_limits import RollingWindow
from acud.base.untrusted_text import quote
from acud.config.notify import NoticeKind

_TITLE = 100
_BODY = 300
_CONDITION, _SEEN = 120, 120
"""Characters; a notification is read at a glance, and servers cut longer ones."""

Data = Mapping[str, Any]


class Notification(Struct, frozen=True):
    """One notification: a title and a body of one line each. `urgent`: a person has to act."""

    kind: NoticeKind
    title: str
    body: str
    urgent: bool = False


def describe_event(
    topic: str, subject: str, data: Data, screen_text: Callable[[str], str] | None = None
) -> Notification | None:
    """Return the notification for an event; None for other events.

    `screen_text` redacts words read from a screen; None: leave them out.
    """
    makers = {
        "wait.resolved": lambda: _notice_of_resolved_wait(data, screen_text),
        "wake.undelivered": lambda: Notification(
            "wake_undelivered",
            "A wake reached nobody",
            f"{_clip_line(str(data.get('tells') or data.get('kind')), _CONDITION)}: {data.get('reason')};"
            " acud wake list",
            urgent=True,
        ),
        "task.stuck": lambda: _notice_of_stuck_task(data),
        "task.ended": lambda: _notice_of_ended_task(data),
        "display.down": lambda: Notification(
            "display_down", f"Display {subject} is down", str(data.get("reason") or ""), urgent=True
        ),
        "display.released": lambda: Notification(
            "takeover_ended", f"Display {subject} is free again", f"{data.get('who')}: {data.get('reason')}"
        ),
    }
    maker = makers.get(topic)
    return _limit_length(maker()) if maker is not None else None


def _notice_of_resolved_wait(data: Data, screen_text: Callable[[str], str] | None) -> Notification:
    body = str(data.get("label") or data.get("condition") or "")
    seen = str(data.get("detail") or "")
    if screen_text is not None and seen:
        body = f"{_clip_line(body, _CONDITION)} → {quote(_clip_line(screen_text(seen), _SEEN))}"
    return Notification("wait_resolved", "Wait resolved", body)


def _notice_of_stuck_task(data: Data) -> Notification:
    return Notification(
        "task_stuck", "Task stuck", f"{data.get('name')}: nothing for {data.get('idle_s', 0) / 60:.0f} min", urgent=True
    )


def _notice_of_ended_task(data: Data) -> Notification:
    if data.get("status") == "failed":
        return Notification("task_failed", "Task failed", str(data.get("name")), urgent=True)
    return Notification("task_ended", f"Task {data.get('status')}", str(data.get("name")))


def _limit_length(notice: Notification) -> Notification:
    return Notification(notice.kind, _clip_line(notice.title, _TITLE), _clip_line(notice.body, _BODY), notice.urgent)


def _clip_line(text: str, most: int) -> str:
    words = " ".join("".join(one if one.isprintable() else " " for one in text[: 4 * most]).split())
    return words if len(words) <= most else words[: most - 1] + "…"


class Rate:
    """Lets at most `per_minute` through in any 60 s. Times are monotonic seconds, passed in."""

    def __init__(self, per_minute: int) -> None:
        self._window = RollingWindow(per_minute)
        self._held = 0

    def try_pass(self, now_s: float) -> int | None:
        """Return how many were held back since the last one passed; None: this one is held back too."""
        if self._window.free_in_s(now_s) > 0:
            self._held += 1
            return None
        self._window.take(now_s)
        held, self._held = self._held, 0
        return held

    def count_held(self) -> None:
        """Count one that passed but was not sent as held back."""
        self._held += 1
