"""How a fleet's requests come to a host's daemon: as they are, side by side on one socket, again where one is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from acud.base.errors import DaemonDown
from acud.base.paths import Paths
from acud.protocol.envelope import RequestEnvelope
from acud.protocol.requests.displays import DisplayList, DisplayListReply
from acud_fleet import daemon_relay, envelopes
from acud_fleet.daemon_relay import DaemonRelay
from tests.integration.client_stand_in import Sending, StandIn, paths_at, reply

LIST = DisplayListReply((), "")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return paths_at(tmp_path)


async def _asked(relay: DaemonRelay, request_id: str) -> bytes:
    data = envelopes.write(request_id, DisplayList())
    return await relay.ask(envelopes.read(data), data)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has an attempt last longer than a test that goes well."""
    monkeypatch.setattr(daemon_relay, "ATTEMPT_S", 60.0)
    monkeypatch.setattr(daemon_relay, "DEFAULT_S", 100.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.asyncio
async def test_each_request_gets_its_own_reply_whatever_their_order(paths: Paths) -> None:
    """The replies come while others are asked."""
    count = 600

    def answer(request: RequestEnvelope, _times: int) -> list[Sending]:
        return [reply(request, LIST, after_s=0.1 * (int(request.id) % 7 == 0), n=int(request.id))]

    with StandIn(paths, answer) as daemon:
        async with DaemonRelay(paths) as relay:
            replies = await asyncio.gather(*(_asked(relay, str(number)) for number in range(count)))
        assert [msgspec.msgpack.decode(one)["n"] for one in replies] == list(range(count))
        assert sorted(int(one.id) for one in daemon.seen) == list(range(count))
        assert len(daemon.peers) == 1


@pytest.mark.asyncio
async def test_a_request_that_is_not_answered_is_sent_again(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon_relay, "ATTEMPT_S", 0.05)
    monkeypatch.setattr(daemon_relay, "DEFAULT_S", 100.0)

    def answer(request: RequestEnvelope, times: int) -> list[Sending]:
        return [reply(request, LIST, n=times)] if times > 2 else []

    with StandIn(paths, answer):
        async with DaemonRelay(paths) as relay:
            assert msgspec.msgpack.decode(await _asked(relay, "req-1"))["n"] > 2


@pytest.mark.asyncio
async def test_a_daemon_that_never_answers_is_said_to_be_silent(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon_relay, "DEFAULT_S", 0.05)
    with StandIn(paths, lambda _request, _times: []):
        async with DaemonRelay(paths) as relay:
            with pytest.raises(DaemonDown, match="did not answer display_list") as fault:
                await _asked(relay, "req-1")
    assert fault.value.facts["request_id"] == "req-1"


@pytest.mark.usefixtures("patient")
@pytest.mark.asyncio
async def test_a_connection_that_ends_is_made_anew_and_what_was_asked_over_it_is_asked_again(paths: Paths) -> None:
    """At once: an attempt lasts much longer than this test may."""
    with StandIn(paths, lambda _request, _times: []) as deaf:
        async with DaemonRelay(paths) as relay:
            asking = [asyncio.create_task(_asked(relay, f"req-{number}")) for number in range(3)]
            async with asyncio.timeout(daemon_relay.ATTEMPT_S):
                while len(deaf.seen) < len(asking):  # noqa: ASYNC110 - a thread's doing
                    await asyncio.sleep(0.01)
                deaf.__exit__(None, None, None)
                with StandIn(paths, lambda request, _times: [reply(request, LIST, n=7)]):
                    found = await asyncio.gather(*asking)
    assert [msgspec.msgpack.decode(one)["n"] for one in found] == [7, 7, 7]
