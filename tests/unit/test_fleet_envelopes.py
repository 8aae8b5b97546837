"""Requests as a fleet's processes read them: quickly where they are sound, else with what is wrong."""

import math
from typing import Any

import msgspec
import pytest

from acud.base.errors import InvalidRequest
from acud.protocol import VERSION, codec
from acud.protocol.requests.waits import WaitResult
from acud_fleet import envelopes

SOUND = {"type": "wait_result", "wait_id": "wait-1", "block_s": 2.5}


def _data(body: Any = SOUND, **more: Any) -> bytes:
    return msgspec.msgpack.encode({"v": VERSION, "id": "req-1", "body": body} | more)


def test_a_sound_request_is_read_as_it_was_written() -> None:
    request = WaitResult("wait-1", block_s=2.5)
    for data in (_data(), envelopes.write("req-1", request)):
        found = envelopes.read(data)
        assert (found.request_id, found.spec.name, found.request) == ("req-1", "wait_result", request)


@pytest.mark.parametrize(("data", "words"), [
    (b"\xc1", "not a msgpack message"), (b"", "not a msgpack message"),
    (_data() + b"\x00", "not a msgpack message"), (_data(v=VERSION + 1), "protocol version"),
    (_data(more=1), "more"), (_data(id="an id"), "id"), (_data({"wait_id": "wait-1"}), "unknown request None"),
    (_data({"type": "wait_for_ever"}), "unknown request 'wait_for_ever'"), (_data(SOUND | {"block": 1}), "block"),
    (_data(SOUND | {"wait_id": 1}), "wait_id"),
    (_data(SOUND | {"block_s": math.nan}), "block_s must be a finite number"),
    (_data(SOUND | {"block_s": 2**63}), "block_s must be at most"),
    (_data(SOUND | {"wait_id": "x" * codec.MAX_MESSAGE_BYTES}), "over the limit"),
])  # fmt: skip
def test_what_is_wrong_with_another_is_said(data: bytes, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        envelopes.read(data)
