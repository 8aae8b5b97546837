"""What hosts, workers and readers of a fleet say to one another over NATS, where a member may be of another version."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, get_args

import msgspec
import nkeys

from acud.base.errors import AcudError
from acud.config.fleet import FleetSettings
from acud.features.fleet import job_worker
from acud.features.fleet.names import FleetNames
from acud.features.fleet.signatures import (
    KeyList,
    Signatures,
    Signed,
    Signer,
    check_stamp,
    read_keys,
    read_stamp,
    sign_keys,
)
from acud.protocol import codec
from acud.protocol.envelope import ErrorBody
from acud.protocol.events import Event
from acud.protocol.fleet import FromFleet, HostState, ObjectPlace, ToFleet
from acud.protocol.jobs import ToAsker, VisionAnswer, VisionJob, VisionOpen, fault_of
from acud.protocol.requests import BY_NAME
from acud.protocol.wakes import SeenWake, SharedWake
from acud.types import WaitInfo
from acud_client.stream import Trimmed
from acud_fleet import envelopes, events, host_client, host_wakes, places, registry, state_mirror
from acud_fleet.events import EventDedupe, EventFeed
from acud_fleet.wakes import AgentWakes
from tests.fuzz.decoder import Decoder
from tests.fuzz.samples import packed, sample

_ASKED = msgspec.convert(sample(BY_NAME["wait_show"].request), BY_NAME["wait_show"].request)
_SIGNER = Signer(nkeys.encode_seed(b"\x01" * 32, nkeys.PREFIX_BYTE_USER))


async def _no_keys() -> bytes:
    return b""


_REACHED: Any = SimpleNamespace(
    names=FleetNames("acud"),
    nats=SimpleNamespace(max_payload=1 << 20),
    signatures=Signatures(FleetSettings(), _no_keys, lambda about, text, fix: None),
)


def _envelope(data: bytes) -> None:
    """Read a request of the endpoint, else the id to refuse it by."""
    try:
        envelopes.read(data)
    except AcudError:
        envelopes.id_in(data)


def _reply(data: bytes) -> None:
    host_client.typed_reply(data, "h1", _ASKED)


def _parts(data: bytes) -> None:
    """Put a reply together from messages whose headers are the lines of `data`."""
    parts = envelopes.ReplyParts()
    for header in data.decode("utf-8", "replace").split("\n"):
        parts.take(b"x", header)


def _heard(data: bytes) -> None:
    hearing = EventDedupe()
    for identity in data.decode("utf-8", "replace").split("\n"):
        hearing.is_news("h1", identity)


def _state(data: bytes) -> None:
    registry.parse_state("h1", data)


def _place(data: bytes) -> None:
    found = places.parse_place(data)
    if found is not None:
        state_mirror.read_info(found, WaitInfo)


def _event(data: bytes) -> None:
    EventFeed(lambda _topic, _body: None).take("h1", data)
    events.find_reached(events.read(data))


def _job(data: bytes) -> None:
    job = codec.decode(data, VisionJob, limit=_REACHED.nats.max_payload)
    job_worker.check_job(job, FleetNames("acud").job("vision", "h1"), _REACHED)


def _told(data: bytes) -> None:
    fault_of(codec.decode(data, ToAsker), "digest", 2)  # type: ignore[arg-type]  # a union is a type to msgspec


def _signature(data: bytes) -> None:
    stamp = read_stamp(data.decode("utf-8", "replace"))
    check_stamp(stamp, _SIGNER.key, Signed.WAKE, "acud.wake.main.h1", b"body")


def _keys(data: bytes) -> None:
    read_keys(data, "acud", (_SIGNER.key,))[0].owners()


class _Message:
    """A message of a stream; what is unreadable leaves it for good."""

    metadata = SimpleNamespace(num_delivered=1)
    headers = None

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.subject = "acud.wake.main.h1"

    async def term(self) -> None:
        return None


def _wake(data: bytes) -> None:
    """Take a message of the stream of wakes, and of that of wakes that were seen."""
    asyncio.run(AgentWakes(_REACHED, "main")._take_wake(_Message(data)))  # type: ignore[arg-type]
    host_wakes.wake_id_of(_Message(data))  # type: ignore[arg-type]


def _of_child(kind: Any) -> Any:
    return lambda data: codec.decode(data, kind)


_READERS: tuple[tuple[Any, list[bytes]], ...] = (
    (_envelope, [msgspec.msgpack.encode({"v": 1, "id": "a", "body": sample(type(_ASKED))})]),
    (
        _reply,
        [
            msgspec.msgpack.encode({"id": "a", "n": 1, "v": 1, "body": sample(BY_NAME["wait_show"].reply)}),
            msgspec.msgpack.encode({"id": "a", "n": 1, "v": 1, "error": sample(ErrorBody)}),
        ],
    ),
    (_parts, [b"1/2\n2/2", b"", b"1/1"]),
    (_heard, [b"h1:a:1\nh1:a:1\nh1:a:2", b"h1:a:trimmed-1-2"]),
    (_state, [packed(HostState)]),
    (_place, [packed(ObjectPlace)]),
    (_event, [packed(Event), packed(Trimmed)]),
    (
        _job,
        [
            msgspec.msgpack.encode(
                sample(VisionJob) | {"version": 1, "host": "h1", "answer_to": FleetNames("acud").answer("h1", "w", "a")}
            )
        ],
    ),
    (_told, [packed(one) for one in get_args(ToAsker)] + [packed(VisionAnswer)]),
    (_signature, [_SIGNER.sign(Signed.WAKE, "acud.wake.main.h1", b"body").encode()]),
    (_keys, [sign_keys(_SIGNER, "acud", msgspec.json.encode(KeyList("acud")))]),
    (_of_child(VisionOpen), [packed(VisionOpen)]),
    (_of_child(ToFleet), [packed(one) for one in get_args(ToFleet)]),
    (_of_child(FromFleet), [packed(one) for one in get_args(FromFleet)]),
)


def _message(data: bytes) -> None:
    """Have the reader that the first byte names read the rest."""
    read, _ = _READERS[(data[0] if data else 0) % len(_READERS)]
    read(data[1:])


FLEET = (
    Decoder(
        "fleet_messages",
        _message,
        lambda: [bytes([place]) + seed for place, (_, seeds) in enumerate(_READERS) for seed in seeds],
    ),
    Decoder(
        "fleet_wakes",
        _wake,
        lambda: [msgspec.json.encode(sample(SharedWake) | {"host": "h1"}), msgspec.json.encode(sample(SeenWake))],
    ),
)
