"""When the commentary analyses and when it speaks."""

from msgspec.structs import replace

from acud.features.commentary.prompt import NOTHING
from acud.features.commentary.schedule import COOLDOWN_S, DEBOUNCE_MAX_S, DEBOUNCE_S, AnalysisSchedule
from acud.types.commentary import AnalysisConfig


def loop(**config: object) -> AnalysisSchedule:
    return AnalysisSchedule(replace(AnalysisConfig(), **config), 0.0)


def test_nothing_new_no_call() -> None:
    assert loop().due_s() is None


def test_news_are_analysed_at_the_interval() -> None:
    one = loop()
    one.note_news(1.0)
    assert one.tick(9.9) is None
    assert one.tick(10.0) == 1
    assert one.due_s() is None  # one call at a time
    assert one.take_analysis("Reading mail.", 1, 10.5) == "Reading mail."
    assert one.due_s() is None  # and its own words are no news


def test_a_full_ring_is_not_taken_for_idle() -> None:
    one = loop()
    for round_ in range(50):
        one.note_news(round_ * 20.0)
        due = one.tick(round_ * 20.0 + 15)
        assert due == round_ + 1
        one.take_analysis(NOTHING, due, round_ * 20.0 + 16)


def test_what_came_during_a_call_is_still_news() -> None:
    one = loop()
    one.note_news(0.0)
    due = one.tick(10.0)
    assert due is not None
    one.note_news(10.2)
    one.take_analysis("a", due, 10.4)
    assert one.due_s() == 20.0


def test_nothing_twice_nothing_empty() -> None:
    one, now = loop(), 0.0
    pushed = []
    for text in ("a", "a", NOTHING, "b"):
        one.note_news(now)
        now += 20
        due = one.tick(now)
        assert due is not None
        pushed.append(one.take_analysis(text, due, now))
    assert pushed == ["a", None, None, "b"]


def test_429_doubles_and_success_resets() -> None:
    one = loop()
    one.note_news(0.0)
    assert one.tick(10.0)
    one.take_failure(10.0, rate_limited=True)
    assert one.due_s() == 30.0
    assert one.tick(30.0)
    one.take_failure(30.0, rate_limited=True)
    assert one.interval_s == 40.0
    due = one.tick(70.0)
    assert due is not None
    one.take_analysis("fine", due, 70.0)
    assert one.interval_s == 10.0


def test_retry_after_is_honoured_and_bounded() -> None:
    one = loop()
    one.note_news(0.0)
    one.tick(10.0)
    one.take_failure(10.0, rate_limited=True, retry_after_s=90)
    assert one.interval_s == 90.0
    for _ in range(20):
        one.take_failure(10.0, rate_limited=True)
    assert one.interval_s == 600.0


def test_another_fault_is_tried_again_at_the_next_interval() -> None:
    one = loop()
    one.note_news(0.0)
    one.tick(10.0)
    one.take_failure(10.5)
    assert one.tick(20.0) == 1


def test_the_event_cadence_waits_for_quiet_but_not_for_ever() -> None:
    one = loop(cadence="event")
    one.note_news(20.0)
    assert one.due_s() == 20.0 + DEBOUNCE_S
    for second in range(21, 60):
        one.note_news(float(second))
    assert one.due_s() == 20.0 + DEBOUNCE_MAX_S
    assert one.tick(50.0)
    one.take_analysis("a", one.version, 50.2)
    one.note_news(51.0)
    assert one.due_s() == 50.0 + COOLDOWN_S


def test_off_is_off_and_can_be_switched_on() -> None:
    one = loop(enabled=False)
    one.note_news(0.0)
    assert one.due_s() is None
    one.configure(AnalysisConfig(), 5.0)
    assert one.due_s() == 10.0


def test_without_pushing_results_are_still_made() -> None:
    one = loop(push_to_feed=False)
    one.note_news(0.0)
    due = one.tick(10.0)
    assert due is not None
    assert one.take_analysis("a", due, 10.0) is None
    assert one.due_s() is None
