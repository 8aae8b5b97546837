"""The outbox on a real database: one wake a wait, written with its end or not at all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from acud.base.errors import Conflict
from acud.base.ids import new_id
from acud.config import StoreSettings
from acud.store.retention import trim
from acud.store.store import Store
from acud.types import RouteName, WaitState, WakeAddress, WakeInfo, WakeKind, WakeState
from acud.waits.wakes import routes_of
from tests.integration.store_support import DAY_S, NOW_S, wait


def _wake(wait_id: str = "", state: WakeState = WakeState.PENDING, utc_s: float = NOW_S) -> WakeInfo:
    address = WakeAddress((RouteName.WEBHOOK,), "agent:main:x", "main")
    routes = routes_of((RouteName.OPENCLAW, RouteName.WEBHOOK))
    return WakeInfo(
        new_id("wake"), WakeKind.RESOLVED, "text", wait_id, "task-1", address, routes, state, utc_s, begun_utc_s=utc_s
    )


def test_a_wait_wakes_once(store: Store) -> None:
    store.outbox.insert(_wake("wait-1"))
    with pytest.raises(Conflict):
        store.outbox.insert(_wake("wait-1"))
    store.outbox.insert(_wake())
    store.outbox.insert(_wake())


def test_verdict_and_wake_are_one_transaction(store: Store) -> None:
    live = wait()
    with store.turn():
        store.waits.insert(live)
    wake = _wake(live.wait_id)
    with store.savepoint():
        store.waits.update(replace(live, state=WaitState.RESOLVED, ended_utc_s=NOW_S))
        store.outbox.insert(wake)
    store.rollback_turn()
    assert store.waits.get(live.wait_id).state is WaitState.WATCHING
    assert store.outbox.of_wait(live.wait_id) is None


def test_what_is_open_and_what_is_listed(store: Store) -> None:
    wakes = [_wake(state=state) for state in WakeState]
    wakes.append(replace(_wake(state=WakeState.SENT), next_utc_s=NOW_S + 9))
    for one in wakes:
        store.outbox.insert(one)
    assert [one.state.value for one in store.outbox.open()] == ["pending", "reminding", "sent"]
    assert (
        store.outbox.newest((WakeState.SENT, WakeState.SEEN), 1, offset=1).wakes
        == store.outbox.newest((WakeState.SENT, WakeState.SEEN), 2).wakes[1:]
    )
    page = store.outbox.newest((WakeState.SENT, WakeState.SEEN), 2)
    assert (page.wakes, page.total) == ((wakes[5], wakes[3]), 3)
    assert store.outbox.newest((WakeState.SENT, WakeState.SEEN), 2, offset=1).wakes == (wakes[3], wakes[1])
    assert store.outbox.counts() == {"pending": 1, "sent": 2, "reminding": 1, "seen": 1, "undelivered": 1}


def test_retention_keeps_what_is_still_tried(store: Store) -> None:
    old = NOW_S - 40 * DAY_S
    for state in WakeState:
        store.outbox.insert(_wake(state=state, utc_s=old))
        store.outbox.insert(_wake(state=state))
    with store.turn():
        assert trim(store, StoreSettings(), NOW_S).wakes == 3
    assert store.outbox.counts() == {"pending": 2, "reminding": 2, "sent": 1, "seen": 1, "undelivered": 1}
