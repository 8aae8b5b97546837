"""The context window: what was heard and seen lately, as an analysis is told of it. Computed anew each time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from acud.types.commentary import AudioChunk, ContextWindow, FeedItem, ScreenMoment, SenseEvent

AUDIO_KEPT = 5
SCREEN_KEPT = 10
OCR_CHARACTERS = 120
AUDIO_CHARACTERS = 200
UNKNOWN_APP = "unknown"
AGENT = "agent"
"""The source of the commentary's own words."""

_TRANSCRIPT = re.compile(r"^\[[^\]\n]*openrouter\]\s*")
"""A transcript's line, as bridges write it: `[1s ago, openrouter] words`."""


def context_window(
    feed: Sequence[FeedItem], sense: Sequence[SenseEvent], now_ms: int, max_age_ms: int
) -> ContextWindow:
    """Return the window that ends at `now_ms` over both rings (oldest first): feed items count by `ts`, sense events by
    when they came in. What a clock that was set back has left in a far future is as stale as what is long past.
    """
    recent = range(now_ms - max_age_ms, now_ms + max_age_ms + 1)
    audio = [chunk for item in feed if item.ts in recent and (chunk := _heard(item)) is not None]
    screen = [_seen(event) for event in sense if event.receivedAt in recent]
    return ContextWindow(
        currentApp=screen[-1].app if screen else UNKNOWN_APP,
        audio=tuple(audio[-AUDIO_KEPT:]),
        screen=tuple(_unlike(screen)[-SCREEN_KEPT:]),
        audioCount=len(audio),
        screenCount=len(screen),
        windowMs=max_age_ms,
    )


def _heard(item: FeedItem) -> AudioChunk | None:
    if item.source == AGENT:
        return None
    said = (_TRANSCRIPT.sub("", line).strip() for line in item.text.split("\n") if _TRANSCRIPT.match(line))
    text = " ".join(words for words in said if words)
    return AudioChunk(item.ts, text) if text else None


def _seen(event: SenseEvent) -> ScreenMoment:
    meta = event.meta
    return ScreenMoment(event.ts, event.type, meta.app or UNKNOWN_APP, event.ocr, meta.ssim, meta.windowTitle)


def _unlike(moments: Iterable[ScreenMoment]) -> list[ScreenMoment]:
    """Return the moments whose text differs from the last one kept with text, and every switch of context."""
    kept: list[ScreenMoment] = []
    last = ""
    for moment in moments:
        if moment.ocr and moment.ocr != last:
            last = moment.ocr
            kept.append(moment)
        elif not moment.ocr and moment.type == "context":
            kept.append(moment)
    return kept


def clipped(text: str, characters: int) -> str:
    """Return `text` on one line, cut to `characters`."""
    return " ".join(text.split())[:characters]
