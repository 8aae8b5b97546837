"""msgpack to frozen structs and back, with limits; the only place where dicts exist."""

from __future__ import annotations

from typing import Any, TypeVar

import msgpack
import msgspec

from acud.errors import InvalidRequest

MAX_MESSAGE_BYTES = 1 << 20
"""Largest message that the daemon reads on any socket (ZMQ MAXMSGSIZE)."""

MAX_REPLY_BYTES = 64 << 20
"""Largest reply that a client reads; a screenshot travels inside one."""

_ENCODER = msgspec.msgpack.Encoder()

T = TypeVar("T")


def encode(message: msgspec.Struct) -> bytes:
    """Return `message` as msgpack bytes."""
    return _ENCODER.encode(message)


def decode(data: bytes, kind: type[T], *, limit: int = MAX_MESSAGE_BYTES) -> T:
    """Return the value of type `kind` (a struct or a union of tagged structs) in `data`.

    Raises: InvalidRequest naming what is wrong: not msgpack, too large, unknown tag, missing or surplus field,
    bad value.
    """
    return convert(unpack(data, limit=limit), kind)


def unpack(data: bytes, *, limit: int = MAX_MESSAGE_BYTES) -> Any:
    """Return the plain value in `data`; depth and sizes are bounded (what keys may be is the type's matter)."""
    if len(data) > limit:
        raise InvalidRequest(f"message of {len(data)} bytes is over the limit of {limit}")
    try:
        return msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=False,
            max_str_len=limit,
            max_bin_len=limit,
            max_array_len=100_000,
            max_map_len=1_000,
            max_ext_len=0,
        )
    except (ValueError, msgpack.UnpackException, msgpack.exceptions.StackError, RecursionError, TypeError) as fault:
        raise InvalidRequest(f"not a msgpack message: {type(fault).__name__}: {fault}") from fault


def convert(value: Any, kind: type[T]) -> T:
    """Return the plain `value` as `kind`. Raises: InvalidRequest naming the field at fault, or that it is too deep."""
    try:
        return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as fault:
        text, _, place = str(fault).partition(" - at ")
        where = place.strip("`").removeprefix("$.").removeprefix("$")
        raise InvalidRequest(f"{where}: {text}" if where else text, field=where) from fault
    except RecursionError as fault:
        raise InvalidRequest("the message is nested too deeply", hint="send it flatter") from fault
