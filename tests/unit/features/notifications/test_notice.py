"""What a notification says, and above all what it does not."""

import pytest

from acud.config.notify import KINDS
from acud.features.notifications.notice import describe_event

EVENTS = {
    "wait_resolved": (
        "wait.resolved",
        "wait-1",
        {"condition": '"Done" is visible', "label": "", "detail": "I see Done"},
    ),
    "wake_undelivered": (
        "wake.undelivered",
        "wake-1",
        {"wait_id": "wait-1", "tells": "the text is visible", "reason": "no route took it"},
    ),
    "task_stuck": ("task.stuck", "task-1", {"name": "Export", "idle_s": 300, "messages": [{"content": "secret"}]}),
    "task_failed": ("task.ended", "task-1", {"name": "Export", "status": "failed"}),
    "task_ended": ("task.ended", "task-1", {"name": "Export", "status": "completed"}),
    "display_down": ("display.down", ":100", {"reason": "the X server ended"}),
    "takeover_ended": ("display.released", ":100", {"who": "mia", "reason": "run out"}),
}


def test_every_kind_has_an_event_and_a_line_of_each() -> None:
    assert set(EVENTS) == set(KINDS)
    for kind, event in EVENTS.items():
        notice = describe_event(*event)
        assert notice is not None
        assert notice.kind == kind
        assert notice.title
        assert notice.body


@pytest.mark.parametrize(
    "topic", ["wait.created", "wait.timeout", "task.updated", "display.up", "wake.sent", "beat", ""]
)
def test_other_events_are_not_told(topic: str) -> None:
    assert describe_event(topic, "x", {"name": "x", "status": "failed"}) is None


def test_words_of_the_screen_are_told_only_where_asked_for_and_then_redacted() -> None:
    plain = describe_event(*EVENTS["wait_resolved"])
    told = describe_event(*EVENTS["wait_resolved"], screen_text=lambda text: text.replace("Done", "***"))
    assert plain is not None
    assert told is not None
    assert plain.body == '"Done" is visible'
    assert told.body == '"Done" is visible → "I see ***"'
    stuck = describe_event(*EVENTS["task_stuck"])
    assert stuck is not None
    assert "secret" not in stuck.body


def test_ids_and_seconds_are_not_for_people() -> None:
    undelivered, stuck = describe_event(*EVENTS["wake_undelivered"]), describe_event(*EVENTS["task_stuck"])
    assert undelivered is not None
    assert undelivered.body == "the text is visible: no route took it; acud wake list"
    assert stuck is not None
    assert stuck.body == "Export: nothing for 5 min"


def test_a_label_stands_for_the_condition() -> None:
    notice = describe_event("wait.resolved", "w", {"condition": "c", "label": "the build"})
    assert notice is not None
    assert notice.body == "the build"


def test_hostile_words_are_one_short_printable_line() -> None:
    notice = describe_event("task.ended", "t", {"name": "a\x1b[31m\nb\u202ec" + "x" * 100_000, "status": "failed"})
    assert notice is not None
    assert notice.body.isprintable()
    assert len(notice.body) == 300
    assert notice.urgent
