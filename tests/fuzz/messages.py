"""Messages and envelopes: every request, reply, event, and whatever processes say to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import msgspec

from acud.protocol import bootstrap, capture, children, codec, delivery, evaluation, recordings
from acud.protocol.envelope import ReplyEnvelope, RequestEnvelope
from acud.protocol.requests import REQUESTS
from acud.types import Until
from acud_mcp.server import TOOLS
from acud_mcp.tool import parse_arguments
from tests.fuzz.decoder import Decoder
from tests.fuzz.samples import packed, sample

_CHILD_UNIONS: tuple[Any, ...] = (
    capture.FromCapture, capture.ToCapture, evaluation.FromEvaluator, evaluation.ToEvaluator, delivery.FromDelivery,
    delivery.ToDelivery, children.FromWeb, children.ToWeb, recordings.FromRecorder, recordings.ToRecorder,
)  # fmt: skip


def _chosen(kinds: Sequence[Any], data: bytes) -> tuple[Any, bytes]:
    return kinds[(data[0] if data else 0) % len(kinds)], data[1:]


def _seeds(kinds: Sequence[Any]) -> list[bytes]:
    found = []
    for place, kind in enumerate(kinds):
        members = get_args(kind) or (kind,)
        found += [bytes([place]) + packed(member) for member in members if isinstance(member, type)]
    return found


def _child(data: bytes) -> None:
    kind, rest = _chosen(_CHILD_UNIONS, data)
    _check_storable(codec.decode(rest, kind))


_REQUESTS = [spec.request for spec in REQUESTS]
_REPLIES = [spec.reply for spec in REQUESTS]


def _request(data: bytes) -> None:
    """Read a request as the supervisor does: its envelope, then its body by its tag."""
    kind, rest = _chosen(_REQUESTS, data)
    body = codec.decode(rest, RequestEnvelope).body
    _check_storable(codec.convert(body, kind))


def _check_storable(value: Any) -> None:
    """Every number that came through fits in SQLite and in msgpack, and is one."""
    for found in _numbers(msgspec.to_builtins(value)):
        assert -(2**63) <= found < 2**63, found


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, int | float):
        yield value


def _request_seeds() -> list[bytes]:
    bodies = [msgspec.msgpack.encode({"v": 1, "id": "a", "body": sample(kind)}) for kind in _REQUESTS]
    return [bytes([place]) + body for place, body in enumerate(bodies)]


def _reply(data: bytes) -> None:
    kind, rest = _chosen(_REPLIES, data)
    codec.convert(codec.decode(rest, ReplyEnvelope).body, kind)


def _reply_seeds() -> list[bytes]:
    bodies = [msgspec.msgpack.encode({"id": "a", "n": 1, "v": 1, "body": sample(kind)}) for kind in _REPLIES]
    return [bytes([place]) + body for place, body in enumerate(bodies)]


def _arguments(data: bytes) -> None:
    """Read a tool's arguments as the MCP server does, once they are a value."""
    tool, rest = _chosen(TOOLS, data)
    value = codec.unpack(rest)
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        parse_arguments(tool, value)


def _argument_seeds() -> list[bytes]:
    """Return each tool's arguments; the requests that some of them are bring a tag that no agent sends."""
    given = [sample(tool.arguments_type) for tool in TOOLS]
    plain = [{name: value for name, value in one.items() if name != "type"} for one in given]
    return [bytes([place]) + msgspec.msgpack.encode(one) for place, one in enumerate(plain)]


MESSAGES = (
    Decoder("child_messages", _child, lambda: _seeds(_CHILD_UNIONS)),
    Decoder("requests", _request, _request_seeds),
    Decoder("replies", _reply, _reply_seeds),
    Decoder("mcp_arguments", _arguments, _argument_seeds),
    Decoder("conditions", lambda data: codec.decode(data, Until), lambda: [packed(one) for one in get_args(Until)]),
    Decoder("bootstrap", lambda data: codec.decode(data, bootstrap.Bootstrap), lambda: [packed(bootstrap.Bootstrap)]),
)
