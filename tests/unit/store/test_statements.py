"""Named SQL blocks and numbered migrations."""

from pathlib import Path

import apsw
import pytest

from acud import features
from acud.store import migration
from acud.store.rows import SQL, load

FEATURES = Path(features.__file__).parent


def test_blocks_are_read_by_name() -> None:
    blocks = load("events")
    assert set(blocks) == {"append", "since", "newest", "oldest", "trim"}
    assert blocks["trim"].startswith("DELETE FROM events")


@pytest.mark.parametrize(
    "file", sorted([*SQL.glob("*.sql"), *FEATURES.glob("*/*.sql")]), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_every_block_is_valid_sql_for_the_schema(file: Path) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(load("migrations")["create"])
    for step in migration.known_migrations():
        connection.execute(step.script)
    for name, sql in load(file.stem, file.parent).items():
        if name != "create":
            connection.execute(f"EXPLAIN {sql}", _any_bindings(sql)).fetchall()
    connection.close()


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
