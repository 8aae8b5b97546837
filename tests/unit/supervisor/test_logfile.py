"""Rotation by size: nothing is lost, the file that children hold goes on, and a full disk ends nobody."""

from pathlib import Path

import pytest

from acud.supervisor import logfile


def test_a_file_within_its_limit_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "debug.log"
    logfile.rotate(path, 10)
    path.write_text("0123456789")
    logfile.rotate(path, 10)
    assert [file.name for file in tmp_path.iterdir()] == ["debug.log"]


def test_a_large_file_is_kept_once_and_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "debug.log"
    (tmp_path / "debug.log.1").write_text("from long ago")
    with path.open("ab", buffering=0) as held:  # as children hold it
        held.write(b"a line\n" * 10)
        logfile.rotate(path, 10)
        held.write(b"the next line\n")
    assert path.read_text() == "the next line\n"
    kept = tmp_path / "debug.log.1"
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("a line\n" * 10, 0o600)


def test_where_there_is_no_room_the_log_shrinks_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "debug.log"
    path.write_text("a line\n" * 10)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(logfile.shutil, "copyfileobj", full)
    logfile.rotate(path, 10)
    assert path.read_text() == ""
    assert not (tmp_path / "debug.log.1").exists()


def test_older_files_move_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "debug.log"
    for text in ("first", "second", "third", "fourth"):
        path.write_text(f"{text} and more")
        logfile.rotate(path, 10, 3)
    texts = {one.name: one.read_text().split()[0] for one in tmp_path.iterdir() if one.stat().st_size}
    assert texts == {"debug.log.1": "fourth", "debug.log.2": "third", "debug.log.3": "second"}
    path.write_text("fifth and more")
    logfile.rotate(path, 10, 1)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["debug.log", "debug.log.1"]
