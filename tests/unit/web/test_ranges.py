"""Parts of files, and numbers of events, as clients ask for them."""

import os
from pathlib import Path

import pytest

from acud.base.errors import InvalidRequest, NotFound
from acud_web.api.events import last_number
from acud_web.api.files import ByteRange, Unsatisfiable, open_below, parse_range


@pytest.mark.parametrize(("header", "found"), [
    ("bytes=0-0", ByteRange(0, 0)), ("bytes=2-", ByteRange(2, 9)), ("bytes=-3", ByteRange(7, 9)),
    ("bytes=-99", ByteRange(0, 9)), ("bytes=4-99", ByteRange(4, 9)), ("", None), ("bytes=", None),
    ("bytes=-", None), ("bytes=5-4", None), ("bytes=0-1,3-4", None), ("items=0-1", None), ("bytes=0x1-2", None),
])  # fmt: skip
def test_a_range(header: str, found: ByteRange | None) -> None:
    assert parse_range(header, 10) == found


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=10-12", 10), ("bytes=-0", 10), ("bytes=0-", 0)]
)
def test_a_range_without_a_byte(header: str, size: int) -> None:
    with pytest.raises(Unsatisfiable):
        parse_range(header, size)


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("17", 17), (str(2**53), 2**53)])
def test_a_last_event_id(text: str, number: int) -> None:
    assert last_number(text) == number


@pytest.mark.parametrize("text", ["-1", "1.0", "x", "²", " 1", str(2**53 + 1), "1" * 400])
def test_what_is_no_last_event_id(text: str) -> None:
    with pytest.raises(InvalidRequest, match="Last-Event-ID"):
        last_number(text)


@pytest.mark.parametrize(
    ("folder", "name"), [("..", "a"), ("a", ".."), ("a/b", "c"), ("", "a"), ("a", "\0"), ("/etc", "passwd")]
)
def test_a_place_that_leads_out_is_not_found(tmp_path: Path, folder: str, name: str) -> None:
    with pytest.raises(NotFound):
        open_below(tmp_path, folder, name)


def test_only_regular_files_are_opened_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "in" / "file")
    (tmp_path / "in" / "folder").mkdir()
    os.mkfifo(tmp_path / "in" / "pipe")
    (tmp_path / "linked").symlink_to(tmp_path / "in")
    found = open_below(tmp_path, "in", "file")
    assert os.pread(found, 9, 0) == b"x"
    os.close(found)
    for folder, name in (("in", "link"), ("in", "folder"), ("in", "pipe"), ("in", "none"), ("linked", "file")):
        with pytest.raises(NotFound):
            open_below(tmp_path, folder, name)
