"""The commentary without a model: which app is in front, and what is new on the screen."""

from __future__ import annotations

from acud.features.commentary.context_window import clipped
from acud.features.commentary.prompt import MAX_WORDS, NOTHING
from acud.types.commentary import ContextWindow, ScreenMoment

MODEL = "embedded"
_QUOTED = 80


def comment(window: ContextWindow, before: ContextWindow | None) -> str:
    """Return one line on what changed since `before` (None: everything is new), or "—" when nothing did."""
    known = set(before.screen) if before is not None else set()
    fresh = [moment for moment in window.screen if moment not in known]
    switched = before is None or before.currentApp != window.currentApp
    heard = window.audio[-1] if window.audio and (before is None or window.audio[-1] not in before.audio) else None
    parts = [_switch(window, before)] if switched and window.screen else []
    parts += [_news(window, fresh)] if any(moment.ocr for moment in fresh) else []
    parts += [f'Heard: "{clipped(heard.text, _QUOTED)}".'] if heard else []
    return _short(" ".join(part for part in parts if part)) or NOTHING


def _switch(window: ContextWindow, before: ContextWindow | None) -> str:
    app = clipped(window.currentApp, 40)
    if before is None or not before.screen:
        return f"{app} is in front."
    return f"Switched from {clipped(before.currentApp, 40)} to {app}."


def _news(window: ContextWindow, fresh: list[ScreenMoment]) -> str:
    newest = next(moment for moment in reversed(fresh) if moment.ocr)
    where = "" if newest.app == window.currentApp else f" in {clipped(newest.app, 40)}"
    return f'New on screen{where}: "{clipped(newest.ocr, _QUOTED)}".'


def _short(text: str) -> str:
    words = text.split()
    return text if len(words) <= MAX_WORDS else " ".join(words[:MAX_WORDS]) + " …"
