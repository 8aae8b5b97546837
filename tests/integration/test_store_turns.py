"""One transaction per loop turn: what is kept, and what a fault undoes."""

import hashlib
from pathlib import Path

import apsw
import pytest

from acud.base.errors import Conflict, StoreUnavailable
from acud.store.store import Store
from tests.integration.store_support import NOW_S, open_store, wait


def kept(home: Path) -> int:
    """Return how many events another connection sees."""
    connection = apsw.Connection(str(home / "data.db"))
    count = int(connection.execute("SELECT count(*) FROM events").get)
    connection.close()
    return count


def event(store: Store) -> None:
    store.events.append("t", "s", {}, NOW_S)


def fail_after_events(store: Store) -> None:
    event(store)
    with store.savepoint():
        event(store)
    raise ZeroDivisionError


def test_a_turn_begins_with_its_first_write_and_is_read_by_itself(store: Store, tmp_path: Path) -> None:
    store.waits.live()
    assert not store.in_turn
    event(store)
    assert store.in_turn
    assert (store.events.newest(), kept(tmp_path)) == (1, 0)
    store.commit_turn()
    assert (store.in_turn, kept(tmp_path)) == (False, 1)
    store.commit_turn()


def test_a_failed_mutation_leaves_the_others(store: Store, tmp_path: Path) -> None:
    with store.savepoint():
        event(store)
    with pytest.raises(ZeroDivisionError), store.savepoint():
        fail_after_events(store)
    with store.savepoint():
        event(store)
    store.commit_turn()
    assert kept(tmp_path) == 2
    assert [e.n for e in store.events.since(0, "", 10).events] == [1, 2]


def test_a_constraint_undoes_one_statement(store: Store, tmp_path: Path) -> None:
    one = wait()
    store.waits.insert(one)
    with pytest.raises(Conflict):
        store.waits.insert(one)
    event(store)
    store.commit_turn()
    assert (kept(tmp_path), store.waits.totals().live) == (1, 1)


def test_a_rolled_back_turn_leaves_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), store.turn():
        fail_after_events(store)
    with store.turn():
        event(store)
    assert (kept(tmp_path), store.events.newest()) == (1, 1)


def test_a_lock_held_by_another_process_is_named_after_the_timeout(store: Store, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "data.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked by another process") as caught:
        event(store)
    assert caught.value.facts["fault"] == "locked"
    with pytest.raises(StoreUnavailable, match="locked"):
        event(store)  # the same turn: at once, without waiting again
    with pytest.raises(StoreUnavailable, match="locked"):
        store.commit_turn()
    other.execute("ROLLBACK")
    other.close()
    event(store)
    store.commit_turn()
    assert kept(tmp_path) == 1


def test_an_existing_daemons_database_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    foreign = apsw.Connection(str(path))
    foreign.pragma("journal_mode", "wal")
    foreign.execute("CREATE TABLE tasks (id TEXT); INSERT INTO tasks VALUES ('t1')")
    foreign.close()
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(StoreUnavailable, match="another program") as caught:
        open_store(tmp_path)
    assert "ACU_HOME" in caught.value.hint
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert sorted(item.name for item in tmp_path.iterdir()) == ["data.db", "evidence"]


def test_a_foreign_database_with_a_live_journal_is_untouched(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    foreign = apsw.Connection(str(path))
    foreign.pragma("journal_mode", "wal")
    foreign.execute("CREATE TABLE tasks (id TEXT)")
    files = {item.name: item.read_bytes() for item in tmp_path.iterdir() if item.suffix != ".db-shm"}
    with pytest.raises(StoreUnavailable, match="another program"):
        open_store(tmp_path)
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir() if item.name in files} == files
    foreign.close()


def test_another_application_id_is_refused(tmp_path: Path) -> None:
    foreign = apsw.Connection(str(tmp_path / "data.db"))
    foreign.pragma("application_id", 7)
    foreign.close()
    with pytest.raises(StoreUnavailable, match="0x00000007"):
        open_store(tmp_path)


def test_a_newer_schema_is_refused_by_name(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    connection = apsw.Connection(str(tmp_path / "data.db"))
    connection.execute("INSERT INTO migrations VALUES (9000, '9000_from_the_future', 0)")
    connection.close()
    with pytest.raises(StoreUnavailable, match="9000_from_the_future") as caught:
        open_store(tmp_path)
    assert caught.value.facts["fault"] == "newer_schema"
