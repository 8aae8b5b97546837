"""The log file read from outside."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud_cli.logs import LogReader, follow, format_entry, parse, tail, tail_over_rotation

LINE = '{"event": "daemon.ready", "level": "info", "timestamp": "2026-11-21T23:20:40.541080Z", "process": "supervisor"}'


def test_the_last_lines_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {n}\n" for n in range(50_000)))
    assert tail(path, 3) == ["line 49997", "line 49998", "line 49999"]
    assert tail(path, 0) == []
    assert len(tail(path, 100_000)) == 50_000
    assert tail(path, 5, after=path.stat().st_size) == []


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    assert tail(tmp_path / "none", 5) == []


def test_an_entry_reads_as_one_line() -> None:
    entry = parse(LINE)
    assert entry is not None
    assert format_entry(entry) == "23:20:40.541  info     supervisor      daemon.ready"


@pytest.mark.parametrize("line", ["", "Traceback (most recent call last):", "[1]", "{}", '{"level": "info"}'])
def test_what_is_no_entry(line: str) -> None:
    assert parse(line) is None


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acud_cli.logs._LOOK_S", 0.01)


@pytest.mark.usefixtures("_quick")
def test_following_goes_past_truncation_and_replacement(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    lines, got, more = follow(path), [], threading.Semaphore(0)

    def read(source: Iterator[str]) -> None:
        for line in source:
            got.append(line)
            more.release()
            if line == "end":
                return

    reader = threading.Thread(target=read, args=(lines,))
    _append(path, "")
    reader.start()
    while not more.acquire(timeout=0.05):  # the reader begins at the end it finds: give it lines until one comes
        _append(path, "one\n")
    path.write_text("a\n")  # emptied in place and begun anew, shorter than before
    assert more.acquire(timeout=60) is True
    (tmp_path / "new").write_text("replaced\nend\n")
    (tmp_path / "new").replace(path)
    reader.join(60)
    assert got[0] == "one"
    assert got[-2:] == ["replaced", "end"]


def test_no_line_that_was_moved_away_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "debug.log"
    path.write_text("old\n")
    reader = LogReader(path)
    assert reader.read_added() == b""
    _append(path, "read\n")
    assert reader.read_added() == b"read\n"
    _append(path, "before the rotation\nhalf a ")
    (tmp_path / "debug.log.1").write_bytes(path.read_bytes() + b"line\n")  # written during the copy
    path.write_text("after\n")
    assert reader.read_added() == b"before the rotation\nhalf a line\nafter\n"
    assert reader.read_added() == b""


def test_lines_from_before_the_rotation(tmp_path: Path) -> None:
    path = tmp_path / "debug.log"
    path.write_text("c\n")
    assert tail_over_rotation(path, 3) == ["c"]
    (tmp_path / "debug.log.1").write_text("a\nb\n")
    assert tail_over_rotation(path, 2) == ["b", "c"]
    assert tail_over_rotation(path, 9) == ["a", "b", "c"]
    assert tail_over_rotation(path, 0) == []


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)
