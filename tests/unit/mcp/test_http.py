"""The address that `acud mcp --http` tells is one that answers."""

import socket

import pytest

from acud.base.errors import Refused
from acud_mcp.http_server import listening_on


def test_who_reads_the_address_can_connect_before_the_server_runs() -> None:
    with listening_on(0) as listening, socket.create_connection(listening.socket.getsockname(), timeout=5) as client:
        client.sendall(b"early")
        taken, _ = listening.socket.accept()
        with taken:
            assert taken.recv(5) == b"early"


def test_a_taken_port_is_refused_with_what_to_do() -> None:
    with listening_on(0) as first, pytest.raises(Refused, match="is taken") as told:
        listening_on(first.port)
    assert told.value.hint == "name another with --port"
