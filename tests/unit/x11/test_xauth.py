"""Which cookie opens a display: families, numbers, broken files."""

import socket
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.x11 import auth

HERE = socket.gethostname().encode()
NAME = auth.COOKIE


def raw(family: int, address: bytes, number: bytes, data: bytes, name: bytes = NAME) -> bytes:
    fields = (address, number, name, data)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(f)) + f for f in fields)


def cookie(tmp_path: Path, *entries: bytes, number: int = 7) -> bytes:
    path = tmp_path / "auth"
    path.write_bytes(b"".join(entries))
    return auth.cookie(str(path), number)[1]


@pytest.mark.parametrize(("entry", "found"), [
    (raw(auth.FAMILY_LOCAL, HERE, b"7", b"c"), b"c"), (raw(auth.FAMILY_LOCAL, HERE, b"", b"c"), b"c"),
    (raw(auth.FAMILY_WILD, b"", b"", b"c"), b"c"), (raw(auth.FAMILY_WILD, b"elsewhere", b"7", b"c"), b"c"),
    (raw(auth.FAMILY_LOCAL, HERE, b"8", b"c"), b""), (raw(auth.FAMILY_LOCAL, b"elsewhere", b"7", b"c"), b""),
    (raw(auth.FAMILY_LOCAL, HERE, b"7", b"c", name=b"XDM-AUTHORIZATION-1"), b""), (b"", b""),
])  # fmt: skip
def test_local_cookies(tmp_path: Path, entry: bytes, found: bytes) -> None:
    assert cookie(tmp_path, entry) == found


def test_the_most_particular_entry_wins(tmp_path: Path) -> None:
    wild, any_number = raw(auth.FAMILY_WILD, b"", b"", b"w"), raw(auth.FAMILY_LOCAL, HERE, b"", b"a")
    exact = raw(auth.FAMILY_LOCAL, HERE, b"7", b"e")
    assert cookie(tmp_path, wild, any_number, exact) == b"e"
    assert cookie(tmp_path, wild, any_number) == b"a"


def test_a_cookie_for_an_address_of_the_network_is_not_sent_to_a_local_server(tmp_path: Path) -> None:
    assert cookie(tmp_path, raw(0, bytes([127, 0, 0, 1]), b"7", b"c")) == b""  # FamilyInternet


def test_no_file_means_no_cookie(tmp_path: Path) -> None:
    assert auth.cookie(str(tmp_path / "none"), 0) == (b"", b"")


@given(st.binary(max_size=60), st.integers(0, 60))
def test_broken_files_give_whole_entries_only(junk: bytes, cut: int) -> None:
    whole = raw(auth.FAMILY_LOCAL, HERE, b"7", b"0123456789abcdef")
    assert next(auth.xauthority_entries(whole + junk)).data == b"0123456789abcdef"
    assert not list(auth.xauthority_entries(whole[: min(cut, len(whole) - 1)]))
    list(auth.xauthority_entries(junk))
