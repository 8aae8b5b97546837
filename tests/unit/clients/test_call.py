"""One request's clocks: when it is sent again, and when it is given up."""

from pathlib import Path

import msgspec
import pytest

from acud.base.errors import DaemonDown, InvalidRequest
from acud.base.paths import resolve
from acud.protocol import codec
from acud.protocol.envelope import ErrorBody, RequestEnvelope
from acud.protocol.requests.daemon import Status
from acud.protocol.requests.waits import WaitResult
from acud_client import Client
from acud_client.call import ATTEMPT_S, DEFERRED_ATTEMPT_S, ClientCall, ClientLimits, Step, rebuild_error
from acud_client.daemon_socket import DaemonSocket, SocketState, SocketStatus

OPEN = SocketStatus(SocketState.OPEN, "run-1")
AWAY = SocketStatus(SocketState.ABSENT)


@pytest.fixture
def daemon_socket(tmp_path: Path) -> DaemonSocket:
    return DaemonSocket(tmp_path / "control")


def test_a_call_is_sent_then_listened_for_then_sent_again(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(Status(), ClientLimits(60), daemon_socket, 0.0)
    assert call.next_step(0.0, OPEN) is Step.SEND
    assert call.next_step(ATTEMPT_S - 0.1, OPEN) is Step.LISTEN
    assert call.next_step(ATTEMPT_S, OPEN) is Step.SEND


def test_a_deferred_call_listens_longer(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(WaitResult("wait-1", 300), ClientLimits(310), daemon_socket, 0.0)
    call.next_step(0.0, OPEN)
    assert call.next_step(DEFERRED_ATTEMPT_S - 0.1, OPEN) is Step.LISTEN
    assert call.next_step(DEFERRED_ATTEMPT_S, OPEN) is Step.SEND


def test_a_restarted_daemon_is_asked_again_at_once(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(Status(), ClientLimits(60), daemon_socket, 0.0)
    call.next_step(0.0, OPEN)
    assert call.next_step(0.1, SocketStatus(SocketState.OPEN, "run-2")) is Step.SEND


def test_patience_bounds_an_absence_and_a_return_renews_it(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(Status(), ClientLimits(60, patience_s=2), daemon_socket, 0.0)
    assert call.next_step(0.0, AWAY) is Step.PAUSE
    assert call.next_step(1.9, AWAY) is Step.PAUSE
    assert call.next_step(1.95, OPEN) is Step.SEND
    assert call.next_step(2.5, AWAY) is Step.PAUSE
    with pytest.raises(DaemonDown):
        call.next_step(4.6, AWAY)


def test_the_deadline_ends_it_all(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(Status(), ClientLimits(3), daemon_socket, 0.0)
    call.next_step(0.0, OPEN)
    with pytest.raises(DaemonDown, match="within 3 s") as caught:
        call.next_step(3.0, OPEN)
    assert caught.value.facts["request_id"] == call.request_id


def test_listening_never_runs_past_the_deadline(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(Status(), ClientLimits(1.0), daemon_socket, 0.0)
    call.next_step(0.0, OPEN)
    assert [call.listen_ms(at_s) for at_s in (0.0, 0.25, 0.75, 1.5)] == [250, 500, 250, 0]


def test_the_frame_is_the_protocols_envelope(daemon_socket: DaemonSocket) -> None:
    call = ClientCall(WaitResult("wait-1", 2), ClientLimits(1.0), daemon_socket, 0.0, "my-id")
    envelope = codec.decode(call.frame, RequestEnvelope)
    assert envelope == RequestEnvelope(
        1, "my-id", {"type": "wait_result", "wait_id": "wait-1", "block_s": 2.0, "peek": False, "again_s": 0.0}
    )


def test_facts_never_clash_with_an_errors_own_names() -> None:
    fault = rebuild_error(ErrorBody("not_found", "none", "", {"message": 1, "hint": 2, "self": 3, "id": 4}))
    assert fault.facts == {"message_": 1, "hint_": 2, "self_": 3, "id": 4}


def test_what_is_no_request_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with (
        Client(resolve({"ACU_HOME": str(tmp_path)})) as client,
        pytest.raises(InvalidRequest, match="Status2 is not a request"),
    ):
        client.ask(msgspec.defstruct("Status2", [], frozen=True)(), Status)
