"""The schema's history: numbered `.sql` files, the core's and those of every feature.

Missing steps are applied and recorded in one transaction. A database with content is copied first, by SQLite's backup
API while its owner may be writing (sqlite.org/backup.html): an upgrade happens whole, or the file stays as it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
from msgspec import Struct

from acud.base.errors import StoreUnavailable
from acud.base.paths import free_bytes, sync
from acud.store import rows
from acud.store.faults import from_sqlite, unavailable

_SQL = rows.load("migrations")
_STEP_PAGES = 1000
_SPARE_BYTES = 16_000_000  # space left free beside a copy, for concurrent writes
_GLOB = "before-*.db"
_CORE = Path(__file__).parent / "migrations"
_FEATURES = Path(__file__).parents[1] / "features"


def before_upgrade(connection: apsw.Connection, path: Path, step: str, keep: int) -> Path:
    """Copy the database at `path` to `backups/before-<step>.db` beside it, and keep the newest `keep` such copies.

    A copy from an earlier attempt at the same upgrade is replaced. Raises: StoreUnavailable(`full`, `corrupt`,
    `cannot_open`), apsw.Error.
    """
    folder = path.parent / "backups"
    made = folder / f"before-{step}.db"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        copy_database(connection, path, made)
        copies = sorted(folder.glob(_GLOB), key=lambda one: one.stat().st_mtime_ns, reverse=True)
        for old in copies[keep:]:
            old.unlink()
    except OSError as fault:
        raise unavailable("cannot_open", made, f"the copy before the upgrade: {fault.strerror}") from fault
    return made


def copy_database(connection: apsw.Connection, path: Path, target: Path) -> None:
    """Copy the present content of `connection` (of the database at `path`) to the file `target`, whole or not at all.

    The copy is one plain file (no write-ahead log), checked, fsynced, 0600. Blocks for the disk; other connections can
    still write. Raises: StoreUnavailable(`full`, `corrupt`), apsw.Error.
    """
    partial = target.with_name(f".{target.name}.partial")
    _remove_partial(partial)
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with _hold_snapshot(connection):
            _check_room(connection, path, target.parent)
            _copy_pages(connection, partial, target)
        sync(partial)
        partial.replace(target)
        sync(target.parent)
    except BaseException:
        _remove_partial(partial)
        raise


@contextmanager
def _hold_snapshot(connection: apsw.Connection) -> Iterator[None]:
    # A read transaction held over all steps: else a writer elsewhere would make each step begin the copy anew.
    connection.execute("BEGIN")
    try:
        connection.execute(_SQL["user_tables"]).get  # noqa: B018 - the read takes the snapshot
        yield
    finally:
        connection.execute("ROLLBACK")


def _check_room(connection: apsw.Connection, path: Path, folder: Path) -> None:
    needed = int(connection.pragma("page_count")) * int(connection.pragma("page_size")) + _SPARE_BYTES
    free = free_bytes(folder)
    if free < needed:
        detail = f"a copy in {folder} needs {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free"
        raise unavailable("full", path, detail)


def _copy_pages(connection: apsw.Connection, partial: Path, target: Path) -> None:
    with closing(apsw.Connection(str(partial))) as made:
        with made.backup("main", connection, "main") as backup:
            while not backup.done:
                backup.step(_STEP_PAGES)
        made.pragma("journal_mode", "delete")
        found = made.execute("PRAGMA quick_check(1)").get
    if found != "ok":
        raise unavailable("corrupt", target, str(found))


def _remove_partial(partial: Path) -> None:
    for name in (partial.name, f"{partial.name}-journal", f"{partial.name}-wal", f"{partial.name}-shm"):
        with suppress(FileNotFoundError):
            partial.with_name(name).unlink()


class Migration(Struct, frozen=True):
    """One step. `name` is the file's name without `.sql`, and begins with the number."""

    number: int
    name: str
    script: str


def known_migrations(*folders: Path) -> tuple[Migration, ...]:
    """Return every migration in `folders` by number: one chain over all folders. Without `folders`: the core's and each
    feature's, whether that feature runs or not, so that its tables stay while it is off.

    Raises: ValueError when the numbers are not 1, 2, 3 …
    """
    searched = folders or (_CORE, *_FEATURES.glob("*/migrations"))
    found = (path for folder in searched for path in folder.glob("*.sql"))
    steps = tuple(_read_migration(path) for path in sorted(found, key=lambda path: path.name))
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        raise ValueError(f"{searched[0]}: migrations are not numbered 1, 2, 3 …")
    return steps


def _read_migration(path: Path) -> Migration:
    return Migration(int(path.stem.split("_", 1)[0]), path.stem, path.read_text(encoding="utf-8"))


def migrate(
    connection: apsw.Connection,
    path: Path,
    now_utc_s: float,
    steps: tuple[Migration, ...] | None = None,
    *,
    keep_backups: int = 3,
) -> None:
    """Apply the steps of `steps` (default: all known) that the database at `path` lacks, all of them or none.

    A database with a schema is copied first; `keep_backups` such copies are kept. Raises:
    StoreUnavailable(`newer_schema`) naming the first migration that is not among these steps, (`full`) when there is no
    room for the copy, (`migration`) when a step fails; apsw.Error.
    """
    steps = known_migrations() if steps is None else steps
    applied = {int(number): str(name) for number, name in connection.execute(_SQL["applied"])}
    check_known(applied, steps, path)
    lacking = [step for step in steps if step.number not in applied]
    if not lacking:
        return
    copied = before_upgrade(connection, path, lacking[0].name, keep_backups) if applied else None
    _apply_migrations(connection, path, lacking, now_utc_s, copied)


def check_known(applied: dict[int, str], steps: tuple[Migration, ...], path: Path) -> None:
    """Refuse a database that has `applied` a step not among `steps`. Raises: StoreUnavailable(`newer_schema`)."""
    ours = {step.number: step.name for step in steps}
    strange = [name for number, name in applied.items() if ours.get(number) != name]
    if strange:
        newest = steps[-1].name if steps else "none"
        raise unavailable("newer_schema", path, f"it has migration {strange[0]}; this acud knows up to {newest}")


def _apply_migrations(
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
        raise _describe_failure(fault, path, step, copied) from fault


def _describe_failure(fault: apsw.Error, path: Path, step: Migration, copied: Path | None) -> StoreUnavailable:
    known_fault = from_sqlite(fault, path)
    if isinstance(known_fault, StoreUnavailable):  # a full disk, a lock …: its own words name the next step
        return known_fault
    where = f"; a copy from before is {copied}" if copied is not None else ""
    return unavailable("migration", path, f"{step.name}: {fault}{where}")
