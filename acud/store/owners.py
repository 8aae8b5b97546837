"""Whose rows are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from acud.store.rows import Row


class Of(Struct, frozen=True):
    """The rows of any of these tasks (by their whole ids) or displays (by name); neither named: everybody's."""

    tasks: tuple[str, ...] = ()
    displays: tuple[str, ...] = ()

    def bound(self) -> Row:
        """Return the bindings `tasks` and `displays`."""
        return {"tasks": listed(self.tasks), "displays": listed(self.displays)}


EVERYONE = Of()


def listed(values: Sequence[str]) -> str:
    """Return `values` as a statement's `json_each` reads them."""
    return msgspec.json.encode(values).decode()
