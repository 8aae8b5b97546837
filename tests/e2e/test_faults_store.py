"""Disks full and read-only, databases locked, corrupt, foreign: requests fail clearly, waits go on, nothing is lost."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from acud.base.errors import StoreUnavailable, Unavailable
from acud.base.paths import Paths
from acud.types import Criteria, DisplayInfo, WaitInfo
from acud.types.actions import CursorPosition, Move, Point
from acud_client import Client
from tests.e2e import faults
from tests.e2e.faults import Judge
from tests.e2e.mounts import Ballast, Mounts
from tests.e2e.recording import act
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """The judge of the lamp, outside of what runs full."""
    return Judge(tmp_path)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    judge = Judge(tmp_path_factory.mktemp("judge"))
    with Daemon(settings=faults.settings(judge, store={"busy_timeout_s": 0.2})) as running:
        yield running


@pytest.fixture
def daemon(host: Daemon) -> Iterator[Daemon]:
    """A daemon with the judge of the lamp, which soon gives up a database that is locked."""
    yield host
    host.tidy()


class _Inside(Daemon):
    """A daemon whose home only it sees; the test talks to it through its holder's view of the file system."""

    def __init__(self, mounts: Mounts, home: Path, settings: str) -> None:
        seen = mounts.outside(home)
        (seen / "acud.toml").write_text(settings)
        super().__init__(home=seen, prefix=mounts.prefix)
        self.env["ACU_HOME"] = str(home)
        self.inside = Paths(home, home / "run", _shm(home))
        self.paths = Paths(seen, seen / "run", self.inside.shm)
        self.client.close()
        self.client = Client(self.paths, patience_s=faults.PATIENCE_S)


def _shm(home: Path) -> Path:
    from acud.base.paths import resolve

    return resolve({"ACU_HOME": str(home)}).shm


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Mounts, Path]]:
    """A home of 8 MB that only the daemon sees."""
    home = tmp_path / "home"
    with Mounts("8m", home) as mounts:
        yield mounts, home


def _visible(display: DisplayInfo, mounts: Mounts) -> DisplayInfo:
    from msgspec.structs import replace

    return replace(display, auth_file=str(mounts.outside(Path(display.auth_file))))


def _until_refused(daemon: Daemon, display: str) -> list[WaitInfo]:
    """Arm waits until the disk takes no more; return those that were armed."""
    armed: list[WaitInfo] = []
    for _ in range(5000):
        try:
            armed.append(daemon.client.wait_create(Criteria("never"), display=display, timeout_s=600).wait)
        except StoreUnavailable:
            return armed
    raise AssertionError("the disk never ran full")


@pytest.mark.parametrize("table", ["evidence", "action_logs"])
def test_an_end_is_stored_also_where_its_picture_or_its_place_in_the_task_is_refused(
    daemon: Daemon, table: str
) -> None:
    client, display = daemon.client, daemon.client.display_create().display
    task_id = client.task_register("a lamp", isolated_display=False).view.task.task_id
    with closing(Painter(display)) as painter, closing(sqlite3.connect(daemon.paths.database)) as other:
        wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name, task_id=task_id).wait
        faults.judged(daemon, wait, "no")
        other.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} BEGIN SELECT raise(ABORT, 'no'); END")
        painter.lamp(on=True)
        faults.ended(daemon, wait, "resolved")
        other.execute("DROP TRIGGER refuse")
    assert wait.wait_id not in {one.wait_id for one in client.wait_list().waits}


def test_a_full_disk_delays_ends_loses_none_and_lets_nothing_be_done(small: tuple[Mounts, Path], judge: Judge) -> None:
    mounts, home = small
    with _Inside(mounts, home, faults.settings(judge)) as daemon:
        client = daemon.client
        display = _visible(client.display_create().display, mounts)
        with closing(Painter(display)) as painter:
            lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
            faults.judged(daemon, lamp, "no")
            assert act(client, Move(Point(3, 3)), display=display.name).cursor == Point(3, 3)
            ballast = Ballast(mounts.outside(home))
            ballast.fill()
            armed = _until_refused(daemon, display.name)
            ballast.fill()  # what the log gave back, too
            armed += _until_refused(daemon, display.name)
            assert any(reason.startswith("store:") for reason in client.status().degraded)
            assert any(f.part == "store" and f.level == "fault" for f in client.doctor().findings)
            # Requests fail, with the reason; nothing half-done stays of them.
            known = client.wait_list(ended=True, limit=1000).total
            for ask in (
                lambda: client.wait_create(Criteria("never"), display=display.name),
                lambda: client.display_create(320, 240),
                lambda: client.display_add(":1"),
            ):
                assert isinstance(faults.refused(ask), Unavailable)
            assert client.wait_list(ended=True, limit=1000).total == known
            late = partial(act, client, Move(Point(7, 7)), display=display.name, request_id="move-late")
            for _ in range(3):
                with pytest.raises(StoreUnavailable):
                    late()
            # Live waits are judged all the same; their ends wait for room.
            painter.lamp(on=True)
            faults.until(lambda: "store" in client.wait_show(lamp.wait_id).wait.note, "its end, which waits for room")
            told = client.wait_show(lamp.wait_id).wait
            assert "lamp" in told.verdict.detail
            assert told.state.value == "watching"  # an end is none before it is stored
            assert not client.wait_result(lamp.wait_id, block_s=0.1).ended
            ballast.drop()
            faults.ended(daemon, lamp, "resolved")
            faults.until(lambda: not client.status().degraded, "well again")
            assert act(client, CursorPosition(), display=display.name).cursor == Point(3, 3), "nothing was done"
            assert late().cursor == Point(7, 7)
            fresh = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
            assert faults.ended(daemon, fresh, "resolved").evidence is not None
        numbers = [event.n for event in faults.events(daemon)]
        assert numbers == sorted(set(numbers))
        assert client.evidence(fresh.wait_id).image
        daemon.kill()  # and what was written is whole
        daemon.start()
        assert {w.wait_id for w in client.wait_list(limit=1000).waits} == {wait.wait_id for wait in armed}
        assert client.wait_show(lamp.wait_id).wait.state.value == "resolved"


def test_a_start_on_a_full_disk_says_so_in_one_line(small: tuple[Mounts, Path]) -> None:
    mounts, home = small
    Ballast(mounts.outside(home)).fill()
    assert "No space left" in _refusal(home, mounts) or "full" in _refusal(home, mounts)


def test_a_read_only_home_is_refused_in_one_line(small: tuple[Mounts, Path]) -> None:
    mounts, home = small
    mounts.run("mount", "-o", "remount,ro", str(home))
    assert "Read-only file system" in _refusal(home, mounts)


def test_a_read_only_database_is_refused_in_one_line(small: tuple[Mounts, Path], judge: Judge) -> None:
    mounts, home = small
    with _Inside(mounts, home, faults.settings(judge)):
        pass
    mounts.run("mount", "--bind", str(home / "data.db"), str(home / "data.db"))
    mounts.run("mount", "-o", "remount,ro,bind", str(home / "data.db"))
    line = _refusal(home, mounts)
    assert "data.db cannot be written" in line


def test_a_database_locked_by_another_process(daemon: Daemon) -> None:
    client = daemon.client
    display = client.display_create().display
    with closing(Painter(display)) as painter:
        lamp = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        faults.judged(daemon, lamp, "no")
        with _locked(daemon.paths.database):
            with pytest.raises(StoreUnavailable, match="locked by another process"):
                client.wait_create(Criteria("never"), display=display.name)
            assert any("locked" in reason for reason in client.status().degraded)
            painter.lamp(on=True)
            faults.until(lambda: "lamp" in client.wait_show(lamp.wait_id).wait.verdict.detail, "judged")
            assert not client.wait_result(lamp.wait_id).ended
        faults.ended(daemon, lamp, "resolved")
        faults.until(lambda: not client.status().degraded, "well again")
        assert client.wait_list().total == 0


_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def _locked(database: Path) -> Iterator[None]:
    holder = subprocess.Popen(
        [sys.executable, "-c", _LOCK, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline().strip() == "locked"
    try:
        yield
    finally:
        holder.communicate("")


# ---- refused at the start ------------------------------------------------------------------------------------------


def _refusal(home: Path, mounts: Mounts | None = None) -> str:
    """Start a daemon that is to end at once with exit code 1; return the one line it says."""
    prefix = mounts.prefix if mounts is not None else ()
    env = {"ACU_HOME": str(home), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(home)}
    ended = subprocess.run(
        [*prefix, sys.executable, "-m", "acud.supervisor"], env=env, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    line = ended.stderr.strip()
    assert line.startswith("acud: ")
    seen = mounts.outside(home) if mounts is not None else home
    assert not list((seen / "run").glob("*")) if (seen / "run").is_dir() else True
    assert not _shm(home).exists() or mounts is not None
    return line


def test_a_corrupt_database_is_refused_in_one_line_and_left_alone(tmp_path: Path, judge: Judge) -> None:
    home = tmp_path / "home"
    with Daemon(settings=faults.settings(judge), home=home):
        pass
    database = home / "data.db"
    damaged = bytearray(database.read_bytes())
    damaged[4096:8192] = b"\xa5" * 4096
    database.write_bytes(damaged)
    line = _refusal(home)
    assert "data.db is corrupt" in line
    assert "restore a copy" in line
    assert database.read_bytes() == bytes(damaged)
    assert _refusal(home) == line


def _arm(client: Client, display: str) -> str:
    return client.wait_create(Criteria("never"), display=display, force=True).wait.wait_id


def test_commits_lost_with_a_damaged_log_are_told_by_everybody(tmp_path: Path) -> None:
    with Daemon(settings=faults.settings(), home=tmp_path / "home") as daemon:
        name = daemon.client.display_create(64, 64).display.name
        arm, log = partial(_arm, daemon.client, name), daemon.paths.database.with_name("data.db-wal")
        kept = {arm() for _ in range(5)}
        damaged = log.stat().st_size + 100  # in what is written next, whatever that is
        armed = kept | {arm() for _ in range(5)}
        daemon.kill()
        data = bytearray(log.read_bytes())
        data[damaged] ^= 0xFF
        log.write_bytes(data)
        daemon.start()
        left = {wait.wait_id for wait in daemon.client.wait_list(limit=1000).waits}
        assert kept <= left < armed
        [event] = faults.events(daemon, "store.damaged")
        folder = Path(event.data["folder"])
        assert event.data["commits"] >= 1
        assert (folder / "data.db-wal").read_bytes() == data
        [finding] = [one for one in daemon.client.doctor().findings if one.part == "store log"]
        assert finding.level == "fault"
        assert str(folder) in finding.text
        assert any(str(folder) in reason for reason in daemon.client.status().degraded)
        assert "store.damaged" in daemon.paths.debug_log.read_text()
        shutil.rmtree(folder)  # who has seen to it says so
        assert not [one for one in daemon.client.doctor().findings if one.part == "store log"]


@pytest.mark.parametrize("kind", ["tables", "other program", "text"])
def test_a_foreign_database_is_refused_and_untouched(tmp_path: Path, kind: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    database = home / "data.db"
    if kind == "text":
        database.write_text("all work and no play\n" * 100)
    else:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE wait_jobs (id TEXT PRIMARY KEY, criteria TEXT)")
            connection.execute("INSERT INTO wait_jobs VALUES ('a', 'b')")
            if kind == "other program":
                connection.execute("PRAGMA application_id = 77")
            connection.commit()
    before = database.read_bytes()
    assert "data.db" in _refusal(home)
    assert database.read_bytes() == before
    assert {path.name for path in home.glob("data.db*")} == {"data.db"}
