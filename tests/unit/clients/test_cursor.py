"""The reader's place in the events: whatever the socket loses or doubles, each event is handed out once."""

from hypothesis import given
from hypothesis import strategies as st

from acud.protocol.events import Beat, Event
from acud_client.stream import EventCursor, Heard


def history(topics: list[str]) -> list[Event]:
    """Return stored events on `topics`, numbered from 1, each with its `prev`."""
    newest: dict[str, int] = {}
    events = []
    for n, topic in enumerate(topics, start=1):
        events.append(Event(n, newest.get(topic, 0), topic, 0.0, "", {}))
        newest[topic] = n
    return events


@given(
    topics=st.lists(st.sampled_from(["a", "b", "c"]), max_size=30),
    fates=st.lists(st.sampled_from(["arrives", "lost", "doubled", "beat"]), min_size=30, max_size=30),
    is_whole=st.booleans(),
)
def test_each_event_is_handed_out_exactly_once(topics: list[str], fates: list[str], is_whole: bool) -> None:
    """A reader of every topic gets them in the order of their numbers, too."""
    events = history(topics)
    cursor, handed = EventCursor(0, is_whole=is_whole), []

    def hear(told: Event | Beat) -> None:
        heard = cursor.judge_message(told)
        if heard is Heard.FRESH:
            handed.append(told)
        if heard is Heard.GAP:
            handed.extend(event for event in events[: told.n] if cursor.recover(event))
            cursor.raise_floor(told.n)

    for event, fate in zip(events, fates, strict=False):
        for _ in range({"lost": 0, "doubled": 2}.get(fate, 1)):
            hear(event)
        if fate == "beat":
            hear(Beat(event.n, 0.0))
    hear(Beat(len(events), 0.0))
    numbers = [event.n for event in handed]
    assert (numbers if is_whole else sorted(numbers)) == [event.n for event in events]


def test_a_beat_that_matches_moves_the_floor_and_forgets_numbers() -> None:
    cursor = EventCursor(0)
    for event in history(["a", "b", "a"]):
        assert cursor.judge_message(event) is Heard.FRESH
    assert cursor.judge_message(Beat(3, 0.0)) is Heard.KNOWN
    assert cursor.floor == cursor.seen == 3
