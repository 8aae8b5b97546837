"""Events over HTTP: resumed over a restart, cut when not read, ended with their pass, told to whom they concern."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import msgspec
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from acud.protocol.web import Scope
from acud.types.tasks import TaskStatus
from tests.e2e.api_support import SETTINGS, Api, Sent
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.gateway_support import Foreground
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = SETTINGS


def registered(daemon: Daemon, name: str) -> str:
    """Register a task, which is an event; return its id."""
    return daemon.client.task_register(name, isolated_display=False).view.task.task_id


def heard(stream: Iterator[Sent], task_id: str) -> Sent:
    """Return the next message about the task."""
    return up_to(stream, task_id)[-1]


def up_to(stream: Iterator[Sent], task_id: str) -> list[Sent]:
    """Return every item up to the next message about the task; the daemon may tell of itself at any time."""
    found: list[Sent] = []
    for one in stream:
        found.append(one)
        if one.name == "message" and one.data["subject"] == task_id:
            return found
    raise AssertionError(f"the stream ended before {task_id}: {found}")


def test_pages_of_events_go_on_where_the_last_ended(daemon: Daemon, api: Api) -> None:
    made = [registered(daemon, f"page {number}") for number in range(3)]
    found, since = [], 0
    while (page := api.get("events", since=since, topic="task.", limit=2))["newest"] > since:
        found += [event["subject"] for event in page["events"]]
        since = page["next"]
    assert [subject for subject in found if subject in made] == made


def test_a_stream_tells_what_happens_and_goes_on_after_the_last_id(daemon: Daemon, api: Api) -> None:
    with api.stream() as stream:
        first = heard(stream, registered(daemon, "first"))
        assert first.data["type"] == "event"
        assert first.id == str(first.data["n"])
    missed = registered(daemon, "missed")
    with api.stream(headers={"Last-Event-ID": first.id}) as stream:
        told = up_to(stream, missed)
        assert [one.data["n"] for one in told] == list(range(int(first.id) + 1, int(told[-1].id) + 1))
        assert heard(stream, registered(daemon, "live")).data["data"]["name"] == "live"
    with api.stream(since=int(first.id)) as stream:
        assert [one.data for one in up_to(stream, missed)] == [one.data for one in told]
    with api.stream(topic="task.updated") as stream:
        daemon.client.task_update(registered(daemon, "of another topic"), status=TaskStatus.PAUSED)
        assert next(stream).data["topic"] == "task.updated"


def test_a_number_from_another_life_of_the_store_is_told_as_trimmed(api: Api) -> None:
    newest = api.get("events", limit=1)["newest"]
    with api.stream(since=newest + 1000) as stream:
        told = next(stream)
    first = told.data["first"]
    assert newest + 1 <= first <= api.get("events", limit=1)["newest"] + 1
    assert (told.name, told.data) == ("trimmed", {"type": "trimmed", "after": newest + 1000, "first": first})


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "9" * 17, "²"])
def test_a_last_event_id_that_is_no_number_is_refused(api: Api, given: str) -> None:
    head = {"Last-Event-ID": given.encode()}
    assert api.refused("GET", "events/stream", headers=head) == (422, "invalid")


def test_a_limited_pass_hears_of_its_task_alone(daemon: Daemon, api: Api) -> None:
    mine = registered(daemon, "mine")
    with Api(daemon, Scope.READ, tasks=[mine]) as limited, limited.stream() as stream:
        registered(daemon, "foreign")
        daemon.client.task_update(mine, status=TaskStatus.PAUSED)
        told = up_to(stream, mine)
        page = limited.get("events", limit=1000)
    assert {one.data["subject"] for one in told} <= {mine, "daemon"}
    assert {event["subject"] for event in page["events"]} <= {mine, "daemon"}
    assert page["next"] == page["newest"]


def test_a_stream_ends_when_its_pass_is_revoked(daemon: Daemon) -> None:
    with Api(daemon, Scope.READ) as brief, brief.stream() as stream:
        heard(stream, registered(daemon, "before"))
        daemon.client.web_token_revoke(brief.pass_.pass_id)
        told = [one for one in stream if one.name == "bye"]
    assert [one.data["code"] for one in told] == ["revoked"]


def test_a_websocket_tells_the_same_and_ends_with_its_pass(daemon: Daemon) -> None:
    with Api(daemon, Scope.READ) as brief:
        address = brief.url.replace("http", "ws", 1) + "/api/events/ws"
        with connect(address, additional_headers=brief.headers, proxy=None, open_timeout=60) as opened:
            made = registered(daemon, "over a socket")
            items = iter(lambda: msgspec.json.decode(opened.recv(60)), None)
            assert next(one for one in items if one.get("subject") == made)["type"] == "event"
            daemon.client.web_token_revoke(brief.pass_.pass_id)
            bye = next(one for one in items if one["type"] == "bye")
            assert bye["code"] == "revoked"
            with pytest.raises(ConnectionClosedError) as closed:
                opened.recv(60)
            assert closed.value.rcvd.code == 1008
        with pytest.raises(InvalidStatus) as refused:
            connect(address, additional_headers=brief.headers, proxy=None, open_timeout=60)
        assert refused.value.response.status_code == 401


def test_a_websocket_with_a_bad_query_is_refused(api: Api) -> None:
    address = api.url.replace("http", "ws", 1) + "/api/events/ws?since=never"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, additional_headers=api.headers, proxy=None, open_timeout=60)
    assert refused.value.response.status_code == 422


@pytest.mark.long
def test_who_does_not_read_is_cut_and_holds_up_nobody(daemon: Daemon, api: Api) -> None:
    """The kernel takes some megabytes on behalf of a connection that is not read."""
    made = registered(daemon, "x" * 1000)
    events, least = 12_000, 1000
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = api.url.removeprefix("http://").partition(":")
        deaf.connect((host, int(port)))
        head = f"GET /api/events/stream HTTP/1.1\r\nHost: {host}:{port}"
        deaf.sendall(f"{head}\r\nAuthorization: {api.headers['Authorization']}\r\n\r\n".encode())
        assert deaf.recv(15) == b"HTTP/1.1 200 OK"
        with api.stream() as stream:
            for _ in range(events // 2):
                for status in (TaskStatus.PAUSED, TaskStatus.ACTIVE):
                    daemon.client.task_update(made, status=status)
                    heard(stream, made)
        deaf.settimeout(60)
        size = sum(map(len, iter(lambda: _received(deaf), b"")))
    assert size < events * least, "all of it was kept for it"


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 20)
    except ConnectionResetError:
        return b""


def test_a_stream_goes_on_over_a_daemon_that_was_killed() -> None:
    """A gateway in the foreground outlives the daemon; its stream says so, and misses nothing."""
    with (
        Daemon(settings=SCRIPTED + BARE) as daemon,
        Foreground(daemon.home) as gateway,
        Api(daemon, url=gateway.url) as api,
        api.stream() as stream,
    ):
        first = heard(stream, registered(daemon, "before the kill"))
        daemon.kill()
        assert api.refused("GET", "tasks")[0] == 503
        daemon.start()
        meanwhile = registered(daemon, "meanwhile")
        numbers = [int(first.id)]
        for one in stream:
            numbers += [int(one.id)] if one.name == "message" else []
            if one.name == "message" and one.data["subject"] == meanwhile:
                break
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
