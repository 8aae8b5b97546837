"""A store of every earlier acud is brought forward: what it held is there, and the copy from before is what it was."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from acud.features.tasks.tables import ActionTable, TaskTable
from acud.store import migration
from acud.store.database_file import open_database
from acud.types import WaitState
from tests.integration.store_support import NOW_S, evaluation, open_store, wait

KNOWN = migration.known_migrations()
WAIT = wait()


def columns(connection: apsw.Connection, schema: str, table: str) -> list[str]:
    return [str(row[1]) for row in connection.execute(f"PRAGMA {schema}.table_info({table})")]


def schema_of(path: Path) -> dict[str, list[str]]:
    """Return each table with its columns, in their order."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    names = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    found = {str(name): columns(connection, "main", str(name)) for (name,) in connection.execute(names)}
    connection.close()
    return found


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of today's, with a live wait, its evaluation and its event."""
    home = tmp_path_factory.mktemp("newest")
    with open_store(home) as store, store.turn():
        store.waits.insert(WAIT)
        store.evaluations.add(WAIT.wait_id, evaluation())
        store.events.append("wait.armed", WAIT.wait_id, {"until": "…"}, NOW_S)
    return home / "data.db"


def old_store(home: Path, version: int, rows_of: Path) -> Path:
    """Make a database as the acud of migration `version` had it, with what it could hold of the rows in `rows_of`."""
    path = home / "data.db"
    connection = open_database(path, busy_timeout_s=1, now_utc_s=NOW_S, steps=KNOWN[:version])
    connection.execute("ATTACH ? AS today", (str(rows_of),))
    for table in ("wait_jobs", "evaluations", "events"):
        shared = ", ".join(columns(connection, "main", table))
        connection.execute(f"INSERT INTO main.{table} ({shared}) SELECT {shared} FROM today.{table}")
    connection.close()
    return path


@pytest.mark.parametrize("version", range(1, len(KNOWN)), ids=[one.name for one in KNOWN[:-1]])
def test_a_store_of_every_earlier_acud_is_brought_forward(version: int, newest: Path, tmp_path: Path) -> None:
    path = old_store(tmp_path, version, newest)
    before = schema_of(path)
    with open_store(tmp_path) as store:
        assert store.waits.live() == (WAIT,)
        assert [event.subject for event in store.events.since(0, "", 10).events] == [WAIT.wait_id]
        assert store.waits.newest((WaitState.WATCHING,), 10).total == 1
    assert schema_of(path) == schema_of(newest)
    connection = apsw.Connection(str(path))
    assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    assert list(connection.execute("PRAGMA foreign_key_check")) == []
    assert connection.execute("SELECT count(*) FROM evaluations").fetchone() == (1,)
    connection.close()
    (copy,) = (tmp_path / "backups").iterdir()
    assert copy.name == f"before-{KNOWN[version].name}.db"
    assert schema_of(copy) == before
    assert before != schema_of(path)


def test_plan_items_that_counted_from_0_count_from_1(tmp_path: Path) -> None:
    steps = next(n for n, step in enumerate(KNOWN) if step.name.endswith("items_from_one"))
    connection = open_database(tmp_path / "data.db", busy_timeout_s=1, now_utc_s=NOW_S, steps=KNOWN[:steps])
    connection.execute(
        "INSERT INTO tasks (task_id, name, status, agent_id, metadata, created_at, updated_at, display, display_number,"
        " next_ordinal) VALUES ('task-1', 't', 'active', '', '{}', 1, 1, '', 0, 3)"
    )
    for n, title in enumerate("abc"):
        connection.execute("INSERT INTO plan_items VALUES ('task-1', ?, ?, 'pending', NULL, NULL, NULL)", (n, title))
    for n, item in enumerate((0, 2, None)):
        connection.execute(
            "INSERT INTO actions (action_id, task_id, ordinal, action_type, summary, status, judge, subject,"
            " created_at) VALUES (?, 'task-1', ?, 'cli', '', 'completed', '', '', 1)",
            (f"action-{n}", item),
        )
    for n, data in enumerate(('{"ordinal":0,"status":"active"}', '{"appended":2,"first":1}', '{"status":"paused"}')):
        connection.execute("INSERT INTO events VALUES (?, 0, 'task.updated', 1, 'task-1', ?)", (n + 1, data))
    connection.close()
    with open_store(tmp_path) as store:
        table = TaskTable(store)
        assert [(item.number, item.title, item.actions) for item in table.items("task-1")] == [
            (1, "a", 1),
            (2, "b", 0),
            (3, "c", 1),
        ]
        assert [item.number for item in table.append_items("task-1", ("d",))] == [4]
        assert [view.action.item for view in ActionTable(store).newest("task-1", 9)] == [1, 3, None]
        assert [event.data for event in store.events.since(0, "", 10).events] == [
            {"status": "active", "item": 1},
            {"appended": 2, "first": 2},
            {"status": "paused"},
        ]
    connection = apsw.Connection(str(tmp_path / "data.db"))
    assert list(connection.execute("PRAGMA foreign_key_check")) == []
    connection.close()
