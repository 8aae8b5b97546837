"""Codes, sessions and tokens in a real store, with the clock in hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import InvalidRequest, NotFound
from acud.config import StoreSettings
from acud.features.notifications.tables import PushSubscriptions, Subscription
from acud.process.event_loop import EventLoop
from acud.protocol.events import Event
from acud.protocol.requests.web import WebLogin, WebTokenCreate
from acud.protocol.web import Scope, digest_of
from acud.store.retention import trim
from acud.store.store import Store
from acud.supervisor.access_tokens import AccessTokens
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Order
from tests.fixtures.manual_clock import ManualClock

CODE, SESSION, TOKEN = map(digest_of, ("code", "session", "token"))
DAY_S = 86_400.0


class Bureau:
    """Passes over a store in `folder`, at `clock`."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(1_000_000.0)
        self.clock.utc_offset_s = 0.0
        self.told: list[Event] = []
        self.store = Store(folder / "data.db", folder, StoreSettings(), self.clock.now_s)
        self.journal = Journal(self.store, EventLoop(lambda: 0.0), self.clock)
        self.journal.committed.add(self.told.append, Order.CORE)
        self.passes = AccessTokens(self.journal, self.clock, session_days=14)

    def turn(self) -> None:
        assert self.journal.end_turn() is None


@pytest.fixture
def bureau(tmp_path: Path) -> Iterator[Bureau]:
    made = Bureau(tmp_path)
    yield made
    made.store.close()


def test_a_code_opens_one_session_with_what_it_was_made_for(bureau: Bureau) -> None:
    bureau.passes.login(WebLogin(CODE, Scope.ACT, "desk", (":1",), ("task-1",)))
    opened = bureau.passes.redeem(CODE, SESSION)
    assert (opened.kind, opened.scope, opened.name) == ("session", Scope.ACT, "desk")
    assert (opened.displays, opened.tasks) == ((":1",), ("task-1",))
    assert opened.expires_utc_s == bureau.clock.now_s + 14 * DAY_S
    assert bureau.passes.find_by_digest(SESSION) == opened
    with pytest.raises(NotFound):
        bureau.passes.redeem(CODE, digest_of("another"))
    with pytest.raises(NotFound):
        bureau.passes.find_by_digest(CODE)


def test_subscriptions_end_with_their_passes_but_not_with_a_sessions_time(bureau: Bureau) -> None:
    bureau.passes.login(WebLogin(CODE))
    opened = bureau.passes.redeem(CODE, SESSION)
    token = bureau.passes.create(WebTokenCreate(TOKEN, for_s=60))
    push = PushSubscriptions(bureau.store)
    for one, until in ((opened, 0.0), (token, token.expires_utc_s)):
        place = f"https://fcm.googleapis.com/{one.kind}"
        owned = (f"push-{one.kind}", one.pass_id, one.kind, (), (), place, "p", "a")
        push.put(Subscription(*owned, bureau.clock.now_s, until))
    assert [one.kind for one in push.valid(bureau.clock.now_s + 59)] == ["session", "token"]
    bureau.clock.now_s += 15 * DAY_S
    trim(bureau.store, StoreSettings(), bureau.clock.now_s)
    assert [one.kind for one in push.valid(0.0)] == ["session"]
    bureau.passes.revoke("", "session")
    assert push.valid(0.0) == ()


def test_a_code_is_good_for_two_minutes(bureau: Bureau) -> None:
    assert bureau.passes.login(WebLogin(CODE)) == bureau.clock.now_s + 120
    bureau.clock.now_s += 120
    with pytest.raises(NotFound, match="used already, or is too old"):
        bureau.passes.redeem(CODE, SESSION)


def test_a_token_lives_until_it_is_revoked_or_for_its_time(bureau: Bureau) -> None:
    ever = bureau.passes.create(WebTokenCreate(TOKEN))
    short = bureau.passes.create(WebTokenCreate(digest_of("short"), for_s=60))
    bureau.clock.now_s += 60
    assert bureau.passes.all() == (ever,)
    bureau.clock.now_s += 3650 * DAY_S
    assert bureau.passes.find_by_digest(TOKEN).pass_id == ever.pass_id
    with pytest.raises(NotFound):
        bureau.passes.find_by_digest(digest_of("short"))
    with pytest.raises(InvalidRequest, match="several"):
        bureau.passes.revoke("token-", "")
    assert bureau.passes.revoke(short.pass_id, "") == (short,)
    assert bureau.passes.revoke("token-", "")[0].pass_id == ever.pass_id


def test_revoking_is_told_once_each_and_takes_codes_along(bureau: Bureau) -> None:
    token = bureau.passes.create(WebTokenCreate(TOKEN))
    bureau.passes.login(WebLogin(digest_of("used")))
    session = bureau.passes.redeem(digest_of("used"), SESSION)
    bureau.passes.login(WebLogin(CODE))
    assert bureau.passes.revoke("", "session") == (session,)
    bureau.turn()
    assert [(event.topic, event.subject) for event in bureau.told] == [("web.revoked", session.pass_id)]
    with pytest.raises(NotFound):
        bureau.passes.redeem(CODE, digest_of("late"))
    assert bureau.passes.all() == (token,)
    assert bureau.passes.revoke("", "pass") == (token,)
    assert bureau.passes.revoke("", "pass") == ()
    with pytest.raises(NotFound):
        bureau.passes.revoke(token.pass_id, "")


@pytest.mark.parametrize(("pass_id", "every"), [("", ""), ("token-1", "token")])
def test_what_to_revoke_has_to_be_clear(bureau: Bureau, pass_id: str, every: str) -> None:
    with pytest.raises(InvalidRequest):
        bureau.passes.revoke(pass_id, every)  # type: ignore[arg-type]


def test_use_is_written_down_once_a_minute(bureau: Bureau) -> None:
    bureau.passes.create(WebTokenCreate(TOKEN))
    for passed_s, written in ((10.0, True), (30.0, False), (31.0, True)):
        bureau.clock.now_s += passed_s
        before = bureau.passes.find_by_digest(TOKEN).used_utc_s
        bureau.turn()
        assert (bureau.passes.find_by_digest(TOKEN).used_utc_s != before) == written


def test_no_secret_is_in_the_store(bureau: Bureau, tmp_path: Path) -> None:
    secret = "a-secret-that-is-nowhere"
    bureau.passes.create(WebTokenCreate(digest_of(secret), name="desk"))
    bureau.turn()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("data.db*"))
    assert digest_of(secret).encode() in kept
    assert secret.encode() not in kept
