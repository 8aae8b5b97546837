"""The schema's history: numbered `.sql` files, each applied and recorded in one transaction."""

from __future__ import annotations

from pathlib import Path

import apsw
from msgspec import Struct

from acud.store import statements
from acud.store.faults import unavailable

_FOLDER = Path(__file__).parent / "migrations"
_SQL = statements.load("migrations")


class Migration(Struct, frozen=True):
    """One step. `name` is the file's name without `.sql`, and begins with the number."""

    number: int
    name: str
    script: str


def known(folder: Path = _FOLDER) -> tuple[Migration, ...]:
    """Return every migration in `folder` by number. Raises: ValueError when the numbers are not 1, 2, 3 …"""
    steps = tuple(_read(path) for path in sorted(folder.glob("*.sql")))
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        raise ValueError(f"{folder}: migrations are not numbered 1, 2, 3 …")
    return steps


def _read(path: Path) -> Migration:
    return Migration(int(path.stem.split("_", 1)[0]), path.stem, path.read_text(encoding="utf-8"))


def migrate(
    connection: apsw.Connection, path: Path, now_utc_s: float, steps: tuple[Migration, ...] | None = None
) -> None:
    """Apply what the database at `path` lacks of `steps` (default: all known).

    Raises: StoreUnavailable(`newer_schema`) naming the first migration that these steps do not hold; apsw.Error.
    """
    steps = known() if steps is None else steps
    applied = {int(number): str(name) for number, name in connection.execute(_SQL["applied"])}
    ours = {step.number: step.name for step in steps}
    strange = [name for number, name in applied.items() if ours.get(number) != name]
    if strange:
        newest = steps[-1].name if steps else "none"
        raise unavailable("newer_schema", path, f"it has migration {strange[0]}; this acud knows up to {newest}")
    for step in steps:
        if step.number not in applied:
            _apply(connection, step, now_utc_s)


def _apply(connection: apsw.Connection, step: Migration, now_utc_s: float) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(step.script)
        record = {"number": step.number, "name": step.name, "applied_utc_s": now_utc_s}
        connection.execute(_SQL["record"], record)
        connection.execute("COMMIT")
    except apsw.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
