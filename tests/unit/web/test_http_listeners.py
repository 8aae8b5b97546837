"""Sockets that are handed from one process to the next, and who has a port that could not be had."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from acud.base.errors import Refused
from acud.config import http_listeners
from acud.process.systemd_notify import SystemdNotifier

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def table(folder: Path, name: str, *rows: tuple[str, str, int]) -> None:
    lines = [
        f"   {n}: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {uid:5d} 0 1 1 0\n"
        for n, (local, state, uid) in enumerate(rows)
    ]
    (folder / name).write_text(HEAD + "".join(lines))


def test_who_listens_is_read_from_the_kernel_and_another_user_comes_first(tmp_path: Path) -> None:
    mine = os.getuid()
    ipv6 = "00000000000000000000000001000000:4966"
    table(tmp_path, "tcp", ("0100007F:4966", "01", 7), ("0100007F:4967", "0A", 8), ("0100007F:4966", "0A", mine))
    assert http_listeners.listener_uid(18_790, tmp_path) == mine
    assert http_listeners.listener_uid(18_791, tmp_path) == 8
    assert http_listeners.listener_uid(18_792, tmp_path) == -1
    table(tmp_path, "tcp6", (ipv6, "0A", 9))
    assert http_listeners.listener_uid(18_790, tmp_path) == 9


def test_a_taken_port_is_refused_and_says_who_has_it() -> None:
    with http_listeners.bind("127.0.0.1", 0, "web") as taken, pytest.raises(Refused) as refused:
        http_listeners.bind("127.0.0.1", taken.getsockname()[1], "web")
    assert refused.value.facts == {"taken_by_uid": os.getuid()}
    assert not http_listeners.is_taken_by_another(refused.value)
    assert http_listeners.is_taken_by_another(Refused("taken", taken_by_uid=os.getuid() + 1))
    assert http_listeners.is_taken_by_another(Refused("taken by who has gone", taken_by_uid=-1))
    assert not http_listeners.is_taken_by_another(Refused("no permission"))


def test_sockets_are_handed_over_by_name() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, http_listeners.bind("127.0.0.1", 0, "web") as held:
        http_listeners.send_sockets(ours, {"gateway": held})
        given = http_listeners.receive_sockets(theirs)
        with given["gateway"] as one:
            assert list(given) == ["gateway"]
            assert one.getsockname() == held.getsockname()
            assert not one.get_inheritable()
        http_listeners.send_sockets(ours, {})
        assert http_listeners.receive_sockets(theirs) == {}


def test_only_what_fits_the_settings_is_taken() -> None:
    with http_listeners.bind("127.0.0.1", 0, "web") as held, socket.socket() as idle:
        port = held.getsockname()[1]
        assert http_listeners.serves_address(held, "127.0.0.1", port)
        assert http_listeners.serves_address(held, "127.0.0.1", 0)
        assert not http_listeners.serves_address(held, "127.0.0.1", port + 1)
        assert not http_listeners.serves_address(held, "127.0.0.2", port)
        assert not http_listeners.serves_address(held, "::1", port)
        assert not http_listeners.serves_address(idle, "127.0.0.1", 0)


def test_what_names_no_socket_of_ours_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert http_listeners.inherited_sockets(f"gateway={file.fileno()},relay=x,other=0,gateway=999999", {}) == {}
    assert (
        http_listeners.inherited_sockets("", {"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "acud-gateway"})
        == {}
    )


def test_systemd_keeps_a_socket_and_gives_it_to_the_next(tmp_path: Path) -> None:
    place = str(tmp_path / "notify")
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd,
        http_listeners.bind("127.0.0.1", 0, "web") as held,
    ):
        systemd.bind(place)
        SystemdNotifier({"NOTIFY_SOCKET": place}).keep(http_listeners.stored_name("gateway"), held)
        said, fds, _, _ = socket.recv_fds(systemd, 1024, 2)
        assert said == b"FDSTORE=1\nFDNAME=acud-gateway"
        # As systemd does it (sd_listen_fds(3)): from descriptor 3 on, with the pid of who is started.
        program = (
            "import os, sys; os.dup2(int(sys.argv[1]), 3); from acud.config import http_listeners; "
            "env = {'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '1', 'LISTEN_FDNAMES': 'acud-gateway'}; "
            "print(http_listeners.inherited_sockets('', env)['gateway'].getsockname()[1])"
        )
        line = [sys.executable, "-c", program, str(fds[0])]
        given = subprocess.run(line, pass_fds=fds, capture_output=True, text=True, check=True)
        os.close(fds[0])
        assert int(given.stdout) == held.getsockname()[1]
