"""Typed values from plain ones and from bytes, from any thread: the only place that calls msgspec's decoders.

msgspec collects its facts about a Struct type at the first conversion, and runs Python code meanwhile. A second thread
that arrives then reads the unfinished record and the process dies (SIGSEGV, msgspec 0.22). So a type is prepared once
under a lock; conversions of prepared types need none.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_prepared: set[Any] = set()
_PREPARING = threading.RLock()


def _prepare_decoder(kind: Any) -> None:
    if kind not in _prepared:
        with _PREPARING:
            msgspec.msgpack.Decoder(kind)
            _prepared.add(kind)


def convert(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """Return the plain `value` as `kind`; texts stand for numbers if not `strict`. Raises: msgspec.ValidationError."""
    _prepare_decoder(kind)
    return msgspec.convert(value, kind, strict=strict)


@overload
def decode_json(text: bytes | str, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def decode_json(text: bytes | str, kind: Any = Any, *, strict: bool = True) -> Any: ...
def decode_json(text: bytes | str, kind: Any = Any, *, strict: bool = True) -> Any:
    """Return the value of type `kind` in JSON `text`. Raises: msgspec.DecodeError; ValidationError, a kind of it."""
    _prepare_decoder(kind)
    return msgspec.json.decode(text, type=kind, strict=strict)


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    _prepare_decoder(kind)
    return msgspec.json.Decoder(kind)


def msgpack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    _prepare_decoder(kind)
    return msgspec.msgpack.Decoder(kind)
