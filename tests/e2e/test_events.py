"""Events of a real daemon: chained without gaps, the same by request and by subscription."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from acud.protocol.events import Event
from acud.types import Change, Criteria, DisplayInfo, Rect
from acud_client import Client
from tests.e2e.desktop import Desk, ended, judged

LONG_S = 120.0
NEVER = Criteria("the lamp is green")


def _all(client: Client, after: int = 0, topic: str = "") -> list[Event]:
    found: list[Event] = []
    while page := client.events_since(after, topic=topic, limit=50).events:
        found += page
        after = page[-1].n
    return found


def _lives(client: Client, view: DisplayInfo, desk: Desk) -> list[str]:
    """Live through a resolved, a timed out and a cancelled wait; return their ids."""
    resolved = client.wait_create(Change(), display=view.name, timeout_s=LONG_S).wait.wait_id
    late = client.wait_create(Change(), "region:600,400,10,10", display=view.name, timeout_s=0.3).wait.wait_id
    stopped = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    judged(client, stopped)
    client.wait_update(stopped, timeout_s=LONG_S)
    client.wait_cancel(stopped)
    desk.fill(Rect(5, 5, 50, 50), 0xFF8800)
    return [ended(client, wait_id).wait_id for wait_id in (resolved, late, stopped)]


def test_each_life_is_told_numbered_chained_and_heard_in_order(client: Client, view: DisplayInfo, desk: Desk) -> None:
    heard: list[Event] = []
    with client.events(topic="wait.", after=client.events_since(0, limit=1).newest) as stream:
        resolved, late, stopped = _lives(client, view, desk)
        for event in stream:
            assert isinstance(event, Event)
            heard.append(event)
            ends = {e.subject for e in heard if e.topic in ("wait.resolved", "wait.timeout", "wait.cancelled")}
            if ends >= {resolved, late, stopped}:
                break
    stories = {
        resolved: ["wait.created", "wait.resolved"],
        late: ["wait.created", "wait.timeout"],
        stopped: ["wait.created", "wait.judged", "wait.updated", "wait.cancelled"],
    }
    for wait_id, story in stories.items():
        assert [event.topic for event in heard if event.subject == wait_id] == story
    told = next(event for event in heard if (event.topic, event.subject) == ("wait.resolved", resolved))
    shown = client.wait_show(resolved).wait
    assert (told.data["evidence"], told.data["message"]) == (shown.evidence.name, shown.message)
    events = _all(client)
    newest = events[-1].n
    assert all(before.n < after.n for before, after in pairwise(events))
    assert client.events_since(0, limit=1).newest >= newest
    for topic in {event.topic for event in events}:
        chain = [event for event in events if event.topic == topic]
        assert chain[0].prev == 0
        assert [event.prev for event in chain[1:]] == [event.n for event in chain[:-1]]
        assert [event for event in _all(client, topic=topic) if event.n <= newest] == chain
    # Asked for after a number it is the same, as it is for a subscriber.
    assert heard == [event for event in _all(client, heard[0].n - 1, "wait.") if event.n <= heard[-1].n]
    assert client.events_since(10**12).events == ()
    assert client.events_since(0).trimmed == 0


def test_a_subscriber_from_now_on_hears_a_resolution(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Change(), display=view.name, timeout_s=LONG_S).wait.wait_id
    with client.events(topic="wait.resolved") as stream:
        desk.fill(Rect(5, 5, 50, 50), 0xFF8800)
        event = next(event for event in stream if isinstance(event, Event) and event.subject == wait)
    assert event.topic == "wait.resolved"


def test_a_missing_window_is_told_as_a_note(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(NEVER, "window:Nowhere", display=view.name, timeout_s=LONG_S).wait.wait_id
    note = next(event for event in _all(client, topic="wait.note") if event.subject == wait)
    assert "Nowhere" in note.data["text"]


def test_judgements_are_told_with_their_verdicts(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "no", "rules": [{"area": [0, 0, 9, 9, "#00c040"], "answer": "yes", "detail": "green now"}]}')
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    judged(client, wait)
    desk.fill(Rect(0, 0, 9, 9), 0x00C040)
    ended(client, wait)
    told = [event for event in _all(client, topic="wait.judged") if event.subject == wait]
    assert [event.data["answer"] for event in told] == ["no", "yes"]
    assert told[-1].data["detail"] == "green now"
