"""A write-ahead log that was damaged while the daemon was down: what is gone is told, and kept as it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from acud.base.errors import StoreUnavailable
from acud.store import backup, damaged_log
from tests.integration.store_support import open_store
from tests.integration.test_store_faults import run_python

WAITS = 40
ARMED = """
import os, signal, sys
from pathlib import Path
from tests.integration.store_support import open_store, wait
store = open_store(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    with store.turn():
        store.waits.insert(wait())
if len(sys.argv) > 3:  # an answered turn, and one that was not committed
    store.waits.insert(wait())
os.kill(os.getpid(), signal.SIGKILL)
"""
COPIED = """
import apsw, os, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("SELECT count(*) FROM sqlite_master").get
connection.wal_checkpoint()
os._exit(9)
"""
_HEADER, _FRAME = 32, 24 + 4096

Damage = Callable[[bytearray], bytearray]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("killed")
    armed(home)
    return home


@pytest.fixture
def log(killed: Path, tmp_path: Path) -> Path:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    return tmp_path / "data.db-wal"


def armed(home: Path, *more: str) -> None:
    """Arm waits, each in a commit of its own, and die."""
    run_python(ARMED, str(home), str(WAITS), *more).communicate()


def flipped(at: int) -> Damage:
    def damage(data: bytearray) -> bytearray:
        data[at] ^= 0xFF
        return data

    return damage


def live(home: Path) -> int:
    with open_store(home) as store:
        return store.waits.totals().live


def zeroed(data: bytearray) -> bytearray:
    half = len(data) // 2 // 512 * 512
    data[half : half + 4096] = bytes(4096)
    return data


@pytest.mark.parametrize("has_index", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (flipped(_HEADER + 24 + 99), "frame 1 of"),
        (flipped(_HEADER + 30 * _FRAME + 3), "frame 31 of"),  # in the header of a frame
        (flipped(-2000), "is damaged"),  # in the page of the last commit
        (zeroed, "is damaged"),
        (flipped(3), "its header is damaged"),
        (flipped(30), "its header is damaged"),
        (lambda data: bytearray(len(data)), "its header is damaged"),
        (lambda data: data[: _HEADER + 50 * _FRAME + 77], "cut off after frame"),
        (lambda data: data[:20], "its header is damaged"),
        (lambda data: bytearray(), "it is empty"),
    ],
)
def test_what_a_damaged_log_loses_is_told_and_kept(
    tmp_path: Path, log: Path, damage: Damage, words: str, *, has_index: bool
) -> None:
    damaged = damage(bytearray(log.read_bytes()))
    log.write_bytes(damaged)
    if not has_index:
        (tmp_path / "data.db-shm").unlink()
        if not any(damaged) or "cut" in words or len(damaged) < _HEADER:
            return  # nothing is left that could tell
    database = (tmp_path / "data.db").read_bytes()
    with open_store(tmp_path) as store:
        left, lost = store.waits.totals().live, store.lost
    assert left < WAITS
    assert lost is not None
    assert words in lost.loss.reason
    assert lost.loss.commits >= 1
    if len(damaged) > 100 * _FRAME and any(damaged):
        assert lost.loss.commits >= WAITS - left - 2  # two frames' own headers may be zeroes
    folder = Path(lost.folder)
    assert (folder / "data.db-wal").read_bytes() == damaged
    assert (folder / "data.db").read_bytes() == database
    assert damaged_log.rescued_logs(tmp_path) == (lost,)
    assert str(folder) in lost.words()
    (folder / "lost.json").write_bytes(b"{")
    (unread,) = damaged_log.rescued_logs(tmp_path)
    assert "cannot be read" in unread.words()
    assert unread.folder == lost.folder
    with open_store(tmp_path) as store:
        assert (store.lost, store.waits.totals().live) == (None, left)


@pytest.mark.parametrize("more", [(), ("unfinished",)])
def test_a_killed_daemon_has_lost_nothing(tmp_path: Path, more: tuple[str, ...]) -> None:
    armed(tmp_path, *more)
    assert damaged_log.find_loss(tmp_path / "data.db") is None
    assert live(tmp_path) == WAITS
    assert damaged_log.rescued_logs(tmp_path) == ()


def test_a_log_that_is_in_the_database_already_loses_nothing(tmp_path: Path, log: Path) -> None:
    run_python(COPIED, str(tmp_path / "data.db")).communicate()
    damaged = flipped(3)(bytearray(log.read_bytes()))
    log.write_bytes(damaged)
    assert damaged_log.find_loss(tmp_path / "data.db") is None
    assert live(tmp_path) == WAITS


def test_what_died_after_a_loss_finds_it_once(tmp_path: Path, log: Path) -> None:
    """What is committed after the loss must not lie before the frames of before it."""
    log.write_bytes(flipped(_HEADER + 60 * _FRAME + 99)(bytearray(log.read_bytes())))
    left = live(tmp_path)
    armed(tmp_path)
    with open_store(tmp_path) as store:
        assert (store.lost, store.waits.totals().live) == (None, left + WAITS)


def test_a_damaged_database_and_its_log_are_left_alone(tmp_path: Path) -> None:
    live(tmp_path)
    armed(tmp_path)
    path, log = tmp_path / "data.db", tmp_path / "data.db-wal"
    data = bytearray(path.read_bytes())
    for offset in range(4096 * 3, len(data), 4096):
        data[offset : offset + 64] = bytes(byte ^ 0xFF for byte in data[offset : offset + 64])
    path.write_bytes(data)
    before = path.read_bytes(), log.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="is corrupt"):
            open_store(tmp_path)
    assert (path.read_bytes(), log.read_bytes()) == before


def test_what_else_opens_the_database_refuses_a_damaged_log(tmp_path: Path, log: Path) -> None:
    log.write_bytes(flipped(_HEADER + 60 * _FRAME + 99)(bytearray(log.read_bytes())))
    with pytest.raises(StoreUnavailable, match="damaged write-ahead log") as caught:
        backup.compact(tmp_path / "data.db")
    assert "start the daemon" in caught.value.hint
