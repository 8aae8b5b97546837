"""The lock of a display in a folder that everybody can write to: nothing that lies there is written or waited for."""

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base import private_files
from acud.supervisor.displays import numbers
from tests.fixtures.numbers import own_number

PID = 4242


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The shared folder; what waits there for longer than a minute is ended."""
    monkeypatch.setattr(numbers, "_TMP", tmp_path)
    signal.alarm(60)
    yield tmp_path
    signal.alarm(0)


def test_a_lock_is_whole_and_closed_to_writers(shared: Path) -> None:
    numbers.hand_lock(7, PID)
    assert numbers.lock_file(7).read_text() == f"{PID:10d}\n"
    assert stat.S_IMODE(numbers.lock_file(7).lstat().st_mode) == 0o444
    assert [path.name for path in shared.iterdir()] == [".X7-lock"]


def test_a_number_is_nobody_elses_from_its_claim_on(shared: Path) -> None:
    first = own_number()
    numbers.lock_file(first).write_text(f"{1:10d}\n")  # another process's, which has no server yet
    assert numbers.claim(first, set()) == first + 1
    assert numbers.next_free(first, set()) == first + 2
    numbers.clear(first)
    numbers.hand_lock(first + 1, PID)
    assert numbers.lock_file(first + 1).read_text() == f"{PID:10d}\n"
    assert stat.S_IMODE(numbers.lock_file(first + 1).lstat().st_mode) == 0o444
    assert numbers.claim(first, {first + 2}) == first + 3
    numbers.clear(first + 3)  # its server did not start
    assert sorted(path.name for path in shared.iterdir()) == [f".X{first}-lock", f".X{first + 1}-lock"]


@pytest.mark.parametrize("pid", [PID, os.getpid()], ids=["other", "own"])
@pytest.mark.parametrize("trap", ["link", "fifo"])
def test_what_somebody_laid_by_a_name_that_can_be_guessed_is_left_alone(shared: Path, trap: str, pid: int) -> None:
    victim = shared / "victim"
    victim.write_text("precious")
    victim.chmod(0o600)
    guessed = shared / f".tX7-lock.{pid}"
    guessed.symlink_to(victim) if trap == "link" else os.mkfifo(guessed)
    numbers.hand_lock(7, pid)
    assert victim.read_text() == "precious"
    assert stat.S_IMODE(victim.stat().st_mode) == 0o600
    assert stat.S_ISREG(numbers.lock_file(7).lstat().st_mode)
    assert os.path.lexists(guessed)


def test_a_link_where_the_lock_belongs_is_left_alone(shared: Path) -> None:
    victim = shared / "victim"
    victim.write_text("precious")
    first = own_number()
    numbers.lock_file(first).symlink_to(victim)
    numbers.lock_file(first + 1).symlink_to(shared / "nothing")
    assert numbers.claim(first, set()) == first + 2
    assert victim.read_text() == "precious"
    assert numbers.lock_file(first).is_symlink()
    numbers.hand_lock(first, PID)
    assert victim.read_text() == "precious"


def test_a_fifo_in_place_of_a_lock_holds_nobody_up(shared: Path) -> None:
    os.mkfifo(numbers.lock_file(7))
    with pytest.raises(OSError, match="no regular file"):
        numbers.clear(7)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT | os.O_APPEND])
def test_nothing_but_a_file_is_opened(shared: Path, flags: int) -> None:
    plain, fifo, link = shared / "plain", shared / "fifo", shared / "link"
    plain.write_bytes(b"words")
    os.mkfifo(fifo)
    link.symlink_to(plain)
    descriptor = private_files.open_regular(plain, flags)
    assert os.get_blocking(descriptor)
    os.close(descriptor)
    for other in (fifo, link, shared):
        with pytest.raises(OSError, match=r"."):
            private_files.open_regular(other, flags)


def test_files_are_read_whole(shared: Path) -> None:
    (shared / "plain").write_bytes(b"words")
    assert private_files.read_regular(shared / "plain") == b"words"
