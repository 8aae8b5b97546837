"""Damaged, full and read-only files, other processes, and SIGKILL in the middle of a transaction."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from acud.base.errors import StoreUnavailable
from tests.integration.store_support import NOW_S, open_store, wait
from tests.integration.tmpfs import tmpfs

ROOT = Path(__file__).parents[2]


def run_python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start another process with `code`, which finds this repository's packages."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )


def filled(home: Path, count: int = 400) -> None:
    with open_store(home) as store, store.turn():
        for _ in range(count):
            store.waits.insert(wait())


WRITER = """
import sys, time
from pathlib import Path
from tests.integration.store_support import open_store, wait, NOW_S
store = open_store(Path(sys.argv[1]))
n = 0
while True:
    for _ in range(20):
        store.waits.insert(wait())
        store.events.append("t", "s", {"turn": n}, NOW_S)
    if n == int(sys.argv[2]):
        print("middle", flush=True)
        time.sleep(60)
    store.commit_turn()
    n += 1
"""


def test_killed_at_any_moment_leaves_whole_turns(tmp_path: Path) -> None:
    for _ in range(4):
        with run_python(WRITER, str(tmp_path), "1000000") as writer:
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(0.7)
            os.kill(writer.pid, signal.SIGKILL)
        with open_store(tmp_path) as store:
            assert store.lost is None
            assert store.waits.totals().live % 20 == 0
            assert store.events.newest() == store.waits.totals().live


LOCKER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
"""


def test_a_writer_in_another_process_is_named(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    with run_python(LOCKER, str(tmp_path / "data.db")) as locker:
        assert locker.stdout is not None
        assert locker.stdin is not None
        assert locker.stdout.readline() == "locked\n"
        with open_store(tmp_path) as store, pytest.raises(StoreUnavailable, match="locked by another process"):
            store.waits.insert(wait())
        locker.stdin.close()
    with open_store(tmp_path) as store, store.turn():
        store.waits.insert(wait())


def test_flipped_bytes_are_found_and_left_alone(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "data.db"
    data = bytearray(path.read_bytes())
    for offset in range(4096 * 3, len(data), 4096):
        data[offset : offset + 64] = bytes(byte ^ 0xFF for byte in data[offset : offset + 64])
    path.write_bytes(data)
    with pytest.raises(StoreUnavailable, match="is corrupt") as caught:
        open_store(tmp_path)
    assert caught.value.facts["fault"] == "corrupt"
    assert "restore a copy" in caught.value.hint
    assert path.read_bytes() == data


@pytest.mark.parametrize(("keep_bytes", "fault"), [(50, "not_a_database"), (4096, "corrupt"), (20_000, "corrupt")])
def test_a_truncated_file_is_found(tmp_path: Path, keep_bytes: int, fault: str) -> None:
    filled(tmp_path)
    os.truncate(tmp_path / "data.db", keep_bytes)
    with pytest.raises(StoreUnavailable) as caught:
        open_store(tmp_path)
    assert caught.value.facts["fault"] == fault


@pytest.mark.parametrize("existing", [True, False])
def test_a_read_only_file_system(tmp_path: Path, existing: bool) -> None:
    home = tmp_path / "home"
    with tmpfs(home, "size=4m"):
        if existing:
            open_store(home).close()
        else:
            (home / "evidence").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        with pytest.raises(StoreUnavailable, match="cannot be written") as caught:
            open_store(home)
        assert caught.value.facts["fault"] == "read_only"


def test_a_full_disk_undoes_the_turn_and_heals_with_room(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tmpfs(home, "size=2m"):
        with open_store(home) as store:
            with store.turn():
                store.waits.insert(wait())
            (home / "ballast").write_bytes(b"x" * _free_bytes(home))
            store.events.append("t", "s", {}, NOW_S)
            with pytest.raises(StoreUnavailable, match="full") as caught:
                _write_until_full(store.waits.insert, store.commit_turn)
            assert caught.value.facts["fault"] == "full"
            store.rollback_turn()
            assert (store.waits.totals().live, store.events.newest()) == (1, 0)
            (home / "ballast").unlink()
            with store.turn():
                store.waits.insert(wait())
            assert store.waits.totals().live == 2
        with open_store(home) as store:
            assert store.waits.totals().live == 2


def _free_bytes(home: Path) -> int:
    found = os.statvfs(home)
    return (found.f_bavail - 2) * found.f_frsize


def _write_until_full(insert: object, commit: object) -> None:
    assert callable(insert)
    assert callable(commit)
    for _ in range(200):
        insert(wait())
    commit()


def test_starting_on_a_full_disk(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with tmpfs(home, "size=1m"):
        (home / "evidence").mkdir()
        (home / "ballast").write_bytes(b"x" * _free_bytes(home))
        with pytest.raises(StoreUnavailable, match="full"):
            open_store(home)
        (home / "ballast").unlink()
        open_store(home).close()


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.db").write_text("my diary\n" * 100)
    with pytest.raises(StoreUnavailable, match="not an SQLite database"):
        open_store(tmp_path)
    assert (tmp_path / "data.db").read_text() == "my diary\n" * 100


def test_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.db").mkdir()
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(tmp_path)
