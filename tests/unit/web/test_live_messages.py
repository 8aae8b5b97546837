"""What travels over a live WebSocket."""

import json
import struct

import msgspec
import pytest

from acud_web.live.messages import Ack, Block, Bye, Head, Want, encode_message, frame_head, parse_viewer_message


def test_a_frame_is_length_head_and_blocks() -> None:
    blocks = (Block(0, 0, 16, 16, "png", 3), Block(16, 0, 16, 16, "jpeg", 2))
    head = Head(7, 2, False, 64, 48, 1.5, 2.5, (3, 4), blocks)
    data = frame_head(head, [b"abc", b"de"])
    (length,) = struct.unpack_from("<I", data)
    told = json.loads(data[4 : 4 + length])
    assert told["type"] == "frame"
    assert told["cursor"] == [3, 4]
    assert told["blocks"][1] == {"x": 16, "y": 0, "w": 16, "h": 16, "format": "jpeg", "size": 2}
    assert data[4 + length :] == b"abcde"


def test_texts_say_what_they_are() -> None:
    assert json.loads(encode_message(Bye("revoked", "so"))) == {"type": "bye", "code": "revoked", "reason": "so"}


def test_what_viewers_say() -> None:
    assert parse_viewer_message('{"type": "ack", "frame": 3}') == Ack(3)
    assert parse_viewer_message('{"type": "want", "fps": 30, "max_side_px": 64}') == Want(30, 64)


@pytest.mark.parametrize("said", [
    "", "[]", "{}", '{"type": "frame"}', '{"type": "ack"}', '{"type": "ack", "frame": "3"}',
    '{"type": "want", "fps": 0}', '{"type": "want", "fps": 31}', '{"type": "want", "max_side_px": 63}',
    '{"type": "want", "max_side_px": 5000}',
])  # fmt: skip
def test_what_means_nothing_is_refused(said: str) -> None:
    with pytest.raises(msgspec.MsgspecError):
        parse_viewer_message(said)
