"""The client against a real ROUTER: late, doubled, lost and garbled replies, a daemon that comes and goes."""

from __future__ import annotations

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zmq

from acud.base.errors import Conflict, DaemonDown, ProtocolError, UsageError
from acud.base.paths import Paths
from acud.protocol import codec
from acud.protocol.envelope import ReplyEnvelope, RequestEnvelope
from acud.protocol.requests.displays import DisplayListReply
from acud.protocol.requests.looks import BaselineReply
from acud.protocol.requests.tasks import TaskReply, TaskUpdate
from acud_client import Client, call
from tests.integration.client_stand_in import Sending, StandIn, paths_at, refusal, reply

DISPLAYS = DisplayListReply((), ":100")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return paths_at(tmp_path)


def prompt(request: RequestEnvelope, _times: int) -> list[Sending]:
    """Answer every request at once with an empty list of displays."""
    return [reply(request, DISPLAYS)]


def test_no_socket_file_is_told_at_once(paths: Paths) -> None:
    with Client(paths) as client, pytest.raises(DaemonDown, match="not running") as caught:
        client.status()
    assert caught.value.facts["reason"] == "absent"
    assert "acud daemon start" in caught.value.hint


def test_a_socket_left_behind_is_told_at_once(paths: Paths) -> None:
    paths.run.mkdir(parents=True)
    with zmq.Context() as context, context.socket(zmq.ROUTER) as once:
        once.bind(paths.endpoint("control"))
        os.link(paths.run / "control", paths.run / "kept")
    (paths.run / "kept").rename(paths.run / "control")
    with Client(paths) as client, pytest.raises(DaemonDown, match="left its socket") as caught:
        client.status()
    assert caught.value.facts["reason"] == "refused"


def test_a_silent_daemon_is_busy_not_absent(paths: Paths) -> None:
    with (
        StandIn(paths, lambda _request, _times: []),
        Client(paths, timeout_s=0.4) as client,
        pytest.raises(DaemonDown, match="did not answer display_list") as caught,
    ):
        client.display_list()
    assert caught.value.facts["reason"] == "busy"
    assert "acud daemon start" not in caught.value.hint
    assert "may do it" not in caught.value.message


def test_a_change_that_was_not_answered_in_time_is_found_by_its_id(paths: Paths) -> None:
    end = TaskUpdate("task-1", "on it")
    with StandIn(paths, lambda _request, _times: []) as daemon, Client(paths, timeout_s=60) as client:
        client.timeout_s = 0.4
        with pytest.raises(DaemonDown, match=r"did not answer task_update .*, and may do it all the same") as caught:
            client.ask(end, TaskReply)
        again = str(caught.value.facts["request_id"])
        assert f"repeated with request_id {again}" in caught.value.hint
        with pytest.raises(DaemonDown):
            client.ask(end, TaskReply, request_id=again)
    assert {one.id for one in daemon.seen} == {again}


def test_a_late_reply_to_an_abandoned_attempt_is_not_taken_for_another(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call, "ATTEMPT_S", 0.2)

    def late(request: RequestEnvelope, times: int) -> list[Sending]:
        if request.body["type"] == "baseline":
            return [reply(request, BaselineReply("token", ":100"))]
        return [reply(request, DISPLAYS, after_s=0.3 if times == 1 else 0.0)]

    with StandIn(paths, late), Client(paths, timeout_s=60) as client:
        assert client.display_list() == DISPLAYS
        for _ in range(20):
            assert client.baseline().baseline == "token"


@pytest.mark.parametrize("garbage", [
    b"", b"\xc1", b"\x81\xa1v\x01", random.Random(7).randbytes(4000),
    codec.encode(ReplyEnvelope("req-of-another", 0, body={})),
])  # fmt: skip
def test_garbage_is_asked_again_and_then_refused(paths: Paths, garbage: bytes) -> None:
    def once_garbled(request: RequestEnvelope, times: int) -> list[Sending]:
        return [(0.0, garbage)] if times == 1 else [reply(request, DISPLAYS)]

    with StandIn(paths, once_garbled), Client(paths) as client:
        assert client.display_list() == DISPLAYS
    with (
        StandIn(paths, lambda _request, _times: [(0.0, garbage)]),
        Client(paths) as client,
        pytest.raises(ProtocolError, match="not acud's protocol"),
    ):
        client.display_list()


def test_a_reply_of_another_shape_names_the_field(paths: Paths) -> None:
    with (
        StandIn(paths, lambda request, _times: [reply(request, BaselineReply("token", ":100"))]),
        Client(paths) as client,
        pytest.raises(ProtocolError, match="display_list is malformed"),
    ):
        client.display_list()


def test_errors_are_rebuilt_with_their_facts(paths: Paths) -> None:
    def ended(request: RequestEnvelope, _times: int) -> list[Sending]:
        return [refusal(request, "conflict", "it has ended", "look at it", state="resolved")]

    with StandIn(paths, ended), Client(paths) as client, pytest.raises(Conflict, match="it has ended") as caught:
        client.wait_cancel("wait-1")
    assert caught.value.facts == {"state": "resolved"}
    assert caught.value.hint == "look at it"


def test_patience_outlasts_a_restart(paths: Paths) -> None:
    asked = threading.Event()

    def never(_request: RequestEnvelope, _times: int) -> list[Sending]:
        asked.set()
        return []

    with Client(paths, timeout_s=60, patience_s=60) as client, ThreadPoolExecutor(1) as pool:
        with StandIn(paths, never) as first:
            waiting = pool.submit(client.display_list)
            assert asked.wait(30)
        with StandIn(paths, prompt) as second:
            assert waiting.result(timeout=60) == DISPLAYS
    assert first.seen[0].id == second.seen[0].id


def test_many_threads_share_a_client(paths: Paths) -> None:
    def slow(request: RequestEnvelope, _times: int) -> list[Sending]:
        return [reply(request, BaselineReply(str(request.body["target"]), ":100"), after_s=0.02)]

    with StandIn(paths, slow), Client(paths) as client, ThreadPoolExecutor(16) as pool:
        targets = [f"region:{i},0,1,1" for i in range(200)]
        got = list(pool.map(lambda target: client.baseline(target).baseline, targets))
    assert got == targets


def test_no_socket_is_left_open(paths: Paths) -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    with StandIn(paths, prompt):
        with Client(paths) as client:
            client.display_list()
        before = open_files()
        for _ in range(20):
            with Client(paths) as client:
                client.display_list()
            client.close()
        until_s = time.monotonic() + 30
        while open_files() > before + 1:  # the daemon's ends of them are in this process, too, and close in their time
            assert time.monotonic() < until_s
            time.sleep(0.02)


def test_sockets_are_reused_while_the_same_daemon_listens(paths: Paths) -> None:
    with StandIn(paths, prompt) as daemon, Client(paths) as client:
        for _ in range(200):
            client.display_list()
    assert len(daemon.peers) == 1


def test_a_closed_client_says_so(paths: Paths) -> None:
    asked = threading.Event()

    def never(_request: RequestEnvelope, _times: int) -> list[Sending]:
        asked.set()
        return []

    with StandIn(paths, never), ThreadPoolExecutor(1) as pool:
        client = Client(paths)
        waiting = pool.submit(client.display_list)
        assert asked.wait(30)
        client.close()
        with pytest.raises(UsageError, match="closed"):
            waiting.result(timeout=30)
        with pytest.raises(UsageError, match="closed"):
            client.display_list()


def test_somebody_elses_socket_directory_is_not_trusted(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn(paths, prompt), Client(paths) as client:
        monkeypatch.setattr(os, "getuid", lambda: 4242)
        with pytest.raises(DaemonDown, match="belongs to another user"):
            client.display_list()


def test_a_home_whose_path_is_too_long_for_a_socket_works(tmp_path: Path) -> None:
    paths = paths_at(tmp_path / ("long" * 30))
    assert paths.run.parent == Path("/tmp")
    try:
        with StandIn(paths, prompt), Client(paths) as client:
            assert client.display_list() == DISPLAYS
    finally:
        paths.run.rmdir()
