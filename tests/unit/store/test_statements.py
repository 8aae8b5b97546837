"""Named SQL blocks and numbered migrations."""

import importlib
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from acud import features
from acud.store import migration
from acud.store.rows import SQL, load, load_of_features

FEATURES = Path(features.__file__).parent


def test_blocks_are_read_by_name() -> None:
    blocks = load("events")
    assert set(blocks) == {"append", "newest_of_topic", "since", "newest", "oldest", "trim"}
    assert blocks["trim"].startswith("DELETE FROM events")


MODULES = [
    *(f"acud.store.{path.stem}" for path in sorted(SQL.parent.glob("*.py")) if path.stem != "__init__"),
    *(f"acud.features.{path.parent.name}.tables" for path in sorted(FEATURES.glob("*/tables.py"))),
    "acud.features.agent.supervisor.service",
]


def _statements(module: str) -> dict[str, str]:
    groups = (value for name, value in vars(importlib.import_module(module)).items() if name.endswith("_SQL"))
    return {sql: name for group in groups for name, sql in group.items()}


@pytest.mark.parametrize("module", MODULES)
def test_every_block_is_valid_sql_for_the_schema(module: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(load("migrations")["create"])
    for step in migration.known_migrations():
        connection.execute(step.script)
    for sql, name in _statements(module).items():
        if name != "create":
            connection.execute(f"EXPLAIN {sql}", _any_bindings(sql)).fetchall()
    connection.close()


def test_every_file_is_loaded_with_its_columns() -> None:
    loaded = {name for module in MODULES for name in _statements(module).values()}
    files = [*SQL.glob("*.sql"), *FEATURES.glob("*/*.sql")]
    assert {name for file in files for name in load(file.stem, folder=file.parent)} == loaded


def _any_bindings(sql: str) -> dict[str, str | int | float | bytes | None]:
    words = sql.replace("(", " ").replace(")", " ").replace(",", " ").replace(";", " ").split()
    return {word[1:]: None for word in words if word.startswith(":")}


def test_migrations_count_from_one() -> None:
    steps = migration.known_migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert steps[0].name == "0001_first"


def test_a_gap_in_the_numbers_is_refused(tmp_path: Path) -> None:
    for name in ("0001_a.sql", "0003_c.sql"):
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(ValueError, match="not numbered"):
        migration.known_migrations(tmp_path)


def test_a_number_that_stands_twice_is_refused(tmp_path: Path) -> None:
    for folder in ("core", "feature"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"0001_{folder}.sql").write_text("SELECT 1;")
    with pytest.raises(ValueError, match="not numbered"):
        migration.known_migrations(tmp_path / "core", tmp_path / "feature")


def test_the_chain_is_the_one_that_databases_have_recorded() -> None:
    """Features hold some of the steps; each keeps its number and name, whoever runs."""
    assert [step.name for step in migration.known_migrations()][:15] == [
        "0001_first", "0002_outbox", "0003_tasks", "0004_budgets", "0005_takeovers", "0006_agent_runs",
        "0007_commentary", "0008_scene", "0009_recordings", "0010_web", "0011_usage", "0012_push", "0013_display_owner",
        "0014_deleted_tasks", "0015_default_display",
    ]  # fmt: skip


@pytest.mark.parametrize(("group", "blocks"), [
    (
        "retention",
        ["agent_runs", "push_subscriptions", "task_messages", "action_logs", "actions", "surplus_actions", "tasks"],
    ),
    ("revoked", ["push_subscriptions"]),
    ("task_record", ["get", "names"]),
])  # fmt: skip
def test_what_features_leave_to_the_store_is_found_in_its_order(group: str, blocks: list[str]) -> None:
    assert list(load_of_features(group)) == blocks


def test_the_store_runs_no_code_of_a_feature() -> None:
    found = "[n for n in sys.modules if n.startswith('acud.features.') and n.count('.') > 2]"
    code = f"import sys, acud.store.store; print(*{found})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.rpartition(".")[2] for name in told} == {"settings"}
