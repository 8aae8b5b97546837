"""A valid value of any message type, made from the type itself: every field set, so that each is reached."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import inspect

_DEEPEST = 5
_EXAMPLES = ("a" * 64, "a" * 87, "a" * 22, ":0", "https://a.example/b", "1", "a-1", "2026-01-01", "")


def sample(kind: Any) -> Any:
    """Return a plain value (dicts, lists, numbers, text) that decodes as `kind`."""
    return _of(inspect.type_info(kind), 0)


def _of(kind: inspect.Type, depth: int) -> Any:
    match kind:
        case inspect.StructType():
            return _struct(kind, depth)
        case inspect.UnionType(types=types):
            flat = [one for one in types if not isinstance(one, inspect.NoneType)]
            return None if depth > _DEEPEST and len(flat) < len(types) else _of(flat[0], depth)
        case inspect.VarTupleType() | inspect.ListType() | inspect.SetType() | inspect.FrozenSetType():
            fits = depth <= _DEEPEST or (kind.min_length or 0) > 0
            return [_of(kind.item_type, depth + 1)] * max(1, kind.min_length or 0) if fits else []
        case inspect.TupleType(item_types=types):
            return [_of(one, depth + 1) for one in types]
        case inspect.DictType():
            return {_of(kind.key_type, depth + 1): _of(kind.value_type, depth + 1)} if depth <= _DEEPEST else {}
        case inspect.EnumType(cls=cls):
            return next(iter(cls)).value
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.Metadata(type=inner):
            return _of(inner, depth)
    return _plain(kind)


def _struct(kind: inspect.StructType, depth: int) -> dict[str, Any] | list[Any]:
    if kind.array_like:
        return [*([kind.tag] if kind.tag_field is not None else []), *(_of(one.type, depth + 1) for one in kind.fields)]
    told = {kind.tag_field: kind.tag} if kind.tag_field is not None else {}
    wanted = [one for one in kind.fields if one.required or depth <= _DEEPEST]
    return told | {one.encode_name: _of(one.type, depth + 1) for one in wanted}


def _plain(kind: inspect.Type) -> Any:
    match kind:
        case inspect.IntType():
            return int(kind.ge if kind.ge is not None else (kind.gt + 1 if kind.gt is not None else 1))
        case inspect.FloatType():
            return float(kind.ge if kind.ge is not None else (kind.gt + 0.5 if kind.gt is not None else 1.5))
        case inspect.StrType():
            return _words(kind.pattern or "", kind.min_length or 0)
        case inspect.BytesType():
            return b"\x01"
        case inspect.BoolType():
            return True
        case inspect.NoneType():
            return None
    return {}


def _words(pattern: str, least: int) -> str:
    """Return text that a field of this pattern takes. Raises: StopIteration for a pattern without an example here."""
    return next(words for words in ("a" * max(1, least), *_EXAMPLES) if re.search(pattern, words))


def packed(kind: Any) -> bytes:
    return msgspec.msgpack.encode(sample(kind))
