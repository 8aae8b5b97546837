"""The commands in docs/operations.md, run as they stand, one after the other, by a person with a fresh HOME."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.paths import Paths, resolve
from acud.store import migration
from acud.store.database_file import open_database
from tests.e2e.cli_support import PATIENCE_S, settings
from tests.fixtures.forked_acud import forked_acud

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")


def commands(heading: str) -> list[str]:
    """Return the indented lines below `## heading`, without their comments."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None, heading
    lines = re.findall(r"^    (\S.*)$", section[1], re.MULTILINE)
    return [line.split(" #")[0].strip() for line in lines]


class Person:
    """Types into a shell. `~` is a home of their own; /mnt/backups is a folder in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.backups = home / "backups"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = {"HOME": str(home), "PATH": path, "LANG": os.environ.get("LANG", "C.UTF-8")}
        self.paths: Paths = resolve(self.env)

    def types(self, line: str) -> str:
        """Run a line; it must succeed. Return what it printed."""
        typed = line.replace("/mnt/backups", str(self.backups))
        done = subprocess.run(
            ["bash", "-c", typed], env=self.env, capture_output=True, text=True, timeout=PATIENCE_S * 2, check=False
        )
        assert done.returncode == 0, f"{line}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def is_up(self) -> bool:
        return subprocess.run(["acud", "daemon", "status"], env=self.env, capture_output=True).returncode in (0, 1)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """Their daemon was made by an acud of the first tables, and is down."""
    made = Person(tmp_path)
    made.paths.home.mkdir(mode=0o700)
    made.paths.config.write_text(settings(), encoding="utf-8")
    made.backups.mkdir()
    open_database(made.paths.database, busy_timeout_s=1, now_utc_s=0, steps=migration.known_migrations()[:1]).close()
    with forked_acud(made.home) as forked:
        made.env["PATH"] = f"{forked}:{made.env['PATH']}"
        yield made
        subprocess.run(["acud", "daemon", "stop"], env=made.env, capture_output=True, timeout=PATIENCE_S, check=False)


def test_every_command_of_the_page(person: Person) -> None:
    assert person.paths.home == person.home / ".agentic-computer-use"
    person.types("acud daemon start")
    (copy,) = (person.paths.home / "backups").iterdir()
    assert copy.name == f"before-{migration.known_migrations()[1].name}.db"

    drain, install, start = commands("Upgrade")
    assert "drain" in drain
    person.types(drain)
    assert not person.is_up()
    assert install == "scripts/setup"  # run by every test run
    person.types(start)

    folder, tar, check, swap = commands("Backup and restore")
    person.types(folder)
    person.types(tar)
    assert person.types(check).startswith("whole: ")
    person.types(swap)
    assert person.is_up()
    assert [path for path in person.paths.home.glob("replaced-*") if (path / "data.db").exists()]

    drain, cancel = commands("Drain")
    person.types(f"{drain} --no-wait & {cancel}; wait")
    person.types("acud daemon stop || true; acud daemon start")
    person.types(drain)
    assert not person.is_up()
    person.types("acud vacuum")
    person.types("acud daemon start")

    (evaluators,) = commands("Fresh evaluators")
    assert " -> " in person.types(evaluators)
    reload, check = commands("Settings")
    assert person.types(reload) == "nothing differs\n"
    person.types(check)


def test_back_to_the_former_acud(person: Person) -> None:
    person.types("acud daemon start && acud daemon stop")
    (said,) = re.findall(r"`(acud restore ~/\S+)`", PAGE)
    (copy,) = (person.paths.home / "backups").iterdir()
    person.types(said.replace("before-….db", copy.name))
    connection = open_database(
        person.paths.database, busy_timeout_s=1, now_utc_s=0, steps=migration.known_migrations()[:1]
    )
    connection.close()  # the former acud, which knows the first tables alone, starts with it
