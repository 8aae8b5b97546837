"""A month of rows is forgotten in small steps: each is short, none takes what lives, and the file shrinks."""

from pathlib import Path

import msgspec

from acud.config import StoreSettings
from acud.store.retention import TrimResult, trim
from acud.store.store import Store
from acud.types import WaitState
from tests.integration.store_support import DAY_S, NOW_S, evaluation, open_store, wait

ROWS = 60
STEP = 50
SETTINGS = StoreSettings(keep_events=1000, keep_evaluations=1000)


def steps(store: Store, settings: StoreSettings, now_s: float, limit: int = STEP) -> list[TrimResult]:
    """Trim as the supervisor does: a turn for each step, until nothing more is left."""
    taken: list[TrimResult] = []
    while not taken or taken[-1].more:
        assert len(taken) < 1000, "it never ends"
        with store.turn():
            taken.append(trim(store, settings, now_s, limit))
    return taken


def a_month(store: Store, home: Path) -> None:
    """Rows of thirty days: some waits, of which each was judged often, and one that is still watching."""
    with store.turn():
        for day in range(30):
            ended = msgspec.structs.replace(wait(), state=WaitState.TIMEOUT, ended_utc_s=NOW_S + day * DAY_S)
            store.waits.insert(ended)
            for _ in range(ROWS):
                store.evaluations.add(ended.wait_id, evaluation(NOW_S + day * DAY_S))
                store.events.append("wait.judged", ended.wait_id, {"text": "x" * 500}, NOW_S + day * DAY_S)


def test_a_month_is_forgotten_in_steps(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        a_month(store, tmp_path)
        live = wait()
        with store.turn():
            store.waits.insert(live)
        taken = steps(store, SETTINGS, NOW_S + 61 * DAY_S)
        assert len(taken) > 10
        assert max(step.evaluations for step in taken) <= 3 * STEP
        assert max(max(step.events, step.waits) for step in taken) <= STEP
        assert sum(step.evaluations for step in taken) == 30 * ROWS
        assert sum(step.waits for step in taken) == 30
        assert sum(step.events for step in taken) == 30 * ROWS - 1000
        assert [one.wait_id for one in store.waits.live()] == [live.wait_id]
        assert not steps(store, SETTINGS, NOW_S + 61 * DAY_S)[0].more


def test_a_wait_goes_after_its_evaluations_however_long_these_are_kept(tmp_path: Path) -> None:
    keeps = msgspec.structs.replace(SETTINGS, keep_evaluations_days=1000)
    with open_store(tmp_path) as store:
        a_month(store, tmp_path)
        taken = steps(store, keeps, NOW_S + 61 * DAY_S)
        assert sum(step.waits for step in taken) == 30


def test_what_is_too_many_goes_the_oldest_first_whatever_its_age(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        a_month(store, tmp_path)
        taken = steps(store, SETTINGS, NOW_S)
        assert sum(step.evaluations for step in taken) == 30 * ROWS - 1000
        assert sum(step.waits for step in taken) == 0


def test_the_file_shrinks_while_rows_go(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        with store.turn():
            for number in range(6000):
                store.events.append("t", str(number), {"text": "x" * 2000}, NOW_S)
        whole = pages(store)
        taken = steps(store, SETTINGS, NOW_S, 500)
        assert store.free_pages.shrinks
        assert pages(store) < whole / 2
        assert len(taken) >= 10
    assert (tmp_path / "data.db").stat().st_size < whole * 4096 / 2


def pages(store: Store) -> int:
    return int(next(iter(store.read("PRAGMA page_count")[0].values())) or 0)
