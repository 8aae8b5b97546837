"""The schema's history: numbered `.sql` files. What a database lacks is applied and recorded in one transaction.

A database that holds something is copied before (`snapshots`): an upgrade happens whole, or the file stays as it was.
"""

from __future__ import annotations

from pathlib import Path

import apsw
from msgspec import Struct

from acud.errors import StoreUnavailable
from acud.store import snapshots, statements
from acud.store.faults import from_sqlite, unavailable

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
    connection: apsw.Connection,
    path: Path,
    now_utc_s: float,
    steps: tuple[Migration, ...] | None = None,
    *,
    keep_backups: int = 3,
) -> None:
    """Apply what the database at `path` lacks of `steps` (default: all known), all of it or nothing.

    One that has a schema already is copied first; `keep_backups` such copies are kept. Raises:
    StoreUnavailable(`newer_schema`) naming the first migration that these steps do not hold, (`full`) when there is no
    room for the copy, (`migration`) when a step fails; apsw.Error.
    """
    steps = known() if steps is None else steps
    applied = {int(number): str(name) for number, name in connection.execute(_SQL["applied"])}
    check(applied, steps, path)
    lacking = [step for step in steps if step.number not in applied]
    if not lacking:
        return
    copied = snapshots.before_upgrade(connection, path, lacking[0].name, keep_backups) if applied else None
    _apply(connection, path, lacking, now_utc_s, copied)


def check(applied: dict[int, str], steps: tuple[Migration, ...], path: Path) -> None:
    """Refuse a database that has `applied` a step which is none of `steps`.

    Raises: StoreUnavailable(`newer_schema`).
    """
    ours = {step.number: step.name for step in steps}
    strange = [name for number, name in applied.items() if ours.get(number) != name]
    if strange:
        newest = steps[-1].name if steps else "none"
        raise unavailable("newer_schema", path, f"it has migration {strange[0]}; this acud knows up to {newest}")


def _apply(
    connection: apsw.Connection, path: Path, steps: list[Migration], now_utc_s: float, copied: Path | None
) -> None:
    step = steps[0]
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in steps:
            connection.execute(step.script)
            record = {"number": step.number, "name": step.name, "applied_utc_s": now_utc_s}
            connection.execute(_SQL["record"], record)
        connection.execute("COMMIT")
    except apsw.Error as fault:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise _failed(fault, path, step, copied) from fault


def _failed(fault: apsw.Error, path: Path, step: Migration, copied: Path | None) -> StoreUnavailable:
    known_fault = from_sqlite(fault, path)
    if isinstance(known_fault, StoreUnavailable):  # a full disk, a lock …: its own words say what to do
        return known_fault
    where = f"; a copy from before is {copied}" if copied is not None else ""
    return unavailable("migration", path, f"{step.name}: {fault}{where}")
