"""Opening displays: cookies, refusals, servers that are gone, two servers in one process."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from acud.base.errors import DisplayDown, Refused
from acud.x11 import auth as xauth
from acud.x11 import auth as xsockets
from acud.x11.connection import Connection, translate_faults
from tests.integration.xserver import XServer


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


@pytest.mark.parametrize("data", [b"", b"0123456789abcdef"])
def test_a_missing_or_wrong_cookie_is_said(xserver: XServer, tmp_path: Path, data: bytes) -> None:
    auth = write_auth(tmp_path / "wrong", xauth.FAMILY_LOCAL, socket.gethostname().encode() if data else b"no", data)
    with pytest.raises(DisplayDown, match=r"Authorization required|Invalid MIT-MAGIC-COOKIE") as caught:
        Connection(xserver.display, auth)
    assert auth in caught.value.hint


@pytest.mark.parametrize("name", ["", "7", ":", "wayland-0", ":7;rm", "/tmp/x:0", "localhost:7", "127.0.0.1:7.0"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(Refused, match="not a display name"):
        Connection(name, "/nonexistent")


def test_a_dead_server_becomes_one_error(xserver: XServer) -> None:
    connection = Connection(xserver.display, xserver.auth_file)
    xserver.kill()
    with pytest.raises(DisplayDown, match="gone"), translate_faults(xserver.display):
        connection.sync()
    connection.close()


STRANGER = 65534
as_another_user = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
LISTENS = """
import socket, sys
name = sys.argv[1]
server = socket.socket(socket.AF_UNIX)
server.bind(name.replace("@", chr(0)))
server.listen()
print("listens", flush=True)
client, _ = server.accept()
print(len(client.recv(4096)), flush=True)
"""


def stranger(address: str) -> subprocess.Popen[str]:
    """Start a listener of another user at `address`; it prints how many bytes its first client sent."""
    process = subprocess.Popen(
        ["/usr/bin/python3", "-c", LISTENS, address], user=STRANGER, group=STRANGER, cwd="/", text=True,
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "listens\n"
    return process


def file_of(server: XServer) -> str:
    return f"/tmp/.X11-unix/X{server.display[1:]}"


def abstract_of(server: XServer) -> str:
    return f"@{file_of(server)}"


@as_another_user
@pytest.mark.parametrize("address", [file_of, abstract_of])
def test_a_server_of_another_user_gets_no_cookie(xserver: XServer, address: Callable[[XServer], str]) -> None:
    xserver.kill()
    Path(file_of(xserver)).unlink()
    with stranger(address(xserver)) as process:
        with pytest.raises(DisplayDown, match=r"uid 65534.* nothing was sent") as caught:
            Connection(xserver.display, xserver.auth_file)
        assert f"acud display add {xserver.display} --owner 65534" in caught.value.hint
        process.kill()
        assert process.communicate()[0] in {"", "0\n"}
    Path(file_of(xserver)).unlink(missing_ok=True)


@as_another_user
def test_a_program_is_not_led_to_a_stranger_beside_the_server(xserver: XServer) -> None:
    number = int(xserver.display[1:])
    xsockets.check_owner(number)
    xserver.kill()  # libxcb tries the abstract name first, and not every server has one
    with stranger(abstract_of(xserver)) as process, socket.socket(socket.AF_UNIX) as ours:
        Path(file_of(xserver)).unlink()
        ours.bind(file_of(xserver))
        ours.listen()
        with pytest.raises(DisplayDown, match="uid 65534"):
            xsockets.check_owner(number)
        process.kill()
    xsockets.check_owner(number)
    Path(file_of(xserver)).unlink()


@as_another_user
def test_a_server_of_another_user_who_was_named_is_taken(xserver: XServer) -> None:
    xserver.kill()
    xserver.restart(STRANGER)
    with pytest.raises(DisplayDown, match="uid 65534"):
        Connection(xserver.display, xserver.auth_file)
    with pytest.raises(DisplayDown, match="uid 65534"):
        Connection(xserver.display, xserver.auth_file, STRANGER - 1)
    with Connection(xserver.display, xserver.auth_file, STRANGER) as connection:
        assert connection.size() == (640, 480)


@as_another_user
def test_a_link_of_another_user_is_not_followed(xserver: XServer) -> None:
    other = Path(f"/tmp/.X11-unix/X{int(xserver.display[1:]) + 1}")
    subprocess.run(["/bin/ln", "-s", file_of(xserver), str(other)], check=True, user=STRANGER)
    try:
        with pytest.raises(DisplayDown, match="uid 65534"):
            Connection(f":{other.name[1:]}", xserver.auth_file)
    finally:
        other.unlink()


@pytest.mark.parametrize(("mode", "uid", "said"), [
    (0o1777, 0, ""), (0o755, 0, ""), (0o777, 0, r"lets every user replace .* \(mode 0777\)"),
    (0o775, 0, "lets every user replace"),
    pytest.param(0o1777, STRANGER, "belongs to uid 65534", marks=as_another_user),
])  # fmt: skip
def test_the_folder_of_sockets_is_one_in_which_nobody_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, uid: int, said: str
) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    folder.chmod(mode)
    if uid:
        os.chown(folder, uid, uid)
    monkeypatch.setattr(xsockets, "FOLDER", folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "X7"))
        server.listen()
        if not said:
            xsockets.connect_socket(7).close()
            xsockets.check_owner(7)
            return
        for look in (xsockets.check_socket_folder, lambda: xsockets.connect_socket(7), lambda: xsockets.check_owner(7)):
            with pytest.raises(DisplayDown, match=said) as caught:
                look()
            assert "1777" in caught.value.hint


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
