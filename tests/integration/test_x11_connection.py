"""Opening displays: cookies, refusals, servers that are gone, two servers in one process."""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from acud.errors import DisplayDown, Refused
from acud.x11 import xauth
from acud.x11.connection import Connection, translated
from tests.integration.xserver import XServer


def cookie_of(server: XServer) -> bytes:
    return next(xauth.entries(Path(server.auth_file).read_bytes())).data


def write_auth(path: Path, family: int, address: bytes, data: bytes) -> str:
    fields = (address, b"", xauth.COOKIE, data)
    path.write_bytes(struct.pack(">H", family) + b"".join(struct.pack(">H", len(f)) + f for f in fields))
    return str(path)


def test_the_helpers_cookie_opens_the_display(xserver: XServer) -> None:
    with Connection(xserver.display, xserver.auth_file) as connection:
        assert connection.size() == (640, 480)
        assert connection.depth == 24
        assert connection.server_run().startswith(f"{xserver.pid}-")
    connection.close()


def test_family_wild_opens_it_too(xserver: XServer, tmp_path: Path) -> None:
    auth = write_auth(tmp_path / "wild", xauth.FAMILY_WILD, b"", cookie_of(xserver))
    with Connection(xserver.display, auth) as connection:
        assert connection.size() == (640, 480)


@pytest.mark.parametrize("data", [b"", b"0123456789abcdef"])
def test_a_missing_or_wrong_cookie_is_said(xserver: XServer, tmp_path: Path, data: bytes) -> None:
    auth = write_auth(tmp_path / "wrong", xauth.FAMILY_LOCAL, socket.gethostname().encode() if data else b"no", data)
    with pytest.raises(DisplayDown, match=r"Authorization required|Invalid MIT-MAGIC-COOKIE") as caught:
        Connection(xserver.display, auth)
    assert auth in caught.value.hint


def test_no_server_is_said() -> None:
    with pytest.raises(DisplayDown, match="can't open display :59999"):
        Connection(":59999", "/nonexistent")


@pytest.mark.parametrize("name", ["", "7", ":", "wayland-0", ":7;rm", "/tmp/x:0"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(Refused, match="not a display name"):
        Connection(name, "/nonexistent")


@pytest.mark.parametrize("depth", [8, 16])
def test_other_depths_are_refused_by_name(depth: int) -> None:
    with XServer(depth=depth) as server, pytest.raises(Refused, match=f"depth {depth}"):
        Connection(server.display, server.auth_file)


def test_a_dead_server_becomes_one_error(xserver: XServer) -> None:
    connection = Connection(xserver.display, xserver.auth_file)
    xserver.kill()
    with pytest.raises(DisplayDown, match="gone"), translated(xserver.display):
        connection.sync()
    connection.close()


def test_two_servers_that_number_extensions_differently() -> None:
    lean = ("-extension", "RANDR", "-extension", "RENDER", "-extension", "XTEST")
    with (
        XServer() as one,
        XServer(200, 100, extra=lean) as two,
        Connection(one.display, one.auth_file) as a,
        Connection(two.display, two.auth_file) as b,
    ):
        assert a.event_code("DamageNotify") != b.event_code("DamageNotify")
        assert (a.size(), b.size()) == ((640, 480), (200, 100))


def test_no_descriptor_leaks(xserver: XServer) -> None:
    with Connection(xserver.display, xserver.auth_file):
        pass
    before = descriptors()
    for _ in range(5):
        with Connection(xserver.display, xserver.auth_file):
            pass
        with pytest.raises(DisplayDown):
            Connection(":59999", "/nonexistent")
    assert descriptors() <= before  # what earlier tests left may be let go of meanwhile


def descriptors() -> set[str]:
    """Return what this process has open, each socket by its own number."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that this list was read with
            found.add(f"{link.name} {link.readlink()}")
    return found
