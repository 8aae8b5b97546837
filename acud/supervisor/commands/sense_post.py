"""Answer `sense_post`."""

from __future__ import annotations

from typing import Any

from acud.analysis.nouns import SenseEvent
from acud.errors import InvalidRequest
from acud.protocol.requests.commentary import Posted, SensePost
from acud.supervisor.app import App
from acud.supervisor.control import Call

_DEPTH = 32
"""SQLite's JSON gives up at 1,000: one event must not make the whole ring unreadable."""


def handle(app: App, request: SensePost, call: Call) -> Posted:
    """Keep what was seen elsewhere."""
    pictures = (request.roi, request.diff, request.observation)
    if any(_deeper_than(_DEPTH, picture) for picture in pictures):
        raise InvalidRequest(f"roi, diff or observation is nested deeper than {_DEPTH}", hint="send it flatter")
    app.commentary.attend()
    return Posted(app.commentary.seen(SenseEvent(0, request.kind, request.ts, 0, request.ocr, request.meta, *pictures)))


def _deeper_than(depth: int, value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth < 0 or any(_deeper_than(depth - 1, one) for one in inside)
