"""Malformed, oversized and foreign bytes on every socket of a real daemon: a typed error or silence, never harm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgpack
import msgspec
import pytest
import zmq

from acud.base.errors import AcudError, Conflict, InternalError, InvalidRequest, NotFound, Refused
from acud.protocol import codec
from acud.protocol.envelope import ReplyEnvelope
from acud.protocol.requests import REQUESTS
from acud.types import Change, Criteria, DisplayInfo, Policy, Rect, Stable, Text, WindowTitle
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon
from tests.fuzz.samples import sample

_PATIENCE_MS = 60_000


@pytest.fixture
def line(daemon: Daemon) -> Iterator[zmq.Socket[bytes]]:
    """A bare REQ socket on the control endpoint."""
    with zmq.Context() as context, context.socket(zmq.REQ) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(daemon.paths.endpoint("control"))
        yield socket


def _ask(line: zmq.Socket[bytes], data: bytes) -> ReplyEnvelope:
    line.send(data)
    assert line.poll(_PATIENCE_MS), "the daemon did not answer"
    return codec.decode(line.recv(), ReplyEnvelope)


def _envelope(body: Any, **more: Any) -> bytes:
    packed: bytes = msgpack.packb({"v": 1, "id": "one", "body": body, **more})
    return packed


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "msgpack"), (b"\xc1\xff\x00garbage", "msgpack"), (b"GET / HTTP/1.1\r\n\r\n", "msgpack"),
        (b"\x81" * 5000, "msgpack"), (msgpack.packb([1, 2, 3]), "object"), (msgpack.packb({"v": 1}), "id is missing"),
        (_envelope({"type": "status"}, surplus=1), "there is no field surplus"),
        (_envelope({"type": "no_such_request"}), "unknown request"), (_envelope({"type": 7}), "unknown request"),
        (_envelope({}), "unknown request"), (_envelope({"type": "status", "surplus": 1}), "there is no field surplus"),
        (_envelope({"type": "wait_show", "wait_id": 5}), "wait_id"),
        (_envelope({"type": "wait_list", "limit": -1}), "limit"),
        (_envelope({"type": "wait_create", "until": {"type": "riddle"}}), "until"),
        (msgpack.packb({"v": 99, "id": "one", "body": {"type": "status"}}), "version 99"),
        (msgpack.packb({"v": 1, "id": "../../etc", "body": {"type": "status"}}), "id"),
        (msgpack.packb({"v": 1, "id": "x" * 65, "body": {"type": "status"}}), "id"),
    ],
)  # fmt: skip
def test_a_malformed_request_is_answered_with_its_fault(line: zmq.Socket[bytes], data: bytes, words: str) -> None:
    reply = _ask(line, data)
    assert reply.error.code == "invalid_request"
    assert words in reply.error.message + reply.error.hint


def test_an_oversized_message_ends_its_sender_and_nobody_else(daemon: Daemon) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        with monitor:
            socket.connect(daemon.paths.endpoint("control"))
            socket.send_multipart([b"", b"\0" * (codec.MAX_MESSAGE_BYTES + 1)])
            assert monitor.poll(_PATIENCE_MS), "the daemon kept the connection"
            socket.disable_monitor()
    assert daemon.client.status().pid == daemon.pid


@pytest.mark.parametrize("parts", [[b"no empty frame"], [b"", b"two", b"three"], [b""] * 40])
@pytest.mark.parametrize("name", ["control", "children"])
def test_foreign_frames_do_no_harm(daemon: Daemon, name: str, parts: list[bytes]) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.connect(daemon.paths.endpoint(name))
        socket.send_multipart(parts)
    assert daemon.client.status().pid == daemon.pid


def test_a_stranger_cannot_speak_as_a_child(daemon: Daemon, display: DisplayInfo) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.setsockopt(zmq.ROUTING_ID, b"capture/:100/999")
        socket.connect(daemon.paths.endpoint("children"))
        socket.send(msgpack.packb({"type": "fault", "code": "display_down", "message": "lies"}))
    assert {child.restarts for child in daemon.client.status().children} == {0}
    assert daemon.client.look(display=display.name).width == display.width


def test_bytes_on_the_events_socket_are_ignored(daemon: Daemon) -> None:
    with zmq.Context() as context, context.socket(zmq.XSUB) as socket:
        socket.connect(daemon.paths.endpoint("events"))
        socket.send(b"\x01" + b"topic")
        socket.send(b"anything at all")
    assert daemon.client.status().pid == daemon.pid


@pytest.mark.parametrize(
    ("until", "values", "kind", "words"),
    [
        (Criteria(" "), {}, InvalidRequest, "blank"),
        (Text("("), {}, None, ""),
        (Text("(", regex=True), {}, InvalidRequest, "pattern"),
        (WindowTitle("[", regex=True), {}, InvalidRequest, "pattern"),
        (Stable(math.nan), {}, InvalidRequest, "stable_s"),
        (Change(baseline="yesterday"), {}, InvalidRequest, "baseline"),
        (Criteria("x"), {"timeout_s": -1.0}, InvalidRequest, "timeout"),
        (Criteria("x"), {"timeout_s": math.nan}, InvalidRequest, "timeout"),
        (Criteria("x"), {"timeout_s": math.inf}, InvalidRequest, "timeout"),
        (Criteria("x"), {"timeout_s": 1e12}, Refused, "max_timeout_s"),
        (Criteria("x"), {"target": "moon:7"}, InvalidRequest, "target"),
        (Criteria("x"), {"target": "pty:tmux:/../x/main"}, InvalidRequest, "socket"),
        (Criteria("x"), {"target": "pty:no-such-session"}, NotFound, "no-such-session"),
        (Criteria("x"), {"target": "region:1,2,3"}, InvalidRequest, "region"),
        (Criteria("x"), {"target": f"region:{2**64},2,3,4"}, InvalidRequest, "region"),
        (Criteria("x"), {"ignore": [Rect(2**63, 0, 5, 5)]}, InvalidRequest, "ignore"),
        (Criteria("x"), {"target": "region:0,0,0,10"}, InvalidRequest, "region"),
        (Criteria("x"), {"target": "display:4711", "display": ""}, NotFound, "4711"),
        (Criteria("x"), {"ignore": [Rect(-1, 0, 5, 5)]}, InvalidRequest, "ignored"),
        (Criteria("x"), {"policy": Policy(interval_s=-1.0)}, InvalidRequest, "interval_s"),
        (Criteria("x"), {"policy": Policy(confirm=0)}, InvalidRequest, "confirm"),
    ],
)
def test_a_bad_wait_is_refused_with_the_next_step(
    daemon: Daemon, display: DisplayInfo, until: Any, values: dict[str, Any], kind: type[AcudError] | None, words: str
) -> None:
    before = daemon.client.wait_list().total
    arguments = {"display": display.name, **values}
    if kind is None:
        wait = daemon.client.wait_create(until, **arguments).wait
        daemon.client.wait_cancel(wait.wait_id)
        return
    with pytest.raises(kind) as fault:
        daemon.client.wait_create(until, **arguments)
    assert words in str(fault.value)
    assert daemon.client.wait_list().total == before


def test_unknown_ids_and_ids_that_look_like_paths_find_nothing(daemon: Daemon) -> None:
    for wait_id in ("wait-9", "../../etc/passwd", "/", "%2F", "wait-" + "z" * 23):
        with pytest.raises(NotFound):
            daemon.client.wait_show(wait_id)
        with pytest.raises(NotFound):
            daemon.client.evidence(wait_id)
        with pytest.raises(NotFound):
            daemon.client.wait_cancel(wait_id)


def test_a_repeated_request_id_answers_as_the_first_did(line: zmq.Socket[bytes], display: DisplayInfo) -> None:
    body = {
        "type": "wait_create",
        "until": {"type": "stable", "stable_s": 600.0},
        "display": display.name,
        "timeout_s": 900.0,
    }
    first = _ask(line, msgpack.packb({"v": 1, "id": "repeat-1", "body": body}))
    again = _ask(line, msgpack.packb({"v": 1, "id": "repeat-1", "body": body}))
    assert first.body["wait"]["wait_id"] == again.body["wait"]["wait_id"]
    other = _ask(line, msgpack.packb({"v": 1, "id": "repeat-1", "body": {**body, "timeout_s": 901.0}}))
    assert other.error.code == Conflict.code


def test_the_second_cancel_says_how_the_wait_ended(daemon: Daemon, display: DisplayInfo) -> None:
    wait = daemon.client.wait_create(Stable(600.0), display=display.name).wait
    daemon.client.wait_cancel(wait.wait_id, reason="enough")
    ended = daemon.client.wait_result(wait.wait_id, block_s=30.0)
    assert (ended.ended, ended.wait.state.value) == (True, "cancelled")
    with pytest.raises(Conflict, match="cancelled"):
        daemon.client.wait_cancel(wait.wait_id)


def test_no_depth_of_nesting_ends_the_daemon(line: zmq.Socket[bytes], daemon: Daemon) -> None:
    head = b"\x83\xa1v\x01\xa2id\xa3one\xa4body\x83\xa4type\xaasense_post\xa4kind\xa4text\xa3roi"
    for depth in (40, 300, *range(900, 1030), 5000):
        reply = _ask(line, head + b"\x81\xa1a" * depth + b"\x80")
        assert reply.error.code == "invalid_request"
    until(lambda: daemon.client.status().degraded == (), "a daemon that is well")


def _with_number(plain: Any, number: float) -> Iterator[Any]:
    """Yield `plain` once for each number in it, with `number` in that place."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for place, value in items:
        inner = (
            [number] if isinstance(value, int | float) and not isinstance(value, bool) else _with_number(value, number)
        )
        for other in inner:
            changed = dict(plain) if isinstance(plain, dict) else list(plain)
            changed[place] = other
            yield changed


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 2**64 - 1, math.inf, math.nan, 1e308])
def test_no_number_in_a_request_is_a_fault_of_acud(daemon: Daemon, line: zmq.Socket[bytes], number: float) -> None:
    asked = 0
    for spec in REQUESTS:
        if spec.name == "shutdown":
            continue
        for body in _with_number(msgspec.to_builtins(sample(spec.request), builtin_types=(bytes,)), number):
            reply = _ask(line, msgpack.packb({"v": 1, "id": f"{spec.name}-{asked}-{number}", "body": body}))
            assert reply.error is None or reply.error.code != InternalError.code, (body, reply.error)
            asked += 1
    assert asked > 50
    assert daemon.client.status().pid == daemon.pid
