"""What programs gone wrong send: the listener answers in kind, and goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.e2e.listener_support import SETTINGS, Http, child, served
from tests.fixtures.daemon import Daemon

POSTS = ("/feed", "/sense", "/agent/config")
GETS = ("/feed", "/sense", "/agent/history", "/agent/last", "/agent/context", "/agent/config", "/health")
CLIENTS = 100

NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**70), 2**70))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=50))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5)
)
KNOWN = "text priority source type kind ts ocr meta roi diff observation id enabled intervalMs model backend maxAge"
KEYS = st.sampled_from([*KNOWN.split(), "maxAgeMs", "temperature", "maxTokens", "pushToFeed", "cadence"])
BODIES = st.dictionaries(KEYS | st.text(max_size=10), VALUES, max_size=8)
BOUNDED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


DAEMON_SETTINGS = SETTINGS + '[analysis]\ncadence = "event"\n'


@pytest.fixture(scope="module")
def http(daemon: Daemon) -> Iterator[Http]:
    with served(daemon) as client:
        before = child(daemon)
        yield client
        after = child(daemon)
        assert (after.pid, after.restarts) == (before.pid, before.restarts)
        assert "Traceback" not in daemon.log()
        assert client.token not in daemon.log()


def well(http: Http) -> None:
    """Everything can still be read."""
    for path in GETS:
        assert http.get(path)[0] == 200, path


@BOUNDED
@given(path=st.sampled_from(POSTS), body=BODIES)
def test_any_object(http: Http, path: str, body: dict[str, Any]) -> None:
    status, told = http.post(path, json.dumps(body).encode())
    assert status in (200, 400, 413), told
    assert ("error" in told) == (status != 200)


@BOUNDED
@given(path=st.sampled_from(POSTS), body=st.binary(max_size=500) | st.text(max_size=500).map(str.encode))
def test_any_bytes(http: Http, path: str, body: bytes) -> None:
    assert http.post(path, body)[0] in (200, 400)


@BOUNDED
@given(path=st.sampled_from(GETS), name=st.sampled_from(["after", "limit", "meta_only"]), value=st.text(max_size=30))
def test_any_query(http: Http, path: str, name: str, value: str) -> None:
    assert http.get(path, params={name: value})[0] in (200, 400)


def test_depth_and_size_of_values(http: Http) -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = {"a": deep}
    event = {"type": "text", "ts": 1}
    refused = (400, {"ok": False, "error": "nested too deeply"})
    assert http.post("/sense", {**event, "roi": deep}) == refused
    assert http.post("/feed", b'{"text":"x","a":' + b"[" * 900 + b"]" * 900 + b"}") == refused
    assert http.post("/sense", {**event, "roi": {"n": 2**64}}) == (400, {"ok": False, "error": "a number is too large"})
    assert http.post("/sense", b'{"type":"text","ts":1e999}') == (400, {"error": "bad json"})
    assert http.post("/sense", b'{"type":"text","ts":' + b"9" * 5000 + b"}")[0] == 400
    assert http.post("/sense", {**event, "roi": {str(n): n for n in range(5000)}})[0] in (200, 400)
    assert http.post("/feed", {"text": "\x00\x1b[31m\u202e" * 100})[0] == 200
    well(http)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n", b"GET /health\r\n\r\n", b"G" * 70_000 + b"\r\n\r\n",
        b"GET /health HTTP/1.1\r\n" + b"X: " + b"y" * 70_000 + b"\r\n\r\n",
        b"POST /feed HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /feed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
        b"GET http://evil.example/health HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
    ids=range(9),
)  # fmt: skip
def test_what_is_no_http(http: Http, data: bytes) -> None:
    answer = http.exchange(data)
    assert b" 200 " not in answer.split(b"\r\n")[0]
    well(http)


def test_a_request_of_two_lengths_ends_its_connection(http: Http) -> None:
    lengths = "Content-Length: 5\r\nTransfer-Encoding: chunked"
    smuggled = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    said = http.exchange(
        f"POST /feed HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {http.token}\r\n{lengths}\r\n\r\n0\r\n\r\n"
        f"{smuggled}".encode(),
        until_closed=True,
    )
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1
    well(http)


def test_a_client_that_hangs_up_in_the_middle(http: Http) -> None:
    head = (
        f"POST /feed HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {http.token}\r\nContent-Length: 500\r\n\r\n"
    )
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", http.port)) as connected:
            connected.sendall(head.encode() + b'{"text":')
    well(http)


def test_idle_connections_hold_nobody_up(http: Http) -> None:
    idle = [socket.create_connection(("127.0.0.1", http.port)) for _ in range(200)]
    try:
        well(http)
    finally:
        for connected in idle:
            connected.close()


def test_connections_that_never_ask_are_ended(http: Http) -> None:
    starts = [b"", b"GET /health HTTP/1.1\r\nHost: loc"]
    waiting = [socket.create_connection(("127.0.0.1", http.port), timeout=60) for _ in starts]
    for connected, start in zip(waiting, starts, strict=True):
        connected.sendall(start)
    well(http)
    for connected in waiting:
        assert connected.recv(100) == b""
        connected.close()


def test_a_hundred_clients_at_once(http: Http) -> None:
    def work(number: int) -> list[int]:
        with Http(http.url, http.token) as own:
            mine = [own.post("/feed", {"text": f"client {number}"}) for _ in range(3)]
            reads = [own.get(path)[0] for path in GETS]
            return [status for status, _ in mine] + reads + [0 if len({told["id"] for _, told in mine}) == 3 else 1]

    with ThreadPoolExecutor(CLIENTS) as pool:
        done = list(pool.map(work, range(CLIENTS)))
    assert done == [[200] * (3 + len(GETS)) + [0]] * CLIENTS
