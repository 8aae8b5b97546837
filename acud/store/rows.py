"""Rows: SQL in named blocks (`-- name: x` begins block x of a file in `sql/`), structs to rows and back, owners."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import reduce
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from acud.base.errors import StoreUnavailable
from acud.base.typed_values import convert, json_decoder

SQL = Path(__file__).parent / "sql"
"""The core's statements; a feature's are in `tables.sql` in its folder."""
_FEATURES = Path(__file__).parents[1] / "features"
_HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
T = TypeVar("T", bound=msgspec.Struct)
Value = str | int | float | bytes | None
Row = dict[str, Value]


def load(group: str, *codecs: RowCodec[Any], folder: Path = SQL) -> dict[str, str]:
    """Return the blocks of `<group>.sql` in `folder` by name, with the columns of `codecs`. Raises: ValueError when a
    name appears twice.
    """
    file = folder / f"{group}.sql"
    text = reduce(lambda text, codec: codec.fill_columns(text), codecs, file.read_text(encoding="utf-8"))
    parts = _HEADER.split(text)
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{file} names a block twice")
    return dict(zip(names, (body.strip() for body in bodies), strict=True))


def load_of_features(group: str) -> dict[str, str]:
    """Return the blocks of `<group>.sql` of every feature that has one, whether it runs or not, without importing any.
    Raises: ValueError when a name appears twice.
    """
    found: dict[str, str] = {}
    for file in sorted(_FEATURES.glob(f"*/{group}.sql")):
        blocks = load(group, folder=file.parent)
        if found.keys() & blocks.keys():
            raise ValueError(f"{file} names a block of another feature")
        found |= blocks
    return found


class RowCodec(Generic[T]):
    """Reads and writes rows of the struct `kind`; columns that are not fields of it are ignored on reading. `found`:
    fields that no INSERT writes, as queries find them; `fixed`: those that no UPDATE changes.
    """

    def __init__(self, kind: type[T], *, found: Sequence[str] = (), fixed: Sequence[str] = ()) -> None:
        self._kind = kind
        written = [name for name in kind.__struct_fields__ if name not in found]
        self._filled = {
            f"{{{kind.__name__}.columns}}": ", ".join(written),
            f"{{{kind.__name__}.values}}": ", ".join(f":{name}" for name in written),
            f"{{{kind.__name__}.changes}}": ", ".join(f"{name} = :{name}" for name in written if name not in fixed),
        }
        self.key = kind.__struct_fields__[0]
        hints = get_type_hints(kind)
        self._types = {name: hints[name] for name in kind.__struct_fields__}
        # Made once: msgspec analyses a type at each call with one.
        self._json = {name: json_decoder(hint) for name, hint in self._types.items() if not _is_plain(hint)}
        self._members = {name: _list_members(hint) for name, hint in self._types.items() if name not in self._json}
        self._encode = [(name, _as_json if name in self._json else _to_plain) for name in self._types]
        self._types_kept = {name: _types_kept(hint) for name, hint in self._types.items() if name not in self._json}

    def fill_columns(self, sql: str) -> str:
        """Return `sql` with the columns of a struct `X` in place of `{X.columns}`, the parameters of these in place of
        `{X.values}`, and the assignments of an UPDATE in place of `{X.changes}`.
        """
        return reduce(lambda text, filled: text.replace(*filled), self._filled.items(), sql)

    def bind(self, row: T) -> Row:
        return {name: encode(getattr(row, name)) for name, encode in self._encode}

    def read(self, columns: Mapping[str, Value]) -> T:
        """Return the struct in `columns`. Raises: StoreUnavailable when a value is not of the field's type."""
        try:
            return self._kind(**{name: self._read_field(name, columns[name]) for name in self._types})
        except msgspec.DecodeError as fault:
            raise StoreUnavailable(
                f"a row is not a {self._kind.__name__}: {fault}",
                hint="the database was changed by another program: restore a copy",
                fault="corrupt",
            ) from fault

    def _read_field(self, name: str, value: Value) -> Any:
        if name in self._json:
            return convert(None, self._types[name]) if value is None else self._json[name].decode(str(value))
        if type(value) in self._types_kept[name]:
            return value
        member = self._members[name].get(value)
        return convert(value, self._types[name], strict=False) if member is None else member


def _as_json(value: Any) -> Value:
    return None if value is None else msgspec.json.encode(value).decode()


def _to_plain(value: Any) -> Value:
    if isinstance(value, Enum):
        return str(value.value)
    return int(value) if isinstance(value, bool) else value


def _is_plain(hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return all(_is_plain(part) for part in get_args(hint))
    if hint in (str, int, float, bool, bytes, NoneType):
        return True
    return get_origin(hint) is None and isinstance(hint, type) and issubclass(hint, Enum)


def _list_members(hint: Any) -> dict[Value, Enum]:
    return {one.value: one for one in hint} if isinstance(hint, type) and issubclass(hint, Enum) else {}


def _types_kept(hint: Any) -> frozenset[type]:
    """Return the types of values that a field takes unchanged."""
    parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return frozenset(parts) & {str, int, float, bytes, NoneType}


class OwnerFilter(Struct, frozen=True):
    """The rows of any of these tasks (by their whole ids) or displays (by name); of all owners if both are empty."""

    tasks: tuple[str, ...] = ()
    displays: tuple[str, ...] = ()

    def to_bindings(self) -> Row:
        return {"tasks": json_list(self.tasks), "displays": json_list(self.displays)}


EVERYONE = OwnerFilter()


def json_list(values: Sequence[str]) -> str:
    return msgspec.json.encode(values).decode()
