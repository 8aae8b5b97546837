"""An upgrade of the tables: copied before, whole or not at all, whatever happens in the middle of it."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import apsw
import pytest

from acud.base.errors import StoreUnavailable
from acud.store import migration
from acud.store.database_file import open_database
from tests.integration.store_support import NOW_S, open_store

OLD = migration.known_migrations()[:5]


def step(number: int, script: str) -> migration.Migration:
    return migration.Migration(number, f"{number:04}_made_up", script)


def opened(home: Path, steps: tuple[migration.Migration, ...], keep: int = 3) -> apsw.Connection:
    return open_database(home / "data.db", busy_timeout_s=1, now_utc_s=NOW_S, keep_backups=keep, steps=steps)


def old_database(home: Path) -> None:
    """A database of an earlier acud, with an event in it."""
    connection = opened(home, OLD)
    connection.execute("INSERT INTO events (prev, topic, utc_s, subject, data) VALUES (0, 'kept', 0, '', '{}')")
    connection.close()


def applied(path: Path) -> list[str]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    names = [str(name) for (name,) in connection.execute("SELECT name FROM migrations ORDER BY number")]
    connection.close()
    return names


def test_an_upgrade_keeps_a_copy_from_before(tmp_path: Path) -> None:
    old_database(tmp_path)
    with open_store(tmp_path) as store:
        assert [event.topic for event in store.events.since(0, "", 10).events] == ["kept"]
    copy = tmp_path / "backups" / f"before-{migration.known_migrations()[5].name}.db"
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert applied(copy) == [one.name for one in OLD]
    assert applied(tmp_path / "data.db") == [one.name for one in migration.known_migrations()]


def test_a_new_database_and_one_that_lacks_nothing_are_not_copied(tmp_path: Path) -> None:
    for _ in range(2):
        open_store(tmp_path).close()
    assert not (tmp_path / "backups").exists()


def test_so_many_copies_are_kept_the_newest(tmp_path: Path) -> None:
    old_database(tmp_path)
    steps = OLD
    for number in range(6, 10):
        steps = (*steps, step(number, f"CREATE TABLE more_{number} (x) "))
        opened(tmp_path, steps, keep=2).close()
    copies = sorted(path.name for path in (tmp_path / "backups").iterdir())
    assert copies == ["before-0008_made_up.db", "before-0009_made_up.db"]


def test_an_upgrade_that_fails_changes_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    old_database(tmp_path)
    bad = (*OLD, step(6, "CREATE TABLE more (x)"), step(7, "CREATE TABLE tasks (x)"))
    with pytest.raises(StoreUnavailable, match=r"0007_made_up: .*already exists; a copy from before is") as caught:
        opened(tmp_path, bad)
    assert caught.value.facts["fault"] == "migration"
    assert "nothing was changed" in caught.value.hint
    assert applied(tmp_path / "data.db") == [one.name for one in OLD]
    opened(tmp_path, OLD).close()  # the acud that wrote it still can


def test_without_room_for_the_copy_nothing_begins(tmp_path: Path) -> None:
    old_database(tmp_path)
    command = f"mount -t tmpfs -o size=1m none {tmp_path}/backups && exec {sys.executable} -c '{UPGRADE}' {tmp_path}"
    (tmp_path / "backups").mkdir()
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", command], capture_output=True, text=True
    )
    if "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert "is full: a copy in" in done.stderr
    assert applied(tmp_path / "data.db") == [one.name for one in OLD]


UPGRADE = """
import pathlib, sys
from acud.base.errors import AcudError
from acud.store.database_file import open_database
try:
    open_database(pathlib.Path(sys.argv[1], "data.db"), busy_timeout_s=1, now_utc_s=0)
except AcudError as fault:
    sys.exit(str(fault))
"""

DIES = """
    import os, pathlib, signal, sys
    import apsw
    from acud.store import migration
    from acud.store.database_file import open_database
    die = lambda: os.kill(os.getpid(), signal.SIGKILL)
    apsw.connection_hooks.append(lambda made: made.create_scalar_function("die", die, 0))
    known = migration.known_migrations()
    steps = (*known, migration.Migration(len(known) + 1, "9999_deadly", "CREATE TABLE more (x); SELECT die();"))
    open_database(pathlib.Path(sys.argv[1], "data.db"), busy_timeout_s=1, now_utc_s=0, steps=steps)
"""


def test_a_kill_in_the_middle_of_an_upgrade_leaves_the_old_tables(tmp_path: Path) -> None:
    old_database(tmp_path)
    died = subprocess.run([sys.executable, "-c", textwrap.dedent(DIES), str(tmp_path)], env=dict(os.environ))
    assert died.returncode == -signal.SIGKILL
    assert applied(tmp_path / "backups" / f"before-{migration.known_migrations()[5].name}.db") == [
        one.name for one in OLD
    ]
    opened(tmp_path, OLD).close()
    with open_store(tmp_path) as store:  # and the next try succeeds
        assert [event.topic for event in store.events.since(0, "", 10).events] == ["kept"]
