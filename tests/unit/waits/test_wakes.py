"""The rules of wakes: routes in order, backoff, giving up, reminders; and what no order of events may break."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from acud.base.errors import Conflict
from acud.base.untrusted_text import SEEN
from acud.types import RouteName, RouteTry, WakeAddress, WakeInfo, WakeKind, WakeState
from acud.waits import wake_text, wakes
from acud.waits import wakes as rules
from acud.waits.wakes import (
    AttemptEnded,
    AttemptLost,
    ResultFetched,
    RetryRequested,
    RetryTerms,
    RouteReopened,
    RouteShut,
    SendAttempt,
    WakeBegan,
    WakeReport,
    WakeResumed,
    WakeTicked,
)

TERMS = RetryTerms(retry_first_s=1, retry_max_s=60, retry_for_s=600, remind_after_s=30, max_reminders=2)
HOOK, CLI = RouteName.OPENCLAW, RouteName.OPENCLAW_CLI
START = 1000.0


def _wake(*routes: RouteName, wait_id: str = "wait-1") -> WakeInfo:
    return WakeInfo(
        "wake-1",
        WakeKind.RESOLVED,
        "[smart_wait resolved] Job wait-1: x → y.",
        wait_id,
        routes=rules.routes_of(routes),
        created_utc_s=START,
        begun_utc_s=START,
    )


class Life:
    """A wake, driven through events."""

    def __init__(self, *routes: RouteName, wait_id: str = "wait-1") -> None:
        self.wake = _wake(*routes, wait_id=wait_id)
        self.at = START
        self.sends: list[SendAttempt] = []
        self.told: list[str] = []

    def feed(self, event: rules.WakeEvent) -> None:
        self.wake, effects = rules.step(self.wake, event, TERMS)
        self.sends += [effect for effect in effects if isinstance(effect, SendAttempt)]
        self.told += [effect.topic for effect in effects if isinstance(effect, WakeReport)]

    def began(self) -> Life:
        self.feed(WakeBegan(self.at))
        return self

    def end(self, result: str, reason: str = "", after: float = 0.0) -> None:
        last = self.sends[-1]
        self.feed(AttemptEnded(self.at, last.attempt, last.route, result, reason, after, jitter=1.0))  # type: ignore[arg-type]

    def tick(self) -> None:
        assert self.wake.next_utc_s > self.at
        self.at = self.wake.next_utc_s
        self.feed(WakeTicked(self.at))

    @property
    def tried(self) -> list[RouteName]:
        return [send.route for send in self.sends]


def test_the_first_route_that_takes_it_ends_the_trying() -> None:
    life = Life(HOOK, CLI).began()
    life.end("sent")
    assert (life.tried, life.told, life.wake.state) == ([HOOK], ["sent"], WakeState.SENT)
    assert life.wake.sent_by == "openclaw"


def test_a_route_that_fails_hands_over_at_once_and_comes_again_after_its_pause() -> None:
    life = Life(HOOK, CLI).began()
    life.end("retry", "refused connection")
    assert life.tried == [HOOK, CLI]
    life.end("retry", "no gateway")
    assert life.wake.next_utc_s == START + 1
    life.tick()
    assert life.tried == [HOOK, CLI, HOOK]
    life.end("retry")
    life.end("retry")
    assert life.wake.next_utc_s == life.at + 2
    assert life.wake.state is WakeState.PENDING


def test_pauses_double_up_to_the_limit() -> None:
    pauses = [rules.backoff_s(failures, 1.0, TERMS) for failures in (1, 2, 3, 7, 8, 5000)]
    assert pauses == [1, 2, 4, 60, 60, 60]
    assert rules.backoff_s(3, 0.0, TERMS) == 2


def test_retry_after_is_honoured() -> None:
    life = Life(HOOK).began()
    life.end("retry", "answered 429", after=45)
    assert life.wake.next_utc_s == START + 45
    life.feed(WakeTicked(START + 44.9))
    assert len(life.sends) == 1


def test_a_refused_route_is_not_tried_again_and_the_last_refusal_gives_up() -> None:
    life = Life(HOOK, CLI).began()
    life.end("refused", "answered 401")
    life.end("retry", "no gateway")
    life.tick()
    assert life.tried == [HOOK, CLI, CLI]
    life.end("refused", "answered 400")
    assert (life.wake.state, life.told) == (WakeState.UNDELIVERED, ["undelivered"])
    assert life.wake.reason == "answered 400"
    assert rules.is_idle(life.wake)


def test_age_gives_up_and_no_route_does_so_at_once() -> None:
    life = Life(HOOK).began()
    while life.wake.state is WakeState.PENDING:
        life.end("retry", "down")
        if life.wake.next_utc_s:
            life.tick()
    assert life.at == START + TERMS.retry_for_s
    assert life.wake.state is WakeState.UNDELIVERED
    none = Life().began()
    assert (none.wake.state, none.sends) == (WakeState.UNDELIVERED, [])
    assert "no route" in none.wake.reason


def test_a_lost_attempt_is_made_again_on_the_same_route() -> None:
    life = Life(HOOK, CLI).began()
    life.feed(AttemptLost(life.at, life.wake.flight, "the delivery process ended"))
    assert life.tried == [HOOK, HOOK]
    life.feed(AttemptLost(life.at, 1, "a late word"))
    assert len(life.sends) == 2


def test_a_new_supervisor_sends_again_what_was_under_way() -> None:
    life = Life(HOOK).began().began()
    assert life.tried == [HOOK, HOOK]


def test_a_shut_route_is_passed_over_without_counting_as_a_try() -> None:
    life = Life(HOOK, CLI).began()
    life.feed(RouteShut(life.at, 1, HOOK, life.at + 20, "the route fails"))
    assert life.tried == [HOOK, CLI]
    assert life.wake.routes[0].tries == 0
    assert life.wake.attempts == 1
    alone = Life(HOOK).began()
    alone.feed(RouteShut(alone.at, 1, HOOK, alone.at + 20, "the route fails"))
    assert (alone.wake.next_utc_s, alone.wake.flight) == (START + 20, 0)
    alone.feed(RouteReopened(START + 3, HOOK))
    assert alone.tried == [HOOK, HOOK]


def test_reopening_hurries_what_failed_by_itself_once() -> None:
    life = Life(HOOK).began()
    life.end("retry", "answered 500")
    life.feed(RouteReopened(life.at, HOOK))
    assert len(life.sends) == 2
    life.end("retry", "answered 500")
    life.feed(RouteReopened(life.at, HOOK))
    assert (len(life.sends), life.wake.next_utc_s) == (2, START + 2)


def test_reopening_keeps_what_the_receiver_asked_for() -> None:
    life = Life(HOOK).began()
    life.end("retry", "answered 429", after=45)
    life.feed(RouteReopened(START + 1, HOOK))
    assert (len(life.sends), life.wake.next_utc_s) == (1, START + 45)


def test_a_new_supervisor_tries_what_was_held_up_at_once() -> None:
    life = Life(HOOK, CLI).began()
    for _ in range(12):
        life.end("retry", "down")
        if life.wake.next_utc_s:
            life.tick()
    life.feed(RouteShut(life.at, life.wake.flight, life.sends[-1].route, life.at + 60, "the route fails"))
    asked = life.at
    sends = len(life.sends)
    life.feed(WakeResumed(asked))
    assert life.tried[sends:] == [HOOK]
    assert life.wake.routes[1].not_before_utc_s == 0


def test_a_new_supervisor_leaves_what_was_sent_until_its_reminder() -> None:
    life = Life(HOOK).began()
    life.end("sent")
    before = life.wake
    life.feed(WakeResumed(life.at + 5))
    assert life.wake == before
    life.tick()
    life.feed(WakeResumed(life.at + 7))
    assert (len(life.sends), life.wake.next_utc_s) == (2, life.at + 7)


def _other(wake_id: str, agent: str, state: WakeState, *routes: RouteTry) -> WakeInfo:
    return replace(_wake(), wake_id=wake_id, address=WakeAddress(agent_id=agent), state=state, routes=routes)


@pytest.mark.parametrize(("agent", "first", "waits"), [
    ("a", RouteTry(HOOK), True), ("b", RouteTry(HOOK), False), ("b", RouteTry(HOOK, shut=True), True),
    ("a", RouteTry(HOOK, tries=3), False), ("a", RouteTry(HOOK, refused=True), False), ("a", RouteTry(CLI), False),
])  # fmt: skip
def test_a_reminder_lets_first_deliveries_to_its_agent_and_over_its_route_go_before(
    agent: str, first: RouteTry, waits: bool
) -> None:
    reminder = _other("wake-1", "a", WakeState.SENT, RouteTry(HOOK))
    ahead = rules.first_deliveries([reminder, _other("wake-2", agent, WakeState.PENDING, first)])
    assert rules.must_wait(reminder, ahead) is waits


def test_a_reminder_with_a_route_that_nobody_waits_for_goes() -> None:
    reminder = _other("wake-1", "a", WakeState.SENT, RouteTry(HOOK), RouteTry(CLI))
    ahead = rules.first_deliveries([_other("wake-2", "a", WakeState.PENDING, RouteTry(HOOK, shut=True))])
    assert not rules.must_wait(reminder, ahead)
    assert not rules.must_wait(_other("wake-3", "a", WakeState.SENT), ahead)


def test_reminders_are_counted_marked_and_bounded() -> None:
    life = Life(HOOK).began()
    texts = []
    for _ in range(3):
        texts.append(wake_text.sent_text(life.wake))
        life.end("sent")
        if life.wake.next_utc_s:
            life.tick()
    assert texts[0] == life.wake.text
    assert [f"(Reminder {n}:" in text for n, text in enumerate(texts)] == [False, True, True]
    assert all(text.startswith(life.wake.text) for text in texts)
    assert (life.wake.reminders, life.wake.state, len(life.sends)) == (2, WakeState.SENT, 3)
    assert rules.is_idle(life.wake)


def test_a_reminder_that_no_route_takes_leaves_the_wake_sent() -> None:
    life = Life(HOOK).began()
    life.end("sent")
    life.tick()
    life.end("refused", "answered 401")
    assert life.wake.state is WakeState.SENT
    assert life.told == ["sent"]
    assert life.wake.next_utc_s == life.at + TERMS.remind_after_s


def test_what_tells_of_no_wait_is_not_repeated() -> None:
    life = Life(HOOK, wait_id="").began()
    life.end("sent")
    assert rules.is_idle(life.wake)


@pytest.mark.parametrize("before", ["pending", "sent", "undelivered"])
def test_seeing_ends_it(before: str) -> None:
    life = Life(*([HOOK] if before != "undelivered" else [])).began()
    if before == "sent":
        life.end("sent")
    life.feed(ResultFetched(life.at))
    assert (life.wake.state, life.wake.next_utc_s, life.told[-1]) == (WakeState.SEEN, 0, "seen")
    sends = len(life.sends)
    life.feed(ResultFetched(life.at))
    life.feed(WakeTicked(life.at + 1e6))
    if before == "pending":
        life.end("retry")
    assert len(life.sends) == sends
    assert life.told.count("seen") == 1


def test_a_success_that_comes_after_it_was_seen_is_noted() -> None:
    life = Life(HOOK).began()
    life.feed(ResultFetched(life.at))
    life.end("sent")
    assert (life.wake.state, life.wake.sent_by) == (WakeState.SEEN, "openclaw")


def test_retry_by_hand() -> None:
    life = Life(HOOK).began()
    life.end("refused", "answered 401")
    life.feed(RetryRequested(life.at, (CLI,)))
    assert (life.tried, life.wake.state) == ([HOOK, CLI], WakeState.PENDING)
    life.end("sent")
    life.feed(RetryRequested(life.at, (CLI,)))
    assert (life.wake.state, life.wake.reminders) == (WakeState.REMINDING, 1)
    life.feed(ResultFetched(life.at))
    with pytest.raises(Conflict, match="seen"):
        life.feed(RetryRequested(life.at, (CLI,)))


def test_texts() -> None:
    said = wake_text.wait_text('[smart_wait resolved] Job w: "a\nb"', "w", "shows\x1b[31m\x00 it")
    assert said == f'[smart_wait resolved] Job w: "a b". Next: wait_result wait_id=w {SEEN} "shows [31m it"'
    long = wake_text.wait_text("x" * 100_000, "wait-1")
    assert len(long) < wake_text.MAX_TEXT + 100
    assert long.endswith("… Next: wait_result wait_id=wait-1")


# ---- any order of events -------------------------------------------------------------------------------------------

_ROUTES = st.lists(st.sampled_from(list(RouteName)), max_size=4).map(tuple)
_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "began", "resumed", "tick", "sent", "retry", "refused", "lost", "shut", "reopened", "retried", "saw",
                "old",
            ]
        ),
        st.floats(0, 700),
        st.sampled_from(list(RouteName)),
    ),
    max_size=60,
)  # fmt: skip


def _event(
    kind: str, at: float, pause: float, route: RouteName, wake: WakeInfo, last: SendAttempt | None
) -> rules.WakeEvent:
    attempt, over = (last.attempt, last.route) if last is not None else (1, route)
    match kind:
        case "began":
            return WakeBegan(at)
        case "resumed":
            return WakeResumed(at)
        case "tick":
            return WakeTicked(at)
        case "sent" | "retry" | "refused":
            return AttemptEnded(at, attempt, over, kind, kind, pause / 10, jitter=0.5)  # type: ignore[arg-type]
        case "lost":
            return AttemptLost(at, attempt, "lost")
        case "shut":
            return RouteShut(at, attempt, over, at + pause + 1, "shut")
        case "reopened":
            return RouteReopened(at, route)
        case "retried":
            return RetryRequested(at, tuple(r.name for r in wake.routes))
        case "saw":
            return ResultFetched(at)
    return AttemptEnded(at, max(0, attempt - 1), over, "retry", "old", jitter=0.1)


@settings(max_examples=300, deadline=None)
@given(_ROUTES, _EVENTS)
def test_nothing_that_can_happen_loses_a_wake(routes: tuple[RouteName, ...], happened: list[tuple]) -> None:  # type: ignore[type-arg]
    wake, effects = rules.step(_wake(*routes), WakeBegan(START), TERMS)
    at, last = START, None
    for kind, pause, route in happened:
        sends = [effect for effect in effects if isinstance(effect, SendAttempt)]
        assert len(sends) <= 1
        last = sends[0] if sends else last
        if sends:
            assert wake.flight == sends[0].attempt
            assert sends[0].route in {r.name for r in wake.routes if not r.refused}
        # Something always follows: an attempt under way, a moment to look again, or an end that is listed.
        assert wake.flight or wake.next_utc_s or wake.state not in wakes.TRYING
        at = max(at + pause / 20, wake.next_utc_s if kind == "tick" else 0.0)
        before = wake
        try:
            wake, effects = rules.step(wake, _event(kind, at, pause, route, wake, last), TERMS)
        except Conflict:
            assert before.state is WakeState.SEEN
            continue
        assert (before.wake_id, before.text, before.created_utc_s) == (wake.wake_id, wake.text, wake.created_utc_s)
        if before.state is WakeState.SEEN:
            assert wake.state is WakeState.SEEN
            assert not [effect for effect in effects if isinstance(effect, SendAttempt)]
        allowed = {before.state, *wakes.TRANSITIONS[before.state].values()}
        allowed |= {s for mid in wakes.TRANSITIONS[before.state].values() for s in wakes.TRANSITIONS[mid].values()}
        assert wake.state in allowed


def test_illegal_moves_change_nothing() -> None:
    for state in WakeState:
        for move in wakes.WakeMove:
            if move not in wakes.TRANSITIONS[state]:
                with pytest.raises(wakes.IllegalWakeMove):
                    wakes.move_wake(state, move)
    seen = replace(_wake(HOOK), state=WakeState.SEEN)
    with pytest.raises(wakes.IllegalWakeMove):
        rules.step(seen, RetryRequested(START, (HOOK,)), TERMS)
