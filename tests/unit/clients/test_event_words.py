"""Events as people read them: sentences, with what a screen said last and between marks that it cannot end."""

from typing import Any

import pytest

from acud.protocol.events import TOPICS, Event
from acud_cli.events import describe_event

WAIT = "wait-00t45sz4yzc68ctqpn5cjzh"
FACTS: dict[str, Any] = {
    "identity": "75160f49a0c1",
    "state": "ended",
    "wait_id": WAIT,
    "message": f"[smart_wait timeout] Job {WAIT}: x",
    "messages": [{"role": "system"}],
    "active_item": {"number": 1},
}


@pytest.mark.parametrize("topic", TOPICS)
def test_no_event_shows_json_or_whole_ids(topic: str) -> None:
    told = describe_event(Event(7, 0, topic, 1000.0, WAIT, {"ocr": "idle"} if topic == "judge.changed" else FACTS))
    assert told.strip()
    assert not set(told) & set("{}[]")
    assert WAIT not in told
    assert "smart_wait" not in told


@pytest.mark.parametrize(("topic", "subject", "data", "words"), [
    (
        "wait.resolved",
        WAIT,
        {"condition": 'the text "done" is visible', "display": ":7", "detail": "it says “done”", "frame": 3},
        'wait n5cjzh (the text "done" is visible) on :7 resolved: “it says "done"”',
    ),
    (
        "wait.judged",
        WAIT,
        {"answer": "no", "judge": "ocr", "latency_ms": 16.0, "detail": "nothing"},
        "wait n5cjzh was judged no by ocr in 16 ms: “nothing”",
    ),
    ("task.updated", "task-1", {"item": 1, "status": "active"}, "task task-1 has item 1 active"),
    ("task.stuck", "task-1", {"name": "Book"}, "task task-1 “Book” is stuck: its agent was told"),
    ("wake.sent", "w", {"wait_id": WAIT, "sent_by": "webhook"}, "wake w of wait n5cjzh was sent over webhook"),
    ("display.down", ":7", {"reason": "it was killed"}, "display :7 is down: it was killed"),
    ("judge.changed", "judges", {"ocr": "idle", "ollama": "down"}, "judges: ocr idle, ollama down"),
    ("daemon.started", "daemon", {"pid": 12}, "the daemon: started (pid 12)"),
])  # fmt: skip
def test_events_are_sentences(topic: str, subject: str, data: dict[str, Any], words: str) -> None:
    assert describe_event(Event(7, 0, topic, 1000.0, subject, data)) == words
