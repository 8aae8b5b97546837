"""msgpack to frozen structs and back, with limits; the only place where dicts exist."""

from __future__ import annotations

import functools
import math
import re
from typing import Any, TypeVar

import msgpack
import msgspec

from acud.base import typed_values
from acud.base.errors import InvalidRequest
from acud.base.value_errors import value_fault

MAX_MESSAGE_BYTES = 1 << 20
"""Largest message that the daemon reads on any socket (ZMQ MAXMSGSIZE)."""

MAX_REPLY_BYTES = 64 << 20
"""Largest reply that a client reads; a screenshot travels inside one."""

_ENCODER = msgspec.msgpack.Encoder()

_UNUSUAL = tuple(map(re.compile, (rb"\xcf[\x80-\xff]", rb"\xcb[\x7f\xff][\xf0-\xff]", rb"\xca[\x7f\xff][\x80-\xff]")))
"""How msgpack writes a whole number beyond 63 bits, and a NaN or infinity; chance makes the same bytes in a picture."""

T = TypeVar("T")


def encode(message: msgspec.Struct) -> bytes:
    """Return `message` as msgpack bytes. Raises: InvalidRequest for a number beyond 64 bits or a text that is none."""
    try:
        return _ENCODER.encode(message)
    except (OverflowError, UnicodeEncodeError) as fault:
        raise _refused_value(message, fault) from fault


def encode_lean(message: msgspec.Struct) -> bytes:
    """Return `message` as `encode` does, without fields that have their defaults: a third of a wait that is kept for a
    week. The reader has the same defaults. Raises: InvalidRequest as `encode` does.
    """
    try:
        return _ENCODER.encode(_drop_defaults(message))
    except (OverflowError, UnicodeEncodeError) as fault:
        raise _refused_value(message, fault) from fault


def _refused_value(message: msgspec.Struct, fault: OverflowError | UnicodeEncodeError) -> InvalidRequest:
    if isinstance(fault, OverflowError):
        return InvalidRequest(f"a number in the {type(message).__name__} is beyond 64 bits")
    return refused_text(fault)


def encode_text(text: str) -> bytes:
    """Return `text` in UTF-8. Raises: InvalidRequest."""
    try:
        return text.encode()
    except UnicodeEncodeError as fault:
        raise refused_text(fault) from fault


def refused_text(fault: UnicodeEncodeError) -> InvalidRequest:
    """Return what is wrong with a text that UTF-8 cannot carry: a lone surrogate, as Python makes one of a byte that is
    no UTF-8 in an argument or a file's name.
    """
    shown = fault.object[:60].encode("utf-8", "backslashreplace").decode()
    return InvalidRequest(f"the text {shown!r} is no Unicode: character {fault.start + 1}", hint="send UTF-8")


def _drop_defaults(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        if config.array_like:  # its places are its names
            return value
        tag = {} if config.tag is None else {config.tag_field: config.tag}
        said = ((name, getattr(value, field), default) for field, name, default in _list_fields(type(value)))
        return tag | {name: _drop_defaults(one) for name, one, default in said if one != default}
    if isinstance(value, tuple | list):
        return [_drop_defaults(one) for one in value]
    if isinstance(value, dict):
        return {name: _drop_defaults(one) for name, one in value.items()}
    return value


@functools.cache
def _list_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Return the fields of a struct: each with the name that is written, and its default."""
    return tuple(
        (one.name, one.encode_name, one.default_factory() if callable(one.default_factory) else one.default)
        for one in msgspec.structs.fields(kind)
    )


def decode(data: bytes, kind: type[T], *, limit: int = MAX_MESSAGE_BYTES) -> T:
    """Return the value of type `kind` (a struct or a union of tagged structs) in `data`. Raises: InvalidRequest naming
    what is wrong: not msgpack, too large, unknown tag, missing or surplus field, bad value.
    """
    plain = unpack(data, limit=limit)
    check_numbers(data, plain)
    return convert(plain, kind)


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


def has_unusual_numbers(data: bytes) -> bool:
    """Return whether `data` may hold a number that `check_numbers` refuses; False is certain."""
    return any(pattern.search(data) for pattern in _UNUSUAL)


def check_numbers(data: bytes, plain: Any, envelope: str = "") -> None:
    """Raise InvalidRequest naming a number in `plain`, unpacked from `data`, that is out of range: integers must fit in
    64 signed bits (as SQLite keeps them), others must be finite. `envelope`: the field of `plain` that holds all that a
    caller wrote, and that it has no name for.
    """
    if not has_unusual_numbers(data):
        return
    left: list[tuple[str, Any]] = [("", plain)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            left += [(f"{path}.{key}".lstrip("."), inner) for key, inner in value.items()]
            left += [(path, key) for key in value]
        elif isinstance(value, list):
            left += [(f"{path}[{place}]", inner) for place, inner in enumerate(value)]
        elif isinstance(value, int) and value >= 2**63:
            raise _refused_number(path, envelope, f"at most {2**63 - 1}, not {value}")
        elif isinstance(value, float) and not math.isfinite(value):
            raise _refused_number(path, envelope, f"a finite number, not {value}")


def _refused_number(path: str, envelope: str, wanted: str) -> InvalidRequest:
    where = path.removeprefix(f"{envelope}.") if envelope else path
    return InvalidRequest(f"{where or 'the message'} must be {wanted}", field=where)


def convert(value: Any, kind: type[T]) -> T:
    """Return the plain `value` as `kind`. Raises: InvalidRequest naming the field at fault, or that it is too deep."""
    try:
        return typed_values.convert(value, kind, strict=True)
    except msgspec.ValidationError as fault:
        found = value_fault(fault, kind)
        raise InvalidRequest(found.of("the message"), field=found.field) from fault
    except RecursionError as fault:
        raise InvalidRequest("the message is nested too deeply", hint="send it flatter") from fault
